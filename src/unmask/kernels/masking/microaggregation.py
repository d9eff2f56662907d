"""Microaggregation: MDAV on a shrinking kd-tree, and the optimal univariate partition by dynamic programming.

MDAV asks for the record farthest from a point and the k nearest to it, over records not yet grouped. Both questions
go to one kd-tree whose boxes, counts and sums shrink as records leave, so that the centroid is at the root and no
pass over all records is needed. Bounds and distances are summed in the same order, and rounding is monotone: a bound
never exceeds the distance it bounds, and the answer is that of the plain algorithm up to ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inner, kernel

LEAF = 12
DEPTH = 256  # of the search stack; median splits make at most 2 entries per level


class ShrinkingTree(NamedTuple):
    """A kd-tree over `points` (in tree order). Leaves hold [start, start + size); leaving records move to the end."""

    points: Floats  # (n, m)
    ids: Ints  # (n,) row of each point
    left: Ints  # (nodes,) child, -1 for a leaf
    right: Ints
    parent: Ints
    start: Ints
    size: Ints
    low: Floats  # (nodes, m) box of what is left
    high: Floats
    total: Floats  # (nodes, m) sum of what is left


class Buffer(NamedTuple):
    """Arrays that all searches work in: lean functions cannot make their own."""

    stack: Ints
    bounds: Floats
    query: Floats  # (m,) the point that is asked about
    found: Ints  # (k, 2) leaf and place of the nearest
    distances: Floats  # (k,) and how far they are


@kernel
def build(values: Floats) -> ShrinkingTree:
    """Split at the median of the widest attribute until leaves are small."""
    n, m = values.shape
    nodes = 4 * (n // LEAF + 1) + 1
    order, key = np.arange(n), np.empty(n)
    left, right, parent = np.full(nodes, -1), np.full(nodes, -1), np.full(nodes, -1)
    start, size = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    low, high, total = np.zeros((nodes, m)), np.zeros((nodes, m)), np.zeros((nodes, m))
    size[0], made, node = n, 1, 0
    while node < made:
        first, last = start[node], start[node] + size[node]
        axis, spread = 0, -1.0
        for a in range(m):
            least, most = np.inf, -np.inf
            for i in range(first, last):
                value = values[order[i], a]
                least, most = min(least, value), max(most, value)
            if most - least > spread:
                axis, spread = a, most - least
        if size[node] > LEAF and spread > 0.0:
            middle = first + size[node] // 2
            for i in range(first, last):
                key[i] = values[order[i], axis]
            _select(key, order, first, last - 1, middle)
            left[node], right[node] = made, made + 1
            parent[made], start[made], size[made] = node, first, middle - first
            parent[made + 1], start[made + 1], size[made + 1] = node, middle, last - middle
            made += 2
        node += 1
    points = values[order]
    tree = ShrinkingTree(points, order, left, right, parent, start, size, low, high, total)
    for i in range(made - 1, -1, -1):  # children come after their parent
        _refresh(tree, i)
    return tree


@inner
def _select(key: Floats, order: Ints, low: int, high: int, middle: int) -> None:
    """Move keys (and their rows) so that none before `middle` exceeds, and none after is below, the one at it."""
    while low < high:
        pivot = key[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@inner
def _refresh(tree: ShrinkingTree, node: int) -> None:
    """Recompute count, box and sum of a node from its children or its records."""
    m = tree.points.shape[1]
    if tree.left[node] >= 0:
        a, b = tree.left[node], tree.right[node]
        tree.size[node] = tree.size[a] + tree.size[b]
        if tree.size[a] == 0:
            a = b
        if tree.size[b] == 0:
            b = a
        for c in range(m):
            tree.low[node, c] = min(tree.low[a, c], tree.low[b, c])
            tree.high[node, c] = max(tree.high[a, c], tree.high[b, c])
            tree.total[node, c] = tree.total[a, c] + tree.total[b, c] if a != b else tree.total[a, c]
        return
    first, n = tree.start[node], tree.size[node]
    for c in range(m):
        least, most, total = np.inf, -np.inf, 0.0
        for i in range(first, first + n):
            value = tree.points[i, c]
            least, most, total = min(least, value), max(most, value), total + value
        tree.low[node, c], tree.high[node, c], tree.total[node, c] = least, most, total


@inner
def _farthest_bound(tree: ShrinkingTree, node: int, query: Floats) -> float:
    """Bound from above the squared distance from the query to what is left in the node; -1 when nothing is."""
    if tree.size[node] == 0:
        return -1.0
    bound = 0.0
    for c in range(query.size):
        gap = max(abs(tree.low[node, c] - query[c]), abs(tree.high[node, c] - query[c]))
        bound += gap * gap
    return bound


@inner
def _nearest_bound(tree: ShrinkingTree, node: int, query: Floats) -> float:
    """Bound from below the squared distance from the query to what is left in the node."""
    if tree.size[node] == 0:
        return np.inf
    bound = 0.0
    for c in range(query.size):
        gap = max(0.0, tree.low[node, c] - query[c], query[c] - tree.high[node, c])
        bound += gap * gap
    return bound


@inner
def _squared(tree: ShrinkingTree, place: int, query: Floats) -> float:
    total = 0.0
    for c in range(query.size):
        gap = abs(tree.points[place, c] - query[c])
        total += gap * gap
    return total


@inner
def farthest(tree: ShrinkingTree, buffer: Buffer) -> int:
    """Return the place of the remaining point farthest from buffer.query."""
    best, found = -1.0, -1
    stack, bounds, query = buffer.stack, buffer.bounds, buffer.query
    stack[0], bounds[0], top = 0, _farthest_bound(tree, 0, query), 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] <= best:
            continue
        if tree.left[node] < 0:
            for i in range(tree.start[node], tree.start[node] + tree.size[node]):
                distance = _squared(tree, i, query)
                if distance > best:
                    best, found = distance, i
            continue
        near, far = tree.left[node], tree.right[node]
        near_bound, far_bound = _farthest_bound(tree, near, query), _farthest_bound(tree, far, query)
        if near_bound > far_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        stack[top], bounds[top] = near, near_bound  # the more promising child is on top
        stack[top + 1], bounds[top + 1] = far, far_bound
        top += 2
    return found


@inner
def nearest(tree: ShrinkingTree, buffer: Buffer) -> None:
    """Put leaves and places of the remaining points nearest to buffer.query into buffer.found, the nearest first."""
    stack, bounds, query, found, distances = buffer.stack, buffer.bounds, buffer.query, buffer.found, buffer.distances
    k = distances.size
    for i in range(k):
        distances[i] = np.inf
    stack[0], bounds[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] >= distances[k - 1]:
            continue
        if tree.left[node] < 0:
            for i in range(tree.start[node], tree.start[node] + tree.size[node]):
                distance = _squared(tree, i, query)
                if distance < distances[k - 1]:
                    place = k - 1
                    while place > 0 and distances[place - 1] > distance:
                        distances[place] = distances[place - 1]
                        found[place, 0], found[place, 1] = found[place - 1, 0], found[place - 1, 1]
                        place -= 1
                    distances[place], found[place, 0], found[place, 1] = distance, node, i
            continue
        near, far = tree.left[node], tree.right[node]
        near_bound, far_bound = _nearest_bound(tree, near, query), _nearest_bound(tree, far, query)
        if near_bound > far_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        stack[top], bounds[top] = far, far_bound
        stack[top + 1], bounds[top + 1] = near, near_bound
        top += 2


@inner
def _remove(tree: ShrinkingTree, found: Ints, group: int, groups: Ints) -> None:
    """Give the found points their group and take them out of the tree."""
    k = len(found)
    for _ in range(k):
        index = 0  # from the back, so that places stay valid while leaves shrink
        for other in range(1, k):
            if found[other, 1] > found[index, 1]:
                index = other
        leaf, place = found[index, 0], found[index, 1]
        found[index, 1] = -1
        groups[tree.ids[place]] = group
        last = tree.start[leaf] + tree.size[leaf] - 1
        for c in range(tree.points.shape[1]):
            held = tree.points[place, c]
            tree.points[place, c], tree.points[last, c] = tree.points[last, c], held
        tree.ids[place], tree.ids[last] = tree.ids[last], tree.ids[place]
        tree.size[leaf] -= 1
    for index in range(k):
        node = found[index, 0]
        seen = False
        for other in range(index):
            seen = seen or found[other, 0] == node
        while node >= 0 and not seen:
            _refresh(tree, node)
            node = tree.parent[node]


@inner
def _group_around(tree: ShrinkingTree, place: int, group: int, groups: Ints, buffer: Buffer) -> None:
    """Gather the k points nearest to the one at a place; it stays in buffer.query."""
    for c in range(buffer.query.size):
        buffer.query[c] = tree.points[place, c]
    nearest(tree, buffer)
    _remove(tree, buffer.found, group, groups)


@kernel
def mdav(values: Floats, k: int) -> Ints:
    """Return the group of each record: maximum distance to average vector, groups of k (the last of up to 2k - 1)."""
    n, m = values.shape
    groups, tree = np.full(n, -1), build(values)
    buffer = Buffer(np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(m), np.full((k, 2), -1), np.empty(k))
    left, group = n, 0
    while left >= 2 * k:
        buffer.query[:] = tree.total[0] / left
        _group_around(tree, farthest(tree, buffer), group, groups, buffer)
        left, group = left - k, group + 1
        if left < 2 * k:
            break  # fewer than 3k were left: the rest is one group
        _group_around(tree, farthest(tree, buffer), group, groups, buffer)
        left, group = left - k, group + 1
    for i in range(n):
        if groups[i] < 0:
            groups[i] = group
    return groups


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
