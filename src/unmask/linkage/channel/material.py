"""What the intruder holds: the columns they know of people, the released columns, and views of both made once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.special import ndtri

from unmask.linkage.channel.columns import resolution
from unmask.linkage.channel.digests import write
from unmask.linkage.channel.features import (
    ITEM,
    Spelling,
    ascending,
    item_feature,
    number_features,
    spell,
    spellings,
    within,
)
from unmask.linkage.channel.labels import book_of
from unmask.linkage.channel.pieces import pieces_of
from unmask.linkage.channel.rows import ROW, row_feature, row_keys
from unmask.linkage.channel.views import VIEWS, stray

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column
    from unmask.linkage.channel.features import Feature, TextFeature
    from unmask.linkage.channel.groups import Groups
    from unmask.linkage.channel.labels import Book

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

T = TypeVar("T")
Key = tuple[int, str]  # column and part of it: "", "year", "order", or form and group: "score:3"
SPACES = ("value", "size", "log", "rank", "probit")
MANY_LEVELS = 60
LARGE = 200_000  # people or records


def spread_ranks(values: Floats) -> Floats:
    """Ranks of values between 0 and 1, ties in the middle, NaN where there is none."""
    there = np.isfinite(values)
    _, inverse, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = np.full(values.size, np.nan)
    ranks[there] = ((ends - counts / 2) / max(1, there.sum()))[inverse]
    return ranks


def in_space(values: Floats, space: str) -> Floats:
    """Values, their sizes without the sign, logarithms, ranks or normal scores."""
    if space in {"value", "size"}:
        return values if space == "value" else np.abs(values)
    if space == "log":
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(values > 0, np.log(np.where(values > 0, values, 1.0)), np.nan)
    ranks = spread_ranks(values)
    return ranks if space == "rank" else np.asarray(ndtri(ranks))


@dataclass
class Material:
    """Columns of both files in a canonical order, and which record was made from whom."""

    people: tuple[Column, ...]
    records: tuple[Column, ...]
    truth: Ints  # row of the release for each person, -1: none
    groups: Groups | None = None  # who is published together
    is_view: bool = False  # columns of a name belong together, and no others
    _kept: dict[Any, Any] = field(default_factory=dict)
    _whole: tuple[Callable[[], Material], Ints, Ints] | None = None  # of which this is a sample

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Make a view once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[no-any-return]

    @property
    def n_people(self) -> int:
        """People whom the intruder knows of."""
        return len(self.truth)

    @property
    def n_records(self) -> int:
        """Rows of the release."""
        return len(self.records[0]) if self.records else 0

    def units(self, people: Ints) -> Ints:
        """Number of the unit of each of these people: who is published together is known together."""
        return people if self.groups is None else self.groups.people[people]

    @cached_property
    def features(self) -> dict[Key, Feature]:
        """Everything that tells people apart by an order: column and part of it."""
        found = {(place, part): f for place in range(len(self.people)) for part, f in self._parts(place).items()}
        found |= {key: self.feature(key) for key in (() if self.is_view else row_keys(self.people))}
        return {key: f for key, f in found.items() if np.unique(f.values[np.isfinite(f.values)]).size > 1}

    def _parts(self, place: int) -> dict[str, Feature]:
        return self.once(("parts", place), lambda: number_features(self.people[place]))

    def feature(self, key: Key) -> Feature:
        """One of them, also if it tells nobody apart here; or a number within a group, such as "score:3"."""
        if key[1].startswith(ITEM):  # which none of these people may have
            return self.once(("item", key), lambda: item_feature(self.people[key[0]], key[1].removeprefix(ITEM)))
        if key[1].startswith(ROW):
            return self.once(("row", key), lambda: row_feature(self.people, key))
        if ":" in key[1]:
            return self.once(("within", key), lambda: self._within(key))
        return self._parts(key[0])[key[1]]

    def _within(self, key: Key) -> Feature:
        """A number within a group of all people, also if only some of them are here."""
        if self._whole is not None:
            whole, people = self._whole[0](), self._whole[1]
            feature = whole._within(key) if whole.is_large else whole.feature(key)  # noqa: SLF001 - of the same kind
            return replace(feature, values=feature.values[people])
        form, _, group = key[1].partition(":")
        values = self.people[key[0]].number
        by_value = partial(self.once, ("by value", key[0]), partial(ascending, values))
        return within(self.people[key[0]], self.people[int(group)], form, by_value)

    @cached_property
    def spellings(self) -> list[Spelling]:
        """Everything that a released text may be."""
        return [Spelling((place,), form) for place, column in enumerate(self.people) for form in spellings(column)]

    def text(self, spelling: Spelling) -> TextFeature:
        """The text that a spelling names, for each person."""
        return self.once(("text", spelling), lambda: write(self.people, spelling))

    @cached_property
    def levels(self) -> list[int]:
        """Columns of few levels, for what differs by group."""
        return [place for place, column in enumerate(self.people) if 1 < len(column.words) <= MANY_LEVELS]

    def person(self, key: Key, space: str) -> Floats:
        """A feature of all people in a space."""
        return self.once(("person", key, space), lambda: in_space(self.feature(key).values, space))

    def view(self, name: str) -> Material:
        """The same people and records with other columns: what a row says besides its cells."""
        return self.once(("view", name), lambda: self._view(name))

    def _view(self, name: str) -> Material:
        if self._whole is not None:
            whole, (people, records) = self._whole[0](), self._whole[1:]
            if not whole.is_large:
                return whole.view(name).sample(people, records)
            seen = partial(whole._view, name)  # noqa: SLF001 - of the same kind
            return replace(seen().sample(people, records), _whole=(seen, people, records))
        if name == "order" and not (stray(self.people) or stray(self.records)):
            return Material((), (), self.truth, is_view=True)
        ours, theirs = (self.groups.people, self.groups.records) if self.groups else (None, None)
        sides = (VIEWS[name](self.people, ours), VIEWS[name](self.records, theirs))
        return Material(tuple(sides[0]), tuple(sides[1]), self.truth, is_view=True)

    @property
    def is_large(self) -> bool:
        """Whether what is made of all of it takes much memory: it is then made again rather than kept."""
        return max(self.n_people, self.n_records) > LARGE

    def forget(self, but: set[str]) -> None:
        """Free the memory of what was made once, but for some views."""
        kept = {key: made for key, made in self._kept.items() if key[0] == "view" and key[1] in but}
        self._kept.clear()
        self._kept.update(kept)

    def sample(self, people: Ints, records: Ints) -> Material:
        """Some of the people and records as a material of their own; recipes learnt on it fit this one too."""
        last = max(int(side.max(initial=-1)) for side in (self.truth, records))  # a view may have no column at all
        place = np.full(last + 2, -1)
        place[records] = np.arange(records.size)
        truth = np.where(self.truth[people] >= 0, place[self.truth[people]], -1)
        return Material(
            tuple(column.take(people) for column in self.people),
            tuple(column.take(records) for column in self.records),
            truth,
            self.groups and self.groups.take(people, records),
            self.is_view,
            _whole=(lambda: self, people, records),
        )

    def record(self, target: int, space: str) -> Floats:
        """A released column in a space."""
        return self.once(("record", target, space), lambda: in_space(self.records[target].number, space))

    def pieces(self, target: int) -> Material:
        """The same people, and the pieces of one released column as the release."""
        return self.once(
            ("pieces", target),
            lambda: Material(self.people, pieces_of(self.records[target]), self.truth, _kept=self._kept_of_people()),
        )

    def _kept_of_people(self) -> dict[Any, Any]:
        """Views of people alone, which stay what they are beside another release."""
        return {key: view for key, view in self._kept.items() if key[0] in {"text", "parts", "person", "steps"}}

    def heard(self, target: int, reading: str = "") -> TextFeature:
        """A released column, read in one of the forms that texts have."""
        return self.once(("heard", target, reading), lambda: spell(self.records[target], reading))

    def book(self, target: int, reading: str = "") -> Book:
        """The labels of a released column by their text."""
        return self.once(("book", target, reading), lambda: book_of(self.heard(target, reading).texts))

    def label(self, target: int, reading: str = "") -> Ints:
        """Labels of a released column; missing is the last."""
        heard = self.heard(target, reading)
        return np.where(heard.code < 0, len(heard.texts), heard.code)

    def rarity(self, target: int, reading: str = "") -> Floats:
        """One over the share of each record's label."""

        def make() -> Floats:
            label = self.label(target, reading)
            return label.size / np.bincount(label)[label]

        return self.once(("rarity", target, reading), make)

    def steps(self, key: Key) -> float:
        """Resolution of a feature."""
        return float(self.once(("steps", key), lambda: resolution(self.feature(key).values)))
