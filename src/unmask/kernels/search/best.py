"""The kernels of nearest(): what one query keeps of the points it meets, and the draws among those that tie.

Three numbers are enough: the least distance, the smallest that is no tie, and the number of ties. They depend on the
set of points met, not on their order, but for one case: when the least distance falls by less than the tolerance, some
of the old ties stay and others do not. Then the query is searched once more with the least distance known from the
start. Draws are made afterwards, among the ties alone: where a thousand points tie, they are most of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inlined, inner, kernel, lean, lowest, popcount
from unmask.kernels.draws import least_draw, pick, stem, wait
from unmask.kernels.search.frame import SHARP_STEP
from unmask.kernels.search.masks import drawn_mask, near_mask
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, measured, next_near, tiles

OPEN, UNSETTLED, KNOWN = 0, 1, 2


class Best(NamedTuple):
    """What each query has met so far. Enough to go on from, so a search can be done in parts."""

    query: Ints  # which query
    least: Floats
    second: Floats
    ties: Ints
    place: Ints  # tree position of a nearest point
    state: Ints  # OPEN; UNSETTLED: ties must be counted again; KNOWN: the least distance is final


def blank(queries: Ints) -> Best:
    """Nothing met yet."""
    n = len(queries)
    counts, places, states = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.full(n, OPEN, np.int64)
    return Best(queries, np.full(n, np.inf), np.full(n, np.inf), counts, places, states)


def expand(best: Best, label: Ints) -> Best:
    """What was found for distinct queries, for all of them: query i is number label[i] of the distinct ones."""
    found = (best.least[label], best.second[label], best.ties[label], best.place[label], best.state[label])
    return Best(np.arange(len(label)), *found)


@inlined
def tie_limit(space: Space, least: float) -> float:
    """Reduced distances up to this tie with `least`."""
    return least * (1.0 + space.tolerance) + space.floor


@lean
def find_best(space: Space, tree: Tree, slots: Ints, best: Best, buffer: Buffer) -> None:
    """Search the queries of some slots."""
    for turn in (OPEN, KNOWN):
        for tile in range(tiles(tree)):
            for slot in slots:
                if best.state[slot] == turn or (turn == OPEN and best.state[slot] == UNSETTLED):
                    _visit(space, tree, tile, slot, best, buffer)
        for slot in slots:
            if best.state[slot] == UNSETTLED:
                best.state[slot], best.ties[slot], best.second[slot] = KNOWN, 0, np.inf


@inner
def _visit(space: Space, tree: Tree, tile: int, slot: int, best: Best, buffer: Buffer) -> None:
    query, least, second, ties = best.query[slot], best.least[slot], best.second[slot], best.ties[slot]
    probe, cut, within = tree.probes[query], tie_limit(space, least), limit(tree, second)
    top = enter(tree, tile, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        if mask and tree.sharp and not mask & near_mask(buffer.far, (least - SHARP_STEP) / tree.scale):
            equal = mask & near_mask(buffer.far, least / tree.scale) & tree.single[leaf]
            ties += popcount(np.uint64(equal))  # of ranks hundreds may tie: count them at once
            mask &= ~equal
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            if buffer.far[j] > within:
                continue
            place = leaf * LEAF + j
            d = measured(space, tree, query, place, buffer.far[j])
            if d > cut:
                if d < second:
                    second, within = d, limit(tree, d)
            elif d >= least:
                ties += tree.weight[place]
            else:
                cut = tie_limit(space, d)
                if least <= cut:
                    best.state[slot] = UNSETTLED
                else:  # all that was met before is now beyond the ties, and the old least is the nearest of it
                    best.state[slot], second, within = OPEN, least, limit(tree, least)
                least, ties, best.place[slot] = d, tree.weight[place], place
    best.least[slot], best.second[slot], best.ties[slot] = least, second, ties


@lean
def draw_ties(space: Space, tree: Tree, slots: Ints, seed: int, best: Best, waited: Floats, buffer: Buffer) -> None:
    """Put the nearest point that waits the shortest in the place of some slots. `waited` is inf before."""
    for tile in range(tiles(tree)):
        for slot in slots:
            _draw(space, tree, tile, slot, seed, best, waited, buffer)


@inner
def _draw(
    space: Space, tree: Tree, tile: int, slot: int, seed: int, best: Best, waited: Floats, buffer: Buffer
) -> None:
    query, shortest, winner = best.query[slot], waited[slot], best.place[slot]
    high, low = stem(seed, query, 1), stem(seed, query, 2)
    probe, cut = tree.probes[query], tie_limit(space, best.least[slot])
    within, enough = limit(tree, cut), least_draw(shortest)
    top = enter(tree, tile, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        if mask and (leaf + 1) * LEAF <= tree.rows.shape[0]:  # most wait too long, and that is cheap to tell
            mask &= drawn_mask(tree.rows, leaf * LEAF, high, enough) | ~tree.single[leaf]
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            row = tree.rows[place]
            if measured(space, tree, query, place, buffer.far[j]) <= cut:
                time = wait(high, low, row, tree.weight[place])
                if time < shortest or (time == shortest and row < tree.rows[winner]):
                    shortest, winner, enough = time, place, least_draw(time)
    waited[slot], best.place[slot] = shortest, winner


@kernel
def winners(tree: Tree, best: Best, seed: int) -> Ints:
    """Rows that won the draw: of the winning group, one member."""
    rows = np.full(best.place.shape[0], -1, dtype=np.int64)
    for slot in range(rows.shape[0]):
        t = best.place[slot]
        rows[slot] = tree.members[tree.start[t] + pick(stem(seed, best.query[slot], 3), tree.rows[t], tree.weight[t])]
    return rows
