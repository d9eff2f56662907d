"""Copies in a synthetic release that an engine has: the figures of memory, from rows drawn and equals counted there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.disclosure import FEWEST, UNLIKELY, Among, Equals, Kinds, equals_of, evidence_of_copies, risk_of
from unmask.disclosure import surely_overlaps as overlaps
from unmask.engines import CountedEquals, Store, count_overlap, counted_equals, pass_over
from unmask.errors import RoleError
from unmask.evidence import Context, Evidence
from unmask.large_draws import Drawer, Rows
from unmask.large_people import ruler_of
from unmask.tables import Encoded

MOST_COMPARED = 100_000  # people of either table whose distances are held against each other
MOST_HELD = 5_000_000  # people of whom one entry each is held here
FEWEST_ROWS = 10  # of which a copy of a whole table is none by chance


class Beside(NamedTuple):
    """How many records of a part equal each person (column -1), and have their value of each column."""

    person: Ints
    column: Ints
    number: Ints
    records: Ints


class Equalling(NamedTuple):
    """Some people, to be sent where the release is; their equals in each part of it add up."""

    rows: Rows
    people: Encoded

    @property
    def fields(self) -> str:
        """Names and types of an answer."""
        return ", ".join(f"{name} bigint" for name in Beside._fields)

    def __call__(self, part: Any) -> Beside:  # noqa: ANN401 - an Arrow table or batch
        """Count one part."""
        records = self.rows.encoded(part)
        found = equals_of(self.people, records)
        each = [np.bincount(one.rows, minlength=one.size)[one.mine] for one in found.columns]
        return self._laid(np.concatenate([found.there, *each]), len(records))

    def _laid(self, number: Any, n: Any) -> Beside:  # noqa: ANN401 - counts
        m, people = self.rows.form.n_keys, len(self.people)
        person, column = np.tile(np.arange(people), m + 1), np.repeat(np.arange(-1, m), people)
        return Beside(person, column, np.asarray(number, dtype=np.int64), np.full(person.size, n, dtype=np.int64))

    def made(self, columns: Sequence[Any]) -> Beside:
        """What was counted elsewhere."""
        return Beside(*columns)

    def joined(self, parts: Sequence[Beside]) -> Beside:
        """All parts together."""
        n = len(self.people)
        place = np.concatenate([(one.column + 1) * n + one.person for one in parts])
        size = (self.rows.form.n_keys + 1) * n
        number, records = (
            np.bincount(place, np.concatenate([getattr(one, name) for one in parts]), minlength=size)
            for name in ("number", "records")
        )
        return self._laid(number, records[0] if size else 0)


class Elsewhere(Drawer):
    """The tables of a store, as copies are counted from them."""

    def __init__(self, counted: CountedEquals, context: Context) -> None:
        super().__init__(counted.store)
        self._counted, self._context = counted, context

    def among(self, people: Encoded) -> Among:
        """Equals of some people, in one pass."""
        found = pass_over(self.store, Equalling(self.rows, people), self._context.progress)
        counts = found.number.reshape(-1, len(people))
        mine = equals_of(people, people.take(np.arange(0)))
        chance = np.ones(len(people))
        for column in counts[1:]:
            chance *= column / self.store.n_released
        return Among(Equals(mine.own, counts[0], mine.crowds, ()), self._of_rows(chance))

    def everybody(self) -> Among:
        """Equals of all people, or of some groups of them."""
        own, there, chance, number = self._counted.people(MOST_HELD)
        groups = np.repeat(np.arange(own.size), number)  # one entry for each group of equal people ...
        crowds = np.repeat(np.arange(groups.size), own[groups])  # ... and for each of them
        kind = groups[crowds]
        return Among(Equals(own[kind], there[kind], crowds, ()), self._of_rows(chance)[kind])

    def kinds(self) -> Kinds:
        """All people, counted."""
        found = self._counted.kinds()
        return Kinds(*(found[name] for name in Kinds._fields))

    def whole(self) -> bool:
        """Whether the release is the original, by values or by the order of numbers."""
        store, counted = self.store, self._counted
        if store.n_original != store.n_released or store.n_original < FEWEST_ROWS:
            return False
        return counted.hold_everybody() or (counted.hold_every_place() and counted.arrangements() > UNLIKELY)

    def shares(self) -> Floats:
        """Nothing: people are elsewhere."""
        return np.zeros(0)

    def _of_rows(self, chance: Floats) -> Floats:
        """The chance that one row or more equals them."""
        return np.asarray(1 - (1 - chance) ** self.store.n_released)


def assess_copies(store: Store, context: Context, id_: str | None = None) -> Evidence:
    """Measure copies in a synthetic release, and distances where a control table is given; ``id_``: of its people."""
    ruler = None
    if store.n_outside >= FEWEST:
        refuse_overlap(store, id_)
        ruler = ruler_of(store)
    with counted_equals(store) as counted:
        sides = Elsewhere(counted, context)
        found = risk_of(sides, ruler, seed=context.seed, progress=context.progress, most=MOST_COMPARED)
    told = evidence_of_copies(found, store.n_original)
    return replace(told, compared=store.names, notes=(*told.notes, *_fewer(store, with_control=ruler is not None)))


def refuse_overlap(store: Store, id_: str | None) -> None:
    """Refuse control people who are in the original, by ids, or by more equal rows than strangers would have."""
    shared, matched, alike = count_overlap(store, id_)
    many = overlaps(matched, store.n_outside, alike / store.n_original) if shared is None else bool(shared)
    if many:
        got = (
            f"{shared} ids of {id_!r} are in both" if shared else f"{matched} control rows equal a row of the original"
        )
        raise RoleError(
            "the control table overlaps the original", got=got, hint="control people must not be in the original"
        )


def _fewer(store: Store, *, with_control: bool) -> tuple[str, ...]:
    """Say where fewer people were looked at than in memory."""
    if with_control:
        fewer = min(store.n_original, store.n_outside) > MOST_COMPARED
        told = (
            f"distances, and people alone with their values, were compared for {MOST_COMPARED:,} people of either "
            "table, drawn by lot; equal rows were counted over everybody"
        )
        return (told,) if fewer else ()
    told = f"copies beyond independent columns were counted for about {MOST_HELD:,} people, drawn by a hash of values"
    return (told,) if store.n_original > MOST_HELD else ()
