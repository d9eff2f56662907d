"""The kernel of decide(): many queries walk the tree together, level by level, each within its true distance.

A query that walks alone waits at every box for what the one before told. Here each level has a list of (query, box)
that are still to be looked at, and the lowest list that is full is worked off: the same few steps again and again.
Limits are known beforehand, so the order does not matter. Each query meets the leaf of its true point first: most often
a closer one is there, if any is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import LANES, LEAF, Codes, Floats, Ints, Singles, Space
from unmask.kernels.compiling import inlined, lean, lowest, popcount
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.masks import nearest_of, split
from unmask.kernels.search.ties import EVERYBODY, FEW, SIDES, count_tied, rows_among
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.truth import Met, closer_than
from unmask.kernels.search.walk import Buffer, enter, limit, measured, near_boxes, new_buffer, next_near, screen

FULL = 64  # boxes in a list that are looked at before others are added
MANY = 4  # ranks that tie from which on a query is looked at by itself
ROOM = 2 * FULL + LANES  # the list of leaves has those of the true points, too
SHIFT = 32  # an entry is the number of a query << 32 | box
LOW = (1 << SHIFT) - 1


class Lists(NamedTuple):
    """What some queries have still to look at."""

    entries: Ints  # (levels and root, ROOM)
    counts: Ints


class Asked(NamedTuple):
    """Some queries side by side: what is looked up again and again stands in as little memory as can be."""

    probes: Singles
    truth: Floats
    least: Floats
    place: Ints
    ties: Ints
    within: Singles  # stored distances beyond this are of no interest
    sure: Singles  # points up to this are closer
    own: Codes  # the leaf of the true point; -1 where that is not known, and -2 - leaf once it has been met
    few: Codes  # ranks that may tie until the query is looked at by itself; -1: any number
    done: NDArray[np.bool_]
    again: NDArray[np.bool_]


def decide_part(space: Space, tree: Tree, queries: Ints, met: Met) -> None:
    """Decide some queries, those that are settled aside: whether a point is closer, and the size of the tie."""
    queries = queries[~met.closer[queries]]
    while len(queries):  # twice at the most
        n, levels = len(queries), len(tree.level) + 1
        lists = Lists(np.empty((levels, ROOM), np.int64), np.zeros(levels, np.int64))
        floats, ints, singles = np.empty((2, n)), np.empty((2, n), np.int64), np.empty((2, n), np.float32)
        codes, flags = np.empty((2, n), np.int32), np.empty((2, n), np.bool_)
        asked = Asked(np.empty((n, tree.probes.shape[1]), np.float32), *floats, *ints, *singles, *codes, *flags)
        _decide(space, tree, queries, met, asked, lists, new_buffer())
        queries = queries[met.again[queries]]


@lean
def _decide(space: Space, tree: Tree, queries: Ints, met: Met, asked: Asked, lists: Lists, buffer: Buffer) -> None:
    _prepare(space, tree, queries, met, asked)
    counts, root, next_, full = lists.counts, lists.counts.shape[0] - 1, 0, _full(tree)
    while True:
        height = 0
        while height < root and counts[height] < full:
            height += 1
        if height == root and counts[root] == 0:
            if next_ < queries.shape[0]:
                next_, height = _begin(asked, lists, next_), 0
            else:
                while height >= 0 and counts[height] == 0:
                    height -= 1
                if height < 0:
                    break
        if height > 0:
            _look_at_boxes(tree, height, asked, lists, buffer)
        else:
            _look_at_leaves(space, tree, queries, asked, lists, buffer)
    for slot in range(queries.shape[0]):
        query = queries[slot]
        if asked.few[slot] == 0 and not asked.done[slot]:
            _count(tree, slot, asked, buffer)
        met.least[query], met.ties[query] = asked.least[slot], asked.ties[slot]
        met.closer[query], met.again[query] = asked.done[slot], asked.again[slot] and not asked.done[slot]


@inlined
def _full(tree: Tree) -> int:
    """Where categories tie by the thousand, a closer point is sought box by box before they are counted."""
    return FULL if tree.plain else 1


@inlined
def _prepare(space: Space, tree: Tree, queries: Ints, met: Met, asked: Asked) -> None:
    """Bring the queries together, and tell their limits."""
    bits = tree.sharp and tree.numeric <= SIDES  # as by_bits
    for slot in range(queries.shape[0]):
        query = queries[slot]
        for k in range(tree.probes.shape[1]):
            asked.probes[slot, k] = tree.probes[query, k]
        truth, place = met.truth[query], met.place[query]
        asked.truth[slot], asked.least[slot], asked.place[slot], asked.ties[slot] = truth, met.least[query], place, 0
        asked.own[slot], asked.few[slot] = place // LEAF if place >= 0 else -1, MANY if bits else -1
        asked.done[slot], asked.again[slot] = False, False
    for slot in range(queries.shape[0]):
        truth = asked.truth[slot]
        if bits:
            asked.sure[slot] = (truth - tree.grain) / tree.scale
            asked.within[slot] = (truth + tree.grain) / tree.scale
        else:
            asked.sure[slot] = closer_than(space, tree, truth)
            asked.within[slot] = limit(tree, tie_limit(space, min(truth, asked.least[slot])))


@inlined
def _begin(asked: Asked, lists: Lists, first: int) -> int:
    """Let the next queries look at the leaf of the true point and at the root; returns the first one of the others."""
    last, leaves, root = min(first + FULL, int(asked.own.shape[0])), lists.counts[0], lists.counts.shape[0] - 1
    for slot in range(first, last):
        lists.entries[0, leaves] = slot << SHIFT | max(0, int(asked.own[slot]))
        leaves += int(asked.own[slot] >= 0)
        lists.entries[root, last - 1 - slot] = slot << SHIFT
    lists.counts[0], lists.counts[root] = leaves, last - first
    return last


@inlined
def _look_at_boxes(tree: Tree, height: int, asked: Asked, lists: Lists, buffer: Buffer) -> None:
    """Put boxes within the limits in place of those of a list that they are in, until the list below is full."""
    mine, below = lists.entries[height], lists.entries[height - 1]
    left, found, full = lists.counts[height], lists.counts[height - 1], _full(tree)
    while left > 0 and found < full:
        left -= 1
        slot, box = mine[left] >> SHIFT, mine[left] & LOW
        if asked.done[slot] or asked.few[slot] == 0:
            continue
        mask = near_boxes(tree, height - 1, box, asked.probes[slot], asked.within[slot], buffer.gaps)
        first, bottom = slot << SHIFT | (box * LANES), found
        best = popcount(np.uint64(mask & ((1 << nearest_of(buffer.gaps, mask)) - 1)))
        while mask:
            below[found] = first + lowest(mask)
            mask &= mask - 1
            found += 1
        if found > bottom:  # the nearest comes first
            below[bottom + best], below[found - 1] = below[found - 1], below[bottom + best]
    lists.counts[height], lists.counts[height - 1] = left, found


@inlined
def _look_at_leaves(space: Space, tree: Tree, queries: Ints, asked: Asked, lists: Lists, buffer: Buffer) -> None:
    """Meet the points of all leaves of the list."""
    for i in range(lists.counts[0] - 1, -1, -1):
        slot, leaf = lists.entries[0, i] >> SHIFT, lists.entries[0, i] & LOW
        if asked.done[slot] or asked.few[slot] == 0 or asked.own[slot] == -2 - leaf:
            continue
        if asked.own[slot] == leaf:
            asked.own[slot] = -2 - leaf
        mask = screen(tree, leaf, asked.probes[slot], asked.within[slot], buffer.far)
        if mask:
            _meet(space, tree, (queries[slot], slot), leaf, mask, asked, buffer.far)
    lists.counts[0] = 0


@inlined
def _meet(space: Space, tree: Tree, who: tuple[int, int], leaf: int, mask: int, asked: Asked, far: Singles) -> None:
    """Count the points of a leaf that tie, or find one that is closer; as _visit in best.py.

    Ties must be counted again, with the least distance known, where it falls by less than the tolerance.
    """
    query, slot = who
    truth, least = asked.truth[slot], asked.least[slot]
    near, _ = split(far, asked.sure[slot])
    if near & mask:
        asked.done[slot] = True
        return
    if asked.few[slot] > 0:
        tied = rows_among(tree, leaf * LEAF, mask)
        asked.few[slot] = max(0, int(asked.few[slot]) - popcount(np.uint64(mask)))
        asked.least[slot] = truth
        asked.ties[slot] += tied
        return
    cut = tie_limit(space, min(truth, least))
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        place = leaf * LEAF + j
        # nobody needs to read the numbers of the true point again
        d = truth if place == asked.place[slot] else measured(space, tree, query, place, far[j])
        if tie_limit(space, d) < truth:
            asked.done[slot] = True
            return
        if d < least and d <= cut:
            asked.again[slot] = least <= tie_limit(space, d)
            least, asked.ties[slot] = d, tree.weight[place]
            cut = tie_limit(space, min(truth, least))
        elif d <= cut:
            asked.ties[slot] += tree.weight[place]
    asked.least[slot] = least


@inlined
def _count(tree: Tree, slot: int, asked: Asked, buffer: Buffer) -> None:
    """Count the points as near as the true one, or find a closer one, of one query where thousands of ranks tie.

    A few leaves are looked at, the nearest first. Then what is closer is sought, and the ties are counted by bits where
    nothing is.
    """
    probe, closer, within = asked.probes[slot], asked.sure[slot], asked.within[slot]
    found, few, top = 0, FEW, enter(tree, buffer)
    while top > 0 and few > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        if mask:
            near, _ = split(buffer.far, closer)
            if near:
                asked.done[slot] = True
                return
            found, few = found + rows_among(tree, leaf * LEAF, mask), few - 1
    if few == 0:
        for reach, enough in ((closer, 1), (within, EVERYBODY)):  # in one place, so that it is compiled once
            found, _ = count_tied(tree, probe, (reach, reach), buffer, enough)
            if found and enough == 1:
                asked.done[slot] = True
                return
    asked.ties[slot] = found
