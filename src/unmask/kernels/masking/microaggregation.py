"""Microaggregation: MDAV, and the optimal univariate partition by dynamic programming.

MDAV asks for the record farthest from a point and the k nearest to it, over records not yet grouped: plain passes over
those that are left, attribute by attribute, which is what vector instructions do best. Up to 60,000 records no tree
was faster.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import kernel


@kernel
def mdav(values: Floats, k: int) -> Ints:
    """Return the group of each record: maximum distance to average vector, groups of k (the last of up to 2k - 1)."""
    n, m = values.shape
    points, rows = values.T.copy(), np.arange(n)  # those that are left come first
    total = np.array([points[c].sum() for c in range(m)])
    groups, far = np.full(n, -1), np.empty(n)
    left, group = n, 0
    while left >= 2 * k:
        _measure(points, left, total / left, far)
        for _ in range(2):
            if left >= 2 * k:  # else the rest is one group
                _measure(points, left, points[:, np.argmax(far[:left])].copy(), far)
                left, group = _gather(points, rows, left, far, k, group, groups, total), group + 1
    groups[rows[:left]] = group
    return groups


@kernel
def _measure(points: Floats, left: int, query: Floats, far: Floats) -> None:
    """Write the squared distances of a point to those that are left."""
    far[:left] = 0.0
    for c in range(points.shape[0]):
        for i in range(left):
            gap = points[c, i] - query[c]
            far[i] += gap * gap


@kernel
def _gather(
    points: Floats, rows: Ints, left: int, far: Floats, k: int, group: int, groups: Ints, total: Floats
) -> int:  # fmt: skip
    """Make the k nearest a group and take them out; return how many are left."""
    found, least = np.empty(k, np.int64), np.full(k, np.inf)
    for i in range(left):
        if far[i] < least[k - 1]:
            place = k - 1
            while place > 0 and least[place - 1] > far[i]:
                least[place], found[place] = least[place - 1], found[place - 1]
                place -= 1
            least[place], found[place] = far[i], i
    for place in np.sort(found)[::-1]:  # from the back, so that places stay valid
        groups[rows[place]] = group
        left -= 1
        rows[place], far[place] = rows[left], far[left]
        total -= points[:, place]
        for c in range(points.shape[0]):
            points[c, place] = points[c, left]
    return left


@kernel
def optimal_partition(ordered: Floats, k: int) -> Ints:
    """Return the group of each sorted value: least within-group sum of squares, sizes k to 2k - 1 [HANS]_.

    Hansen and Mukherjee's shortest path: cost[i] = least over groups (j, i] of cost[j] + SSE(j, i]; a group of 2k
    or more is never better than its two halves. SSE grows by Welford's update, value by value.
    """
    n = ordered.size
    groups = np.zeros(n, np.int64)
    if n < 2 * k:
        return groups
    cost, cut = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0.0
    for i in range(k, n + 1):
        mean, sse = 0.0, 0.0
        for j in range(i - 1, max(i - 2 * k, -1), -1):
            size = i - j
            delta = ordered[j] - mean
            mean += delta / size
            sse += delta * (ordered[j] - mean)
            if size >= k and cost[j] + sse < cost[i]:
                cost[i], cut[i] = cost[j] + sse, j
    end, group = n, 0
    while end > 0:
        groups[cut[end] : end] = group
        end, group = cut[end], group + 1
    return groups
