"""The nearest bag, exactly: bags whose bound from below is too high are never matched.

Each row of the smaller bag needs a row of the larger one, so the sum of its cheapest costs bounds the matching from
below. Whoever is bounded above the best so far, and a margin, is left out; so nobody nearer is missed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.bags.costs import LARGEST, Bags, Costs, assign, cheapest, cost_of_rows, cost_of_size
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inner, kernel

SAME = 1e-5  # costs as close are equal: they are sums of numbers in single precision


@inner
def _fill(costs: Costs, one: Bags, p: int, two: Bags, q: int, out: Floats) -> tuple[int, int]:
    """Costs of the rows of two bags, the smaller one first."""
    a, b = one.start[p], two.start[q]
    n, m = one.start[p + 1] - a, two.start[q + 1] - b
    for i in range(n):
        for j in range(m):
            cost = cost_of_rows(costs, one.codes, a + i, two.codes, b + j)
            if n <= m:
                out[i, j] = cost
            else:
                out[j, i] = cost
    return min(n, m), max(n, m)


@inner
def _relaxed(cost: Floats, n: int, m: int) -> float:
    """Sum of the cheapest costs of the rows."""
    total = 0.0
    for i in range(n):
        least = np.inf
        for j in range(m):
            least = min(least, cost[i, j])
        total += least
    return total


@inner
def _bound(costs: Costs, one: Bags, p: int, two: Bags, q: int, lowest: Floats, base: Ints, limit: float) -> float:
    """Bound the cost of two bags from below; stop where it is above ``limit``.

    ``lowest``: for each row of p the least that it and the rows after it can cost.
    """
    a, b = one.start[p], two.start[q]
    n, m = one.start[p + 1] - a, two.start[q + 1] - b
    total = cost_of_size(costs, n, m)
    if n <= m:
        for i in range(n):
            if total + lowest[i] > limit:
                return float(total + lowest[i])
            total += cheapest(costs, one.codes, a + i, two.codes, b, b + m, base)
        return total
    for j in range(m):
        least = np.inf
        for i in range(n):
            least = min(least, cost_of_rows(costs, one.codes, a + i, two.codes, b + j))
        total += least
    return total


@inner
def _lowest(costs: Costs, one: Bags, p: int, out: Floats) -> None:
    a, n = one.start[p], one.start[p + 1] - one.start[p]
    out[n] = 0.0
    for i in range(n - 1, -1, -1):
        least = 0.0
        for c in range(len(costs.offset)):
            least += costs.least[costs.start[c] + one.codes[a + i, c]]
        out[i] = out[i + 1] + min(least, costs.cap)


@inner
def _exact(
    costs: Costs, one: Bags, p: int, two: Bags, q: int,
    cost: Floats, u: Floats, v: Floats, taken: Ints, way: Ints, least: Floats, seen: NDArray[np.int8],
) -> float:  # fmt: skip
    """Return the cost of two bags by their optimal matching; of very large ones the bound."""
    n, m = _fill(costs, one, p, two, q, cost)
    size = cost_of_size(costs, one.start[p + 1] - one.start[p], two.start[q + 1] - two.start[q])
    if n * m > LARGEST:
        return size + _relaxed(cost, n, m)
    return size + assign(cost, n, m, u, v, taken, way, least, seen)


@kernel
def nearest_bags(
    asked: Ints, own: Ints, one: Bags, two: Bags, costs: Costs, margin: float
) -> tuple[Floats, Floats, Ints, Floats, Floats]:
    """For each person asked about: the least cost, the next, how many have the least, their own, and a total.

    ``own``: each one's place on the other side, or -1 (their cost is then infinite); it is looked at first, which
    saves work and changes nothing. Costs above the least and ``margin`` count as that. The total is the sum over all
    others and the best of exp(least - cost): 1 where only one is near.
    """
    k, n_two = len(asked), len(two.start) - 1
    most = max(np.diff(one.start).max(), np.diff(two.start).max()) + 1
    least, second, mine, total = np.full(k, np.inf), np.full(k, np.inf), np.full(k, np.inf), np.zeros(k)
    ties = np.zeros(k, np.int64)
    cost, u, v = np.empty((most, most)), np.empty(most + 1), np.empty(most + 1)
    taken, way, seen = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int8)
    buffer, lowest, found, kept = np.empty(most + 1), np.empty(most + 1), np.empty(n_two), 0
    base = np.empty(len(costs.offset), np.int64)
    for at in range(k):
        p, mate, kept = asked[at], own[at], 0
        _lowest(costs, one, p, lowest)
        best = np.inf
        if mate >= 0:
            best = _exact(costs, one, p, two, mate, cost, u, v, taken, way, buffer, seen)
            mine[at] = best
            found[0], kept = best, 1
        for q in range(n_two):
            if q == mate or _bound(costs, one, p, two, q, lowest, base, best + margin) > best + margin:
                continue
            now = _exact(costs, one, p, two, q, cost, u, v, taken, way, buffer, seen)
            found[kept] = now
            kept += 1
            best = min(best, now)
        least[at], second[at] = best, best + margin
        for j in range(kept):
            if found[j] <= best + SAME * (1.0 + abs(best)):
                ties[at] += 1
            else:
                second[at] = min(second[at], found[j])
            total[at] += np.exp(best - found[j])
    return least, second, ties, mine, total


@kernel
def bound_bags(asked: Ints, one: Bags, two: Bags, costs: Costs) -> Floats:
    """Bound the costs of some bags of one side with all of the other from below."""
    n, m = len(asked), len(two.start) - 1
    lowest, base = np.empty(np.diff(one.start).max() + 1), np.empty(len(costs.offset), np.int64)
    out = np.empty((n, m))
    for at in range(n):
        _lowest(costs, one, asked[at], lowest)
        for q in range(m):
            out[at, q] = _bound(costs, one, asked[at], two, q, lowest, base, np.inf)
    return out


@kernel
def cost_of_bags(rows: Ints, columns: Ints, one: Bags, two: Bags, costs: Costs) -> Floats:
    """Work out the costs of pairs of bags."""
    most = max(np.diff(one.start).max(), np.diff(two.start).max()) + 1
    cost, u, v, buffer = np.empty((most, most)), np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    taken, way, seen = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int8)
    out = np.empty(len(rows))
    for k in range(len(rows)):
        out[k] = _exact(costs, one, rows[k], two, columns[k], cost, u, v, taken, way, buffer, seen)
    return out


@kernel
def match_rows(rows: Ints, columns: Ints, one: Bags, two: Bags, costs: Costs) -> Ints:
    """For each row of one side the row of the other that it is laid on within the given pairs of bags, -1: none."""
    most = max(np.diff(one.start).max(), np.diff(two.start).max()) + 1
    cost, u, v, buffer = np.empty((most, most)), np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    taken, way, seen = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int8)
    out = np.full(len(one.codes), -1, np.int64)
    for k in range(len(rows)):
        a, b = one.start[rows[k]], two.start[columns[k]]
        turned = one.start[rows[k] + 1] - a > two.start[columns[k] + 1] - b
        n, m = _fill(costs, one, rows[k], two, columns[k], cost)
        assign(cost, n, m, u, v, taken, way, buffer, seen)
        for j in range(m):
            if taken[j + 1] > 0:
                i = taken[j + 1] - 1
                if turned:
                    out[a + j] = b + i
                else:
                    out[a + i] = b + j
    return out
