"""Everybody matched one to one, block by block, where the data lies; and what that is worth, proven over all pairs.

Keys that are no numbers cut both tables into blocks. Where each has as many people as records, every block is matched
by itself: DuckDB takes one after the other, Spark many at a time (`applyInArrow`). Records of another block cost at
least what the keys that differ cost. So for the proof only those people are asked in another block whose profit is
larger than that and the least price there together: most pairs of blocks are never looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.engines import sql
from unmask.engines.asked import Form, Records, columns_of, hashed_ids
from unmask.engines.placing import Placing, placed_by_distance
from unmask.engines.store import Store
from unmask.errors import EngineError
from unmask.kernels.assignment import gap_of_blocks, least_of_block, match_block

LARGEST = 20_000  # people of a block
MOST_BLOCKS = 5_000
MOST_ACROSS = 20  # times the people, who are asked in other blocks: beyond, blocks prove too little in too long
Tell = Callable[[float, str], None]


class Blocks(NamedTuple):
    """The keys that cut both tables into blocks, how many there are, and how large they are at most."""

    keys: list[int]
    number: int
    largest: int


class Matched(NamedTuple):
    """A matching of everybody, with credits of all who have a record; and of some people what became of each."""

    total: float
    gap: float  # proven: the total may exceed the least by this share
    credit: Floats
    costs: Floats  # of the people asked for, in their order
    own: Floats  # credits of the same
    alike: Flags
    farthest: Floats


def find_blocks(store: Store, largest: int = LARGEST) -> Blocks | None:
    """As few keys as cut both tables into blocks that are small enough, with as many people as records in each."""
    if store.n_original != store.n_released:
        return None
    left = [j for j, key in enumerate(store.keys) if not key.numeric]
    chosen, found = list[int](), None
    while left:
        tried = {j: _sizes(store, [*chosen, j]) for j in left}
        left = [j for j in left if tried[j] is not None]
        if not left:
            break
        best = min(left, key=lambda j: (tried[j].largest, j))  # type: ignore[union-attr]
        found, chosen = tried[best], [*chosen, best]
        left.remove(best)
        if found is not None and found.largest <= largest:
            return found if 1 < found.number <= MOST_BLOCKS else None
    return None


def _sizes(store: Store, keys: list[int]) -> Blocks | None:
    """The blocks of some keys; None where people and records differ in number, or the keys do not fit one number."""
    mask = sum(1 << j for j in keys)
    if len(sql.packed(mask, store.widths)) > 1:
        return None
    number, largest, uneven = store.duck.row(sql.block_sizes(mask, store.widths))
    return None if uneven else Blocks(sorted(keys), int(number), int(largest))


class MatchBlock(NamedTuple):
    """Matches one block, wherever it is."""

    placing: Placing
    form: Form

    @property
    def fields(self) -> str:
        """Names and types of an answer; ``value``: the profit of a person, the price of a record."""
        return (
            "block bigint, side bigint, number bigint, paired bigint, value double, cost double, credit double, "
            "alike bigint, farthest double"
        )

    def __call__(self, part: Any) -> dict[str, Any]:  # noqa: ANN401 - an Arrow table of one block
        """Match it."""
        (people, known, truth), (records, there, _) = (_side(self.form, part, side) for side in (1, 0))
        place = np.minimum(np.searchsorted(there, truth), len(there) - 1)
        found = match_block(self.placing.space(people, records), np.where(there[place] == truth, place, -1))
        n, none = len(known), np.zeros(len(there))
        return {
            "block": np.full(n + len(there), part.column("block")[0].as_py()),
            "side": np.repeat([1, 0], [n, len(there)]),
            "number": np.concatenate([known, there]),
            "paired": np.concatenate([truth >= 0, none]).astype(np.int64),
            "value": np.concatenate([found.profits, found.prices]),
            "cost": np.concatenate([found.costs, none]),
            "credit": np.concatenate([found.credit, none]),
            "alike": np.concatenate([found.alike, none]).astype(np.int64),
            "farthest": np.concatenate([found.farthest, none]),
        }


class AskBlock(NamedTuple):
    """Asks one block for people of others: the least cost + price of its records."""

    placing: Placing
    form: Form

    @property
    def fields(self) -> str:
        """Names and types of an answer."""
        return "number bigint, least double"

    def __call__(self, part: Any) -> dict[str, Any]:  # noqa: ANN401 - an Arrow table of one block
        """Search it."""
        (people, known, profit), (records, _, price) = (_side(self.form, part, side, "value") for side in (1, 0))
        if not len(known):
            return {"number": known, "least": np.zeros(0)}
        return {"number": known, "least": least_of_block(self.placing.space(people, records), price, profit)}


def _side(form: Form, part: Any, side: int, value: str = "truth") -> tuple[Records, Ints, Any]:  # noqa: ANN401
    """People or records of a block, in the order of their numbers, and a value of each."""
    rows = np.flatnonzero(_column(part, "side") == side)
    rows = rows[np.argsort(_column(part, "number")[rows], kind="stable")]
    chosen = part.take(rows)
    return form.arrays(chosen), _column(chosen, "number").astype(np.int64), _column(chosen, value)


def _column(part: Any, name: str) -> Any:  # noqa: ANN401 - an Arrow table, an array
    return np.array(part.column(name).to_numpy())  # a copy: kernels write


def match_in_blocks(store: Store, blocks: Blocks, lot: tuple[int, int], tell: Tell) -> Matched | None:
    """Match everybody; None where too many people would have to be asked in other blocks.

    ``lot``: how many people are told of one by one, and the seed of who they are.
    """
    placing, form, duck = placed_by_distance(store), Form.of(store), store.duck
    sides = [sql.packed(sum(1 << j for j in blocks.keys), store.widths, side)[0] for side in ("o.", "r.")]
    with _dropped(store):
        tell(0.0, f"{blocks.number:,} blocks, each matched by itself")
        query = sql.in_blocks((sides[0], sides[1]), columns_of(store))
        duck.keep_groups("matched", query, MatchBlock(placing, form))
        _count(store, "SELECT count(*) FROM matched", store.n_original + store.n_released)
        tell(0.6, "proof over all pairs")
        if not _asked_across(store, blocks, placing):
            return None
        least = _numbers(store, sql.least_of_people(), "least")
        prices = _numbers(store, "SELECT value FROM matched WHERE side = 0", "value")
        costs = _numbers(store, "SELECT cost FROM matched WHERE side = 1", "cost")
        credit = _numbers(store, "SELECT credit FROM matched WHERE side = 1 AND paired = 1", "credit")
        total, gap = gap_of_blocks(costs, least, prices)
        cost, own, alike, farthest = _of_some(store, lot)
        return Matched(total, gap, np.sort(credit), cost, own, alike, farthest)


@contextmanager
def _dropped(store: Store) -> Iterator[None]:
    try:
        yield
    finally:
        store.duck.drop("matched", "ways", "beyond", "asked")


def _asked_across(store: Store, blocks: Blocks, placing: Placing) -> bool:
    """Ask in other blocks for whoever may find something cheaper there; False where these are too many."""
    duck, ways = store.duck, _ways(store, blocks, placing)
    duck.send("ways", ways)
    asked = int(duck.row(f"SELECT count(*) {sql.ACROSS}")[0])
    if asked > MOST_ACROSS * store.n_original:
        return False
    duck.keep_groups("beyond", sql.asked_across(columns_of(store)), AskBlock(placing, Form.of(store)))
    _count(store, "SELECT count(*) FROM beyond", asked)
    return True


def _ways(store: Store, blocks: Blocks, placing: Placing) -> dict[str, Any]:
    """Pairs of blocks of which the one's people may find a cheaper record in the other, and the least cost + price."""
    found = store.duck.table(sql.ends_of_blocks())
    block, profit, price = (np.asarray(found.column(name).to_numpy()) for name in ("block", "profit", "price"))
    codes = _codes_of(block, [store.widths[j] for j in blocks.keys])
    steps = [(placing.step[k], placing.code_missing[k]) for k in (placing.codes.index(j) for j in blocks.keys)]
    one, other, least = list[Ints](), list[Ints](), list[Floats]()
    for i in range(len(block)):
        square = np.zeros(len(block))
        for column, (step, missing) in zip(codes, steps, strict=True):
            differs = np.where(column == column[i], 0.0, step)
            square += np.where((column == 0) | (column[i] == 0), missing, differs)
        floor = np.sqrt(square) * (1 - 1e-9) + price
        there = np.flatnonzero((floor < profit[i]) & (block != block[i]))
        one.append(np.full(there.size, block[i]))
        other.append(block[there])
        least.append(floor[there])
    return {"block": np.concatenate(one), "target": np.concatenate(other), "least": np.concatenate(least)}


