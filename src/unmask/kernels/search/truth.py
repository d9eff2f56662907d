"""The kernels of decide() and rank_of_truth(): questions about the true point, which need no nearest point.

The true distance is known before the search. Nothing beyond it matters, and one point that is strictly closer settles
the decision: most queries end after a few leaves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inner, lean, lowest
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.distance import pair
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, next_near


@lean
def decide_part(
    space: Space, tree: Tree, queries: Ints, truth: Floats, closer: NDArray[np.bool_], ties: Ints, buffer: Buffer
) -> None:
    """Decide some queries, those marked as closer aside: write whether a point is closer, and the size of the tie."""
    for query in queries:
        if not closer[query]:
            least, unsettled = _try(space, tree, query, truth[query], np.inf, closer, ties, buffer)
            if unsettled:
                _try(space, tree, query, truth[query], least, closer, ties, buffer)


@inner
def _try(
    space: Space,
    tree: Tree,
    query: int,
    truth: float,
    least: float,
    closer: NDArray[np.bool_],
    ties: Ints,
    buffer: Buffer,
) -> tuple[float, bool]:
    """Look for points closer than the true one, from a least distance; as _visit in best.py."""
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
                closer[query] = True
                return d, False
            if d < least and d <= cut:
                unsettled = least <= tie_limit(space, d)
                least, count = d, tree.weight[place]
                cut = tie_limit(space, min(truth, least))
            elif d <= cut:
                count += tree.weight[place]
    ties[query] = count
    return least, unsettled


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
