"""Who is looked for: some people, drawn by a hash of their ids, and what both tables hold of them, brought here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats
from unmask.engines import sql
from unmask.engines.store import Store


class Records(NamedTuple):
    """Some records: coordinates (NaN: missing) and codes (-1: missing)."""

    numbers: Floats
    codes: Codes

    def and_then(self, others: Records) -> Records:
        """These and others in one table."""
        return Records(np.concatenate([self.numbers, others.numbers]), np.concatenate([self.codes, others.codes]))


class Asked(NamedTuple):
    """The people who are asked for: their records in the original, and their own in the release."""

    known: Records
    own: Records
    ids: list[str]


def sample_people(store: Store, sample: int, seed: int) -> Asked:
    """Draw people by a hash of their ids: the same ones on every engine, in any order of rows."""
    store.duck.keep("asked", sql.sampled(hashed_ids(store, "o", seed), min(sample, store.n_paired)))
    chosen, form = columns_of(store), Form.of(store)
    people = "FROM o JOIN asked ON o.pid = asked.pid"
    known = store.duck.table(f"SELECT {_id(store, 'o')} AS id, {_of(chosen, 'o')} {people} ORDER BY asked.place")
    own = store.duck.table(f"SELECT {_of(chosen, 'r')} {people} JOIN r ON r.rid = o.truth ORDER BY asked.place")
    store.duck.drop("asked")
    return Asked(form.arrays(known), form.arrays(own), known.column("id").to_pylist())


def sample_absent(store: Store, sample: int, seed: int) -> Records:
    """Draw people of the original who have no record in the release, in the same way."""
    return _drawn(store, "o", "pid", "t.truth < 0", (sample, seed))


def sample_extra(store: Store, sample: int, seed: int) -> Records:
    """Draw records of the release that belong to nobody in the original, in the same way."""
    lost = "NOT EXISTS (SELECT 1 FROM o WHERE o.truth = t.rid)"
    return _drawn(store, "r", "rid", lost, (sample, seed))


def bring_tables(store: Store) -> tuple[Records, Records, Any]:
    """All of both tables, where they are small; and for each person the row of their record, -1 for none."""
    chosen, form = columns_of(store), Form.of(store)
    released = store.duck.table(f"SELECT rid, {', '.join(chosen)} FROM r ORDER BY rid")
    original = store.duck.table(f"SELECT truth, {', '.join(chosen)} FROM o ORDER BY pid")
    rid, truth = (_plain(table.column(name)) for table, name in ((released, "rid"), (original, "truth")))
    return form.arrays(original), form.arrays(released), np.where(truth < 0, -1, np.searchsorted(rid, truth))


def _drawn(store: Store, table: str, number: str, where: str, lot: tuple[int, int]) -> Records:
    """Some rows of a table, by the least hashes of their ids and in the order of these."""
    sample, seed = lot
    least = f"SELECT t.*, {hashed_ids(store, 't', seed)} AS h FROM {table} AS t WHERE {where}"
    chosen = ", ".join(columns_of(store))
    found = store.duck.table(f"SELECT {chosen} FROM ({least}) AS t ORDER BY h, {number} LIMIT {sample}")
    return Form.of(store).arrays(found)


def _id(store: Store, side: str) -> str:
    return f"CAST({side}.id AS {store.duck.dialect.text})"


def hashed_ids(store: Store, side: str, seed: int) -> str:
    """What people are drawn by."""
    return store.duck.dialect.hashed(f"concat({sql.text(f'{seed}:')}, {_id(store, side)})")


def columns_of(store: Store) -> list[str]:
    """Numbers of keys that are numbers, codes of all."""
    return [*(f"x{j}" for j in store.numeric), *(f"c{j}" for j in range(len(store.keys)))]


def _of(columns: list[str], side: str) -> str:
    return ", ".join(f"{side}.{column}" for column in columns)


class Form(NamedTuple):
    """How a result holds records: which keys are numbers, and how many keys there are."""

    numeric: list[int]
    n_keys: int

    @classmethod
    def of(cls, store: Store) -> Form:
        """As a store has them."""
        return cls(store.numeric, len(store.keys))

    def arrays(self, table: Any) -> Records:  # noqa: ANN401 - an Arrow table or batch
        """Numbers first, then the codes of all keys; a code of 0 is missing, and becomes -1."""
        numbers = [_plain(table.column(f"x{j}")).astype(np.float64) for j in self.numeric]
        codes = [_plain(table.column(f"c{j}")).astype(np.int32) - 1 for j in range(self.n_keys)]
        left = np.ascontiguousarray(np.column_stack(numbers)) if numbers else np.empty((table.num_rows, 0))
        return Records(left, np.ascontiguousarray(np.column_stack(codes), dtype=np.int32))


def _plain(column: Any) -> Any:  # noqa: ANN401 - an Arrow column, chunked or not
    values = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return values.to_numpy(zero_copy_only=False)
