"""Who is nearest, in one pass over the release: what a part of it says adds up with what the others say.

The intruders are some people, in memory; the release comes in parts. The least distance over all parts is the least of
theirs, equally near records add, and the next distance is a minimum as well. Each part is searched by the same kernels
as a release in memory, on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.engines import sql
from unmask.engines.store import Store
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

    person: Ints
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
    store.duck.keep("asked", sql.sampled(seed, min(sample, store.n_paired)))
    chosen = _columns(store)
    known = store.duck.table(f"SELECT o.pid, {_of(chosen, 'o')} FROM o JOIN asked USING (pid) ORDER BY o.pid")
    person, known_records = _arrays(store, known, numbered=True)
    own = store.duck.table(
        f"SELECT o.pid, {_of(chosen, 'r')} FROM o JOIN asked USING (pid) JOIN r ON r.rid = o.truth ORDER BY o.pid"
    )
    _, own_records = _arrays(store, own, numbered=True)
    ids = store.duck.table("SELECT CAST(o.id AS VARCHAR) AS id FROM o JOIN asked USING (pid) ORDER BY o.pid")
    store.duck.drop("asked")
    return Asked(person, known_records, own_records, ids.column("id").to_pylist())


def _columns(store: Store) -> list[str]:
    """Numbers of keys that are numbers, codes of all."""
    return [*(f"x{j}" for j in store.numeric), *(f"c{j}" for j in range(len(store.keys)))]


def _of(columns: list[str], side: str) -> str:
    return ", ".join(f"{side}.{column}" for column in columns)


def _arrays(store: Store, table: Any, *, numbered: bool = False) -> tuple[Ints, Records]:  # noqa: ANN401 - Arrow
    """Numbers first, then the codes of all keys; a code of 0 is missing, and becomes -1."""
    found = {name: table.column(name) for name in table.schema.names}
    empty = np.empty((table.num_rows, 0))
    numbers = [_plain(found[f"x{j}"]).astype(np.float64) for j in store.numeric]
    codes = [_plain(found[f"c{j}"]).astype(np.int32) - 1 for j in range(len(store.keys))]
    person = _plain(found["pid"]).astype(np.int64) if numbered else np.empty(0, np.int64)
    left = np.ascontiguousarray(np.column_stack(numbers)) if numbers else empty
    return person, Records(left, np.ascontiguousarray(np.column_stack(codes), dtype=np.int32))


def _plain(column: Any) -> Any:  # noqa: ANN401 - an Arrow column, chunked or not
    values = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return values.to_numpy(zero_copy_only=False)


def parts_of(store: Store, rows: int = PART) -> Iterator[Records]:
    """The release, some records at a time."""
    for batch in store.duck.parts(f"SELECT {', '.join(_columns(store))} FROM r", rows):
        if batch.num_rows:
            yield _arrays(store, batch)[1]


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
    sides = [[_moments(store, table, j) for j in store.numeric] for table in ("o", "r")]
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


def _moments(store: Store, table: str, j: int) -> _Moments:
    n, low, high, mean = store.duck.row(sql.moments(table, j))
    if not n:
        return _Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    around = float(store.duck.row(sql.squares(table, j, float(mean)))[0])
    sd = float(np.sqrt(around / (n - 1))) if n > 1 else 0.0
    return _Moments(int(n), float(low), float(high), float(mean), sd, around / n)


def _differ(store: Store, j: int) -> float:
    """P(a != b) over pairs of one present code of each file."""
    found = store.duck.columns(sql.both_values(j))
    there = found["code"] > 0
    a, b = (found[name][there].astype(np.float64) for name in ("people", "records"))
    return max(0.0, 1.0 - float(a @ b) / (float(a.sum()) * float(b.sum()))) if a.sum() and b.sum() else 0.0


def find_nearest(store: Store, asked: Asked, placing: Placing, tell: Tell, rows: int = PART) -> Near:
    """One pass over the release for all who are asked; credit is shared among records that are equally near."""
    n = len(asked.known.codes)
    least, second, ties = np.full(n, np.inf), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    done = 0
    for part in parts_of(store, rows):
        found = nearest(placing.space(asked.known, part))
        least, second, ties = _joined(placing, (least, second, ties), (found.least, found.second, found.ties))
        done += len(part.codes)
        tell(done / store.n_released, "nearest records")
    space = placing.space(asked.known, asked.own)
    true = distance_of_pairs(space, np.arange(n), np.arange(n))
    right = least * (1.0 + placing.tolerance) + placing.floor >= true
    return Near(least, second, ties, true, np.where(right, 1.0 / np.maximum(ties, 1), 0.0))


def _joined(
    placing: Placing, one: tuple[Floats, Floats, Ints], other: tuple[Floats, Floats, Ints]
) -> tuple[Floats, Floats, Ints]:
    """What two parts say together: the least, the next that is no tie, and the number of ties."""
    least = np.minimum(one[0], other[0])
    within = least * (1.0 + placing.tolerance) + placing.floor
    second, ties = np.full(len(least), np.inf), np.zeros(len(least), dtype=np.int64)
    for low, following, many in (one, other):
        tied = low <= within
        ties += np.where(tied, many, 0)
        second = np.minimum(second, np.where(tied, following, low))
    return least, second, ties
