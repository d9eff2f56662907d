"""Two tables with many rows a person: visits, prescriptions, panels, trajectories.

The id repeats: it says whose row it is, and nothing about which row of the release was made from which of the original.
Rows are kept by person, and within a person by content, so that the order of a file changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Counts, Flags, Floats, Ints
from unmask.errors import NothingToTryError, RoleError, TableError
from unmask.kernels.bags import Bags, match_rows
from unmask.persons.columns import Columns, columns_of
from unmask.persons.steps import in_steps
from unmask.persons.taught import teach
from unmask.shown import Shown
from unmask.study import Match, Study, make_matcher
from unmask.tables import Encoding, Release, as_text

SEVERAL = "several columns have dates, so the order of rows is not used; name one of them as time"
NO_VALUE = "no value of these columns is in both tables: the release writes them in a way of its own"
ALONE = "a person whom nobody could be taken for: people are told apart only among several"


@dataclass(frozen=True, init=False)
class Persons(Shown):
    """An original and a release in which people have several rows each, and whose they are.

    Parameters
    ----------
    original, released
        Paths or frames, as for ``Release``; both with the id.
    id
        The column that says whose row it is, in both. The intruder never uses it to find somebody; they do use which
        rows of the release belong together.
    time
        The column that says when: for the order of rows and the days between them. Default: the only column of dates.
    place
        The column (or columns) that say where. A point is a time and a place; without both, all known columns.
    quasi, confidential, ignored, categorical, kinds, reading
        As for ``Release``.
    control
        People who are not in the original, with the same columns: for membership.

    """

    release: Release = field(repr=False)  # rows by person, laid on each other within a person to read the coding
    id: str
    time: str | None
    place: tuple[str, ...]
    ids: pl.Series = field(repr=False)  # of the original; control people follow them in ``start``
    released_ids: pl.Series = field(repr=False)
    start: Ints = field(repr=False)  # rows of each person of the original, then of each control person
    released_start: Ints = field(repr=False)
    own: Ints = field(repr=False)  # the released person that each one is; -1: not in the release
    control: pl.DataFrame | None = field(repr=False)  # rows of the control people, by person
    notes: tuple[str, ...]

    def __init__(  # noqa: PLR0913 - the roles of a release are this many
        self,
        original: Any,  # noqa: ANN401 - a path or any frame
        released: Any,  # noqa: ANN401
        *,
        id: str,  # noqa: A002 - the word of the field
        time: str | None = None,
        place: str | Iterable[str] = (),
        quasi: Iterable[str] | None = None,
        confidential: Iterable[str] = (),
        ignored: Iterable[str] = (),
        categorical: Iterable[str] = (),
        kinds: Mapping[str, str] | None = None,
        control: Any = None,  # noqa: ANN401
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        base = Release(
            original, released, id=id, quasi=quasi, confidential=confidential, ignored=ignored,
            categorical=categorical, kinds=kinds, control=control, synthetic=True, reading=reading,
        )  # fmt: skip
        if not base.quasi:
            raise RoleError("the tables share no known column besides the id", hint="name columns alike in both")
        outside, members = _outsiders(base, id)
        tables = {"original": base.original, "release": base.released, "control table": outside}
        sides = {name: _by_person(table, id, name) for name, table in tables.items() if table is not None}
        own = _own(sides["original"].ids, sides["release"].ids)
        when, told = _when(base, time)
        where = (place,) if isinstance(place, str) else tuple(place)
        _check(base, {"time": (when,) if when else (), "place": where})
        starts = [side.start for name, side in sides.items() if name != "release"]
        filled = {
            "release": _laid(base, sides, own), "id": id, "time": when, "place": where,
            "ids": sides["original"].ids, "released_ids": sides["release"].ids,
            "start": np.concatenate([starts[0], *(later[1:] + starts[0][-1] for later in starts[1:])]),
            "released_start": sides["release"].start,
            "control": None if outside is None else outside[sides["control table"].order],
            "own": np.concatenate([own, np.full(sum(later.size - 1 for later in starts[1:]), -1)]),
            "notes": (*told, *members, *_one_sided(own, sides["release"].ids)),
        }  # fmt: skip
        for name, value in filled.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """People of the original."""
        return len(self.ids)

    @property
    def there(self) -> Flags:
        """People of the original who are in the release."""
        return np.asarray(self.own[: self.n] >= 0)

    @property
    def chance(self) -> float:
        """How often a blind guess names the right person of the release."""
        return 1.0 / len(self.released_ids)

    @property
    def sizes(self) -> tuple[Counts, Counts]:
        """Rows of each person of the original, and of each of the release."""
        return np.diff(self.start[: self.n + 1]), np.diff(self.released_start)

    @property
    def points(self) -> tuple[str, ...]:
        """The columns that a point is made of: when and where, or all that is known."""
        named = tuple(name for name in (self.time, *self.place) if name in self.release.quasi)
        return named if self.place and named else self.release.quasi

    def encoding(self, columns: Iterable[str] | None = None, *, control: bool = False) -> Encoding:
        """Known columns of both sides in the coding of the release; ``control``: with the control people."""
        released = self.release
        if control and self.control is not None:
            released = released.with_people(self.control)
        return in_steps(Study(released).encoding(columns), released.truth)

    def match(self, columns: Iterable[str] | None = None) -> Match:
        """Which rows of the release carry the values of which rows of the original, on columns that can be compared."""
        encoding = self.encoding(columns)
        names = [name for name in encoding.names if name not in encoding.foreign]
        if not names:
            raise NothingToTryError(NO_VALUE)
        return make_matcher(encoding.only(names)).match()

    def times(self) -> tuple[Floats, Floats] | None:
        """When each row was, of both sides; None where that is not known."""
        encoding = self.encoding()
        return None if self.time not in encoding.names else encoding.columns(str(self.time))

    def columns(self) -> Columns:
        """All known columns as levels of both sides, with the days since the row before, where a time is known."""
        encoding = self.encoding(control=True)
        when = None if self.time not in encoding.names else encoding.columns(str(self.time))
        if when is None:
            return columns_of(encoding, None)
        left, right = when[0], when[1]
        return columns_of(encoding, (_since_before(left, self.start), _since_before(right, self.released_start)))


@dataclass(frozen=True, slots=True)
class _Side:
    ids: pl.Series
    start: Ints
    order: Ints  # of the rows of the table


def _by_person(table: pl.DataFrame, name: str, where: str) -> _Side:
    """People in the order of their ids, and their rows by content."""
    if name not in table.columns:
        raise RoleError(f"no column {name!r} for role 'id' in the {where}", hint="give it in both tables")
    if (gone := table[name].null_count()) > 0:
        raise TableError(f"id column {name!r} has {gone} missing values in the {where}", hint="fill or drop those rows")
    key = as_text(table[name]).alias(name)
    others = [column for column in table.columns if column != name]
    numbered = table.with_columns(key).with_row_index("row number")
    placed = numbered.sort([name, *others], maintain_order=False, nulls_last=True)
    ids, counts = placed[name].rle().struct.unnest().select("value", "len")
    start = np.concatenate([[0], np.cumsum(counts.to_numpy())]).astype(np.int64)
    if ids.len() < 2:
        raise TableError(f"the {where} has one person", got=f"{table.height} rows with one id", hint=ALONE)
    return _Side(ids, start, placed["row number"].to_numpy().astype(np.int64))


def _outsiders(base: Release, name: str) -> tuple[pl.DataFrame | None, list[str]]:
    """Rows of control people, without those who have an id of the original: members would make strangers look near."""
    if base.control is None:
        return None, []
    if name not in base.control.columns:
        raise RoleError(f"no column {name!r} for role 'id' in the control table", hint="it says whose row it is")
    inside = as_text(base.control[name]).is_in(as_text(base.original[name]).unique().implode()).fill_null(value=False)
    people = base.control.filter(inside)[name].n_unique()
    told = [f"{people:,} control people have an id of the original and are left out"] if people else []
    return base.control.filter(~inside), told


def _own(ids: pl.Series, released: pl.Series) -> Ints:
    places = pl.DataFrame({"id": released, "place": np.arange(len(released))})
    found = pl.DataFrame({"id": ids}).join(places, on="id", how="left", maintain_order="left")["place"]
    own = found.fill_null(-1).to_numpy().astype(np.int64)
    if not (own >= 0).any():
        raise TableError(
            "nobody of the original is in the release by id", got=f"{len(ids):,} and {len(released):,} people",
            hint="is it the same column, written the same way?",
        )  # fmt: skip
    return own


def _when(base: Release, time: str | None) -> tuple[str | None, list[str]]:
    """The column that says when, and what is worth knowing about it."""
    if time is not None:
        return time, []
    dates = [name for name in base.quasi if base.kind(name) == "date"]
    if len(dates) > 1:
        return None, [SEVERAL]
    return (dates[0], [f"column {dates[0]!r} says when"]) if dates else (None, [])


def _check(base: Release, named: Mapping[str, tuple[str, ...]]) -> None:
    for role, names in named.items():
        for name in names:
            if name not in base.quasi:
                raise RoleError(f"column {name!r} cannot say the {role}: the intruder does not know it",
                                allowed=", ".join(map(repr, base.quasi)))  # fmt: skip
            if role == "time" and base.kind(name) not in {"date", "numeric", "ordinal"}:
                raise RoleError(f"column {name!r} cannot say the time", got=f"{base.kind(name)} values",
                                hint="dates, times or numbers; write it so, or leave time out")  # fmt: skip


def _laid(base: Release, sides: Mapping[str, _Side], own: Ints) -> Release:
    """The release with its rows by person, each laid on the likeliest of the same person: so codings are understood."""
    one, two = (base.original[sides["original"].order], base.released[sides["release"].order])
    plain = base.with_tables(one, two, np.full(one.height, -1, dtype=np.int64))
    columns = columns_of(Study(plain).encoding(), None)
    bags = (Bags(sides["original"].start, columns.one), Bags(sides["release"].start, columns.two))
    there = np.flatnonzero(own >= 0)
    costs = teach(columns, *bags, there, own[there], 0)
    truth = match_rows(there, own[there], *bags, costs)
    return base.with_tables(one, two, truth).with_roles(base.roles)


def _one_sided(own: Ints, released: pl.Series) -> list[str]:
    gone, new = int((own < 0).sum()), len(released) - int((own >= 0).sum())
    told = [f"{gone:,} people of the original have no row in the release"] if gone else []
    return told + ([f"{new:,} people of the release are not in the original"] if new else [])


def _since_before(when: Floats, start: Ints) -> Floats:
    """Days since the row before of the same person, in the order of time; missing for the first."""
    person = np.repeat(np.arange(start.size - 1), np.diff(start))
    order = np.lexsort((when, person))
    found = np.full(when.size, np.nan)
    same = person[order][1:] == person[order][:-1]
    gaps = np.diff(when[order])
    found[order[1:][same]] = gaps[same]
    return found
