"""Fewer attributes, where a method cannot take them all: those that tell most about people, chosen and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Floats
from unmask.study.study import Study
from unmask.tables import rank

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
