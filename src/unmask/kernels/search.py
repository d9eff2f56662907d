"""Walk a tree for one query: nearest boxes first, nothing beyond a limit; then screen the points of a leaf.

A search is a loop that its owner writes::

    top = enter(...)
    while True:
        leaf, top = next_leaf(...)
        if leaf < 0: break
        for each lane of the leaf that `screen` left within the limit:
            decide in float64, lower the limit

The owner alone knows what lowers the limit, so nearest records, the k nearest, decisions and ranks share this file.
All numbers here are float32 and serve to exclude (see tree.py for why that is exact).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba as nb
import numpy as np

from unmask.kernels.space import CHEBYSHEV, EUCLIDEAN
from unmask.kernels.tree import LANES, LEAF

if TYPE_CHECKING:
    from unmask.kernels.tree import Rows, Singles, Tree

BLOCKS = LEAF // LANES
LEVEL_SHIFT = 40  # a stack entry is level << 40 | box
STACK = 16 * LANES  # deeper than any tree: a level adds at most 15 entries, and 2**64 leaves have 16 levels
LOOSE = nb.njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})  # order is free when excluding
TIGHT = nb.njit(cache=True, nogil=True)


@TIGHT
def limit(tree: Tree, reduced: float) -> float:
    """Stored distances of pairs whose reduced distance is at most `reduced` do not exceed this."""
    scaled = reduced / tree.scale
    if tree.norm == EUCLIDEAN:
        scaled = (np.sqrt(scaled) + tree.error) ** 2
    else:
        scaled += tree.error
    scaled = scaled * (1.0 + tree.slack) + 1e-36
    return np.float32(scaled) if scaled < 3e38 else np.float32(np.inf)


@LOOSE
def box_gaps(tree: Tree, group: int, probe: Singles, gaps: Singles) -> None:
    """Lower bounds of the distances from a probe to the 16 boxes of a group."""
    zero = np.float32(0.0)
    gaps[:] = zero
    for k in range(probe.shape[0]):
        q, low, high = probe[k], tree.low[group, k], tree.high[group, k]
        if not tree.plain and q != q:  # noqa: PLR0124
            _add_constant(gaps, tree.missing[k], tree.norm)
        elif tree.norm == EUCLIDEAN and tree.plain:
            for j in range(LANES):
                gap = max(max(low[j] - q, q - high[j]), zero)
                gaps[j] += gap * gap
        elif tree.norm == CHEBYSHEV and tree.plain:
            for j in range(LANES):
                gaps[j] = max(gaps[j], max(low[j] - q, q - high[j]))
        else:
            relief = tree.relief[group, k]
            for j in range(LANES):
                gap = max(max(low[j] - q, q - high[j]), zero)
                if k >= tree.numeric:
                    gap = tree.step[k] if gap > zero else zero
                elif tree.norm == EUCLIDEAN:
                    gap *= gap
                gap = min(gap, relief[j])
                gaps[j] = max(gaps[j], gap) if tree.norm == CHEBYSHEV else gaps[j] + gap


@LOOSE
def _add_constant(sums: Singles, constant: float, norm: int) -> None:
    for j in range(sums.shape[0]):
        sums[j] = max(sums[j], constant) if norm == CHEBYSHEV else sums[j] + constant


@LOOSE
def point_distances(tree: Tree, block: int, probe: Singles, far: Singles) -> None:
    """Stored distances from a probe to the 16 points of a block."""
    zero = np.float32(0.0)
    far[:] = zero
    for k in range(probe.shape[0]):
        q, lane = probe[k], tree.lanes[block, k]
        if tree.plain and tree.norm == EUCLIDEAN:
            for j in range(LANES):
                gap = q - lane[j]
                far[j] += gap * gap
        elif tree.plain and tree.norm == CHEBYSHEV:
            for j in range(LANES):
                far[j] = max(far[j], abs(q - lane[j]))
        else:
            for j in range(LANES):
                gap = abs(q - lane[j])
                if gap != gap:  # noqa: PLR0124
                    gap = tree.missing[k]
                elif k >= tree.numeric:
                    gap = tree.step[k] if gap > zero else zero
                elif tree.norm == EUCLIDEAN:
                    gap *= gap
                far[j] = max(far[j], gap) if tree.norm == CHEBYSHEV else far[j] + gap


@TIGHT
def screen(tree: Tree, leaf: int, probe: Singles, within: float, lanes: Rows, far: Singles) -> int:
    """Positions of a leaf whose stored distance is within the limit, and those distances; returns their number."""
    found = 0
    block_far = np.empty(LANES, dtype=np.float32)
    for block in range(leaf * BLOCKS, (leaf + 1) * BLOCKS):
        point_distances(tree, block, probe, block_far)
        for j in range(min(LANES, tree.rows.shape[0] - block * LANES)):
            if block_far[j] <= within:
                lanes[found], far[found] = block * LANES + j, block_far[j]
                found += 1
    return found


@TIGHT
def enter(tree: Tree, tile: int, nodes: Rows, floors: Singles) -> int:
    """Start a search in one tile of the leaves; returns the height of the stack."""
    if tree.flat:
        nodes[0] = tile * tree.tile
        nodes[1] = min(nodes[0] + tree.tile, tree.lanes.shape[0] // BLOCKS)
        return 2
    nodes[0] = tree.level.shape[0] << LEVEL_SHIFT
    floors[0] = 0.0
    return 1


@TIGHT
def next_leaf(tree: Tree, probe: Singles, within: float, nodes: Rows, floors: Singles, top: int) -> tuple[int, int]:
    """Return the next leaf that may hold a point within the limit (-1: none is left) and the height of the stack."""
    if tree.flat:
        nodes[0] += 1
        return (nodes[0] - 1 if nodes[0] <= nodes[1] else -1), top
    gaps = np.empty(LANES, dtype=np.float32)
    while top > 0:
        top -= 1
        if floors[top] > within:
            continue
        height, box = nodes[top] >> LEVEL_SHIFT, nodes[top] & ((1 << LEVEL_SHIFT) - 1)
        if height == 0:
            return box, top
        box_gaps(tree, tree.level[height - 1] + box, probe, gaps)
        top = _push(tree, height - 1, box, gaps, within, nodes, floors, top)
    return -1, 0


@TIGHT
def _push(
    tree: Tree, height: int, parent: int, gaps: Singles, within: float, nodes: Rows, floors: Singles, top: int
) -> int:
    """Put the children within the limit on the stack, the nearest last, so that it comes first."""
    boxes = (tree.rows.shape[0] + LEAF - 1) // LEAF
    for _ in range(height):
        boxes = (boxes + LANES - 1) // LANES
    bottom = top
    for j in range(min(LANES, boxes - parent * LANES)):
        if gaps[j] <= within:
            at = top
            while at > bottom and floors[at - 1] < gaps[j]:
                nodes[at], floors[at] = nodes[at - 1], floors[at - 1]
                at -= 1
            nodes[at], floors[at] = height << LEVEL_SHIFT | (parent * LANES + j), gaps[j]
            top += 1
    return top
