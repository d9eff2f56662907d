"""What the intruder holds: the columns they know of people, the released columns, and views of both made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.special import ndtri

from unmask.linkage.channel.features import Feature, TextFeature, number_features, text_features

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

T = TypeVar("T")
SPACES = ("value", "log", "rank", "probit")
MANY_LEVELS = 60


def spread_ranks(values: Floats) -> Floats:
    """Ranks of values between 0 and 1, ties in the middle, NaN where there is none."""
    there = np.isfinite(values)
    _, inverse, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = np.full(values.size, np.nan)
    ranks[there] = ((ends - counts / 2) / max(1, there.sum()))[inverse]
    return ranks


def in_space(values: Floats, space: str) -> Floats:
    """Values, logarithms, ranks or normal scores."""
    if space == "value":
        return values
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
    _kept: dict[Any, Any] = field(default_factory=dict)

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

    @cached_property
    def features(self) -> list[Feature]:
        """Everything that orders the people."""
        return [feature for column in self.people for feature in number_features(column)]

    @cached_property
    def texts(self) -> list[TextFeature]:
        """Everything that a released text may be."""
        return [feature for column in range(len(self.people)) for feature in self.texts_of(column)]

    def texts_of(self, column: int) -> list[TextFeature]:
        """Everything that a text made from one column may be."""
        return self.once(("texts", column), lambda: text_features(self.people[column]))

    @cached_property
    def groups(self) -> list[TextFeature]:
        """Columns of few levels, for what differs by group."""
        return [f for f in (self.texts_of(c)[0] for c in range(len(self.people))) if 1 < len(f.texts) <= MANY_LEVELS]

    def person(self, feature: int, space: str) -> Floats:
        """A feature of all people in a space."""
        return self.once(("person", feature, space), lambda: in_space(self.features[feature].values, space))

    def record(self, target: int, space: str) -> Floats:
        """A released column in a space."""
        return self.once(("record", target, space), lambda: in_space(self.records[target].number, space))

    def label(self, target: int) -> Ints:
        """Labels of a released column; missing is the last."""
        column = self.records[target]
        return np.where(column.code < 0, len(column.words), column.code)

    def rarity(self, target: int) -> Floats:
        """One over the share of each record's label."""

        def make() -> Floats:
            label = self.label(target)
            return label.size / np.bincount(label)[label]

        return self.once(("rarity", target), make)

    def steps(self, feature: int) -> float:
        """Resolution of a feature."""
        from unmask.linkage.channel.columns import resolution  # noqa: PLC0415 - a name clash otherwise

        return float(self.once(("steps", feature), lambda: resolution(self.features[feature].values)))
