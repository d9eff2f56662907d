"""Candidates of a bidder: the objects of least cost plus price, and a threshold proven for all others.

Walks the tree of nearest-record search (tree.py) with one thing more: every box knows the least price inside it, so
its bound is distance + price. Prices only rise during an auction. A box price that was not brought up to date is then
too low, which is still a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from unmask.kernels.chunks import in_chunks
from unmask.kernels.distance import pair
from unmask.kernels.search import LEVEL_SHIFT, STACK, limit, near_boxes, screen
from unmask.kernels.space import EUCLIDEAN, Space
from unmask.kernels.tree import LANES, LEAF, Tree, plant
from unmask.kernels.vector import lowest_bit

if TYPE_CHECKING:
    from unmask.kernels.tree import Singles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Items = NDArray[np.int32]

_CHUNK = 64  # bidders per task of a thread

njit = numba.njit(cache=True, nogil=True)


class Lists(NamedTuple):
    """Candidates of bidder i: places start[i] to start[i] + length[i]; no other object is below threshold[i]."""

    start: Ints  # (n_b + 1,)
    length: Ints  # (n_b,)
    item: Items
    cost: Floats
    threshold: Floats  # (n_b,)


class Shop(NamedTuple):
    """Where bidders look for objects. Objects are numbered in tree order; ``space`` has them in that order too."""

    space: Space
    tree: Tree
    root: bool  # a cost is the square root of the reduced distance
    box: Floats  # (box groups, 16) least price in a box
    leaf: Floats  # (leaves,) least price in a leaf


def open_shops(space: Space, *, squared: bool) -> tuple[Shop, Shop, Ints, Ints]:
    """Plant a tree on either side of distinct records.

    Returns the shop where queries look for points and the one for the other direction, and the rows of queries and of
    points in the order in which both number them: that of the trees, so that neighbours lie together in memory.
    """
    swapped = space._replace(
        queries=space.points, points=space.queries, query_codes=space.point_codes, point_codes=space.query_codes
    )
    tree, back = plant(space), plant(swapped)
    queries, points = back.rows, tree.rows
    space = space._replace(
        queries=space.queries[queries], query_codes=space.query_codes[queries],
        points=space.points[points], point_codes=space.point_codes[points],
    )  # fmt: skip
    swapped = space._replace(
        queries=space.points, points=space.queries, query_codes=space.point_codes, point_codes=space.query_codes
    )
    forward = _open_shop(space, tree._replace(probes=tree.probes[queries]), squared=squared)
    return forward, _open_shop(swapped, back._replace(probes=back.probes[points]), squared=squared), queries, points


def _open_shop(space: Space, tree: Tree, *, squared: bool) -> Shop:
    root = space.norm == EUCLIDEAN and not squared
    return Shop(space, tree, root, np.full((len(tree.low), LANES), np.inf), np.zeros(len(tree.lanes)))


def empty_lists(sizes: Ints) -> Lists:
    """Return lists of given capacities. Nothing is proven yet, so every bidder must search first."""
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total, n = int(start[-1]), len(sizes)
    return Lists(start, np.zeros(n, np.int64), np.full(total, -1, np.int32), np.zeros(total), np.full(n, -np.inf))


@njit
def update_prices(shop: Shop, price: Floats) -> None:
    """Put the least price inside on every leaf and box."""
    n, tree = len(price), shop.tree
    for leaf in range(len(shop.leaf)):
        least = np.inf
        for t in range(leaf * LEAF, min(n, (leaf + 1) * LEAF)):
            least = min(least, price[t])
        shop.leaf[leaf] = least
        if not tree.flat:
            shop.box[leaf // LANES, leaf % LANES] = least
    for h in range(1, len(tree.level)):
        for b in range(tree.level[h] - tree.level[h - 1]):
            shop.box[tree.level[h] + b // LANES, b % LANES] = shop.box[tree.level[h - 1] + b].min()


@njit
def cost_of(shop: Shop, i: int, j: int) -> float:
    """Cost of bidder i and object j."""
    s = shop.space
    d = pair(
        s.queries[i], s.points[j], s.query_codes[i], s.point_codes[j], s.norm, s.missing, s.step, s.code_missing
    )  # fmt: skip
    return np.sqrt(d) if shop.root else d


@njit
def _within(shop: Shop, room: float) -> float:
    """Stored distances of pairs that cost at most ``room`` do not exceed this; negative if there are none."""
    if room < 0.0:
        return np.float32(-1.0)
    return limit(shop.tree, room * room if shop.root else room)


@njit
def _floor(shop: Shop, gap: float) -> float:
    """Least cost of pairs whose stored distance is at least ``gap``: limit() turned round, a shade lower."""
    tree = shop.tree
    scaled = max(0.0, gap / (1.0 + tree.slack) - 1e-36)
    if tree.norm == EUCLIDEAN:
        length = max(0.0, np.sqrt(scaled) - tree.error) * (1.0 - 1e-12)
        return length * np.sqrt(tree.scale) if shop.root else length * length * tree.scale
    return max(0.0, scaled - tree.error) * (1.0 - 1e-12) * tree.scale


@njit
def _replace_worst(levels: Floats, items: Items, costs: Floats, level: float, item: int, cost: float) -> None:
    """Put a candidate in the place of the worst: a heap with the greatest level on top."""
    n, k = len(levels), 0
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and levels[child + 1] > levels[child]:
            child += 1
        if levels[child] <= level:
            break
        levels[k], items[k], costs[k] = levels[child], items[child], costs[child]
        k = child
    levels[k], items[k], costs[k] = level, item, cost


@njit
def _look(
    shop: Shop, price: Floats, i: int, leaf: int, cut: float, far: Singles, levels: Floats, items: Items, costs: Floats
) -> float:
    """Offer the objects of a leaf to the heap. Returns the level from which on nothing is wanted any more."""
    probe = shop.tree.probes[i]
    mask = screen(shop.tree, leaf, probe, _within(shop, cut - shop.leaf[leaf]), far)
    while mask:
        j = lowest_bit(mask)
        mask &= mask - 1
        t = leaf * LEAF + j
        if far[j] <= _within(shop, cut - price[t]):
            cost = cost_of(shop, i, t)
            if cost + price[t] < cut:
                _replace_worst(levels, items, costs, cost + price[t], t, cost)
                cut = min(cut, levels[0])
    return cut


@njit
def find(shop: Shop, price: Floats, i: int, cut: float, levels: Floats, items: Items, costs: Floats) -> float:
    """Find the len(levels) objects of least cost + price below ``cut`` for bidder i; items are -1 if there are fewer.

    Returns the threshold: no object that was not found is below it.
    """
    tree = shop.tree
    levels[:], items[:] = np.inf, -1
    far, gaps = np.empty(LEAF, np.float32), np.empty(LANES, np.float32)
    if tree.flat:
        for leaf in range(len(shop.leaf)):
            cut = _look(shop, price, i, leaf, cut, far, levels, items, costs)
        return cut
    nodes, floors = np.empty(STACK, np.int64), np.empty(STACK)
    nodes[0], floors[0], top = len(tree.level) << LEVEL_SHIFT, -np.inf, 1
    while top > 0:
        top -= 1
        if floors[top] >= cut:
            continue
        height, box = nodes[top] >> LEVEL_SHIFT, nodes[top] & ((1 << LEVEL_SHIFT) - 1)
        if height == 0:
            cut = _look(shop, price, i, box, cut, far, levels, items, costs)
        else:
            top = _open(shop, i, height - 1, box, cut, gaps, nodes, floors, top)
    return cut


@njit
def _open(
    shop: Shop, i: int, height: int, parent: int, cut: float, gaps: Singles, nodes: Ints, floors: Floats, top: int
) -> int:
    """Put the children of a box on the stack, the most promising last, so that it comes first."""
    tree = shop.tree
    price = shop.box[tree.level[height] + parent]
    mask = near_boxes(tree, height, parent, tree.probes[i], _within(shop, cut - price.min()), gaps)
    bottom = top
    while mask:
        j = lowest_bit(mask)
        mask &= mask - 1
        floor = _floor(shop, gaps[j]) + price[j]
        if floor >= cut:
            continue
        at = top
        while at > bottom and floors[at - 1] < floor:
            nodes[at], floors[at] = nodes[at - 1], floors[at - 1]
            at -= 1
        nodes[at], floors[at] = height << LEVEL_SHIFT | (parent * LANES + j), floor
        top += 1
    return top


@njit
def _refresh(lists: Lists, shop: Shop, price: Floats, bidders: Ints) -> None:
    n_o = len(shop.space.points)
    for i in bidders:
        a, b = lists.start[i], lists.start[i + 1]
        old, size, cut = lists.length[i], b - a, np.inf
        if len(price) > n_o:  # the last object costs nothing, and nobody needs to search for it
            size -= 1
            old -= 1
        if old == size:  # what it had are candidates still: none of the new ones is worse
            cut = -np.inf
            for k in range(a, b):
                if lists.item[k] < n_o:
                    cut = max(cut, lists.cost[k] + price[lists.item[k]])
            cut += 1e-12 * abs(cut) + 1e-300
        levels, items, costs = np.empty(size), np.empty(size, np.int32), np.empty(size)
        lists.threshold[i] = find(shop, price, i, cut, levels, items, costs)
        n = 0
        for k in range(size):
            if items[k] >= 0:
                lists.item[a + n], lists.cost[a + n] = items[k], costs[k]
                n += 1
        if len(price) > n_o:
            lists.item[a + n], lists.cost[a + n] = n_o, 0.0
            n += 1
        lists.length[i] = n


def refresh(lists: Lists, shop: Shop, price: Floats, bidders: Ints) -> None:
    """Search the lists of some bidders anew, over threads; each bidder writes only its own list.

    A price more than there are objects in the shop belongs to an object that costs nothing and is on every list.
    """
    in_chunks(lambda part: _refresh(lists, shop, price, bidders[part]), len(bidders), chunk=_CHUNK)


@njit
def _enlist(lists: Lists, price: Floats, i: int, j: int, cost: float) -> None:
    """Put object j on bidder i's list; if there is no place, the worst entry goes and the threshold says so."""
    a, n = lists.start[i], lists.length[i]
    worst, at = cost + price[j], -1
    for k in range(a, a + n):
        if lists.item[k] == j:
            return
        level = lists.cost[k] + price[lists.item[k]]
        if level > worst:
            worst, at = level, k
    if a + n < lists.start[i + 1]:
        at = a + n
        lists.length[i] += 1
    else:
        lists.threshold[i] = min(lists.threshold[i], worst)
    if at >= 0:
        lists.item[at], lists.cost[at] = j, cost


