"""Slow, obvious twins of the maximum-knowledge tests: the paper's definitions, record by record."""

from __future__ import annotations

from itertools import product

import numpy as np


def average_rank(column: list[float], value: float) -> float:
    """Rank of a value that occurs in the column, equal ones sharing the mean of their ranks."""
    places = [i + 1 for i, other in enumerate(sorted(column)) if other == value]
    return sum(places) / len(places)


def closest_rank(column: list[float], value: float) -> float:
    """Rank of the value of the column closest to another; the mean of both sides when they are as close."""
    least = min(abs(value - other) for other in column)
    sides = {other for other in column if abs(value - other) == least}
    return sum(average_rank(column, side) for side in sides) / len(sides)


def distance(x: list[float], y: list[float], columns: list[list[float]]) -> float:
    """The X-to-Y form of eq. (1)."""
    return max(abs(closest_rank(c, a) - average_rank(c, b)) for a, b, c in zip(x, y, columns, strict=True))


def linkage(xs: np.ndarray, ys: np.ndarray) -> list[float]:
    """d(x, Y) for every x."""
    columns = ys.T.tolist()
    return [min(distance(x, y, columns) for y in ys.tolist()) for x in xs.tolist()]


def dictionary(xs: np.ndarray) -> np.ndarray:
    """All combinations of the values of X, each value as often as it occurs (Figure 1)."""
    return np.array(list(product(*xs.T.tolist())))


def ks(a: list[float], b: list[float]) -> float:
    """Largest difference of the two distribution functions, over every value met."""
    return max(abs(np.mean([v <= x for v in a]) - np.mean([v <= x for v in b])) for x in [*a, *b])


def false_link_rate(chances: list[float]) -> list[float]:
    """Benjamini-Hochberg: least over levels t >= p of n t / #(p_j <= t)."""
    n = len(chances)
    return [min(1.0, *(n * t / sum(p <= t for p in chances) for t in chances if t >= own)) for own in chances]
