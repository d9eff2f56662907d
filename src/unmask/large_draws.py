"""Rows of a table that is elsewhere, drawn by lot over an order of their content: the rows that memory would draw.

A number made of all its values says where a row stands. First it is counted how many rows have numbers that begin
alike, part by part; then the parts give the rows of those beginnings that hold a place that was drawn.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Ints
from unmask.disclosure import SORTED, Which, content_numbers, draw, places_drawn
from unmask.engines import Form, Store, over_table
from unmask.errors import EngineError
from unmask.tables import Encoded

BITS = 20  # of a number that rows are counted by
PART = 1_000_000


class Rows(NamedTuple):
    """How parts of a table become records of an encoding: numbers, and the codes of what is no number."""

    form: Form

    @classmethod
    def of(cls, store: Store) -> Rows:
        """As a store has them."""
        return cls(Form.of(store))

    @property
    def words(self) -> list[int]:
        """Places of keys that are no numbers."""
        return [j for j in range(self.form.n_keys) if j not in self.form.numeric]

    def encoded(self, part: Any) -> Encoded:  # noqa: ANN401 - an Arrow table or batch
        """The rows of a part."""
        numbers, codes = self.form.arrays(part)
        return Encoded(numbers, np.ascontiguousarray(codes[:, self.words]))


def _beginning(number: NDArray[np.uint64]) -> Ints:
    return (number >> np.uint64(64 - BITS)).astype(np.int64)


class Tallied(NamedTuple):
    """How many rows have numbers that begin so."""

    beginning: Ints
    number: Ints


class Tally(NamedTuple):
    """Counts rows by how their numbers begin."""

    rows: Rows

    @property
    def fields(self) -> str:
        """Names and types of an answer."""
        return "beginning bigint, number bigint"

    def __call__(self, part: Any) -> Tallied:  # noqa: ANN401 - an Arrow table or batch
        """Count one part."""
        found = np.unique(_beginning(content_numbers(self.rows.encoded(part))), return_counts=True)
        return Tallied(found[0], found[1].astype(np.int64))

    def made(self, columns: Sequence[Any]) -> Tallied:
        """What was counted elsewhere."""
        return Tallied(*columns)

    def joined(self, parts: Sequence[Tallied]) -> Tallied:
        """All parts together."""
        beginning, number = (np.concatenate(column) for column in zip(*parts, strict=True))
        found, place = np.unique(beginning, return_inverse=True)
        return Tallied(found, np.bincount(place, number, minlength=found.size).astype(np.int64))


class Pick(NamedTuple):
    """Brings rows whose numbers begin in some way; ``wanted``: None for all rows."""

    rows: Rows
    wanted: Ints | None

    @property
    def _names(self) -> list[str]:
        form = self.rows.form
        return ["number", *(f"x{k}" for k in range(len(form.numeric))), *(f"c{k}" for k in range(len(self.rows.words)))]

    @property
    def fields(self) -> str:
        """Names and types of an answer."""
        return ", ".join(f"{name} {'double' if name[0] == 'x' else 'bigint'}" for name in self._names)

    def __call__(self, part: Any) -> Any:  # noqa: ANN401 - an Arrow table or batch, columns
        """Look through one part."""
        side = self.rows.encoded(part)
        number = content_numbers(side)
        chosen = slice(None) if self.wanted is None else np.isin(_beginning(number), self.wanted)
        columns = [number.view(np.int64)[chosen], *side.numeric[chosen].T, *side.codes[chosen].T.astype(np.int64)]
        return self.made(columns)

    def made(self, columns: Sequence[Any]) -> Any:  # noqa: ANN401 - columns by their names
        """What was found elsewhere."""
        return namedtuple("Picked", self._names)(*(np.ascontiguousarray(one) for one in columns))  # noqa: PYI024

    def joined(self, parts: Sequence[Any]) -> Any:  # noqa: ANN401
        """All parts together."""
        return self.made([np.concatenate(column) for column in zip(*parts, strict=True)])

    def encoded(self, found: Any) -> Encoded:  # noqa: ANN401 - an answer
        """The rows in the order of their numbers."""
        order = np.argsort(found[0].view(np.uint64), kind="stable")
        n, numbers = len(self.rows.form.numeric), found[1:]
        left = np.column_stack([np.asarray(one, dtype=np.float64) for one in numbers[:n]]) if n else None
        right = np.column_stack(numbers[n:]).astype(np.int32) if len(numbers) > n else None
        empty = np.empty((order.size, 0))
        side = Encoded(empty if left is None else left, empty.astype(np.int32) if right is None else right)
        return side.take(order)


class Drawer:
    """Draws rows of the tables of a store; how numbers begin is counted once for each table."""

    def __init__(self, store: Store) -> None:
        self.store, self.rows = store, Rows.of(store)
        self._tallied: dict[Which, Tallied] = {}

    def size(self, which: Which) -> int:
        """How many rows a table has."""
        store = self.store
        return {"original": store.n_original, "released": store.n_released, "outside": store.n_outside}[which]

    def some(self, which: Which, count: int, seed: int) -> Encoded:
        """Draw rows by lot, as `draw` does of rows in memory."""
        n = self.size(which)
        if n <= max(SORTED, count):
            side = self._brought(which, None, n)
            return side.take(draw(side, count, seed))
        return self._at(which, places_drawn(n, count, seed))

    def _at(self, which: Which, places: Ints) -> Encoded:
        """The rows at some places of the order of all."""
        tallied = self._tally(which)
        before = np.concatenate([[0], np.cumsum(tallied.number)])
        held = np.searchsorted(before, places, side="right") - 1
        wanted, group = np.unique(held, return_inverse=True)
        side = self._brought(which, tallied.beginning[wanted], int(tallied.number[wanted].sum()))
        start = np.concatenate([[0], np.cumsum(tallied.number[wanted])])
        return side.take(start[group] + places - before[held])

    def _tally(self, which: Which) -> Tallied:
        if which not in self._tallied:
            found = over_table(self.store, which, Tally(self.rows), PART)
            _check(int(found.number.sum()), self.size(which))
            self._tallied[which] = found
        return self._tallied[which]

    def _brought(self, which: Which, wanted: Ints | None, n: int) -> Encoded:
        pick = Pick(self.rows, wanted)
        side = pick.encoded(over_table(self.store, which, pick, PART))
        _check(len(side), n)
        return side


def _check(found: int, wanted: int) -> None:
    """That all of a table was read is counted."""
    if found != wanted:
        raise EngineError("a table was not read to its end", hint="is it being written?")
