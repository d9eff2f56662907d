"""People with the same rows: groups of persons, as k-anonymity has groups of records."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from unmask.arrays import Counts, Flags, Floats, Ints
from unmask.persons.classes import group_bags
from unmask.persons.persons import Persons
from unmask.persons.points import Owners, owners_of
from unmask.study import Match


@dataclass(frozen=True, slots=True)
class Alike:
    """For each person who is in both tables: how many of the release have rows like theirs, and if they do."""

    size: Counts = field(repr=False)  # as many rows, each of which fits one of theirs
    own: Flags = field(repr=False)
    groups: int  # classes of people of the release with equal rows
    smallest: int  # people in the smallest of them
    by_set: Counts = field(repr=False)  # the same, where how often a row occurs is not known
    by_set_own: Flags = field(repr=False)

    @property
    def credit(self) -> Floats:
        """The share of the guess that is right."""
        return np.where(self.own, 1.0 / np.maximum(self.size, 1), 0.0)


def alike(persons: Persons) -> Alike:
    """Count who has the same rows, in the release's coding."""
    match = persons.match()
    there, start = np.flatnonzero(persons.there), persons.released_start
    classes = group_bags(start, match.group)
    size, own = _by_bags(persons, match, there, classes)
    theirs = owners_of(match, start)
    sets = _set_sizes(match, start)
    by_set = [_same_set(persons, match, theirs, sets, int(p)) for p in there]
    return Alike(
        size, own, int(classes.max()) + 1, int(np.bincount(classes).min()),
        np.array([found.size for found in by_set], dtype=np.int64),
        np.array([bool(np.isin(persons.own[p], found)) for p, found in zip(there, by_set, strict=True)]),
    )  # fmt: skip


def _by_bags(persons: Persons, match: Match, there: Ints, classes: Ints) -> tuple[Counts, Flags]:
    """Classes of people are one person: whoever fits one of them fits all."""
    start, counts = persons.released_start, np.bincount(classes)
    first = np.unique(classes, return_index=True)[1]
    held = [np.sort(match.group[start[q] : start[q + 1]]) for q in first]
    by_bag = {bag.tobytes(): number for number, bag in enumerate(held)}
    several = np.diff(match.start)
    of_size: dict[int, list[int]] = {}
    for number, bag in enumerate(held):
        of_size.setdefault(bag.size, []).append(number)
    size, own = np.zeros(there.size, dtype=np.int64), np.zeros(there.size, dtype=bool)
    for at, p in enumerate(there):
        kinds = match.kind[persons.start[p] : persons.start[p + 1]]
        if (several[kinds] == 1).all():
            bag = np.sort(match.groups[match.start[kinds]])
            fitting = [by_bag[bag.tobytes()]] if bag.tobytes() in by_bag else []
        elif (several[kinds] == 0).any():
            fitting = []
        else:
            fitting = [n for n in of_size.get(kinds.size, []) if _fits(match, kinds, held[n])]
        size[at] = int(counts[fitting].sum())
        own[at] = bool(np.isin(classes[persons.own[p]], fitting))
    return size, own


def _fits(match: Match, kinds: Ints, groups: Ints) -> bool:
    """Whether each row of one bag can be laid on a row of the other that it matches, all at once."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - this alone needs it

    fit = np.array([np.isin(groups, match.groups[match.start[k] : match.start[k + 1]]) for k in kinds])
    if not (fit.any(axis=1).all() and fit.any(axis=0).all()):
        return False
    rows, cols = linear_sum_assignment(fit, maximize=True)
    return bool(fit[rows, cols].all())


def _set_sizes(match: Match, start: Ints) -> list[set[int]]:
    return [set(match.group[a:b].tolist()) for a, b in pairwise(start)]


def _same_set(persons: Persons, match: Match, theirs: Owners, sets: list[set[int]], p: int) -> Ints:
    """People of the release who have all kinds of rows of a person, and no others."""
    kinds = np.unique(match.kind[persons.start[p] : persons.start[p + 1]])
    have = have_all(theirs, kinds)
    allowed = {int(g) for k in kinds for g in match.groups[match.start[k] : match.start[k + 1]]}
    return np.array([q for q in have if sets[q] <= allowed], dtype=np.int64)


def have_all(theirs: Owners, kinds: Ints) -> Ints:
    """Who has a row that matches each of the kinds; the rarest is looked at first."""
    each = sorted((theirs.of(int(k)) for k in kinds), key=len)
    found = each[0]
    for people in each[1:]:
        if not found.size:
            break
        found = np.intersect1d(found, people, assume_unique=True)
    return found
