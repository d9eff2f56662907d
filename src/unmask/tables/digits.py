"""Whole numbers that are written as text: numbers, or codes such as postcodes?

A text file has no types, so a column of digits is read as numbers there; a frame may hold the same digits as text. The
same values should be read alike, so text is read as numbers too, unless it says that it is not: a leading zero, or,
where pairs show what masking did, values that stayed or became any other one. Where pairs show nothing, few different
values, and digits that all have one length, are codes.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.tables.intervals import has_intervals

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

DIGITS = r"^[+-]?(0|[1-9]\d{0,14})(\.0+)?$"
NEARER = 0.9  # changed values lie nearer to the true one than this share of what chance would give
SPREAD = 0.75  # of distances around their mean, as a share of it: that of random numbers from 0 to 1 is 0.71
STAYED = 0.2  # share of people whose value stayed, from which on changed ones that went anywhere are those of codes
FEWEST = 10  # changed values that can tell
FEW_CODES = 20  # integers with at most this many values ...
ROWS_PER_CODE = 20  # ... each standing for at least this many rows on average, look like codes
LENGTH = 4  # digits from which on numbers of one length look like codes


def moved_nearby(a: Floats, b: Floats) -> bool:
    """Whether those who were changed lie nearer to their own value than a changed value of somebody else."""
    a, b = a[a != b], b[a != b]
    return bool(len(a)) and _how_near(a, b) < NEARER


def _how_near(a: Floats, b: Floats) -> float:
    """Mean distance of changed values from the true ones, as a share of what chance would give."""
    (levels, one), (others, two) = (np.unique(side, return_counts=True) for side in (a, b))
    _, here, there = np.intersect1d(levels, others, assume_unique=True, return_indices=True)
    unequal = len(a) * len(b) - int(one[here] @ two[there])
    return float(np.abs(a - b).mean() * unequal / _all_distances(a, b))


def _all_distances(a: Floats, b: Floats) -> float:
    """Sum of the distances of all pairs, without the pairs: who is below the k lowest is so much nearer to each."""
    a, b = a - b[0], np.sort(b) - b[0]  # far from zero, little would be left of differences
    below, sums = np.searchsorted(b, a), np.concatenate(([0.0], np.cumsum(b)))
    return float((a * (2 * below - len(b)) + sums[-1] - 2 * sums[below]).sum())


def moved_anywhere(original: pl.Series, released: pl.Series, pairs: Pairs) -> bool | None:
    """Whether many values stayed and the others became any other one, as codes do; None where pairs do not tell."""
    a, b = original.cast(pl.Float64).to_numpy()[pairs[0]], released.cast(pl.Float64).to_numpy()[pairs[1]]
    there = np.isfinite(a) & np.isfinite(b)  # infinities are refused later, by name and row
    a, b = a[there][:5000], b[there][:5000]
    changed = a != b
    many = int(changed.sum())
    if many < FEWEST:
        return None
    near, error = _how_near(a[changed], b[changed]), SPREAD / np.sqrt(many)
    if near < 1.0 - 3.0 * error:
        return False
    return True if near > 1.0 - 1.5 * error and (~changed).mean() >= STAYED else None


def as_numbers(original: pl.Series, released: pl.Series, pairs: Pairs) -> tuple[pl.Series, pl.Series] | None:
    """Both columns as whole numbers; None where one of them is no such text, or they are codes."""
    left, right = _whole(original), _whole(released)
    if left is None:
        return None
    if right is None:
        bands = released.dtype == pl.String and has_intervals(released)
        return (left, released) if bands and not original.dtype.is_integer() else None
    codes = moved_anywhere(left, right, pairs)
    return None if codes or (codes is None and _like_codes(original)) else (left, right)


def _whole(column: pl.Series) -> pl.Series | None:
    """Digits as whole numbers; None for what has a leading zero, or is no digits."""
    if column.dtype.is_integer():
        return column
    if column.dtype not in (pl.String, pl.Categorical):
        return None
    texts = column.cast(pl.String)
    if column.null_count() == len(column) or not bool(texts.drop_nulls().str.contains(DIGITS).all()):
        return None
    return texts.cast(pl.Float64).cast(pl.Int64)


def _like_codes(column: pl.Series) -> bool:
    """Whether text of digits has few different values, or one length that postcodes have.

    Values that are few in many rows are codes among whole numbers as well: there is nothing to decide.
    """
    there = column.drop_nulls().cast(pl.String)
    texts = there.unique()
    lengths = texts.str.len_chars().unique()
    few = len(texts) <= FEW_CODES and len(there) < ROWS_PER_CODE * len(texts)
    return few or (len(lengths) == 1 and int(lengths[0]) >= LENGTH)
