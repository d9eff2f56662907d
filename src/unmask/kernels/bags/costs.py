"""What it costs to take one row for another, and the optimal matching of few rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.compiling import inlined, inner

LARGEST = 62_500  # row pairs of two bags up to which they are matched; beyond, each row takes its cheapest


class Bags(NamedTuple):
    """Rows of people: those of person i are ``codes[start[i]:start[i + 1]]``, one code a column."""

    start: Ints
    codes: Codes


class Costs(NamedTuple):
    """The cost of two codes a and b in column c: ``flat[offset[c] + a * width[c] + b]``, ``least`` over all b.

    A ``wide`` column has too many codes for that: equal ones cost ``flat[offset[c] + a]``, others ``other[c]``.
    ``size``: the cost of two bags of sizes s and t, at t - s, from -(len // 2) to len // 2; beyond, as the ends.
    ``cap``: no pair of rows costs more; a row may have been taken out and another put in.
    """

    flat: NDArray[np.float32]
    offset: Ints
    width: Ints
    wide: NDArray[np.int8]
    other: Floats
    least: NDArray[np.float32]
    start: Ints  # of each column in ``least``
    size: Floats
    cap: float


@inlined
def cost_of_rows(costs: Costs, one: Codes, i: int, two: Codes, j: int) -> float:
    """Sum over the columns, and no more than the cap."""
    total = 0.0
    for c in range(len(costs.offset)):
        a, b = one[i, c], two[j, c]
        if costs.wide[c] == 0:
            total += costs.flat[costs.offset[c] + a * costs.width[c] + b]
        elif a == b:
            total += costs.flat[costs.offset[c] + a]
        else:
            total += costs.other[c]
    return min(total, costs.cap)


@inlined
def cheapest(costs: Costs, one: Codes, i: int, two: Codes, first: int, last: int, base: Ints) -> float:
    """Return the least cost of row i with the rows from first to last of the other side; ``base``: a buffer."""
    columns, least = len(costs.offset), costs.cap
    for c in range(columns):
        base[c] = costs.offset[c] + one[i, c] * (costs.width[c] if costs.wide[c] == 0 else 1)
    for j in range(first, last):
        total = 0.0
        for c in range(columns):
            if costs.wide[c] == 0:
                total += costs.flat[base[c] + two[j, c]]
            elif one[i, c] == two[j, c]:
                total += costs.flat[base[c]]
            else:
                total += costs.other[c]
        least = min(least, total)
    return least


@inlined
def cost_of_size(costs: Costs, n: int, m: int) -> float:
    """What the difference of two sizes costs."""
    half = len(costs.size) // 2
    return float(costs.size[min(max(m - n, -half), half) + half])


@inner
def assign(
    cost: Floats, n: int, m: int, u: Floats, v: Floats, taken: Ints, way: Ints, least: Floats, seen: NDArray[np.int8]
) -> float:
    """Return the least total of n rows on m >= n columns: shortest augmenting paths, one row after the other.

    ``taken[j + 1] - 1`` is the row of column j in the end, -1: none.
    """
    u[: n + 1] = 0.0
    v[: m + 1] = 0.0
    taken[: m + 1] = 0
    for i in range(1, n + 1):
        taken[0] = i
        at = 0
        least[: m + 1] = np.inf
        seen[: m + 1] = 0
        while True:
            seen[at] = 1
            row, step, to = taken[at], np.inf, 0
            for j in range(1, m + 1):
                if seen[j] == 0:
                    now = cost[row - 1, j - 1] - u[row] - v[j]
                    if now < least[j]:
                        least[j] = now
                        way[j] = at
                    if least[j] < step:
                        step = least[j]
                        to = j
            for j in range(m + 1):
                if seen[j] == 1:
                    u[taken[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            at = to
            if taken[at] == 0:
                break
        while at != 0:
            taken[at] = taken[way[at]]
            at = way[at]
    total = 0.0
    for j in range(1, m + 1):
        if taken[j] > 0:
            total += cost[taken[j] - 1, j - 1]
    return total
