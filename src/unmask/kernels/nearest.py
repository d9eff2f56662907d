"""Nearest points of every query, their ties and the runner-up; never n × n numbers in memory.

Ties are points whose reduced distance d obeys d <= least (1 + tolerance) + floor. See search.py for the walk,
distance.py for the one distance that decides, lottery.py for how one of the ties is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba as nb
import numpy as np

from unmask.kernels.chunks import in_chunks, query_order
from unmask.kernels.distance import pair
from unmask.kernels.lottery import pick, wait
from unmask.kernels.search import STACK, enter, limit, next_leaf, screen
from unmask.kernels.space import Floats
from unmask.kernels.tree import LANES, LEAF, Rows, Singles, plant
from unmask.kernels.vector import lowest_bit

if TYPE_CHECKING:
    from unmask.kernels.space import Space
    from unmask.kernels.tree import Tree


class Nearest(NamedTuple):
    """One row per query."""

    index: Rows  # one of the nearest points, by lot
    least: Floats  # reduced distance of the nearest
    second: Floats  # the smallest reduced distance that is not a tie; inf if there is none
    ties: Rows  # number of nearest points


class _Best(NamedTuple):
    """What a query has met so far. Enough to go on from, so a search can be done in parts."""

    least: Floats
    second: Floats
    ties: Rows
    place: Rows  # tree position of the winner
    waited: Floats  # its waiting time
    fixed: Rows  # 0: least may fall; 1: it fell within the tolerance, so ties must be recounted; 2: it is known


def nearest(space: Space, *, seed: int = 0, tree: Tree | None = None) -> Nearest:
    """Find for each query a nearest point, the least and the second-best reduced distance, and the number of ties."""
    tree = plant(space) if tree is None else tree
    n = len(space.queries)
    order = query_order(tree)
    best = _Best(
        np.full(n, np.inf), np.full(n, np.inf), np.zeros(n, np.int64), np.full(n, -1), np.full(n, np.inf),
        np.zeros(n, np.int64),
    )  # fmt: skip
    in_chunks(lambda part: _nearest(space, tree, order[part], seed, best), n)
    return Nearest(_winners(tree, best.place, seed), best.least, best.second, best.ties)


@nb.njit(cache=True, nogil=True)
def exact(space: Space, query: int, row: int) -> float:
    """Reduced distance of a query and a point."""
    return pair(
        space.queries[query], space.points[row], space.query_codes[query], space.point_codes[row],
        space.norm, space.missing, space.step, space.code_missing,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def _nearest(space: Space, tree: Tree, queries: Rows, seed: int, best: _Best) -> None:
    n_leaves = tree.lanes.shape[0]
    nodes, floors = np.empty(STACK, dtype=np.int64), np.empty(STACK, dtype=np.float32)
    gaps, far = np.empty(LANES, dtype=np.float32), np.empty(LEAF, dtype=np.float32)
    for tile in range((n_leaves + tree.tile - 1) // tree.tile):
        for query in queries:
            _meet_all(space, tree, tile, query, seed, best, nodes, floors, gaps, far)
    again = 0
    for query in queries:
        if best.fixed[query] == 1:
            best.fixed[query], best.ties[query], best.second[query], best.waited[query] = 2, 0, np.inf, np.inf
            again += 1
    if again == 0:
        return
    for tile in range((n_leaves + tree.tile - 1) // tree.tile):
        for query in queries:
            if best.fixed[query] == 2:
                _meet_all(space, tree, tile, query, seed, best, nodes, floors, gaps, far)


@nb.njit(cache=True, nogil=True)
def _meet_all(
    space: Space,
    tree: Tree,
    tile: int,
    query: int,
    seed: int,
    best: _Best,
    nodes: Rows,
    floors: Singles,
    gaps: Singles,
    far: Singles,
) -> None:
    probe = tree.probes[query]
    within = limit(tree, best.second[query])
    top = enter(tree, tile, nodes, floors)
    leaf, top = next_leaf(tree, probe, within, nodes, floors, gaps, top)
    while leaf >= 0:
        mask = screen(tree, leaf, probe, within, far)
        while mask:
            j = lowest_bit(mask)
            mask &= mask - 1
            if far[j] <= within:
                d = exact(space, query, tree.rows[leaf * LEAF + j])
                if d < best.second[query]:
                    _meet(space, tree, query, leaf * LEAF + j, d, seed, best)
                    within = limit(tree, best.second[query])
        leaf, top = next_leaf(tree, probe, within, nodes, floors, gaps, top)


@nb.njit(cache=True, nogil=True)
def _meet(space: Space, tree: Tree, query: int, place: int, d: float, seed: int, best: _Best) -> None:
    """Take in one point that is nearer than the second best."""
    least = best.least[query]
    if d < least:
        if least <= d * (1.0 + space.tolerance) + space.floor:
            best.fixed[query] = 1  # some old ties may stay, others not
        else:
            best.second[query] = least
        best.least[query], best.ties[query], best.waited[query] = d, 0, np.inf
    elif d > least * (1.0 + space.tolerance) + space.floor:
        best.second[query] = d
        return
    row, weight = tree.rows[place], tree.weight[place]
    best.ties[query] += weight
    time = wait(seed, query, row, weight)
    if time < best.waited[query] or (time == best.waited[query] and row < tree.rows[best.place[query]]):
        best.waited[query], best.place[query] = time, place


@nb.njit(cache=True, nogil=True)
def _winners(tree: Tree, place: Rows, seed: int) -> Rows:
    rows = np.empty(place.shape[0], dtype=np.int64)
    for query in range(place.shape[0]):
        t = place[query]
        rows[query] = tree.members[tree.start[t] + pick(seed, query, tree.rows[t], tree.weight[t])]
    return rows
