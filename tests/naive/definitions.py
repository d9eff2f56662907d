"""Slow, obvious twins: the definitions of the methods, written without thought of speed. Nothing here is clever."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from naive.nearest import distance

# --- tables ---------------------------------------------------------------------------------------------------------


def ordinal_ranks_are_valid(column, ranks) -> bool:
    """Every rank 1..n once, and larger values never have smaller ranks."""
    order = sorted(range(len(column)), key=lambda i: ranks[i])
    return sorted(ranks) == list(range(1, len(column) + 1)) and all(column[a] <= column[b] for a, b in pairwise(order))


def average_rank(column, i) -> float:
    return sum(v < column[i] for v in column) + (1 + sum(v == column[i] for v in column)) / 2


def dense_rank(column, i) -> int:
    return 1 + len({v for v in column if v < column[i]})


# --- distances ------------------------------------------------------------------------------------------------------


def tie_set(space, i) -> list[int]:
    """All points as near as the nearest one, up to the space's tolerance."""
    row = [distance(space, i, j) for j in range(len(space.points))]
    limit = min(row) * (1 + space.tolerance) + space.floor
    return [j for j, d in enumerate(row) if d <= limit]


def credit(space, truth, i) -> float:
    ties = tie_set(space, i)
    return 1 / len(ties) if truth[i] in ties else 0.0


def mean_contribution(a, b, *, squared) -> float:
    pairs = [(x - y) ** 2 if squared else abs(x - y) for x in a for y in b]
    return sum(pairs) / len(pairs)


def precision_coverage(margin, credit_):
    """Claim links from the largest margin down; equal margins are claimed together."""
    curve = []
    for least in sorted(set(margin), reverse=True):
        claimed = [c for m, c in zip(margin, credit_, strict=True) if m >= least]
        curve.append((len(claimed) / len(margin), sum(claimed) / len(claimed)))
    return curve


# --- groups ---------------------------------------------------------------------------------------------------------


def group_sizes(rows) -> list[int]:
    return sorted(Counter(rows).values())


def minimum_risk(rows) -> float:
    return sum(sum(other == row for other in rows) == 1 for row in rows) / len(rows)


def average_risk(rows) -> float:
    return sum(1 / sum(other == row for other in rows) for row in rows) / len(rows)


def partitions(n, parts, least=1):
    """Every way to write n as a sum of `parts` positive whole numbers, ascending."""
    if parts == 1:
        if n >= least:
            yield (n,)
        return
    for first in range(least, n // parts + 1):
        for rest in partitions(n - first, parts - 1, first):
            yield (first, *rest)


def threshold_risk(sizes, m) -> float:
    """DR_thr, eq. 17, group by group, |A_k| inside the sum."""
    sizes = sorted(sizes)
    n, g = sum(sizes), len(sizes)
    quotient, extra = divmod(n, g)
    balanced = sorted([quotient] * (g - extra) + [quotient + 1] * extra)
    unbalanced = sorted([1] * (g - 1) + [n - g + 1])
    above = sum(a * max(0.0, 1 / a - 1 / b) for a, b in zip(sizes, balanced, strict=True))
    most = sum(max(0.0, 1 / u - 1 / b) for u, b in zip(unbalanced, balanced, strict=True))
    return (g + (m / (m + 1) * above / most if most > 0 else 0.0)) / n


def matching_credit(original, released, truth, i) -> float:
    """Exact match: guess among the released rows that equal the known one."""
    same = [j for j, row in enumerate(released) if row == original[i]]
    return 1 / len(same) if truth[i] in same else 0.0


# --- evidence -------------------------------------------------------------------------------------------------------


def wilson(hits, n, z=1.959963984540054):
    """Solve (p_hat - p)^2 = z^2 p (1-p) / n for p by bisection, on both sides of p_hat."""
    p_hat = hits / n

    def inside(p):
        return (p_hat - p) ** 2 <= z * z * p * (1 - p) / n

    def edge(lo, hi):
        for _ in range(200):
            mid = (lo + hi) / 2
            lo, hi = (lo, mid) if inside(mid) == inside(hi) else (mid, hi)
        return (lo + hi) / 2

    start = np.clip(p_hat, 1e-12, 1 - 1e-12)
    low = 0.0 if hits == 0 else edge(0.0, start)
    high = 1.0 if hits == n else edge(start, 1.0)
    return low, high
