"""What all candidates share is learnt of a person, whoever of them they are.

The intruder knows all rows of a person but for a confidential column, and takes those of the release who have all of
them. A value that each of these people has somewhere is the person's too: of several the rarest is told, as it says
most. The same without the person's own rows is what would be told of anybody; only what is beyond that is disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Estimate, excess
from unmask.persons.alike import have_all
from unmask.persons.persons import Persons
from unmask.persons.points import owners_of


@dataclass(frozen=True, slots=True)
class Shared:
    """What is learnt of people, for the confidential column of which most is; figures are of people in both tables."""

    column: str
    estimate: Estimate
    attack: Floats = field(repr=False)  # the claim is right
    without: Floats = field(repr=False)  # the claim without the person's own rows is right
    claims: int  # people of whom something is told that is not told of anybody


def shared(persons: Persons, *, seed: int = 0) -> Shared | None:
    """Tell what candidates share, for each confidential column that is published; None: there is none."""
    names = [name for name in persons.release.confidential if name in persons.release.released.columns]
    names = [name for name in names if name in persons.release.original.columns]
    if not names:
        return None
    match = persons.match()
    theirs = owners_of(match, persons.released_start)
    there = np.flatnonzero(persons.there)
    candidates = [
        have_all(theirs, np.unique(match.kind[persons.start[p] : persons.start[p + 1]])).tolist() for p in there
    ]
    found = [_of_column(persons, name, there.tolist(), candidates, len(names), seed) for name in names]
    return max(found, key=lambda one: one.estimate.value)


def _of_column(
    persons: Persons, name: str, there: list[int], candidates: list[list[int]], among: int, seed: int
) -> Shared:
    known, published = persons.encoding([name]).columns(name)
    mine, theirs = _values(known, persons.start[: persons.n + 1]), _values(published, persons.released_start)
    had: dict[float, int] = {}
    for values in theirs:
        for value in values:
            had[value] = had.get(value, 0) + 1
    usual = min(had, key=lambda value: (-had[value], value)) if had else np.nan
    attack, without, claims = np.zeros(len(there)), np.zeros(len(there)), 0
    for at, (p, people) in enumerate(zip(there, candidates, strict=True)):
        own = int(persons.own[p])
        told = _rarest([theirs[q] for q in people], had)
        apart = _rarest([theirs[q] for q in people if q != own], had)
        claims += told is not None
        attack[at] = (usual if told is None else told) in mine[p]
        without[at] = (usual if apart is None else apart) in mine[p]
    return Shared(name, excess(attack, without, seed=seed, among=among), attack, without, claims)


def _values(column: Floats, start: Ints) -> list[set[float]]:
    """The values that each person has somewhere; a missing one is none."""
    parts = (column[a:b] for a, b in pairwise(start))
    return [set(part[~np.isnan(part)].tolist()) for part in parts]


def _rarest(sets: list[set[float]], had: dict[float, int]) -> float | None:
    """Of the values that all have, the one that fewest people of the release have."""
    common = set.intersection(*sets) if sets else set()
    return min(common, key=lambda value: (had[value], value)) if common else None
