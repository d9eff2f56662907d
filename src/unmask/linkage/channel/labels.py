"""Recipes for released labels: equal to something known, a table of categories, steps of an order, an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.linkage.channel.factors import Choices, Inside, Labels, States, Table, ends, fit_states
from unmask.linkage.channel.normal_forms import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.linkage.channel.features import Spelling, TextFeature
    from unmask.linkage.channel.material import Key, Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Neighbours = tuple[Ints, Ints, Floats]  # labels before and after each place, and the weight of the first

LEAST_ERROR = 1e-9
ENDS = 4.0  # people's weight of no preference for the ends of an interval
MOST_CELLS = 4_000_000


class Book(NamedTuple):
    """The labels of a released column by their text, and what does not count when texts are compared."""

    fold: Callable[[str], str]
    place: dict[str, int]


def book_of(words: tuple[str, ...]) -> Book:
    """Case, accents, signs and blanks do not count if labels stay apart without them; else case alone."""
    place = {folded(word): k for k, word in enumerate(words)}
    if len(place) == len(words) and "" not in place:
        return Book(folded, place)
    return Book(str.casefold, {word.casefold(): k for k, word in enumerate(words)})


def foretold_labels(feature: TextFeature, book: Book) -> Ints:
    """The label that each person's text is, -1 where there is none, -2 where no record has it."""
    lookup = np.array([book.place.get(book.fold(text), -2) for text in feature.texts] + [-1], dtype=np.int64)
    return np.asarray(lookup[feature.code])


@dataclass(frozen=True, slots=True)
class Equal:
    """A released text that is a text known of the person, in one writing or in one of several."""

    target: int
    spelling: Spelling
    others: tuple[Spelling, ...] = ()
    reading: str = ""  # the form in which the released text is read

    def fit(self, material: Material, taught: Ints) -> Labels | Choices:
        """Learn how often it is not."""
        label, rarity = material.label(self.target, self.reading), material.rarity(self.target, self.reading)
        none = len(material.heard(self.target, self.reading).texts)  # the label of missing cells
        book = material.book(self.target, self.reading)
        ways = np.array([foretold_labels(material.text(s), book) for s in (self.spelling, *self.others)])
        absent = ways[0] == -1
        ways = np.where(absent, none, ways)  # who has no value is foretold to have none
        said = label[material.truth[taught]]
        right = ways[:, taught] == said
        error = np.empty(absent.size)
        for group in (absent, ~absent):
            rows = group[taught]
            error[group] = (int((~right.any(0))[rows].sum()) + 0.5) / (rows.sum() + 1.0)
        error = np.clip(error, LEAST_ERROR, 1 - LEAST_ERROR)
        error = np.where(absent & ~(label == none).any(), 1.0, error)
        ways = np.where(ways < 0, none + 1, ways)
        if self.others:
            hits = right & (np.cumsum(right, axis=0) == 1)
            return Choices(ways, (hits.sum(1) + 0.5) / (hits.sum() + 0.5 * len(ways)), error, label, rarity)
        return Labels(ways[0], ways[0], np.ones(absent.size), error, label, rarity)


@dataclass(frozen=True, slots=True)
class Category:
    """A released label given a category of the person, or one within each group: a table, shrunk to the marginal."""

    target: int
    spelling: Spelling
    group: int = -1  # a column of the person, each label of which has a table of its own

    def fit(self, material: Material, taught: Ints) -> Table:
        """Count labels by category."""
        label, made = material.label(self.target), material.truth[taught]
        code, rows = categories(material, self.spelling, self.group)
        cols = len(material.records[self.target].words) + 1
        counts = np.zeros((rows, cols))
        np.add.at(counts, (code[taught], label[made]), 1.0)
        marginal = np.maximum(np.bincount(label, minlength=cols) / label.size, 1e-12)
        weight = _shrinkage(counts, marginal)
        shrunk = (counts + weight * marginal) / (counts.sum(1, keepdims=True) + weight)
        return Table(code, label, np.log(shrunk / marginal))


def categories(material: Material, spelling: Spelling, group: int = -1) -> tuple[Ints, int]:
    """The category of each person, missing being one of its own, and how many there are."""
    feature = material.text(spelling)
    code, levels = np.where(feature.code < 0, len(feature.texts), feature.code), len(feature.texts) + 1
    if group < 0:
        return code, levels
    column = material.people[group]
    return code + levels * (column.code + 1), levels * (len(column.words) + 1)


def _shrinkage(counts: Floats, marginal: Floats) -> float:
    """How many people the marginal is worth: what foretells each known person from the others best."""
    total = counts.sum(1, keepdims=True)
    used = counts > 0
    best, chosen = -np.inf, 1.0
    for weight in (0.05, 0.2, 1.0, 4.0, 16.0, 64.0):
        left = (counts - 1 + weight * marginal) / np.maximum(total - 1 + weight, 1e-12)
        score = float((counts[used] * np.log(np.maximum(left[used], 1e-12))).sum())
        if score > best:
            best, chosen = score, weight
    return chosen


