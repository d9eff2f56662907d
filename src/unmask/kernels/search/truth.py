"""What decide() keeps of each query, and the kernel of rank_of_truth(): questions that need no nearest point.

The true distance is known before the search. Nothing beyond it matters, and one point that is strictly closer settles
the decision: most queries end after a few leaves (together.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import EUCLIDEAN, LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inlined, inner, lean, lowest
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, measured, next_near


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
