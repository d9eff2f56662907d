"""Who is nearest, in one pass over the release: what a part of it says adds up with what the others say.

The intruders are some people, in memory; the release comes in parts. The least distance over all parts is the least of
theirs, equally near records add, and the next distance is a minimum as well. Each part is searched by the same kernels
as a release in memory, on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.engines import sql
from unmask.engines.store import Store
from unmask.errors import EngineError
from unmask.kernels.base import EUCLIDEAN, MANHATTAN, Space
from unmask.kernels.search import distance_of_pairs, nearest
from unmask.study import category_steps

PART = 1_000_000  # records that are searched at a time
ROUNDING = 1e-12  # as in study/metric.py
Tell = Callable[[float, str], None]


class Records(NamedTuple):
    """Some records: coordinates (NaN: missing) and codes (-1: missing)."""

    numbers: Floats
    codes: Codes


class Asked(NamedTuple):
    """The people who are asked for: their records in the original, and their own in the release."""

    known: Records
    own: Records
    ids: list[str]


class Near(NamedTuple):
    """For each person asked: the least reduced distance, the next, how many records are at the least; the true one."""

    least: Floats
    second: Floats
    ties: Ints
    true: Floats
    credit: Floats


def sample_people(store: Store, sample: int, seed: int) -> Asked:
    """Draw people by a hash of their ids: the same ones on every engine, in any order of rows."""
    dialect = store.duck.dialect
    text = f"CAST(o.id AS {dialect.text})"
    hashed = dialect.hashed(f"concat({sql.text(f'{seed}:')}, {text})")
    store.duck.keep("asked", sql.sampled(hashed, min(sample, store.n_paired)))
    chosen, form = _columns(store), Form.of(store)
    people = "FROM o JOIN asked ON o.pid = asked.pid"
    known = store.duck.table(f"SELECT {text} AS id, {_of(chosen, 'o')} {people} ORDER BY asked.place")
    own = store.duck.table(f"SELECT {_of(chosen, 'r')} {people} JOIN r ON r.rid = o.truth ORDER BY asked.place")
    store.duck.drop("asked")
    return Asked(form.arrays(known), form.arrays(own), known.column("id").to_pylist())


def _columns(store: Store) -> list[str]:
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


class Placing(NamedTuple):
    """How records become points: numbers less a centre, in units of a spread; which codes are attributes; constants."""

    centre: tuple[Floats, Floats]  # of the original, of the release
    spread: tuple[Floats, Floats]
    codes: list[int]
    norm: int
    missing: Floats
    step: Floats
    code_missing: Floats
    floor: float
    tolerance: float = 1e-9

    def space(self, known: Records, records: Records) -> Space:
        """People and records in one space."""
        (a, b), (s, t) = self.centre, self.spread
        return Space(
            np.ascontiguousarray((known.numbers[:, : len(a)] - a) / s),
            np.ascontiguousarray((records.numbers[:, : len(b)] - b) / t),
            np.ascontiguousarray(known.codes[:, self.codes]),
            np.ascontiguousarray(records.codes[:, self.codes]),
            self.norm,
            self.missing,
            self.step,
            self.code_missing,
            self.tolerance,
            self.floor,
        )


def placed_by_distance(store: Store) -> Placing:
    """Standardised Euclidean distance, each file by its own mean and sd; categories count as `study/metric` says."""
    sides = [_moments(store, table) for table in ("o", "r")]
    centre = tuple(np.array([one.mean for one in side]) for side in sides)
    own = tuple(np.array([one.sd for one in side]) for side in sides)
    spread = tuple(np.where(mine > 0, mine, np.where(other > 0, other, 1.0)) for mine, other in (own, own[::-1]))
    square = [np.array([one.square for one in side]) for side in sides]
    present = np.array([min(a.n, b.n) > 0 for a, b in zip(*sides, strict=True)], dtype=bool)
    missing = np.where(present, square[0] / spread[0] ** 2 + square[1] / spread[1] ** 2, 0.0)
    codes = [j for j, key in enumerate(store.keys) if not key.numeric]
    differ = np.array([_differ(store, j) for j in codes])
    step = category_steps(differ, "euclidean", store.n_released, squared=True)
    reach = [
        max(abs(one.low - one.mean), abs(one.high - one.mean)) / s
        for side, scales in zip(sides, spread, strict=True)
        for one, s in zip(side, scales, strict=True)
        if one.n
    ]
    floor = (ROUNDING * max(reach, default=0.0)) ** 2
    return Placing(
        (centre[0], centre[1]), (spread[0], spread[1]), codes, EUCLIDEAN, missing, step, step * differ, floor
    )


def placed_by_weight(keys: list[int], step: Floats, missing: Floats, tie: float) -> Placing:
    """Bits lost against full agreement: a distance between codes."""
    none = np.empty(0)
    return Placing((none, none), (none, none), keys, MANHATTAN, none, step, missing, tie, tie)


class _Moments(NamedTuple):
    n: int
    low: float
    high: float
    mean: float
    sd: float
    square: float  # mean square around the mean


def _moments(store: Store, table: str) -> list[_Moments]:
    """Of every number of a table: what it is, to the last digit, whatever the order in which it is added up."""
    places = store.numeric
    if not places:
        return []
    found = store.duck.row(sql.moments(table, places))
    told = [tuple(found[3 * i : 3 * i + 3]) for i in range(len(places))]
    reach = [max(abs(low), abs(high)) if n else 0.0 for n, low, high in told]
    sums = _exact(store, table, [f"x{j}" for j in places], reach)
    means = [float(total / n) if n else 0.0 for total, (n, _, _) in zip(sums, told, strict=True)]
    away = [max(high - mean, mean - low) ** 2 if n else 0.0 for (n, low, high), mean in zip(told, means, strict=True)]
    squares = _exact(store, table, [sql.square(j, mean) for j, mean in zip(places, means, strict=True)], away)
    return [
        _Moments(n, low, high, mean, float(np.sqrt(float(square) / (n - 1))) if n > 1 else 0.0, float(square / n))
        if n
        else _Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for (n, low, high), mean, square in zip(told, means, squares, strict=True)
    ]


def _exact(store: Store, table: str, terms: list[str], reach: list[float]) -> list[Fraction]:
    """Sums of terms that are no larger than ``reach``."""
    bits = 61 - max(store.n_original, store.n_released).bit_length()
    scales = [2.0 ** min(max(bits - int(np.frexp(most)[1]), -1000), 1000) for most in reach]
    fine = 2.0**bits
    found = store.duck.row(sql.exact_sums(table, [(term, s, fine) for term, s in zip(terms, scales, strict=True)]))
    whole = [int(one or 0) for one in found]
    return [
        (Fraction(whole[2 * i]) + Fraction(whole[2 * i + 1]) / Fraction(fine)) / Fraction(scale)
        for i, scale in enumerate(scales)
    ]


def _differ(store: Store, j: int) -> float:
    """P(a != b) over pairs of one present code of each file."""
    found = store.duck.columns(sql.both_values(j))
    there = found["code"] > 0
    a, b = (found[name][there].astype(np.float64) for name in ("people", "records"))
    return max(0.0, 1.0 - float(a @ b) / (float(a.sum()) * float(b.sum()))) if a.sum() and b.sum() else 0.0


class Found(NamedTuple):
    """What a part of the release says of people: least and next distance, records at the least; of how many records."""

    person: Ints
    least: Floats
    second: Floats
    ties: Ints
    records: Ints


class Search(NamedTuple):
    """The people who are asked for, to be sent where the release is; it is asked for them a part at a time."""

    known: Records
    placing: Placing
    form: Form

    def __call__(self, part: Any) -> Found:  # noqa: ANN401 - an Arrow table or batch
        """Search one part."""
        records = self.form.arrays(part)
        found = nearest(self.placing.space(self.known, records))
        n = len(found.least)
        return Found(np.arange(n), found.least, found.second, found.ties, np.full(n, len(records.codes)))

    def made(self, columns: Sequence[Any]) -> Found:
        """What was found elsewhere, in columns."""
        return Found(*columns)

    def joined(self, parts: Sequence[Found]) -> Found:
        """What parts say together: the least, the next that is no tie, and the number of ties. It is additive."""
        n, placing = len(self.known.codes), self.placing
        person, low, following, many, records = (np.concatenate(column) for column in zip(*parts, strict=True))
        least, second = np.full(n, np.inf), np.full(n, np.inf)
        ties, seen = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        np.minimum.at(least, person, low)
        tied = low <= least[person] * (1.0 + placing.tolerance) + placing.floor
        np.minimum.at(second, person, np.where(tied, following, low))
        np.add.at(ties, person, np.where(tied, many, 0))
        np.add.at(seen, person, records)
        return Found(np.arange(n), least, second, ties, seen)


def find_nearest(store: Store, asked: Asked, placing: Placing, tell: Tell, rows: int = PART) -> Near:
    """One pass over the release for all who are asked; credit is shared among records that are equally near."""
    n, search, parts = len(asked.ids), Search(asked.known, placing, Form.of(store)), []
    for part in store.duck.over_parts(f"SELECT {', '.join(_columns(store))} FROM r", search, rows):
        parts.append(part)
        tell(sum(int(one.records[0]) for one in parts) / store.n_released, "nearest records")
    found = search.joined(parts)
    if (found.records != store.n_released).any():
        raise EngineError("the release was not read to its end", hint="is it being written?")
    true = distance_of_pairs(placing.space(asked.known, asked.own), np.arange(n), np.arange(n))
    right = found.least * (1.0 + placing.tolerance) + placing.floor >= true
    credit = np.where(right, 1.0 / np.maximum(found.ties, 1), 0.0)
    return Near(found.least, found.second, found.ties, true, credit)
