"""Evidence over several columns at once: rows that were left as they are while the others were changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.linkage.channel.features import Spelling
from unmask.linkage.channel.labels import foretold_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEWEST = 2  # columns of one name in both files
PAIRS = 200_000


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
        person, record = material.once(("labels of rows", self.columns), lambda: self._labels(material))
        made = material.truth[taught]
        size = len(self.columns) + 1
        ours = np.bincount(count_equal(person, record, taught, made), minlength=size)
        shifts = range(1, max(2, min(taught.size, PAIRS // max(1, taught.size))))
        others = np.zeros(size)
        for shift in shifts:
            others += np.bincount(count_equal(person, record, taught, np.roll(made, shift)), minlength=size)
        return Agreement(person, record, log_ratio(ours, others))

    def _labels(self, material: Material) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
        person, record = [], []
        for ours, theirs in self.columns:
            words = material.records[theirs].words
            labels = foretold_labels(material.text(Spelling((ours,))), material.book(theirs))
            person.append(np.where(labels == -1, len(words), labels))
            record.append(material.label(theirs))
        return tuple(person), tuple(record)


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
    names = {column.name.casefold(): k for k, column in enumerate(material.people)}
    pairs = [
        (names[column.name.casefold()], k)
        for k, column in enumerate(material.records)
        if column.name.casefold() in names
    ]
    return Untouched(tuple(pairs)) if len(pairs) >= FEWEST else None
