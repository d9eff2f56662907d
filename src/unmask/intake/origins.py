"""Columns that only the release has: of which known column were they made? Ages of birth dates, regions of towns.

The attack that learns how a release was made finds such columns by itself; here the reader is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.errors import UnmaskError
from unmask.study import Study
from unmask.tables import Release

if TYPE_CHECKING:
    from unmask.arrays import Rows

MOST = 40  # columns of either file that are looked at
PEOPLE = 1000
HOLDS = 0.95  # share of people whose value the released one must contain
CHANCE = 0.5  # share of all records that may contain it as well


class Origin(NamedTuple):
    """The rule in words, and the share of people whose own value the released one contains."""

    words: str
    own: float


def origin(release: Release, name: str) -> Origin | None:
    """Find the known column that a released one was made of; None where there is none, or nobody is paired."""
    rows = release.paired_rows[:PEOPLE]
    aside = {release.id, release.weight, *release.ignored}
    candidates = [known for known in release.original.columns if known not in aside][:MOST]
    found = [made for known in candidates if (made := _made_of(release, known, name, rows)) is not None]
    return max(found, key=lambda made: made.own, default=None)


def _made_of(release: Release, known: str, name: str, rows: Rows) -> Origin | None:
    left, right = release.original[rows][[known]], release.released[release.truth[rows]][[name]]
    if left[known].n_unique() < 2 or right[name].n_unique() < 2:
        return None
    try:
        study = Study(Release(left.rename({known: name}), right))
        encoding = study.encoding([name])
        match = study.comparable.match()
    except UnmaskError:
        return None
    own = float(np.mean(match.owns(study.release.truth)))
    if own < HOLDS or float(match.crowd.mean()) > CHANCE * len(rows):
        return None
    rule = "; ".join(note.removeprefix(f"{name!r}: ") for note in encoding.notes) or "the same values"
    return Origin(f"made of {known!r}: {rule}", own)
