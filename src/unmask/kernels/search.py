"""Walk a tree for one query: nearest boxes first, nothing beyond a limit; then screen the points of a leaf.

A search is a loop that its owner writes::

    top = enter(tree, tile, nodes, floors)
    leaf, top = next_leaf(tree, probe, within, nodes, floors, gaps, top)
    while leaf >= 0:
        mask = screen(tree, leaf, probe, within, far)
        while mask: take its lowest bit, decide that point in float64, lower the limit
        leaf, top = next_leaf(...)

The owner alone knows what lowers the limit, so nearest records, the k nearest, decisions and ranks share this file.
All numbers here are float32 and serve to exclude (see tree.py for why that is exact).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba as nb
import numpy as np

from unmask.kernels.space import EUCLIDEAN
from unmask.kernels.tree import LANES, LEAF
from unmask.kernels.vector import box_mask, lowest_bit, point_mask

if TYPE_CHECKING:
    from unmask.kernels.tree import Rows, Singles, Tree

LEVEL_SHIFT = 40  # a stack entry is level << 40 | box
STACK = 16 * LANES  # deeper than any tree: a level adds at most 15 entries, and 2**64 leaves have 16 levels


@nb.njit(cache=True, nogil=True)
def limit(tree: Tree, reduced: float) -> float:
    """Stored distances of pairs whose reduced distance is at most `reduced` do not exceed this."""
    scaled = reduced / tree.scale
    if tree.norm == EUCLIDEAN:
        scaled = (np.sqrt(scaled) + tree.error) ** 2
    else:
        scaled += tree.error
    scaled = scaled * (1.0 + tree.slack) + 1e-36
    return np.float32(scaled) if scaled < 3e38 else np.float32(np.inf)


@nb.njit(cache=True, nogil=True, forceinline=True)
def screen(tree: Tree, leaf: int, probe: Singles, within: float, far: Singles) -> int:
    """Bits of the points of a leaf (48 l and up) within the limit; their stored distances are in `far`."""
    kinds = (tree.missing, tree.step, tree.numeric, tree.norm, tree.plain)
    mask = point_mask(tree.lanes, leaf, probe, kinds, np.float32(within), far)
    if (leaf + 1) * LEAF > tree.rows.shape[0]:
        mask &= (1 << (tree.rows.shape[0] - leaf * LEAF)) - 1
    return mask


@nb.njit(cache=True, nogil=True, forceinline=True)
def near_boxes(tree: Tree, height: int, parent: int, probe: Singles, within: float, gaps: Singles) -> int:
    """Bits of the children of a box of level `height` + 1 within the limit; lower bounds of distance in `gaps`."""
    kinds = (tree.missing, tree.step, tree.numeric, tree.norm, tree.plain)
    group = tree.level[height] + parent
    mask = box_mask((tree.low, tree.high, tree.relief), group, probe, kinds, np.float32(within), gaps)
    boxes = tree.lanes.shape[0] if height == 0 else tree.level[height] - tree.level[height - 1]
    if (parent + 1) * LANES > boxes:
        mask &= (1 << (boxes - parent * LANES)) - 1
    return mask


@nb.njit(cache=True, nogil=True)
def enter(tree: Tree, tile: int, nodes: Rows, floors: Singles) -> int:
    """Start a search in one tile of the leaves; returns the height of the stack."""
    if tree.flat:
        nodes[0] = tile * tree.tile
        nodes[1] = min(nodes[0] + tree.tile, tree.lanes.shape[0])
        return 2
    nodes[0] = tree.level.shape[0] << LEVEL_SHIFT
    floors[0] = 0.0
    return 1


@nb.njit(cache=True, nogil=True)
def next_leaf(
    tree: Tree, probe: Singles, within: float, nodes: Rows, floors: Singles, gaps: Singles, top: int
) -> tuple[int, int]:
    """Return the next leaf that may hold a point within the limit (-1: none is left) and the height of the stack."""
    if tree.flat:
        nodes[0] += 1
        return (nodes[0] - 1 if nodes[0] <= nodes[1] else -1), top
    while top > 0:
        top -= 1
        if floors[top] > within:
            continue
        height, box = nodes[top] >> LEVEL_SHIFT, nodes[top] & ((1 << LEVEL_SHIFT) - 1)
        if height == 0:
            return box, top
        mask = near_boxes(tree, height - 1, box, probe, within, gaps)
        top = _push((height - 1) << LEVEL_SHIFT | (box * LANES), mask, gaps, nodes, floors, top)
    return -1, 0


@nb.njit(cache=True, nogil=True)
def _push(first: int, mask: int, gaps: Singles, nodes: Rows, floors: Singles, top: int) -> int:
    """Put boxes on the stack, the nearest last, so that it comes first."""
    bottom = top
    while mask:
        j = lowest_bit(mask)
        mask &= mask - 1
        at = top
        while at > bottom and floors[at - 1] < gaps[j]:
            nodes[at], floors[at] = nodes[at - 1], floors[at - 1]
            at -= 1
        nodes[at], floors[at] = first + j, gaps[j]
        top += 1
    return top
