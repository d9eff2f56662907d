"""The kernel of nearest(): what one query keeps of the points it meets.

Four numbers are enough: the least distance, the smallest that is no tie, the number of ties, and the tie that waits the
shortest (lottery.py). They depend on the set of points met, not on their order, but for one case: when the least
distance falls by less than the tolerance, some of the old ties stay and others do not. Then the query is searched once
more with the least distance known from the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.kernels.compiling import inlined, kernel, lean
from unmask.kernels.lottery import may_win, pick, wait
from unmask.kernels.search import Desk, enter, limit, measured, next_leaf, screen, tiles
from unmask.kernels.tree import LEAF, Rows
from unmask.kernels.vector import lowest_bit

if TYPE_CHECKING:
    from unmask.kernels.space import Floats, Space
    from unmask.kernels.tree import Tree

OPEN, UNSETTLED, KNOWN = 0, 1, 2


class Best(NamedTuple):
    """What each query has met so far. Enough to go on from, so a search can be done in parts."""

    query: Rows  # which query
    least: Floats
    second: Floats
    ties: Rows
    place: Rows  # tree position of the winner
    waited: Floats  # its waiting time
    state: Rows  # OPEN; UNSETTLED: ties must be counted again; KNOWN: the least distance is final


def blank(queries: Rows) -> Best:
    """Nothing met yet."""
    n = len(queries)
    counts, places, states = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.full(n, OPEN, np.int64)
    return Best(queries, np.full(n, np.inf), np.full(n, np.inf), counts, places, np.full(n, np.inf), states)


@inlined
def tie_limit(space: Space, least: float) -> float:
    """Reduced distances up to this tie with `least`."""
    return least * (1.0 + space.tolerance) + space.floor


@lean
def find_best(space: Space, tree: Tree, slots: Rows, seed: int, best: Best, desk: Desk) -> None:
    """Search the queries of some slots."""
    for turn in (OPEN, KNOWN):
        for tile in range(tiles(tree)):
            for slot in slots:
                if best.state[slot] == turn or (turn == OPEN and best.state[slot] == UNSETTLED):
                    _visit(space, tree, tile, slot, seed, best, desk)
        for slot in slots:
            if best.state[slot] == UNSETTLED:
                best.state[slot], best.ties[slot] = KNOWN, 0
                best.second[slot] = best.waited[slot] = np.inf


@lean
def _visit(space: Space, tree: Tree, tile: int, slot: int, seed: int, best: Best, desk: Desk) -> None:
    query = best.query[slot]
    probe = tree.probes[query]
    within = limit(tree, best.second[slot])
    top = enter(tree, tile, desk)
    while True:
        leaf, top = next_leaf(tree, probe, within, desk, top)
        if leaf < 0:
            break
        mask = screen(tree, leaf, probe, within, desk.far)
        while mask:
            j = lowest_bit(mask)
            mask &= mask - 1
            if desk.far[j] <= within:
                place = leaf * LEAF + j
                d = measured(space, tree, query, place, desk.far[j])
                if d < best.second[slot]:
                    _meet(space, tree, slot, place, d, seed, best)
                    within = limit(tree, best.second[slot])


@lean
def _meet(space: Space, tree: Tree, slot: int, place: int, d: float, seed: int, best: Best) -> None:
    """Take in one point that is nearer than the second best."""
    least = best.least[slot]
    if d < least:
        if least <= tie_limit(space, d):
            best.state[slot] = UNSETTLED
        else:  # all that was met before is now beyond the ties, and the old least is the nearest of it
            best.state[slot], best.second[slot] = OPEN, least
        best.least[slot], best.ties[slot], best.waited[slot] = d, 0, np.inf
    elif d > tie_limit(space, least):
        best.second[slot] = d
        return
    row, weight = tree.rows[place], tree.weight[place]
    best.ties[slot] += weight
    if not may_win(seed, best.query[slot], row, weight, best.waited[slot]):
        return
    time = wait(seed, best.query[slot], row, weight)
    if time < best.waited[slot] or (time == best.waited[slot] and row < tree.rows[best.place[slot]]):
        best.waited[slot], best.place[slot] = time, place


@kernel
def winners(tree: Tree, best: Best, seed: int) -> Rows:
    """Rows that won the lot: of the winning group, one member."""
    rows = np.full(best.place.shape[0], -1, dtype=np.int64)
    for slot in range(rows.shape[0]):
        t = best.place[slot]
        rows[slot] = tree.members[tree.start[t] + pick(seed, best.query[slot], tree.rows[t], tree.weight[t])]
    return rows