@njit
def announce(lists: Lists, price: Floats, back: Shop, ceiling: Floats, fallen: Ints) -> None:
    """Tell bidders of objects whose prices fell below their thresholds: the lists are true again.

    ``back`` is the shop where objects look for bidders, its prices (``ceiling``) minus the thresholds: an object at
    price p concerns the bidders with cost - threshold < -p.
    """
    nodes, floors = np.empty(STACK, np.int64), np.empty(STACK)
    far, gaps = np.empty(LEAF, np.float32), np.empty(LANES, np.float32)
    tree = back.tree
    for j in fallen:
        cut = -price[j]
        if tree.flat:
            for leaf in range(len(back.leaf)):
                _announce_leaf(lists, price, back, ceiling, j, leaf, far)
            continue
        nodes[0], floors[0], top = len(tree.level) << LEVEL_SHIFT, -np.inf, 1
        while top > 0:
            top -= 1
            height, box = nodes[top] >> LEVEL_SHIFT, nodes[top] & ((1 << LEVEL_SHIFT) - 1)
            if height == 0:
                _announce_leaf(lists, price, back, ceiling, j, box, far)
            else:
                top = _open(back, j, height - 1, box, cut, gaps, nodes, floors, top)


@njit
def _announce_leaf(lists: Lists, price: Floats, back: Shop, ceiling: Floats, j: int, leaf: int, far: Singles) -> None:
    cut = -price[j]
    mask = screen(back.tree, leaf, back.tree.probes[j], _within(back, cut - back.leaf[leaf]), far)
    while mask:
        k = lowest_bit(mask)
        mask &= mask - 1
        i = leaf * LEAF + k
        if far[k] <= _within(back, cut - ceiling[i]):
            cost = cost_of(back, j, i)
            if cost + price[j] < lists.threshold[i]:
                _enlist(lists, price, i, j, cost)
