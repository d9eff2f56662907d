"""Exact match between two files: which released records carry exactly the values that the intruder knows.

Missing is a value of its own. Where the release publishes overlapping intervals ("20-39" beside "30-39"), a known
number equals every interval that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unmask.errors import EngineError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.encode import Encoded, Encoding, Spans

    Rows = NDArray[np.int64]

SUPPRESSED = -1  # number of the span of a missing cell


def comparable(encoding: Encoding) -> Encoding:
    """Leave out attributes that the release writes in a way of its own: on them nobody could match."""
    if len(encoding.foreign) == len(encoding.names):
        raise EngineError(
            "no attribute of the release has a value in common with the original", hint="is it coded otherwise?"
        )
    for name in encoding.foreign:
        encoding = encoding.without(name)
    return encoding


def equal_keys(encoding: Encoding) -> tuple[Rows, Rows]:
    """Number of the group of each record of both files: the same number when all known values are equal."""

    def frame(side: Encoded) -> pl.DataFrame:
        numbers = {f"n{k}": side.numeric[:, k] + 0.0 for k in range(side.numeric.shape[1])}  # -0.0 is 0.0
        codes = {f"c{k}": side.codes[:, k] for k in range(side.codes.shape[1])}
        return pl.DataFrame({**numbers, **codes})

    n = len(encoding.original)
    if not encoding.names:
        return np.zeros(n, dtype=np.int64), np.zeros(len(encoding.released), dtype=np.int64)
    both = pl.concat([frame(encoding.original), frame(encoding.released)])
    number = both.select(pl.struct(both.columns).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    return number[:n], number[n:]


def matching_credit(encoding: Encoding, truth: Rows) -> tuple[NDArray[np.float64], Rows]:
    """Credit of an intruder who looks for exactly the known values, and the number of records that carry them."""
    spans = encoding.spans
    for name in spans:
        encoding = encoding.without(name)
    left, right = equal_keys(encoding)
    own = (truth >= 0) & (right[truth] == left)
    if not spans:
        crowd = np.bincount(right, minlength=int(max(left.max(), right.max())) + 1)[left]
    else:
        crowd = _crowd_in_spans(left, right, list(spans.values()))
        for span in spans.values():
            own &= _contains(span, truth)
    return np.where(own, 1.0 / np.maximum(crowd, 1), 0.0), crowd


def _contains(span: Spans, truth: Rows) -> NDArray[np.bool_]:
    low, high = span.low[truth], span.high[truth]
    both_missing = np.isnan(span.values) & np.isnan(low)
    with np.errstate(invalid="ignore"):
        return both_missing | ((low <= span.values) & (span.values <= high))


def _crowd_in_spans(left: Rows, right: Rows, spans: list[Spans]) -> Rows:
    """Records with the same key whose intervals contain the known numbers: each person joined to all his intervals."""
    people = pl.DataFrame({"row": np.arange(len(left)), "key": left})
    records = pl.DataFrame({"key": right})
    for number, span in enumerate(spans):
        member, published = _memberships(span)
        people = people.join(member.rename({"span": f"s{number}"}), on="row")
        records = records.with_columns(pl.Series(f"s{number}", published))
    keys = records.columns
    counted = people.join(records.group_by(keys).len(), on=keys).group_by("row").agg(pl.col("len").sum())
    crowd = np.zeros(len(left), dtype=np.int64)
    crowd[counted["row"].to_numpy()] = counted["len"].to_numpy()
    return crowd


def _memberships(span: Spans) -> tuple[pl.DataFrame, Rows]:
    """Pairs of a person and an interval that contains his number, and the number of each record's interval."""
    present = ~np.isnan(span.low)
    kinds, which = np.unique(np.column_stack([span.low, span.high])[present], axis=0, return_inverse=True)
    published = np.full(len(span.low), SUPPRESSED, dtype=np.int64)
    published[present] = which.ravel()
    missing = np.flatnonzero(np.isnan(span.values))
    inside = [np.flatnonzero((span.values >= low) & (span.values <= high)) for low, high in kinds]
    rows = np.concatenate([missing, *inside])
    numbers = np.repeat(np.arange(SUPPRESSED, len(kinds)), [len(missing), *map(len, inside)])
    return pl.DataFrame({"row": rows, "span": numbers}), published
