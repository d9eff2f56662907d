"""Values as numbers that two tables share, and combinations of them as one number: what a look-up by keys is made of.

Missing is a value of its own. Numbers are the same whether written whole or not, and up to their 15th digit, as R
writes them and synthpop compares them; a number against a text is compared as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.kernels.groups import label_values

ROOM = 2  # numbers that may stay unused, for each record, before codes are counted through
MOST = 2**62
DIGITS = 15
FARTHEST, SPAN = 400, 1024  # places of the first digit are nearer to the point than this, and so many in all
STEPS = 2.0**36


class Coded(NamedTuple):
    """One number for each record of both tables, those of the original first, below ``size``."""

    code: Ints
    size: int
    people: int  # records of the original

    @property
    def mine(self) -> Ints:
        """Of the people of the original."""
        return self.code[: self.people]

    @property
    def rows(self) -> Ints:
        """Of the rows of the release."""
        return self.code[self.people :]


def column_codes(original: pl.Series, released: pl.Series) -> Coded:
    """Number the values of a column over both tables; 0 is missing."""
    kinds = original.dtype, released.dtype
    if all(kind.is_integer() for kind in kinds):
        both = pl.concat([original.cast(pl.Int64), released.cast(pl.Int64)])
        codes = _of_whole(both)
    elif all(kind.is_numeric() for kind in kinds):
        codes = _of_numbers(pl.concat([original.cast(pl.Float64), released.cast(pl.Float64)]).to_numpy())
    else:
        texts = pl.concat([original.cast(pl.String), released.cast(pl.String)])
        codes = _of_whole(texts.cast(pl.Categorical).to_physical().cast(pl.Int64))
    return Coded(*codes, original.len())


def array_codes(values: Floats | Ints, people: int) -> Coded:
    """Number the values of a column of both tables, those of people first; missing (NaN, or below 0 in codes) is 0."""
    if values.dtype.kind != "f":
        return Coded(values.astype(np.int64) + 1, int(values.max(initial=-1)) + 2, people)
    known = ~np.isnan(values)
    every = bool(known.all())
    low, high = (float(end) for end in (values.min(), values.max())) if every and values.size else (0.0, np.inf)
    if every and high - low < ROOM * values.size and bool((values == np.rint(values)).all()):
        return Coded((values - (low - 1)).astype(np.int64), int(high - low) + 2, people)
    label, size = _counted(np.where(known, values + 0.0, np.inf).view(np.int64))  # + 0.0 turns -0.0 into 0.0
    return Coded(label, size, people)


def _of_whole(values: pl.Series) -> tuple[Ints, int]:
    low, high = values.min(), values.max()
    if low is None or high is None:
        return np.zeros(values.len(), dtype=np.int64), 1
    if int(high) - int(low) + 2 > ROOM * values.len() + 64:  # type: ignore[arg-type]
        known = values.is_not_null().to_numpy()
        code, size = _counted(values.fill_null(0).to_numpy())
        return np.where(known, code + 1, 0), size + 1
    return _close((values - int(low) + 1).fill_null(0).to_numpy().astype(np.int64))  # type: ignore[arg-type]


def _of_numbers(values: Floats) -> tuple[Ints, int]:
    """By 15 digits, and the place of the first: 0.1 + 0.2 is 0.3."""
    known = np.isfinite(values) & (values != 0)
    place = np.zeros(values.size, dtype=np.int64)
    place[known] = np.floor(np.log10(np.abs(values[known]))).astype(np.int64)
    digits = np.zeros(values.size)
    shift = DIGITS - 1 - place[known]
    half = shift // 2  # in two steps: the power of a tiny number would be infinite
    digits[known] = np.rint(values[known] * 10.0**half * 10.0 ** (shift - half))
    carried = np.abs(digits) >= 10.0**DIGITS
    digits[carried], place[carried] = digits[carried] / 10, place[carried] + 1
    whole = digits.astype(np.int64)
    endless = np.isinf(values)
    if endless.any():
        whole[endless], place[endless] = np.sign(values[endless]).astype(np.int64), FARTHEST
    label = _counted(_counted(whole)[0] * SPAN + place + FARTHEST)[0]
    code = np.where(np.isnan(values), 0, label + 1)
    return code, int(code.max(initial=0)) + 1


def _counted(code: Ints) -> tuple[Ints, int]:
    """The same numbers without gaps, as they come."""
    return label_values(np.ascontiguousarray(code))


def _close(code: Ints) -> tuple[Ints, int]:
    """The same numbers without gaps, in their order, where they are not much larger than there are records."""
    used = np.bincount(code) > 0
    used[0] = True  # missing keeps its number
    size = int(used.sum())
    return (code, size) if size == used.size else ((np.cumsum(used) - 1)[code], size)


def combined(columns: Iterable[Coded]) -> Coded:
    """One number for each combination of values."""
    first, *others = columns
    code, size = first.code, first.size
    for other in others:
        if size * other.size > MOST:
            code, size = _counted(code)
        code, size = code * other.size + other.code, size * other.size
    if size > ROOM * code.size + 64:
        code, size = _counted(code)
    return Coded(code, size, first.people)


def total(values: Floats) -> float:
    """The sum, the same to the last bit for any order of the records: in whole steps of 2**-36."""
    return float(np.rint(values * STEPS).astype(np.int64).sum()) / STEPS


__all__ = ["Coded", "array_codes", "column_codes", "combined", "total"]
