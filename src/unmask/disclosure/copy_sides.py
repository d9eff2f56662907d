"""What copies are counted from: some rows of each table, drawn by lot, and how many rows equal somebody.

In memory both come from arrays. Where tables are larger, an engine draws the same rows and counts the same equals.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.disclosure.equal_rows import Equals, by_columns, equals_of, same_rows
from unmask.disclosure.key_baselines import Kinds, kinds_of
from unmask.disclosure.outside import draw
from unmask.study import spread
from unmask.tables import Encoded

Which = Literal["original", "released", "outside"]


class Among(NamedTuple):
    """Equals of some people in the whole release, and the chance of each to have one where columns are independent."""

    equals: Equals
    chance: Floats


class Sides(Protocol):
    """The original, the release, and people outside, wherever they are."""

    def size(self, which: Which) -> int:
        """How many rows a table has."""

    def some(self, which: Which, count: int, seed: int) -> Encoded:
        """Draw rows by lot, over an order of their content and in it."""

    def among(self, people: Encoded) -> Among:
        """How many of these people, and how many rows of the release, equal each of them."""

    def kinds(self) -> Kinds:
        """The same of all people of the original, counted."""

    def everybody(self) -> Among:
        """The same of all people of the original, or of as many as can be held."""

    def whole(self) -> bool:
        """Whether the release is the original, row for row, in some order."""

    def shares(self) -> Floats:
        """For each original record, the share of its copies that stand in the release; nothing of one elsewhere."""


class Here:
    """Tables in memory. ``rows``: the places of people in the original, of so many records (``n``)."""

    def __init__(self, tables: dict[Which, Encoded], rows: Rows, n: int) -> None:
        self.tables, self._rows, self._n = tables, rows, n
        self._all: Equals | None = None

    def size(self, which: Which) -> int:
        """How many rows a table has."""
        return len(self.tables[which]) if which in self.tables else 0

    def some(self, which: Which, count: int, seed: int) -> Encoded:
        """Draw rows by lot."""
        return some(self.tables[which], count, seed)

    def among(self, people: Encoded) -> Among:
        """Equals of some people."""
        equals = equals_of(people, self.tables["released"])
        return Among(equals, by_columns(equals, self.size("released")))

    def everybody(self) -> Among:
        """Equals of all people."""
        return Among(self._equals, by_columns(self._equals, self.size("released")))

    def kinds(self) -> Kinds:
        """Equals of all people, counted."""
        return kinds_of(self._equals.own, self._equals.there)

    def whole(self) -> bool:
        """Whether the release is the original."""
        return same_rows(self.tables["original"], self.tables["released"], self._equals)

    def shares(self) -> Floats:
        """For each original record."""
        return spread(self._equals.share, self._rows, self._n, np.nan)

    @property
    def _equals(self) -> Equals:
        if self._all is None:
            self._all = equals_of(self.tables["original"], self.tables["released"])
        return self._all


def some(side: Encoded, count: int, seed: int) -> Encoded:
    """Draw records by lot."""
    return side.take(draw(side, count, seed))
