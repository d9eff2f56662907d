"""The kernels of decide() and rank_of_truth(): questions about the true point, which need no nearest point.

The true distance is known before the search. Nothing beyond it matters, and one point that is strictly closer settles
the decision: most queries end after a few leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inner, lean, lowest
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.distance import pair
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, next_near


class Met(NamedTuple):
    """What each query has met so far."""

    truth: Floats  # distance of the true point
    least: Floats  # that of the nearest, if none is closer than the true one
    closer: NDArray[np.bool_]  # settled: some point is closer than the true one
    ties: Ints
    again: NDArray[np.bool_]  # ties must be counted again, with the least distance known


def nobody_met(truth: Floats) -> Met:
    """Before any search; who has no true point is settled."""
    n = len(truth)
    return Met(truth, np.full(n, np.inf), ~np.isfinite(truth), np.zeros(n, np.int64), np.zeros(n, np.bool_))


@lean
def decide_part(space: Space, tree: Tree, queries: Ints, met: Met, buffer: Buffer) -> None:
    """Decide some queries, those that are settled aside: whether a point is closer, and the size of the tie."""
    for query in queries:
        if not met.closer[query] and _try(space, tree, query, met, buffer):
            _try(space, tree, query, met, buffer)


@inner
def _try(space: Space, tree: Tree, query: int, met: Met, buffer: Buffer) -> bool:
    """Look for points closer than the true one, from a least distance; as _visit in best.py."""
    truth, least = met.truth[query], met.least[query]
    probe, cut, count, unsettled = tree.probes[query], tie_limit(space, min(truth, least)), 0, False
    within = limit(tree, cut)
    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            d = pair(space, query, tree.rows[place])
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


@lean
def rank_part(space: Space, tree: Tree, queries: Ints, truth: Floats, cap: int, buffer: Buffer, rank: Ints) -> None:
    """Count the points strictly closer than the true one, up to `cap`."""
    for query in queries:
        if np.isfinite(truth[query]):
            rank[query] = min(cap, _closer(space, tree, query, truth[query], cap, buffer))


@inner
def _closer(space: Space, tree: Tree, query: int, truth: float, enough: int, buffer: Buffer) -> int:
    probe, found, within = tree.probes[query], 0, limit(tree, truth)
    top = enter(tree, buffer)
    while top > 0 and found < enough:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            if tie_limit(space, pair(space, query, tree.rows[place])) < truth:
                found += tree.weight[place]
    return found
