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
from unmask.kernels.compiling import inlined, inner, kernel, lean, lowest
from unmask.kernels.draws import bar, high_branches, pick, stem, wait
from unmask.kernels.search.distance import pair
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, measured, next_near


class Best(NamedTuple):
    """What each query has met."""

    query: Ints  # which query
    least: Floats
    second: Floats
    ties: Ints
    place: Ints  # tree position of a nearest point


def blank(queries: Ints) -> Best:
    """Nothing met yet."""
    n = len(queries)
    return Best(queries, np.full(n, np.inf), np.full(n, np.inf), np.zeros(n, np.int64), np.full(n, -1, np.int64))


def expand(best: Best, label: Ints) -> Best:
    """What was found for distinct queries, for all of them: query i is number label[i] of the distinct ones."""
    return Best(np.arange(len(label)), best.least[label], best.second[label], best.ties[label], best.place[label])


@inlined
def tie_limit(space: Space, least: float) -> float:
    """Reduced distances up to this tie with `least`."""
    return least * (1.0 + space.tolerance) + space.floor


@lean
def find_best(space: Space, tree: Tree, slots: Ints, best: Best, buffer: Buffer) -> None:
    """Search the queries of some slots."""
    for slot in slots:
        while _visit(space, tree, slot, best, buffer):  # twice at the most
            best.ties[slot], best.second[slot] = 0, np.inf


@inlined
def _visit(space: Space, tree: Tree, slot: int, best: Best, buffer: Buffer) -> bool:
    """Search one query, from the least distance known of it; True: ties must be counted again, with the new one."""
    query, least, second, ties = best.query[slot], best.least[slot], best.second[slot], best.ties[slot]
    probe, cut, within, unsettled = tree.probes[query], tie_limit(space, least), limit(tree, second), False
    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            if buffer.far[j] > within:
                continue
            place = leaf * LEAF + j
            d = measured(space, tree, query, place, buffer.far[j])
            if d > cut:
                if d < second:
                    second, within = d, limit(tree, max(cut, d - tree.grain))
            elif d >= least:
                ties += tree.weight[place]
            else:
                cut = tie_limit(space, d)
                unsettled = least <= cut
                if not unsettled:  # all that was met before is beyond the ties, and the old least is the nearest of it
                    second, within = least, limit(tree, max(cut, least - tree.grain))
                least, ties, best.place[slot] = d, tree.weight[place], place
    best.least[slot], best.second[slot], best.ties[slot] = least, second, ties
    return unsettled


@lean
def draw_ties(space: Space, tree: Tree, slots: Ints, seed: int, best: Best, buffer: Buffer) -> None:
    """Put the nearest point that waits the shortest in the place of some slots."""
    for slot in slots:
        _draw(space, tree, slot, seed, best, buffer)


@inner
def _draw(space: Space, tree: Tree, slot: int, seed: int, best: Best, buffer: Buffer) -> None:
    query, shortest, winner = best.query[slot], np.inf, best.place[slot]
    if best.ties[slot] == tree.members.shape[0]:  # any point will do, and nobody needs to wait
        best.place[slot] = tree.position[pick(stem(seed, query, 4), 0, tree.members.shape[0])]
        return
    probe, cut = tree.probes[query], tie_limit(space, best.least[slot])
    stems, within, top = (stem(seed, query, 1), stem(seed, query, 2)), limit(tree, cut), enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        mask = _tied(space, tree, (query, leaf), mask, cut)
        shortest, winner = soonest(tree, leaf * LEAF, mask, stems, (shortest, winner))
    best.place[slot] = winner


@inlined
def _tied(space: Space, tree: Tree, where: tuple[int, int], mask: int, cut: float) -> int:
    """Those bits of a leaf whose points tie."""
    (query, leaf), found = where, 0
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        found |= int(pair(space, query, tree.rows[leaf * LEAF + j]) <= cut) << j
    return found


@inlined
def soonest(tree: Tree, first: int, mask: int, stems: tuple[int, int], known: tuple[float, int]) -> tuple[float, int]:
    """The shortest waiting time, and whose: of what is known and of some points of a leaf; few are looked at."""
    shortest, winner = known
    last = min(first + LEAF, tree.rows.shape[0])
    heaviest = 1 + tree.start[last] - tree.start[first] - (last - first)
    while mask:
        if last == first + LEAF:
            mask = high_branches(tree.rows, first, mask, stems[0], bar(shortest, heaviest))
            if mask == 0:
                break
        place = first + lowest(mask)
        mask &= mask - 1
        time = wait(stems[0], stems[1], tree.rows[place], tree.weight[place])
        if time < shortest or (time == shortest and tree.rows[place] < tree.rows[winner]):
            shortest, winner = time, place
    return shortest, winner


@kernel
def winners(tree: Tree, best: Best, seed: int) -> Ints:
    """Rows that won the draw: of the winning group, one member."""
    rows = np.full(best.place.shape[0], -1, dtype=np.int64)
    for slot in range(rows.shape[0]):
        t = best.place[slot]
        rows[slot] = tree.members[tree.start[t] + pick(stem(seed, best.query[slot], 3), tree.rows[t], tree.weight[t])]
    return rows
