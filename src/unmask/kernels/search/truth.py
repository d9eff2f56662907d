"""The kernels of decide() and rank_of_truth(): questions about the true point, which need no nearest point.

The true distance is known before the search. Nothing beyond it matters, and one point that is strictly closer settles
the decision: most queries end after a few leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import LEAF, Floats, Ints, Space
from unmask.kernels.compiling import inner, lean, lowest, popcount
from unmask.kernels.search.best import KNOWN, OPEN, UNSETTLED, tie_limit
from unmask.kernels.search.frame import SHARP_STEP
from unmask.kernels.search.masks import near_mask
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, limit, measured, next_near, tiles

SETTLED = 3


class Trial(NamedTuple):
    """What is known of each query's true point. All arrays have one entry per query."""

    truth: Floats  # reduced distance of the true point; inf if it has none
    least: Floats
    ties: Ints
    state: Ints  # as in best.py, and SETTLED: some point is strictly closer than the true one


@lean
def decide_part(space: Space, tree: Tree, queries: Ints, trial: Trial, buffer: Buffer) -> None:
    """Decide some queries."""
    for turn in (OPEN, KNOWN):
        for tile in range(tiles(tree)):
            for query in queries:
                if trial.state[query] == turn or (turn == OPEN and trial.state[query] == UNSETTLED):
                    _try(space, tree, tile, query, trial, buffer)
        for query in queries:
            if trial.state[query] == UNSETTLED:
                trial.state[query], trial.ties[query] = KNOWN, 0


@inner
def _try(space: Space, tree: Tree, tile: int, query: int, trial: Trial, buffer: Buffer) -> None:
    probe, truth, least, ties = tree.probes[query], trial.truth[query], trial.least[query], trial.ties[query]
    cut = tie_limit(space, min(truth, least))
    within = limit(tree, cut)
    top = enter(tree, tile, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        if mask and tree.sharp:  # ranks tie by hundreds: a leaf at a time
            if mask & near_mask(buffer.far, (truth - SHARP_STEP) / tree.scale):
                trial.state[query] = SETTLED
                return
            least, ties = truth, ties + popcount(np.uint64(mask & tree.single[leaf]))
            mask &= ~tree.single[leaf]
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            d = measured(space, tree, query, place, buffer.far[j])
            if tie_limit(space, d) < truth:
                trial.state[query] = SETTLED
                return
            if d < least and d <= cut:  # as in best.py
                trial.state[query] = UNSETTLED if least <= tie_limit(space, d) else OPEN
                least, ties = d, tree.weight[place]
                cut = tie_limit(space, min(truth, least))
            elif d <= cut:
                ties += tree.weight[place]
    trial.least[query], trial.ties[query] = least, ties


@lean
def rank_part(space: Space, tree: Tree, queries: Ints, truth: Floats, cap: int, buffer: Buffer, rank: Ints) -> None:
    """Count the points strictly closer than the true one, up to `cap`."""
    for tile in range(tiles(tree)):
        for query in queries:
            if rank[query] < cap and np.isfinite(truth[query]):
                closer = _closer(space, tree, tile, query, truth[query], cap - rank[query], buffer)
                rank[query] = min(cap, rank[query] + closer)


@inner
def _closer(space: Space, tree: Tree, tile: int, query: int, truth: float, enough: int, buffer: Buffer) -> int:
    probe, found = tree.probes[query], 0
    within = (truth - SHARP_STEP) / tree.scale if tree.sharp else limit(tree, truth)
    top = enter(tree, tile, buffer)
    while top > 0 and found < enough:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            place = leaf * LEAF + j
            if tie_limit(space, measured(space, tree, query, place, buffer.far[j])) < truth:
                found += tree.weight[place]
    return found
