"""Two networks of the same people: the original, and the one that is published under other names.

Both are kept as arrays: the neighbours of each person, a code of each tie (its direction and what is said of it) and a
code of each person (what is said of them); codes mean the same in both. People are in the order of their ids, so that
the order of rows in a file changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Codes, Counts, Flags, Ints
from unmask.errors import TableError
from unmask.networks.read import FROM, ID, TO, WHOLE, Ties, read_network
from unmask.shown import Shown
from unmask.tables import read_table


class Side(NamedTuple):
    """One network. The neighbours of person i are ``indices[start[i]:start[i + 1]]``; a tie is in both rows."""

    ids: pl.Series
    start: Ints
    indices: Codes
    labels: Codes  # of each entry: direction and what is said of the tie; 0 where there is neither
    kind: Codes  # of each person: what is said of them; 0 where nothing is

    @property
    def n(self) -> int:
        """Number of people."""
        return len(self.ids)

    @property
    def n_ties(self) -> int:
        """Number of pairs of people who are tied."""
        return self.indices.size // 2

    @property
    def degree(self) -> Counts:
        """Number of people that each is tied to."""
        return np.diff(self.start)

    @property
    def rows(self) -> Ints:
        """The person of each entry."""
        return np.repeat(np.arange(self.n), self.degree)

    def backwards(self) -> Codes:
        """Labels of the entries read backwards: that of (w, u) in the place of (u, w)."""
        found = np.empty_like(self.labels)
        found[np.argsort(self.indices, kind="stable")] = self.labels
        return found


@dataclass(frozen=True, init=False)
class Network(Shown):
    """An original network and the one that is to be published, and who is who.

    Parameters
    ----------
    original, released
        Lists of ties (a file or a frame with two columns of people), GraphML files, networkx or igraph graphs.
    truth
        Who is who: a mapping, or a table with two columns, the id in the original and the one in the release. Without
        it equal ids are the same person; the intruder never uses ids.
    people, released_people
        Tables with a row a person: people without ties, and what is known and what is published of each.
    ends
        The two columns that name the people of a tie.
    directed
        Ties of lists have a direction.
    ignored
        What is said of people or ties that nobody knows.
    reading
        Options for text files.

    """

    original: Side = field(repr=False)
    released: Side = field(repr=False)
    own: Ints = field(repr=False)  # the released person that each original person is; -1: not in the release
    directed: bool
    said_of_people: tuple[str, ...]  # columns that are in both
    said_of_ties: tuple[str, ...]
    notes: tuple[str, ...]
    sources: tuple[dict[str, str | None], ...] = field(repr=False)  # path and fingerprint of each, for a manifest

    def __init__(  # noqa: PLR0913 - what a network can be made of
        self,
        original: Any,  # noqa: ANN401 - a path, a frame, or a graph of another library
        released: Any,  # noqa: ANN401
        *,
        truth: Any = None,  # noqa: ANN401 - a mapping, a path or a frame
        people: Any = None,  # noqa: ANN401
        released_people: Any = None,  # noqa: ANN401
        ends: Sequence[str] = (),
        directed: bool = False,
        ignored: Sequence[str] = (),
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        how: dict[str, Any] = {"ends": tuple(ends), "directed": directed, "text": reading}
        one = _known(read_network(original, people=people, name="original", **how), ignored)
        two = _known(read_network(released, people=released_people, name="release", **how), ignored)
        pair, key = _alike(one, two, truth, reading)
        notes: list[str] = []
        sides, of_people, of_ties = _sides(pair, notes)
        own = _own(sides[0].ids, sides[1].ids, key)
        if not (own >= 0).any():
            raise TableError(
                "nobody of the original is in the release by id", got=f"{sides[0].n:,} and {sides[1].n:,} people",
                hint="the key that says who is who: two columns, the id in the original and in the release (--truth)",
            )  # fmt: skip
        told = {
            "original": sides[0], "released": sides[1], "own": own, "directed": pair[0].directed,
            "said_of_people": of_people, "said_of_ties": of_ties, "notes": (*notes, *_missing(own, sides)),
            "sources": (_source(original, sides[0]), _source(released, sides[1])),
        }  # fmt: skip
        for name, value in told.items():
            object.__setattr__(self, name, value)

    @property
    def there(self) -> Flags:
        """People of the original who are in the release."""
        return np.asarray(self.own >= 0)

    @property
    def chance(self) -> float:
        """How often a blind guess names the right person of the release."""
        return 1.0 / self.released.n


def _source(given: Any, side: Side) -> dict[str, str | None]:  # noqa: ANN401 - as given to Network
    """Path and fingerprint: of the file's bytes, or of the arrays of what was in memory."""
    if isinstance(given, str | Path):
        with Path(given).open("rb") as file:
            return {"path": str(given), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    hasher = hashlib.sha256()
    for array in side[1:]:
        hasher.update(np.ascontiguousarray(array).tobytes())
    return {"path": None, "sha256": hasher.hexdigest()}


def _known(found: Ties, ignored: Sequence[str]) -> Ties:
    """Leave out what nobody knows."""
    people = found.people.drop([name for name in ignored if name in found.people.columns and name != ID])
    ties = found.ties.drop([name for name in ignored if name in found.ties.columns and name not in {FROM, TO}])
    return Ties(people, ties, found.directed)


def _alike(
    one: Ties,
    two: Ties,
    truth: Any,  # noqa: ANN401 - a mapping, a path or a frame
    reading: Mapping[str, Any] | None,
) -> tuple[tuple[Ties, Ties], pl.DataFrame | None]:
    """Ids of both, and of the key, in one type: whole numbers where all are, else text."""
    if one.directed != two.directed:
        named = ["the release", "the original"][one.directed]
        raise TableError("ties of one network have a direction, those of the other none", got=f"none in {named}")
    key = _key(truth, reading)
    ids = [frame[name] for side in (one, two) for frame, name in
           ((side.ties, FROM), (side.ties, TO), (side.people, ID)) if frame.height]  # fmt: skip
    ids += [] if key is None else [key[FROM], key[TO]]
    kind = pl.Int64 if all(column.dtype in WHOLE for column in ids) else pl.String
    made = tuple(
        Ties(side.people.with_columns(pl.col(ID).cast(kind)), side.ties.with_columns(pl.col(FROM, TO).cast(kind)),
             side.directed)
        for side in (one, two)
    )  # fmt: skip
    return (made[0], made[1]), None if key is None else key.with_columns(pl.col(FROM, TO).cast(kind))


def _key(truth: Any, reading: Mapping[str, Any] | None) -> pl.DataFrame | None:  # noqa: ANN401 - see Network
    if truth is None:
        return None
    if isinstance(truth, Mapping):
        table = pl.DataFrame({FROM: pl.Series(list(truth)), TO: pl.Series(list(truth.values()))})
    else:
        table = read_table(truth, name="key", as_written=True, **dict(reading or {}))
        if table.width < 2:
            raise TableError("the key has one column", hint="two: the id in the original, and the one in the release")
        table = table.select(pl.nth(0).alias(FROM), pl.nth(1).alias(TO))
    table = table.drop_nulls().unique()
    for column, words in ((FROM, "a person of the original is"), (TO, "a person of the release is")):
        if table[column].is_duplicated().any():
            raise TableError(f"the key: {words} there twice", got=f"{int(table[column].is_duplicated().sum())} rows")
    return table


def _own(ids: pl.Series, released: pl.Series, key: pl.DataFrame | None) -> Ints:
    """Place in the release of each person of the original, or -1."""
    there = pl.DataFrame({TO: released, "place": np.arange(len(released))})
    if key is None:
        frame = pl.DataFrame({TO: ids})
    else:
        frame = pl.DataFrame({FROM: ids}).join(key, on=FROM, how="left", maintain_order="left")
    return (
        frame.join(there, on=TO, how="left", maintain_order="left")["place"].fill_null(-1).to_numpy().astype(np.int64)
    )


def _missing(own: Ints, sides: tuple[Side, Side]) -> tuple[str, ...]:
    gone, new = int((own < 0).sum()), sides[1].n - int((own >= 0).sum())
    told = [f"{gone:,} people of the original are not in the release"] if gone else []
    return tuple(told + ([f"{new:,} people of the release are not in the original"] if new else []))


def _sides(pair: tuple[Ties, Ties], notes: list[str]) -> tuple[tuple[Side, Side], tuple[str, ...], tuple[str, ...]]:
    """Arrays of both networks, with codes that mean the same in both."""
    of_people = tuple(name for name in pair[0].people.columns if name != ID and name in pair[1].people.columns)
    of_ties = tuple(name for name in pair[0].ties.columns if name not in {FROM, TO} and name in pair[1].ties.columns)
    said = [_codes([side.ties for side in pair], of_ties), _codes([side.people for side in pair], of_people)]
    most = int(max(codes.max(initial=0) for codes in said[0])) + 1
    made = [
        _side(pair[place], said[0][place], said[1][place] * bool(of_people), (words, most), notes)
        for place, words in enumerate(("original", "release"))
    ]
    labels = np.unique(np.concatenate([side.labels for side in made]), return_inverse=True)[1].astype(np.int32)
    cut = made[0].labels.size
    codes = labels[:cut], labels[cut:]
    one, two = (side._replace(labels=code) for side, code in zip(made, codes, strict=True))
    return (one, two), of_people, of_ties


def _codes(tables: list[pl.DataFrame], names: tuple[str, ...]) -> list[Counts]:
    """A number from 1 for each combination of values that occurs in either table."""
    if not names:
        return [np.ones(table.height, dtype=np.int64) for table in tables]
    both = pl.concat([table.select(pl.col(*names).cast(pl.String)) for table in tables])
    code = both.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64)
    return [code[: tables[0].height], code[tables[0].height :]]


