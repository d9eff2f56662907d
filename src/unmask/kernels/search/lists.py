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
    probe, last, within = tree.probes[query], np.inf, np.inf
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
                    _insert(tree, query, place, d, seed, lists)
                    last = _bound(tree, query, lists)
                    within = limit(tree, last)


@inner
def _bound(tree: Tree, query: int, lists: Lists) -> float:
    """Return the distance of the k-th point, and forget the groups after it."""
    k, points = lists.place.shape[1], 0
    for i in range(k):
        if lists.place[query, i] < 0:
            return np.inf
        points += tree.weight[lists.place[query, i]]
        if points >= k:
            if i + 1 < k:
                lists.place[query, i + 1] = -1
            return float(lists.distance[query, i])
    return np.inf


@inner
def _insert(tree: Tree, query: int, place: int, d: float, seed: int, lists: Lists) -> None:
    row = tree.rows[place]
    time = wait(stem(seed, query, 1), stem(seed, query, 2), row, tree.weight[place])
    k, at = lists.place.shape[1], 0
    while at < k and lists.place[query, at] >= 0:
        other = lists.distance[query, at]
        if d < other or (d == other and time < lists.waited[query, at]):
            break
        if d == other and time == lists.waited[query, at] and row < tree.rows[lists.place[query, at]]:
            break
        at += 1
    end = at
    while end < k and lists.place[query, end] >= 0:
        end += 1
    for i in range(min(end, k - 1), at, -1):
        lists.distance[query, i] = lists.distance[query, i - 1]
        lists.waited[query, i] = lists.waited[query, i - 1]
        lists.place[query, i] = lists.place[query, i - 1]
    if at < k:
        lists.distance[query, at], lists.waited[query, at], lists.place[query, at] = d, time, place
    if end + 1 < k:
        lists.place[query, end + 1] = -1


@kernel
def spread(tree: Tree, lists: Lists, seed: int) -> tuple[Ints, Floats]:
    """Rows and distances of the k nearest points; of a group that does not fit whole, some members by draw."""
    n, k = lists.place.shape
    rows, distances = np.full((n, k), -1, dtype=np.int64), np.full((n, k), np.inf)
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
