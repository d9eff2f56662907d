"""What a pair costs: the index where bidders look for objects, and bounds of costs for boxes, leaves and objects.

The *priced cost* of object j for bidder i is cost_ij + price_j. Every box knows the least price inside it, so its bound
is distance + price. Prices only rise during an auction. A box price that was not brought up to date is then too low,
which is still a bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import EUCLIDEAN, LANES, LEAF, Floats, Ints, Singles, Space
from unmask.kernels.compiling import inlined, inner, lean
from unmask.kernels.search.distance import pair
from unmask.kernels.search.tree import Tree, plant
from unmask.kernels.search.walk import limit, screen
from unmask.kernels.search.wide import Wide, widen


class Index(NamedTuple):
    """Where bidders look for objects. Objects are numbered in tree order; ``space`` has them in that order too."""

    space: Space
    tree: Tree
    root: bool  # a cost is the square root of the reduced distance
    box: Floats  # (box groups, 16) least price in a box
    leaf: Floats  # (leaves,) least price in a leaf
    wide: Wide  # the objects once more, where many bidders meet all of them; else empty


def index_both(space: Space, *, squared: bool) -> tuple[Index, Index, Ints, Ints]:
    """Plant a tree on either side of distinct records.

    Returns the index where queries look for points and the one for the other direction, and the rows of queries and of
    points in the order in which both number them: that of the trees, so that neighbours lie together in memory.
    """
    tree, back = plant(space), plant(space.swapped())
    queries, points = back.rows, tree.rows
    space = space.of(queries, points)
    forward = _index(space, tree._replace(probes=tree.probes[queries]), squared=squared)
    backward = _index(space.swapped(), back._replace(probes=back.probes[points]), squared=squared)
    return forward, backward, queries, points


def index_points(space: Space, *, squared: bool) -> tuple[Index, Ints]:
    """Plant a tree on distinct points alone: the index where queries look for them, and their rows in its order."""
    tree = plant(space)
    return _index(space.of(points=tree.rows), tree, squared=squared), tree.rows


def _index(space: Space, tree: Tree, *, squared: bool) -> Index:
    root = space.norm == EUCLIDEAN and not squared
    return Index(space, tree, root, np.full((len(tree.low), LANES), np.inf), np.zeros(len(tree.lanes)), widen(tree))


@lean
def update_prices(index: Index, price: Floats) -> None:
    """Put the least price inside on every leaf and box."""
    n, tree = index.space.points.shape[0], index.tree
    for leaf in range(index.leaf.shape[0]):
        least = np.inf
        for t in range(leaf * LEAF, min(n, (leaf + 1) * LEAF)):
            least = min(least, price[t])
        index.leaf[leaf] = index.box[leaf // LANES, leaf % LANES] = least
    for h in range(1, tree.level.shape[0]):
        for b in range(tree.level[h] - tree.level[h - 1]):
            least = np.inf
            for j in range(LANES):
                least = min(least, index.box[tree.level[h - 1] + b, j])
            index.box[tree.level[h] + b // LANES, b % LANES] = least


@inner
def cost_of(index: Index, i: int, j: int) -> float:
    """Cost of bidder i and object j."""
    d = pair(index.space, i, j)
    return math.sqrt(d) if index.root else d


@inlined
def reach(index: Index, room: float) -> float:
    """Stored distances of pairs that cost at most ``room`` do not exceed this; negative if there are none."""
    if room < 0.0:
        return -1.0
    return limit(index.tree, room * room if index.root else room)


@inlined
def least_cost(index: Index, gap: float) -> float:
    """Least cost of pairs whose stored distance is at least ``gap``: limit() turned round, a shade lower."""
    tree = index.tree
    scaled = max(0.0, gap / (1.0 + tree.slack) - 1e-36)
    if tree.norm == EUCLIDEAN:
        length = max(0.0, math.sqrt(scaled) - tree.error) * (1.0 - 1e-12)
        if index.root and tree.lattice.shape[0] == 0:
            return length * math.sqrt(tree.scale)
        scaled = length * length * tree.scale
    else:
        scaled = max(0.0, scaled - tree.error) * (1.0 - 1e-12) * tree.scale
    least = _step_up(tree.lattice, scaled)
    return math.sqrt(least) if index.root else least


@inlined
def _step_up(lattice: Floats, least: float) -> float:
    """The first reduced distance that there can be from a bound on: equal costs are then seen to be equal."""
    if lattice.shape[0] == 0:
        return least
    k = 0
    while k < lattice.shape[0] - 1 and lattice[k] < least:
        k += 1
    return float(lattice[k])


@inlined
def near(index: Index, price: Floats, i: int, leaf: int, cut: float, far: Singles) -> int:
    """Bits of the objects of a leaf whose cost + price may be below ``cut``; ``far`` is room for their distances.

    The least price of a leaf says little of its other objects: many that it lets pass are excluded by their own.
    """
    mask = screen(index.tree, leaf, index.tree.probes[i], reach(index, cut - index.leaf[leaf]), far)
    if mask:
        first = leaf * LEAF
        if first + LEAF <= price.shape[0]:
            mask &= _cheap(index, price, first, LEAF, cut, far)  # a constant: the loop becomes a few vectors
        else:
            mask &= _cheap(index, price, first, price.shape[0] - first, cut, far)
    return mask


@inlined
def _cheap(index: Index, price: Floats, first: int, n: int, cut: float, far: Singles) -> int:
    """Bits of the first objects from ``first`` on whose stored distance is within reach(): limit() without branches."""
    tree, bits = index.tree, 0
    straight = tree.norm != EUCLIDEAN or index.root
    scale = math.sqrt(tree.scale) if index.root else tree.scale
    per, slack = 1.0 / scale, (1.0 + tree.slack) * (1.0 + 1e-12)
    for j in range(n):
        room = cut - price[first + j]
        length = (room * per if straight else math.sqrt(max(0.0, room * per))) + tree.error
        most = (length * length if tree.norm == EUCLIDEAN else length) * slack + 1e-36
        bits |= int((room >= 0.0) & (far[j] <= most)) << j
    return bits
