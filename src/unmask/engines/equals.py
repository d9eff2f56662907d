"""Equal rows of a synthetic release, counted where the data lies: nobody has a record of their own there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import lgamma
from typing import Any, NamedTuple

from unmask.arrays import Floats, Ints
from unmask.engines import sql
from unmask.engines.asked import columns_of
from unmask.engines.sources import as_id
from unmask.engines.store import Store
from unmask.errors import EngineError

TABLES = {"original": "o WHERE member = 1", "outside": "o WHERE member = 0", "released": "r"}


class EqualPeople(NamedTuple):
    """Groups of equal people: how many they are, how many records equal them, the chance of one row, such groups."""

    own: Ints
    there: Ints
    chance: Floats
    number: Ints


@contextmanager
def counted_equals(store: Store) -> Iterator[CountedEquals]:
    """Count the equals of all people of the original, to be asked for as long as this lasts."""
    duck = store.duck
    duck.keep("members", sql.people_with_chance(len(store.keys), store.n_released))
    duck.keep("equals", sql.equal_groups(store.whole, store.widths, "members"))
    try:
        yield CountedEquals(store)
    finally:
        duck.drop("equals", "members")


class CountedEquals(NamedTuple):
    """Equals that were counted."""

    store: Store

    def kinds(self) -> dict[str, Ints]:
        """How many people have so many equals among people (own) and among records (there)."""
        return self.store.duck.columns(sql.equal_kinds("equals"))

    def people(self, most: int) -> EqualPeople:
        """Groups of equal people; where people are more than ``most``, a share of the groups.

        Which groups they are follows from a hash of their values.
        """
        store, condition = self.store, ""
        if store.n_original > most:
            width = len(sql.packed(store.whole, store.widths))
            values = ", ':', ".join(f"CAST(k{i} AS {store.duck.dialect.text})" for i in range(width))
            least = f"{int(most / store.n_original * 2**32):08x}"
            condition = f" WHERE substr({store.duck.dialect.hashed(f'concat({values})')}, 1, 8) < {sql.text(least)}"
        found = store.duck.table(sql.equal_people("equals", condition))
        own, there, chance, number = (found.column(name).to_numpy() for name in EqualPeople._fields)
        return EqualPeople(own, there, chance, number)

    def hold_everybody(self) -> bool:
        """Whether every person of the original has a row of their own, as values are."""
        return int(self.store.duck.row("SELECT count(*) FROM equals WHERE there < own")[0]) == 0

    def hold_every_place(self) -> bool:
        """The same by the order of numbers alone."""
        store, duck, made = self.store, self.store.duck, list[str]()
        try:
            for j in store.numeric:
                for table, side in (("members", "a"), ("r", "b")):
                    duck.keep(f"place_{side}{j}", sql.ranked(table, j))
                    made.append(f"place_{side}{j}")
                if duck.row(sql.other_places(f"place_a{j}", f"place_b{j}"))[0]:
                    return False
            return int(duck.row(sql.short_of_rows("members", store.numeric, len(store.keys)))[0]) == 0
        finally:
            duck.drop(*made)

    def arrangements(self) -> float:
        """Log of the number of ways in which the columns could lie beside each other, all but that with most."""
        ways = []
        for j in range(len(self.store.keys)):
            found = self.store.duck.columns(sql.sizes_of_codes("members", j))
            pairs = zip(found["number"].tolist(), found["codes"].tolist(), strict=True)
            ways.append(lgamma(self.store.n_original + 1) - sum(codes * lgamma(n + 1) for n, codes in pairs))
        return float(sum(sorted(ways)[:-1]))


def count_overlap(store: Store, id_: str | None) -> tuple[int | None, int, int]:
    """Ids that are in the original and in control (None: there are none), and who of either equals the original."""
    duck, (before, _, outside) = store.duck, store.sources
    shared = None
    if id_ is not None and id_ in before.types and id_ in outside.types:
        one, other = (
            f"SELECT DISTINCT CAST({as_id(source, id_, duck.dialect)} AS {duck.dialect.text}) AS id FROM {source.query}"
            for source in (before, outside)
        )
        shared = int(duck.row(f"SELECT count(*) FROM ({one}) AS a JOIN ({other}) AS b ON a.id = b.id")[0])
    matched, alike = duck.row(sql.equal_outsiders(store.whole, store.widths))
    return shared, int(matched), int(alike)


def over_table(store: Store, which: str, work: Any, rows: int) -> Any:  # noqa: ANN401 - a question, and its answer
    """What some work makes of the original, the release or people outside, all parts together."""
    query = f"SELECT {', '.join(columns_of(store))} FROM {TABLES[which]}"
    parts = list(store.duck.over_parts(query, work, rows))
    if not parts:
        raise EngineError("a table was not read to its end", hint="is it being written?")
    return work.joined(parts)
