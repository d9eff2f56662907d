"""Whole numbers with few values are read as codes; where their order survived masking, they are read as numbers too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from unmask.arrays import Floats
    from unmask.study.study import Study

NEARER = 0.9  # changed values lie nearer to the true one than this share of what chance would give


def in_order(study: Study) -> tuple[Study, tuple[str, ...]]:
    """The same study with codes read as numbers where masking moved them to near values, and their names.

    Answers from 1 to 7 look like codes. Compared for equality only, an answer moved by one says no more than one moved
    by six, and nearly everything that masking left of it is lost. Kinds that were said by hand stay.
    """
    names = tuple(name for name in study.release.quasi if _keeps_order(study, name))
    if not names:
        return study, ()
    numbers = study.release.with_kinds(dict.fromkeys(names, "numeric"))
    return study.kept("in order", lambda: study.relative("in order", numbers)), names


def _keeps_order(study: Study, name: str) -> bool:
    release = study.release
    if release.kind(name) != "categorical" or name in release.said_kinds:
        return False
    left, right = _whole(release.original[name]), _whole(release.released[name])
    if left is None or right is None:
        return False
    own = release.truth[release.paired_rows]
    a, b = left[release.paired_rows], right[own]
    there = ~np.isnan(a) & ~np.isnan(b)
    return _moved_nearby(a[there], b[there])


def _moved_nearby(a: Floats, b: Floats) -> bool:
    """Whether those who were changed lie nearer to their own value than a changed value of somebody else."""
    a, b = a[a != b], b[a != b]
    if not len(a):
        return False
    (levels, one), (others, two) = (np.unique(side, return_counts=True) for side in (a, b))
    apart = np.abs(levels[:, None] - others[None, :])
    pairs = np.outer(one, two) * (apart > 0)
    return bool(np.abs(a - b).mean() < NEARER * (apart * pairs).sum() / pairs.sum())


def _whole(column: pl.Series) -> Floats | None:
    """Whole numbers as floats, NaN for missing; None for other columns."""
    if not column.dtype.is_numeric():
        return None
    values = column.to_numpy().astype(np.float64)
    there = values[~np.isnan(values)]
    return values if np.array_equal(there, np.round(there)) else None
