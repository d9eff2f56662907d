"""Walk a tree for one query: nearest boxes first, nothing beyond a limit; then screen the points of a leaf.

A search is a loop that its owner writes::

    top = enter(tree, buffer)
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask: take its lowest bit, decide that point in float64, lower the limit

The owner alone knows what lowers the limit, so nearest records, the k nearest, decisions and ranks share this file.
All numbers here are float32 and serve to exclude (see tree.py for why that is exact).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import EUCLIDEAN, LANES, LEAF, Codes, Ints, Singles, Space
from unmask.kernels.compiling import in_chunks, inlined, lean, lowest
from unmask.kernels.search.distance import pair
from unmask.kernels.search.masks import box_mask, nearest_of, point_mask
from unmask.kernels.search.tree import Tree

LEVEL_SHIFT = 40  # a stack entry is level << 40 | box
STACK = 16 * LANES  # deeper than any tree: a level adds at most 15 entries, and 2**64 leaves have 16 levels


class Buffer(NamedTuple):
    """Arrays that one search at a time works in."""

    nodes: Ints  # stack of boxes
    floors: Singles  # lower bounds of their distances
    gaps: Singles  # of the boxes of a group
    far: Singles  # stored distances of the points of a leaf
    sides: Codes  # in which attributes the boxes of a group go beyond a limit: see masks.box_sides


def new_buffer() -> Buffer:
    """Allocate a buffer."""
    return Buffer(
        np.empty(STACK, dtype=np.int64),
        np.empty(STACK, dtype=np.float32),
        np.empty(LANES, dtype=np.float32),
        np.empty(LEAF, dtype=np.float32),
        np.empty(LANES, dtype=np.int32),
    )


@inlined
def limit(tree: Tree, reduced: float) -> float:
    """Stored distances of pairs whose reduced distance is at most `reduced` do not exceed this."""
    scaled = reduced / tree.scale
    if tree.norm == EUCLIDEAN:
        scaled = (math.sqrt(scaled) + tree.error) ** 2
    else:
        scaled += tree.error
    scaled = scaled * (1.0 + tree.slack) + 1e-36
    return scaled if scaled < 3e38 else np.inf


@inlined
def screen(tree: Tree, leaf: int, probe: Singles, within: float, far: Singles) -> int:
    """Bits of the points of a leaf (48 l and up) within the limit; their stored distances are in `far`."""
    kinds = (tree.missing, tree.step, tree.numeric, tree.norm, tree.plain)
    mask = point_mask(tree.lanes, leaf, probe, kinds, within, far)
    if (leaf + 1) * LEAF > tree.rows.shape[0]:
        mask &= (1 << (tree.rows.shape[0] - leaf * LEAF)) - 1
    return mask


@inlined
def near_boxes(tree: Tree, height: int, parent: int, probe: Singles, within: float, gaps: Singles) -> int:
    """Bits of the children of a box of level `height` + 1 within the limit; lower bounds of distance in `gaps`."""
    kinds = (tree.missing, tree.step, tree.numeric, tree.norm, tree.plain)
    group = tree.level[height] + parent
    mask = box_mask((tree.low, tree.high, tree.relief), group, probe, kinds, within, gaps)
    boxes = tree.lanes.shape[0] if height == 0 else tree.level[height] - tree.level[height - 1]
    if (parent + 1) * LANES > boxes:
        mask &= (1 << (boxes - parent * LANES)) - 1
    return mask


@inlined
def measured(space: Space, tree: Tree, query: int, place: int, stored: float) -> float:
    """Reduced distance of a query and the point at a place of the tree, whose stored distance is known."""
    return float(stored) * tree.scale if tree.sharp else pair(space, query, tree.rows[place])


@inlined
def enter(tree: Tree, buffer: Buffer) -> int:
    """Put the root on the stack; returns the height of the stack."""
    buffer.nodes[0] = tree.level.shape[0] << LEVEL_SHIFT
    buffer.floors[0] = 0.0
    return 1


@inlined
def next_near(tree: Tree, probe: Singles, within: float, buffer: Buffer, top: int) -> tuple[int, int, int]:
    """Return the next leaf with points within the limit, their bits, and the height of the stack; bits 0: the end."""
    nodes, floors = buffer.nodes, buffer.floors
    while top > 0:
        top -= 1
        if floors[top] > within:
            continue
        height, box = nodes[top] >> LEVEL_SHIFT, nodes[top] & ((1 << LEVEL_SHIFT) - 1)
        if height > 0:
            mask = near_boxes(tree, height - 1, box, probe, within, buffer.gaps)
            top = _push((height - 1) << LEVEL_SHIFT | (box * LANES), mask, buffer, top)
            continue
        mask = screen(tree, box, probe, within, buffer.far)
        if mask:
            return box, mask, top
    return -1, 0, 0


@inlined
def _push(first: int, mask: int, buffer: Buffer, top: int) -> int:
    """Put boxes on the stack, the nearest last, so that it comes first; ordering the others does not pay."""
    nodes, floors, bottom = buffer.nodes, buffer.floors, top
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        nodes[top], floors[top] = first + j, buffer.gaps[j]
        top += 1
    nearest = bottom
    for i in range(bottom + 1, top):
        if floors[i] < floors[nearest]:
            nearest = i
    if nearest < top - 1:
        nodes[nearest], nodes[top - 1] = nodes[top - 1], nodes[nearest]
        floors[nearest], floors[top - 1] = floors[top - 1], floors[nearest]
    return top


def search_order(tree: Tree, queries: Ints) -> Ints:
    """Places in `queries`, in the order of the leaves nearest to them: neighbours in time then share their memory."""
    return _sorted(tree, nearest_leaves(tree, queries))


def leaf_order(tree: Tree, queries: Ints) -> tuple[Ints, Codes]:
    """The same, and the leaf nearest to each in that order."""
    leaves = nearest_leaves(tree, queries)
    order = _sorted(tree, leaves)
    return order, leaves[order]


def nearest_leaves(tree: Tree, queries: Ints) -> Codes:
    """The leaf of the nearest box of the nearest box, and so on, of each query."""
    leaves = np.empty(len(queries), dtype=np.int32)
    in_chunks(lambda part: _nearest_leaves(tree, queries[part], leaves[part], new_buffer()), len(queries), chunk=8192)
    return leaves


def order_of(tree: Tree, points: Ints) -> Ints:
    """Places in `points` (rows, or -1 for none), in the order of their leaves."""
    return _sorted(tree, np.where(points < 0, 0, tree.position[points] // LEAF))


def _sorted(tree: Tree, leaves: Ints | Codes) -> Ints:
    """Numbers of 16 bits are sorted by counting, several times faster."""
    small = np.int16 if len(tree.lanes) < 2**15 else np.int32
    return np.argsort(leaves.astype(small), kind="stable")


@lean
def _nearest_leaves(tree: Tree, queries: Ints, leaves: Codes, buffer: Buffer) -> None:
    """Go down to the nearest box at each level."""
    gaps = buffer.gaps
    for slot, query in enumerate(queries):
        box = int(np.int64(0))  # a literal would have near_boxes compiled twice
        for height in range(tree.level.shape[0] - 1, -1, -1):
            mask = near_boxes(tree, height, box, tree.probes[query], np.inf, gaps)
            box = box * LANES + nearest_of(gaps, mask)
        leaves[slot] = box
