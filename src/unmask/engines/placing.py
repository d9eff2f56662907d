"""How records become points: each file standardised, categories and missing values as `study/metric` counts them."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats
from unmask.engines import sql
from unmask.engines.asked import Records
from unmask.engines.store import Store
from unmask.kernels.base import EUCLIDEAN, MANHATTAN, Space
from unmask.study import Scale, category_steps

ROUNDING = 1e-12  # as in study/metric.py


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

    def turned(self) -> Placing:
        """The same with both files in each other's place."""
        return self._replace(centre=self.centre[::-1], spread=self.spread[::-1])

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


def placed_by_distance(store: Store, scale: Scale = "own") -> Placing:
    """Standardised Euclidean distance, each file by its own mean and sd, or both by those of one of them.

    Categories and missing values count as `study/metric` says.
    """
    sides = [_moments(store, table) for table in ("o", "r")]
    used = {"own": sides, "original": [sides[0]] * 2, "released": [sides[1]] * 2}[scale]
    centre = tuple(np.array([one.mean for one in side]) for side in used)
    own = tuple(np.array([one.sd for one in side]) for side in used)
    spread = tuple(np.where(mine > 0, mine, np.where(other > 0, other, 1.0)) for mine, other in (own, own[::-1]))
    codes = [j for j, key in enumerate(store.keys) if not key.numeric]
    differ = np.array([_differ(store, j) for j in codes])
    step = category_steps(differ, "euclidean", store.n_released, squared=True)
    reach = [
        max(abs(one.low - mean), abs(one.high - mean)) / s
        for side, means, scales in zip(sides, centre, spread, strict=True)
        for one, mean, s in zip(side, means, scales, strict=True)
        if one.n
    ]
    floor = (ROUNDING * max(reach, default=0.0)) ** 2
    missing = _missing(sides, centre, spread)
    return Placing(
        (centre[0], centre[1]), (spread[0], spread[1]), codes, EUCLIDEAN, missing, step, step * differ, floor
    )


def _missing(sides: list[list[_Moments]], centre: tuple[Floats, ...], spread: tuple[Floats, ...]) -> Floats:
    """Mean of (a - b)^2 over all pairs of present values, as points have them."""
    if not sides[0]:
        return np.empty(0)
    squares = [np.array([one.square for one in side]) / s**2 for side, s in zip(sides, spread, strict=True)]
    means = [(np.array([one.mean for one in side]) - c) / s for side, c, s in zip(sides, centre, spread, strict=True)]
    present = np.array([min(a.n, b.n) > 0 for a, b in zip(*sides, strict=True)], dtype=bool)
    return np.where(present, squares[0] + squares[1] + (means[0] - means[1]) ** 2, 0.0)


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
    bits = 61 - max(store.n_original + store.n_outside, store.n_released).bit_length()
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
