"""How an attack reads attributes: the most telling ones where it cannot take them all, and codes as numbers.

Whole numbers with few values are read as codes; where their order survived masking, they are read as numbers too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.study.study import Study
from unmask.tables import moved_nearby, rank

MOST = 60  # attributes that methods over sets of them take on


def narrowed(study: Study, most: int = MOST) -> tuple[Study, tuple[str, ...]]:
    """The same study for an intruder who looks at the most telling attributes only, and a note that says so."""
    names = study.release.quasi
    if len(names) <= most:
        return study, ()
    told = {name: telling(study, name) for name in names}
    best = set(sorted(names, key=lambda name: (-told[name], name))[:most])
    roles = replace(study.release.roles, quasi=tuple(name for name in names if name in best))
    note = f"with {len(names)} attributes it looks at the {most} that masking has changed least"
    return Study(study.release.with_roles(roles)), (note,)


def telling(study: Study, name: str) -> float:
    """How much of an attribute masking has left: rank correlation of numbers, agreement of categories beyond chance."""
    encoding, rows = study.encoding([name]), study.release.paired_rows
    own = study.release.truth[rows]
    if encoding.numeric_names:
        left, right = encoding.original.numeric[rows, 0], encoding.released.numeric[own, 0]
        return _rank_correlation(left, right)
    a, b = encoding.original.codes[rows, 0], encoding.released.codes[own, 0]
    size = int(max(a.max(initial=-1), b.max(initial=-1))) + 2
    chance = float(np.bincount(a + 1, minlength=size) @ np.bincount(b + 1, minlength=size)) / max(1, len(a)) ** 2
    return float((a == b).mean() - chance) if len(a) else 0.0


def _rank_correlation(left: Floats, right: Floats) -> float:
    both = ~np.isnan(left) & ~np.isnan(right)
    if both.sum() < 3:
        return 0.0
    a, b = (rank(side[both], "average") for side in (left, right))
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return abs(float(a @ b)) / spread if spread > 0 else 0.0


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
    return moved_nearby(a[there], b[there])


def _whole(column: pl.Series) -> Floats | None:
    """Whole numbers as floats, NaN for missing; None for other columns."""
    if not column.dtype.is_numeric():
        return None
    values = column.to_numpy().astype(np.float64)
    there = values[~np.isnan(values)]
    return values if np.array_equal(there, np.round(there)) else None