def _codes_of(block: Ints, widths: list[int]) -> list[Ints]:
    """Codes of the keys of blocks, from one number: the first key has the largest weight."""
    found = list[Ints]()
    for width in widths[::-1]:
        found.append(block % width)
        block = block // width
    return found[::-1]


def _of_some(store: Store, lot: tuple[int, int]) -> tuple[Floats, Floats, Flags, Floats]:
    """Costs and credits of the people asked for, in their order, and of those who equal them."""
    sample, seed = lot
    store.duck.keep("asked", sql.sampled(hashed_ids(store, "o", seed), min(sample, store.n_paired)))
    found = store.duck.table(
        "SELECT cost, credit, alike, farthest FROM asked JOIN matched AS m ON m.number = asked.pid AND m.side = 1 "
        "ORDER BY place"
    )
    cost, credit, alike, farthest = (np.array(found.column(name).to_numpy()) for name in found.column_names)
    return cost, credit, alike > 0, farthest


def _numbers(store: Store, query: str, name: str) -> Floats:
    return np.asarray(store.duck.table(query).column(name).to_numpy(), dtype=np.float64)


def _count(store: Store, query: str, wanted: int) -> None:
    """That everybody was matched, and asked for, is counted: the proof holds only then."""
    if int(store.duck.row(query)[0]) != wanted:
        raise EngineError("not everybody was searched for", hint="Spark's own log says what was lost")
