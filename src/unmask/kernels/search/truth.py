"""The kernels of decide() and rank_of_truth(): questions about the true point, which need no nearest point.

The true distance is known before the search. Nothing beyond it matters, and one point that is strictly closer settles
the decision: most queries end after a few leaves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import EUCLIDEAN, LANES, LEAF, Floats, Ints, Singles, Space
from unmask.kernels.compiling import inlined, inner, lean, lowest, popcount
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.masks import box_sides, side_mask
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import LEVEL_SHIFT, Buffer, enter, limit, measured, next_near, screen

FEW = 4  # leaves with points that tie from which on these are counted by bits
SIDES = 31  # attributes whose bits fit into one number of a box


class Met(NamedTuple):
    """What each query has met so far."""

    truth: Floats  # distance of the true point
    least: Floats  # that of the nearest, if none is closer than the true one
    closer: NDArray[np.bool_]  # settled: some point is closer than the true one
    ties: Ints
    again: NDArray[np.bool_]  # ties must be counted again, with the least distance known
    place: Ints  # in the tree, of the true point; -1 where that is not known


def nobody_met(truth: Floats, place: Ints | None = None) -> Met:
    """Before any search; who has no true point is settled."""
    n = len(truth)
    place = np.full(n, -1) if place is None else place
    return Met(truth, np.full(n, np.inf), ~np.isfinite(truth), np.zeros(n, np.int64), np.zeros(n, np.bool_), place)


@lean
def decide_part(space: Space, tree: Tree, queries: Ints, met: Met, buffer: Buffer) -> None:
    """Decide some queries, those that are settled aside: whether a point is closer, and the size of the tie."""
    ranks = tree.sharp and tree.numeric <= SIDES
    most = FEW if ranks else tree.lanes.shape[0] + 1
    for query in queries:
        if met.closer[query] or _settled(space, tree, query, met, buffer):
            continue
        while _try(space, tree, query, met, buffer, most):
            if ranks:
                _decide_ranks(tree, query, met, buffer)
                break


@inner
def _settled(space: Space, tree: Tree, query: int, met: Met, buffer: Buffer) -> bool:
    """Whether a point of the leaf that the true one is in is closer: most often one is, where any is."""
    if met.place[query] < 0:
        return False
    sure = closer_than(space, tree, met.truth[query])
    met.closer[query] = screen(tree, met.place[query] // LEAF, tree.probes[query], sure, buffer.far) != 0
    return bool(met.closer[query])


@inner
def _decide_ranks(tree: Tree, query: int, met: Met, buffer: Buffer) -> None:
    """Where stored distances are exact: one point that is nearer settles it, and who ties is counted by bits alone.

    Thousands of ranks may tie. They are counted only where nobody is closer, and as whole leaves where that can be.
    """
    truth, found = met.truth[query], 0
    for within in (truth - tree.grain, truth + tree.grain):  # in one place, so that it is compiled once
        found = _count_within(tree, tree.probes[query], within / tree.scale, buffer)
        met.closer[query] = within < truth and found > 0
        if met.closer[query]:
            return
    met.least[query], met.ties[query] = truth, found


@inner
def _count_within(tree: Tree, probe: Singles, within: float, buffer: Buffer) -> int:
    """Count the points within a limit in every attribute; where a box does not go beyond it, nobody looks inside."""
    found, top, n, sides = 0, enter(tree, buffer), tree.rows.shape[0], buffer.sides
    while top > 0:
        top -= 1
        height, box = (buffer.nodes[top] >> LEVEL_SHIFT) - 1, buffer.nodes[top] & ((1 << LEVEL_SHIFT) - 1)
        near, size = box_sides((tree.low, tree.high, tree.relief), tree.level[height] + box, probe, within, sides), LEAF
        for _ in range(height):
            size *= LANES
        while near:
            j = lowest(near)
            near &= near - 1
            child = box * LANES + j
            first, last = min(n, child * size), min(n, (child + 1) * size)
            if sides[j] == 0:
                found += tree.start[last] - tree.start[first]
            elif height > 0:
                buffer.nodes[top] = height << LEVEL_SHIFT | child
                top += 1
            else:
                mask = side_mask(tree.lanes, child, probe, sides[j], within)
                found += popcount(np.uint64(mask))
                if tree.start[last] - tree.start[first] > last - first:
                    found += _copies(tree, first, mask)
    return found


@inner
def _copies(tree: Tree, first: int, mask: int) -> int:
    """How many rows more than points the bits of a leaf are."""
    found = 0
    while mask:
        found += tree.weight[first + lowest(mask)] - 1
        mask &= mask - 1
    return found


@inlined
def _try(space: Space, tree: Tree, query: int, met: Met, buffer: Buffer, most: int) -> bool:
    """Look for points closer than the true one, from a least distance; as _visit in best.py.

    True: it must be looked at again, with the least distance or since more than so many leaves are near.
    """
    truth, least = met.truth[query], met.least[query]
    probe, cut, count, unsettled = tree.probes[query], tie_limit(space, min(truth, least)), 0, False
    within, sure = limit(tree, cut), closer_than(space, tree, truth)
    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        most -= 1
        if most < 0:
            return True
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            if place == met.place[query]:
                d = truth  # the one point whose numbers nobody needs to read again
            else:
                d = 0.0 if buffer.far[j] <= sure else measured(space, tree, query, place, buffer.far[j])
            if tie_limit(space, d) < truth:
                met.closer[query] = True
                return False
            if d < least and d <= cut:
                unsettled = least <= tie_limit(space, d)
                least, count = d, tree.weight[place]
                cut = tie_limit(space, min(truth, least))
            elif d <= cut:
                count += tree.weight[place]
    met.least[query], met.ties[query] = least, count
    return unsettled


@inlined
def closer_than(space: Space, tree: Tree, truth: float) -> float:
    """Points whose stored distance is at most this are closer than the true one, beyond the tolerance: no doubt.

    The other side of walk.limit: a pair that is no closer has a stored distance of at least (root(T) / scale -
    E)**power (1 - slack). The last factor is for the limit itself, which is compared as a float32 number.
    """
    scaled = max(0.0, truth - space.floor) / (1.0 + space.tolerance) / tree.scale
    if tree.norm == EUCLIDEAN:
        scaled = max(0.0, math.sqrt(scaled) - tree.error) ** 2
    else:
        scaled -= tree.error
    return scaled * (1.0 - tree.slack) * (1.0 - 2.0**-23) - 1e-36


@lean
def rank_part(space: Space, tree: Tree, queries: Ints, truth: Floats, cap: int, buffer: Buffer, rank: Ints) -> None:
    """Count the points strictly closer than the true one, up to `cap`."""
    for query in queries:
        if np.isfinite(truth[query]):
            rank[query] = min(cap, _closer(space, tree, query, truth[query], cap, buffer))


@inner
def _closer(space: Space, tree: Tree, query: int, truth: float, enough: int, buffer: Buffer) -> int:
    probe, found, within, sure = tree.probes[query], 0, limit(tree, truth), closer_than(space, tree, truth)
    top = enter(tree, buffer)
    while top > 0 and found < enough:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            d = 0.0 if buffer.far[j] <= sure else measured(space, tree, query, place, buffer.far[j])
            if tie_limit(space, d) < truth:
                found += tree.weight[place]
    return found
