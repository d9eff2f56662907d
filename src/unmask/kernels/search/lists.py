"""The kernels of nearest_k() and tied(): lists of points, not one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inner, kernel, lean, lowest
from unmask.kernels.draws import pick, stem, wait
from unmask.kernels.search.best import Best, tie_limit
from unmask.kernels.search.distance import pair
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, next_near


class Lists(NamedTuple):
    """The nearest groups of identical points of each query, (n_queries, k), ordered by distance, then by draw."""

    distance: Floats
    waited: Floats
    place: Ints  # tree position; -1: none


@lean
def k_part(space: Space, tree: Tree, queries: Ints, seed: int, lists: Lists, buffer: Buffer) -> None:
    """Find the groups that hold the k nearest points of some queries."""
    for query in queries:
        _visit(space, tree, query, seed, lists, buffer)


@inner
def _visit(space: Space, tree: Tree, query: int, seed: int, lists: Lists, buffer: Buffer) -> None:
    probe, last, within, filled = tree.probes[query], np.inf, np.inf, 0
    high, low = stem(seed, query, 1), stem(seed, query, 2)
    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            if buffer.far[j] <= within:
                place = leaf * LEAF + j
                d = pair(space, query, tree.rows[place])
                if d <= last:
                    time = wait(high, low, tree.rows[place], tree.weight[place])
                    filled = _insert(tree, query, (place, d, time), lists, filled)
                    last, filled = _bound(tree, query, lists, filled)
                    within = limit(tree, last)


@inner
def _bound(tree: Tree, query: int, lists: Lists, filled: int) -> tuple[float, int]:
    """Return the distance of the k-th point, inf if there is none yet, and how many groups it takes; forget others."""
    k, points = lists.place.shape[1], 0
    if tree.rows.shape[0] == tree.members.shape[0]:  # no two points are identical
        return (float(lists.distance[query, k - 1]), k) if filled == k else (np.inf, filled)
    for i in range(filled):
        points += tree.weight[lists.place[query, i]]
        if points >= k:
            if i + 1 < k:
                lists.place[query, i + 1] = -1
            return float(lists.distance[query, i]), i + 1
    return np.inf, filled


@inner
def _insert(tree: Tree, query: int, group: tuple[int, float, float], lists: Lists, filled: int) -> int:
    """Put a group in its place by distance, then by draw; what is then beyond the k-th is lost."""
    place, d, time = group
    k = lists.place.shape[1]
    at = min(filled, k)
    while at > 0 and _before(tree, query, group, lists, at - 1):
        at -= 1
        if at + 1 < k:
            lists.distance[query, at + 1] = lists.distance[query, at]
            lists.waited[query, at + 1] = lists.waited[query, at]
            lists.place[query, at + 1] = lists.place[query, at]
    if at < k:
        lists.distance[query, at], lists.waited[query, at], lists.place[query, at] = d, time, place
    if filled + 1 < k:
        lists.place[query, filled + 1] = -1
    return filled + 1 if filled < k else filled


@inner
def _before(tree: Tree, query: int, group: tuple[int, float, float], lists: Lists, at: int) -> bool:
    place, d, time = group
    if d != lists.distance[query, at]:
        return bool(d < lists.distance[query, at])
    if time != lists.waited[query, at]:
        return bool(time < lists.waited[query, at])
    return bool(tree.rows[place] < tree.rows[lists.place[query, at]])


@kernel
def spread(tree: Tree, lists: Lists, seed: int) -> tuple[Ints, Floats]:
    """Rows and distances of the k nearest points; of a group that does not fit whole, some members by draw."""
    n, k = lists.place.shape
    rows, distances = np.empty((n, k), np.int64), np.empty((n, k), np.float64)
    for query in range(n):
        filled = 0
        for i in range(k):
            t = lists.place[query, i]
            if t < 0 or filled == k:
                break
            weight = tree.weight[t]
            first = pick(stem(seed, query, 3), tree.rows[t], weight)
            for m in range(min(weight, k - filled)):
                rows[query, filled] = tree.members[tree.start[t] + (first + m) % weight]
                distances[query, filled] = lists.distance[query, i]
                filled += 1
        for i in range(filled, k):
            rows[query, i], distances[query, i] = -1, np.inf
    return rows, distances


@kernel
def tied_part(space: Space, tree: Tree, slots: Ints, best: Best, start: Ints, rows: Ints, buffer: Buffer) -> None:
    """Write the rows of the ties of some queries, whose least distances are known, from start[slot] on."""
    for slot in slots:
        at = _collect(space, tree, slot, best, rows, start[slot], buffer)
        rows[start[slot] : at].sort()


@inner
def _collect(space: Space, tree: Tree, slot: int, best: Best, rows: Ints, at: int, buffer: Buffer) -> int:
    query, cut = best.query[slot], tie_limit(space, best.least[slot])
    probe, within = tree.probes[query], limit(tree, cut)
    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            if pair(space, query, tree.rows[place]) <= cut:
                for m in range(tree.start[place], tree.start[place + 1]):
                    rows[at] = tree.members[m]
                    at += 1
    return at