def _side(found: Ties, said: Counts, of_people: Counts, told: tuple[str, int], notes: list[str]) -> Side:
    """Arrays of one network; entries in the order of people, then of their neighbours."""
    (words, most), ends = told, [found.ties[FROM], found.ties[TO]]
    ids = pl.concat([*(one.unique() for one in ends), found.people[ID]]).unique().sort().alias(ID)
    place = pl.DataFrame({ID: ids, "place": np.arange(len(ids))})
    a, b, person = (
        pl.DataFrame({ID: one})
        .join(place, on=ID, how="left", maintain_order="left")["place"]
        .to_numpy()
        .astype(np.int64)
        for one in (*ends, found.people[ID])
    )
    loops = a == b
    if loops.any():
        notes.append(f"{int(loops.sum()):,} ties of the {words} tie a person to themselves and are left out")
    pairs, forth, back, repeated = _pairs(a[~loops], b[~loops], said[~loops], len(ids), directed=found.directed)
    if repeated:
        notes.append(f"{repeated:,} ties of the {words} are listed more than once and count once")
    low, high = np.divmod(pairs, len(ids)) if pairs.size else (pairs, pairs)
    rows, cols = np.concatenate([low, high]), np.concatenate([high, low])
    labels = np.concatenate([forth * most + back, back * most + forth])
    order = np.argsort(rows * len(ids) + cols, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(ids)))]).astype(np.int64)
    kind = np.zeros(len(ids), dtype=np.int32)
    kind[person] = of_people
    return Side(ids, start, cols[order].astype(np.int32), labels[order], kind)


def _pairs(a: Ints, b: Ints, said: Counts, n: int, *, directed: bool) -> tuple[Ints, Counts, Counts, int]:
    """Each pair of tied people once (low * n + high), what is said in either direction (0: no tie), repeated ties.

    Of a tie that is listed several times, what is said first in the order of codes counts.
    """
    low, high = np.minimum(a, b), np.maximum(a, b)
    turned = a > b if directed else np.zeros(a.size, dtype=bool)
    arcs, which, times = np.unique((low * n + high) * 2 + turned, return_inverse=True, return_counts=True)
    repeated = int((times - 1).sum())
    code = np.full(arcs.size, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(code, which, said)
    pairs, at = np.unique(arcs // 2, return_inverse=True)
    forth, back = np.zeros(pairs.size, dtype=np.int64), np.zeros(pairs.size, dtype=np.int64)
    forth[at[arcs % 2 == 0]] = code[arcs % 2 == 0]
    back[at[arcs % 2 == 1]] = code[arcs % 2 == 1]
    return (pairs, forth, back, repeated) if directed else (pairs, forth, forth, repeated)
