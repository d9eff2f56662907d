"""Numbers of equal values over both files: dense ranks, without a sort where values are whole numbers close together.

Amounts, ages, years and codes are mostly such: a table says of each place between the least and the largest whether it
occurs, and how many occur up to it. A million values take a tenth of the time of a sort.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.arrays import Codes, Flags, Floats

MISSING = 0  # number of a missing value
CHUNK = 2**15  # values that are looked at together: they stay in the cache
SPREAD, LEAST = 4, 2**16  # places of the table: so many for each value, and as many beside


def ranked(left: Floats | Codes, right: Floats | Codes) -> tuple[Codes, Codes]:
    """Ranks 1, 2, ... of values over both files; missing (NaN, a code below 0) has number 0."""
    found = _by_table(left, right)
    if found is None:
        both = np.concatenate([left, right]) + 0.0  # -0.0 is 0.0
        column = pl.Series(np.where(_there(both, left.dtype), both, np.nan)).fill_nan(None)
        found = column.rank("dense").fill_null(MISSING).cast(pl.Int32).to_numpy()
    return found[: len(left)], found[len(left) :]


def _by_table(left: Floats | Codes, right: Floats | Codes) -> Codes | None:
    """Ranks of both files, one behind the other; None where values are not whole numbers close together."""
    parts = [side[first : first + CHUNK] for side in (left, right) for first in range(0, len(side), CHUNK)]
    known = [values[_there(values, values.dtype)] for values in parts]
    found = [values for values in known if values.size]
    if not found:
        return np.full(len(left) + len(right), MISSING, np.int32)
    low, high = min(float(values.min()) for values in found), max(float(values.max()) for values in found)
    if not high - low < LEAST + SPREAD * (len(left) + len(right)):  # nor where it is not a number
        return None
    ranks = np.zeros(int(high - low) + 1, np.int32)
    for values in found:
        places = (values - low).astype(np.int32)
        if not np.array_equal(places + low, values):  # not whole; or different, and not so once they are shifted
            return None
        ranks[places] = 1
    np.cumsum(ranks, out=ranks)
    out = np.full(len(left) + len(right), MISSING, np.int32)
    begin = 0
    for values, present in zip(parts, known, strict=True):
        at = slice(begin, begin + len(values))
        if len(present) == len(values):
            out[at] = ranks[(present - low).astype(np.int32)]
        else:
            out[at][_there(values, values.dtype)] = ranks[(present - low).astype(np.int32)]
        begin += len(values)
    return out


def _there(values: Floats | Codes, kind: np.dtype[np.generic]) -> Flags:
    """Which values are not missing; ``kind`` says whether they are codes."""
    there: Flags = values >= 0 if kind.kind == "i" else ~np.isnan(values)
    return there
