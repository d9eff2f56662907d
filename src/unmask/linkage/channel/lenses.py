"""Evidence over several columns at once: rows that were left as they are, or made of values of one household."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.columns import Column
from unmask.linkage.channel.features import Spelling
from unmask.linkage.channel.labels import foretold_labels
from unmask.linkage.channel.material import Material

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 2  # columns of one name in both files
PAIRS = 200_000
MANY, LARGEST = 1.5, 12  # people in a household, on average
MOST_KIN = 2  # columns that may be the number of a household
MOST_HELD = 20_000_000  # households times labels


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many columns of a record are equal to the person's, as evidence."""

    person: tuple[Ints, ...]  # label that each person would have, column by column
    record: tuple[Ints, ...]
    table: Floats  # log likelihood ratio of so many equal columns

    def log(self, i: Ints, j: Ints) -> Floats:
        """Count, and look up."""
        return np.asarray(self.table[count_equal(self.person, self.record, i, j)])


def count_equal(person: tuple[Ints, ...], record: tuple[Ints, ...], i: Ints, j: Ints) -> Ints:
    """Number of equal columns of each pair."""
    count = np.zeros(np.broadcast(i, j).shape, dtype=np.int16)
    for ours, theirs in zip(person, record, strict=True):
        count += ours[i] == theirs[j]
    return count.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Untouched:
    """Rows that were left as they are: many columns equal at once, which columns one by one cannot tell."""

    columns: tuple[tuple[int, int], ...]  # of the person, of the record
    target: int = -1

    def fit(self, material: Material, taught: Ints) -> Agreement:
        """Compare how many columns are equal in known pairs with pairs of anybody."""
        person, record = material.once(("labels of rows", self.columns), lambda: self.labels(material))
        made = material.truth[taught]
        size = len(self.columns) + 1
        ours = np.bincount(count_equal(person, record, taught, made), minlength=size)
        shifts = range(1, max(2, min(taught.size, PAIRS // max(1, taught.size))))
        others = np.zeros(size)
        for shift in shifts:
            others += np.bincount(count_equal(person, record, taught, np.roll(made, shift)), minlength=size)
        return Agreement(person, record, log_ratio(ours, others))

    def labels(self, material: Material) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
        """Label that each person would have, and that each record has, column by column."""
        person, record = [], []
        for ours, theirs in self.columns:
            words = material.records[theirs].words
            labels = foretold_labels(material.text(Spelling((ours,))), material.book(theirs))
            person.append(np.where(labels == -1, len(words), labels))
            record.append(material.label(theirs))
        return tuple(person), tuple(record)


@dataclass(frozen=True, slots=True)
class OfKin:
    """In how many columns a record has the value of somebody of the person's household, as evidence."""

    held: tuple[NDArray[np.bool_], ...]  # which labels each household holds, column by column
    household: Ints
    record: tuple[Ints, ...]
    table: Floats

    def count(self, i: Ints, j: Ints) -> Ints:
        """Number of such columns of each pair."""
        found = np.zeros(np.broadcast(i, j).shape, dtype=np.int64)
        for held, record in zip(self.held, self.record, strict=True):
            found += held[self.household[i], record[j]]
        return found

    def log(self, i: Ints, j: Ints) -> Floats:
        """Count, and look up."""
        return np.asarray(self.table[self.count(i, j)])


@dataclass(frozen=True, slots=True)
class Kin:
    """Rows made of values of one household, each column mixed by itself: no cell need be the person's own."""

    columns: tuple[tuple[int, int], ...]  # of the person, of the record
    household: int  # a column of the person that few others share
    target: int = -1

    def fit(self, material: Material, taught: Ints) -> OfKin:
        """Compare in how many columns known people's records have values of their household with anybody's."""
        blank = material.once(("kin", self), lambda: self._held(material))
        made, size = material.truth[taught], len(self.columns) + 1
        others = np.zeros(size)
        for shift in range(1, max(2, min(taught.size, PAIRS // max(1, taught.size)))):
            others += np.bincount(blank.count(taught, np.roll(made, shift)), minlength=size)
        ours = np.bincount(blank.count(taught, made), minlength=size)
        return replace(blank, table=log_ratio(ours, others))

    def _held(self, material: Material) -> OfKin:
        people, records = Untouched(self.columns).labels(material)
        household = material.people[self.household].code + 1
        held = []
        for ours, theirs in zip(people, records, strict=True):
            table = np.zeros((int(household.max()) + 1, max(int(ours.max()), int(theirs.max())) + 1), dtype=bool)
            table[household[ours >= 0], ours[ours >= 0]] = True
            held.append(table)
        return OfKin(tuple(held), household, records, np.zeros(len(self.columns) + 1))


def kin(material: Material) -> list[Kin]:
    """The lens for each column of the original that a few people share, such as the number of a household."""
    pairs = _of_one_name(material)
    labels = max((len(material.records[theirs].words) for _, theirs in pairs), default=0)
    small = [
        place
        for place in households(material.people)
        if labels * len(material.people[place].words) <= MOST_HELD and place not in {ours for ours, _ in pairs}
    ]
    return [Kin(pairs, place) for place in small[:MOST_KIN]] if len(pairs) >= FEWEST else []


def households(columns: Sequence[Column]) -> list[int]:
    """Columns that a few people share each value of, such as the number of a household."""
    return [
        place
        for place, column in enumerate(columns)
        if MANY * len(column.words) < len(column) < LARGEST * len(column.words)
    ]


def log_ratio(ours: Ints, others: Floats) -> Floats:
    """Log likelihood ratio of each level: known pairs over pairs of anybody; a higher level never speaks less."""
    anybody = (others + 0.5 / others.size) / (others.sum() + 0.5)
    table = np.log((ours + 0.5 * anybody) / (ours.sum() + 0.5)) - np.log(anybody)
    return _monotone(table, ours + others)


def _monotone(table: Floats, weight: Floats) -> Floats:
    """More equal columns never speak less for a pair: pool neighbours that say otherwise."""
    blocks: list[list[float]] = []  # mean, weight, length
    for value, heft in zip(table.tolist(), (np.sqrt(weight) + 1e-3).tolist(), strict=True):
        blocks.append([value, heft, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, one, length = blocks.pop()
            total = one + blocks[-1][1]
            blocks[-1] = [(mean * one + blocks[-1][0] * blocks[-1][1]) / total, total, length + blocks[-1][2]]
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


def untouched(material: Material) -> Untouched | None:
    """The lens over all columns that both files have under one name."""
    pairs = _of_one_name(material)
    return Untouched(pairs) if len(pairs) >= FEWEST else None


def _of_one_name(material: Material) -> tuple[tuple[int, int], ...]:
    names = {column.name.casefold(): k for k, column in enumerate(material.people)}
    return tuple(
        (names[column.name.casefold()], k)
        for k, column in enumerate(material.records)
        if column.name.casefold() in names
    )
