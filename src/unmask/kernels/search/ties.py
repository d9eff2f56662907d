"""Points that tie on ranks, many at a time.

Stored ranks are exact (frame.py), and under the maximum norm thousands of them may tie. A box that goes beyond the
distance in no attribute ties as a whole, and nobody looks inside; in another one, points are looked at in those
attributes alone in which their box goes beyond it, 48 at a time.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import LANES, LEAF, Singles
from unmask.kernels.compiling import inlined, inner, lowest, popcount
from unmask.kernels.search.masks import box_sides, side_mask, split
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import LEVEL_SHIFT, Buffer

SIDES = 31  # attributes whose bits fit into one number of a box
FEW = 4  # leaves with points that tie from which on these are counted by bits
WHOLE = -1  # bits of a box that ties as a whole
EVERYBODY = 2**62
FURTHEST = 1e30  # beyond any stored distance

State = tuple[int, int, int]  # height of the stack, the group that is looked at, and which of its boxes are left


def by_bits(tree: Tree) -> bool:
    """Whether ties can be told in this way."""
    return tree.sharp and tree.numeric <= SIDES


@inlined
def begin(tree: Tree, buffer: Buffer) -> State:
    """Put the root on the stack."""
    buffer.nodes[0] = tree.level.shape[0] << LEVEL_SHIFT
    return 1, 0, 0


@inlined
def next_tied(
    tree: Tree, probe: Singles, limits: tuple[float, float], buffer: Buffer, state: State
) -> tuple[int, int, int, State]:
    """Return the next range of points that tie (stored distance up to the second limit), and where the walk is.

    It is (first, last, bits): WHOLE where all of them tie; else a leaf, and who is within the first limit, which is at
    least the second. Its distances are in `buffer.far`: exact ones beyond the second limit, and others up to it. Bits
    0: the end.
    """
    (top, group, near), nodes, n = state, buffer.nodes, tree.rows.shape[0]
    while near or top > 0:
        if near == 0:
            top -= 1
            group = nodes[top]
            at = tree.level[(group >> LEVEL_SHIFT) - 1] + (group & ((1 << LEVEL_SHIFT) - 1))
            near = box_sides((tree.low, tree.high, tree.relief), at, probe, limits, buffer.sides)
            continue
        j = lowest(near)
        near &= near - 1
        height, child = (group >> LEVEL_SHIFT) - 1, (group & ((1 << LEVEL_SHIFT) - 1)) * LANES + j
        sides = buffer.sides[j]
        if sides == 0:
            size = LEAF << (4 * height)
            return child * size, min(n, (child + 1) * size), WHOLE, (top, group, near)
        if height == 0:
            mask = side_mask(tree.lanes, child, probe, sides, limits[0], buffer.far)
            return child * LEAF, min(n, (child + 1) * LEAF), mask, (top, group, near)
        nodes[top] = height << LEVEL_SHIFT | child
        top += 1
    return 0, 0, 0, (0, 0, 0)


@inner
def count_tied(
    tree: Tree, probe: Singles, limits: tuple[float, float], buffer: Buffer, enough: int
) -> tuple[int, float]:
    """Count points up to the second limit, until there are enough, and tell the next distance up to the first one.

    Where there is no box its range is infinitely far, and must not be within a limit.
    """
    within, tied, found, next_ = min(limits[0], FURTHEST), limits[1], 0, np.inf
    state, last = begin(tree, buffer), 1
    while last and found < enough:
        first, last, mask, state = next_tied(tree, probe, (within, tied), buffer, state)
        if mask == WHOLE:
            found += tree.start[last] - tree.start[first]
            continue
        if within > tied:
            near, far = split(buffer.far, tied)
            mask &= near
            if far <= within:
                next_, within = far, max(tied, far - tree.grain / tree.scale)
        found += rows_among(tree, first, mask)
    return found, next_


@inlined
def rows_among(tree: Tree, first: int, mask: int) -> int:
    """How many rows the bits of a leaf are, whose first point is at a place."""
    found, last = popcount(np.uint64(mask)), min(tree.rows.shape[0], first + LEAF)
    if tree.start[last] - tree.start[first] > last - first:
        while mask:
            found += tree.weight[first + lowest(mask)] - 1
            mask &= mask - 1
    return found
