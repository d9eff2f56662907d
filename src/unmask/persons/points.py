"""Unicity: whom do k random points of a person single out? After de Montjoye et al. [MONTJOYE]_.

A point is what somebody may come to know of a person: one row, restricted to some columns (when and where). The
intruder draws k different points of a person and looks for people of the release who have all of them; a coarser value
is had by everybody whose value is in it. Where only the person is left they are singled out.

Sequences: the intruder knows k things that a person did one after the other, without the times. Whoever of the release
has them in this order, with others between, is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Estimate, Progress, rate, silent
from unmask.persons.persons import Persons
from unmask.shown import Shown
from unmask.study import Match, number_rows

MOST = 8  # points
JUDGED = 4  # points that the policy judges: as many as were enough for 95 % of people in the paper
DRAWS = 4  # of the points of each person
ASKED = 1_000  # people, at most
IN_ORDER = 300  # people whose sequences are asked about, which takes longer


class Owners(NamedTuple):
    """People who have a row of each kind: ``people[start[k] : start[k + 1]]``, ascending, each once."""

    start: Ints
    people: Ints

    def of(self, kind: int) -> Ints:
        """Who has it."""
        return self.people[self.start[kind] : self.start[kind + 1]]


def owners(kinds: Ints, people: Ints, n_kinds: int) -> Owners:
    """Gather the people of each kind from their pairs."""
    width = int(people.max(initial=0)) + 1
    pairs = np.unique(kinds * width + people)
    start = np.searchsorted(pairs, np.arange(n_kinds + 1) * width).astype(np.int64)
    return Owners(start, pairs % width)


def person_of(start: Ints) -> Ints:
    """The person of each row."""
    return np.repeat(np.arange(start.size - 1), np.diff(start))


def owners_of(match: Match, start: Ints) -> Owners:
    """People of the release who have a row that each kind of row of the original matches."""
    groups = owners(match.group, person_of(start), int(match.groups.max(initial=match.group.max(initial=0))) + 1)
    several = np.diff(groups.start)[match.groups]
    kinds = np.repeat(match.kind_of_entry, several)
    step = np.arange(kinds.size) - np.repeat(np.cumsum(several) - several, several)
    people = groups.people[np.repeat(groups.start[match.groups], several) + step]
    return owners(kinds, people, match.start.size - 1)


@dataclass(frozen=True, slots=True)
class Unicity(Shown):
    """Whom k points single out, for k = 1, 2, ...; figures are of the people asked about."""

    original: tuple[Estimate, ...]  # singled out in the original, if it were published
    released: tuple[Estimate, ...]  # singled out rightly in the release
    found: tuple[Estimate, ...]  # found in the release: one time in as many as are left
    columns: tuple[str, ...]
    judged: int  # number of points that is judged
    asked: Ints = field(repr=False)
    credit: Floats = field(repr=False)  # of each person asked about, by so many points
    claimed: float  # share of them whose points somebody of the release has


class Left(NamedTuple):
    """What is left after each point of one draw: how many of the original, of the release, and if the own is there."""

    original: Ints
    released: Ints
    own: Ints


Look = Callable[[int, np.random.Generator], Left]


def unicity(persons: Persons, *, seed: int = 0, progress: Progress = silent) -> Unicity:
    """Draw points of people, and count who has them."""
    match = persons.match(persons.points)
    raw = _numbered(persons, persons.points)
    mine = owners(raw, person_of(persons.start[: persons.n + 1]), int(raw.max()) + 1)
    theirs = owners_of(match, persons.released_start)
    kind_of = np.zeros(int(raw.max()) + 1, dtype=np.int64)
    kind_of[raw] = match.kind[: raw.size]

    def look(p: int, rng: np.random.Generator) -> Left:
        drawn = rng.permutation(np.unique(raw[persons.start[p] : persons.start[p + 1]]))[:MOST]
        here = _left([mine.of(k) for k in drawn])
        there = _left([theirs.of(kind_of[k]) for k in drawn])
        return _filled(here, there, persons.own[p])

    return _counted(persons, look, persons.points, seed, progress)


def _numbered(persons: Persons, columns: tuple[str, ...]) -> Ints:
    """Equal rows of the original, on some columns, have one number."""
    table = persons.release.original.select(columns)
    codes = [table[name].rank("dense").fill_null(0).cast(int).to_numpy() for name in columns]
    return number_rows(np.column_stack(codes))


def _left(sets: list[Ints]) -> list[Ints]:
    """Who has the first, the first two, .. of all."""
    found = [sets[0]]
    for each in sets[1:]:
        found.append(np.intersect1d(found[-1], each, assume_unique=True))
    return found


def _filled(here: list[Ints], there: list[Ints], own: int) -> Left:
    """Numbers for 1 to MOST points; who has fewer stays with all of them."""
    more = [min(k, len(here) - 1) for k in range(MOST)]
    return Left(
        np.array([here[k].size for k in more]), np.array([there[k].size for k in more]),
        np.array([bool(np.isin(own, there[k])) for k in more]).astype(np.int64),
    )  # fmt: skip


def _counted(
    persons: Persons, look: Look, columns: tuple[str, ...], seed: int, progress: Progress, most: int = ASKED
) -> Unicity:
    """Ask about people, and take the mean over the draws of each."""
    there = np.flatnonzero(persons.there)
    chosen = np.random.default_rng([seed, 34]).permutation(there)[:most]
    asked = np.sort(chosen)
    alone, right, credit = (np.zeros((asked.size, MOST)) for _ in range(3))
    seen = np.zeros(asked.size)
    for at, p in enumerate(asked):
        if at % 100 == 0:
            progress(at / asked.size, "points of people")
        rng = np.random.default_rng([seed, 35, int(p)])
        for _ in range(DRAWS):
            left = look(int(p), rng)
            alone[at] += left.original == 1
            right[at] += (left.released == 1) & (left.own == 1)
            credit[at] += left.own / np.maximum(left.released, 1)
            seen[at] += left.released[JUDGED - 1] > 0

    def rates(part: Floats, chance: float) -> tuple[Estimate, ...]:
        return tuple(rate(part[:, k] / DRAWS, chance=chance, seed=seed) for k in range(MOST))

    return Unicity(
        rates(alone, 0.0), rates(right, persons.chance), rates(credit, persons.chance), columns, JUDGED, asked,
        credit[:, JUDGED - 1] / DRAWS, float(seen.mean()) / DRAWS,
    )  # fmt: skip


def sequences(persons: Persons, *, seed: int = 0, progress: Progress = silent) -> Unicity | None:
    """Draw things that people did one after the other, and count who did them in this order; None: no times."""
    times = persons.times()
    items = tuple(name for name in persons.release.quasi if name != persons.time)
    if times is None or not items:
        return None
    match = persons.match(items)
    raw = _numbered(persons, items)
    mine = owners(raw, person_of(persons.start[: persons.n + 1]), int(raw.max()) + 1)
    theirs = owners_of(match, persons.released_start)
    fits = [set(match.groups[a:b].tolist()) for a, b in pairwise(match.start)]
    here_told = _told(persons.start[: persons.n + 1], times[0], raw)
    there_told = _told(persons.released_start, times[1], match.group)

    def look(p: int, rng: np.random.Generator) -> Left:
        rows = np.arange(persons.start[p], persons.start[p + 1])
        rows = rows[np.lexsort((rows, times[0][rows]))]
        first = int(rng.integers(0, max(1, rows.size - MOST + 1)))
        window = rows[first : first + MOST]
        here = _left([mine.of(raw[row]) for row in window])
        there = _left([theirs.of(match.kind[row]) for row in window])
        for k in range(1, len(here)):
            alike, kinds = [{int(raw[row])} for row in window[: k + 1]], match.kind[window[: k + 1]]
            here[k] = _in_order(here_told, np.intersect1d(here[k], here[k - 1]), alike)
            there[k] = _in_order(there_told, np.intersect1d(there[k], there[k - 1]), [fits[kind] for kind in kinds])
        return _filled(here, there, persons.own[p])

    return _counted(persons, look, items, seed, progress, IN_ORDER)


Told = list[list[tuple[float, int]]]  # of each person when and what, in the order of time


def _told(start: Ints, when: Floats, what: Ints) -> Told:
    found: Told = []
    times = np.nan_to_num(when, nan=-np.inf)
    for a, b in pairwise(start):
        order = a + np.argsort(times[a:b], kind="stable")
        found.append(list(zip(times[order].tolist(), what[order].tolist(), strict=True)))
    return found


def _in_order(side: Told, people: Ints, wanted: list[set[int]]) -> Ints:
    """Those of the people who did what is wanted in this order; rows of one time have none."""
    return np.array([q for q in people.tolist() if did(side[q], wanted)], dtype=np.int64)


def did(rows: list[tuple[float, int]], wanted: list[set[int]]) -> bool:
    """Whether rows in the order of time hold what is wanted, each at another row and none before the last.

    The earliest row that fits is taken; among those of one time, which are in no order, one is not kept for later.
    """
    free, now = list(rows), -np.inf
    for each in wanted:
        place = next((k for k, (time, what) in enumerate(free) if what in each and time >= now), None)
        if place is None:
            return False
        now = free.pop(place)[0]
    return True