@dataclass(frozen=True, slots=True)
class Steps:
    """A released label that changes along an order: the labels of the two nearest known people."""

    target: int
    feature: Key

    def fit(self, material: Material, taught: Ints) -> Labels:
        """Sort the known people, and learn how often neighbours tell the truth."""
        return steps_along(material, self.target, material.person(self.feature, "rank"), taught)


def steps_along(
    material: Material, target: int, order: Floats, taught: Ints, foretold: Neighbours | None = None
) -> Labels:
    """Learn labels along an order, NaN where a person has no place, and how often neighbours tell the truth.

    ``foretold``: what an order that each known person did not teach says of them, where the order itself was learnt.
    """
    label = material.label(target)
    rows = taught[np.isfinite(order[taught])]
    at, said = order[rows], label[material.truth[rows]]
    if rows.size < 3:
        nothing, all_wrong = np.full(order.size, -1), np.ones(order.size)
        return Labels(nothing, nothing, all_wrong, all_wrong, label, material.rarity(target))
    first, second, weight = neighbours(at, said, np.nan_to_num(order))
    ours = neighbours(at, said, at, own=np.arange(rows.size)) if foretold is None else foretold
    agree = ours[0] == ours[1]
    error = np.ones(order.size)
    for both in (True, False):
        asked = agree == both
        right = np.where(said == ours[0], ours[2], 0.0) + np.where(said == ours[1], 1.0 - ours[2], 0.0)
        hit = int((right[asked] > 0).sum())
        share = (int(asked.sum()) - hit + 0.5) / (int(asked.sum()) + 1.0)
        error[(first == second) == both] = np.clip(share, LEAST_ERROR, 1.0)
    first = np.where(np.isfinite(order), first, -1)
    return Labels(first, second, weight, error, label, material.rarity(target))


def neighbours(at: Floats, said: Ints, asked: Floats, own: Ints | None = None) -> Neighbours:
    """Labels of the known people before and after each place, and the weight of the first; ``own`` is left out.

    Several known people at one place: the label that most of them have.
    """
    keys, inverse = np.unique(at, return_inverse=True)
    pairs, counts = np.unique(np.column_stack((inverse, said)), axis=0, return_counts=True)
    mode = pairs[np.lexsort((pairs[:, 1], counts, pairs[:, 0]))]
    ends = np.append(mode[1:, 0] != mode[:-1, 0], True)
    label = mode[ends, 1]
    if own is None:
        after = np.clip(np.searchsorted(keys, asked, "left"), 0, keys.size - 1)
        before = np.clip(np.searchsorted(keys, asked, "right") - 1, 0, keys.size - 1)
    else:
        before, after = np.maximum(inverse - 1, 0), np.minimum(inverse + 1, keys.size - 1)
        before = np.where(inverse == 0, after, before)
        after = np.where(inverse == keys.size - 1, before, after)
    gap = keys[after] - keys[before]
    weight = np.where(gap > 0, (keys[after] - asked) / np.where(gap > 0, gap, 1.0), 1.0)
    weight = np.where(label[before] == label[after], 1.0, np.clip(weight, 0.02, 0.98))
    return label[before], label[after], weight


@dataclass(frozen=True, slots=True)
class Interval:
    """A released interval that contains a number known of the person."""

    target: int
    feature: Key

    def fit(self, material: Material, taught: Ints) -> Inside:
        """Learn how often it does not."""
        column = material.records[self.target]
        value = material.feature(self.feature).values
        low, high = column.low, column.high
        assert low is not None and high is not None  # noqa: S101, PT018 - only intervals are asked so
        made = material.truth[taught]
        both = np.isfinite(value[taught]) & ~np.isnan(low[made])
        place = ends(value[taught], low[made], high[made])[both]
        error = (int((place < 0).sum()) + 0.5) / (place.size + 1.0)
        chance = _chances(np.sort(value[np.isfinite(value)]), low, high)
        usual = chance[:, made][:, both].sum(1) + LEAST_ERROR
        counts = np.bincount(place[place >= 0], minlength=3) + ENDS * usual / usual.sum()
        told = (counts / counts.sum())[:, None] / chance
        return Inside(value, low, high, told, float(np.clip(error, LEAST_ERROR, 1.0)))


def _chances(values: Floats, low: Floats, high: Floats) -> Floats:
    """Share of people at the low end of each interval, between its ends and at its high end."""
    last = np.nextafter(high, -np.inf)
    first, after = np.searchsorted(values, low, "left"), np.searchsorted(values, low, "right")
    before, beyond = np.searchsorted(values, last, "left"), np.searchsorted(values, high, "left")
    before = np.maximum(before, after)
    counts = np.stack((after - first, before - after, np.maximum(beyond - before, 0)))
    return np.asarray(np.maximum(counts, 0.5) / max(1, values.size))


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which cells are missing or zero, whatever the values: evidence of its own."""

    target: int
    column: int

    def fit(self, material: Material, taught: Ints) -> States:
        """Count the states of known people."""
        ours, theirs = material.people[self.column], material.records[self.target]
        person = np.where(ours.missing, 1, np.where(ours.number == 0, 2, 0))
        record = np.where(theirs.missing, 1, np.where(theirs.number == 0, 2, 0))
        return fit_states(person, record, taught, material.truth[taught])
