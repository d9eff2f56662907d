"""Candidates of a bidder: the objects of least cost plus price, and a threshold proven for all others.

Walks the tree of nearest-record search (tree.py) with one thing more: every box knows the least price inside it, so
its bound is distance + price. Prices only rise during an auction. A box price that was not brought up to date is then
too low, which is still a bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base.chunks import in_chunks
from unmask.kernels.base.compiling import inlined, inner, lean
from unmask.kernels.base.space import EUCLIDEAN, Space
from unmask.kernels.search.masks import level_mask
from unmask.kernels.search.search import LEVEL_SHIFT, STACK, exact, limit, near_boxes, screen
from unmask.kernels.search.tree import LANES, LEAF, Singles, Tree, plant
from unmask.kernels.search.vector import lowest_bit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Items = NDArray[np.int32]

_CHUNK = 64  # bidders per task of a thread


class Lists(NamedTuple):
    """Candidates of bidder i: places start[i] to start[i] + length[i]; no other object is below threshold[i]."""

    start: Ints  # (n_b + 1,)
    length: Ints  # (n_b,)
    item: Items
    cost: Floats
    threshold: Floats  # (n_b,)
    crowd: int  # the one bidder whose list leaves out what it holds, or -1


class Shop(NamedTuple):
    """Where bidders look for objects. Objects are numbered in tree order; ``space`` has them in that order too."""

    space: Space
    tree: Tree
    root: bool  # a cost is the square root of the reduced distance
    box: Floats  # (box groups, 16) least price in a box
    leaf: Floats  # (leaves,) least price in a leaf


class Desk(NamedTuple):
    """Room for one search at a time: a stack of boxes, bounds, and the candidates found so far as a heap."""

    nodes: Ints
    floors: Floats
    gaps: Singles
    far: Singles
    levels: Floats
    items: Items
    costs: Floats
    looked: Ints  # (1,) leaves looked at


def new_desk(size: int) -> Desk:
    """Lay out a desk for lists of up to ``size`` candidates."""
    return Desk(
        np.empty(STACK, np.int64), np.empty(STACK), np.empty(LANES, np.float32), np.empty(LEAF, np.float32),
        np.empty(size), np.empty(size, np.int32), np.empty(size), np.zeros(1, np.int64),
    )  # fmt: skip


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


def empty_lists(sizes: Ints, *, crowd: int = -1) -> Lists:
    """Return lists of given capacities. Nothing is proven yet, so every bidder must search first."""
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total, n = int(start[-1]), len(sizes)
    return Lists(
        start, np.zeros(n, np.int64), np.full(total, -1, np.int32), np.zeros(total), np.full(n, -np.inf), crowd
    )


@lean
def update_prices(shop: Shop, price: Floats) -> None:
    """Put the least price inside on every leaf and box."""
    n, tree = shop.space.points.shape[0], shop.tree
    for leaf in range(shop.leaf.shape[0]):
        least = np.inf
        for t in range(leaf * LEAF, min(n, (leaf + 1) * LEAF)):
            least = min(least, price[t])
        shop.leaf[leaf] = least
        if not tree.flat:
            shop.box[leaf // LANES, leaf % LANES] = least
    for h in range(1, tree.level.shape[0]):
        for b in range(tree.level[h] - tree.level[h - 1]):
            least = np.inf
            for j in range(LANES):
                least = min(least, shop.box[tree.level[h - 1] + b, j])
            shop.box[tree.level[h] + b // LANES, b % LANES] = least


@inner
def cost_of(shop: Shop, i: int, j: int) -> float:
    """Cost of bidder i and object j."""
    d = exact(shop.space, i, j)
    return math.sqrt(d) if shop.root else d


@inlined
def _within(shop: Shop, room: float) -> float:
    """Stored distances of pairs that cost at most ``room`` do not exceed this; negative if there are none."""
    if room < 0.0:
        return -1.0
    return limit(shop.tree, room * room if shop.root else room)


@inlined
def _floor(shop: Shop, gap: float) -> float:
    """Least cost of pairs whose stored distance is at least ``gap``: limit() turned round, a shade lower."""
    tree = shop.tree
    scaled = max(0.0, gap / (1.0 + tree.slack) - 1e-36)
    if tree.norm == EUCLIDEAN:
        length = max(0.0, math.sqrt(scaled) - tree.error) * (1.0 - 1e-12)
        return length * math.sqrt(tree.scale) if shop.root else length * length * tree.scale
    return max(0.0, scaled - tree.error) * (1.0 - 1e-12) * tree.scale


@inlined
def _near(shop: Shop, price: Floats, i: int, leaf: int, cut: float, far: Singles) -> int:
    """Bits of the objects of a leaf whose cost + price may be below ``cut``; their stored distances are in ``far``."""
    tree = shop.tree
    mask = screen(tree, leaf, tree.probes[i], _within(shop, cut - shop.leaf[leaf]), far)
    if mask and (leaf + 1) * LEAF <= tree.rows.shape[0]:  # most are too dear; the last leaf may lack prices
        unit, error = 1.0 / (math.sqrt(tree.scale) if shop.root else tree.scale), tree.error
        if tree.norm == EUCLIDEAN and not shop.root:  # (root(x) + e)**2 <= x + e (x + 1) + e**2
            unit, error = unit * (1.0 + error), error * (1.0 + error)
        mask &= level_mask(far, price, leaf * LEAF, cut, (unit, error, tree.slack, shop.root))
    return mask


@inlined
def _replace_worst(desk: Desk, n: int, level: float, item: int, cost: float) -> None:
    """Put a candidate in the place of the worst of n: a heap with the greatest level on top."""
    levels, items, costs = desk.levels, desk.items, desk.costs
    k = 0
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and levels[child + 1] > levels[child]:
            child += 1
        if levels[child] <= level:
            break
        levels[k], items[k], costs[k] = levels[child], items[child], costs[child]
        k = child
    levels[k], items[k], costs[k] = level, item, cost


@inlined
def _look(shop: Shop, price: Floats, i: int, leaf: int, cut: float, n: int, desk: Desk) -> float:
    """Offer the objects of a leaf to the heap. Returns the level from which on nothing is wanted any more."""
    far = desk.far
    desk.looked[0] += 1
    mask = _near(shop, price, i, leaf, cut, far)
    while mask:
        j = lowest_bit(mask)
        mask &= mask - 1
        t = leaf * LEAF + j
        if far[j] <= _within(shop, cut - price[t]):
            cost = cost_of(shop, i, t)
            if cost + price[t] < cut:
                _replace_worst(desk, n, cost + price[t], t, cost)
                cut = min(cut, desk.levels[0])
    return cut


@inlined
def _open(shop: Shop, i: int, height: int, parent: int, cut: float, desk: Desk, top: int) -> int:
    """Put the children of a box on the stack, the most promising last, so that it comes first."""
    tree, nodes, floors, gaps = shop.tree, desk.nodes, desk.floors, desk.gaps
    group = tree.level[height] + parent
    least = shop.box[group, 0]
    for j in range(1, LANES):
        least = min(least, shop.box[group, j])
    mask = near_boxes(tree, height, parent, tree.probes[i], _within(shop, cut - least), gaps)
    bottom = top
    while mask:
        j = lowest_bit(mask)
        mask &= mask - 1
        floor = _floor(shop, gaps[j]) + shop.box[group, j]
        if floor < cut:
            at = top
            while at > bottom and floors[at - 1] < floor:
                nodes[at], floors[at] = nodes[at - 1], floors[at - 1]
                at -= 1
            nodes[at], floors[at] = height << LEVEL_SHIFT | (parent * LANES + j), floor
            top += 1
    return top


@inner
def find(shop: Shop, price: Floats, i: int, cut: float, n: int, desk: Desk) -> float:
    """Find the n objects of least cost + price below ``cut`` for bidder i; items are -1 if there are fewer.

    Returns the threshold: no object that was not found is below it.
    """
    for k in range(n):
        desk.levels[k], desk.items[k] = np.inf, -1
    top = 0 + _enter(shop, desk)  # a sum is no literal, for which numba would compile all of this once more
    while top > 0:
        leaf, top = _next_leaf(shop, i, cut, desk, top)
        if leaf >= 0:
            cut = _look(shop, price, i, leaf, cut, n, desk)
    return cut


@inlined
def _enter(shop: Shop, desk: Desk) -> int:
    """Put the root on the stack; a flat tree has none, and its leaves are taken in turn."""
    desk.nodes[0], desk.floors[0] = 0 if shop.tree.flat else shop.tree.level.shape[0] << LEVEL_SHIFT, -np.inf
    return 1


@inlined
def _next_leaf(shop: Shop, i: int, cut: float, desk: Desk, top: int) -> tuple[int, int]:
    """Take one box off the stack. Returns the leaf it is, or -1, and the height of the stack."""
    leaf = -1
    if shop.tree.flat:
        leaf = int(desk.nodes[0])
        desk.nodes[0] += 1
        return leaf, 1 if leaf + 1 < shop.leaf.shape[0] else 0
    top -= 1
    if desk.floors[top] < cut:
        height, box = int(desk.nodes[top]) >> LEVEL_SHIFT, int(desk.nodes[top]) & ((1 << LEVEL_SHIFT) - 1)
        if height == 0:
            leaf = box
        else:
            top = _open(shop, i, height - 1, box, cut, desk, top)
    return leaf, top


@inner
def search_list(lists: Lists, shop: Shop, price: Floats, i: int, desk: Desk) -> None:
    """Search the list of bidder i anew; see refresh."""
    n_o = shop.space.points.shape[0]
    a, b = lists.start[i], lists.start[i + 1]
    old, size, cut = lists.length[i], b - a, np.inf
    if price.shape[0] > n_o:  # the last object costs nothing, and nobody needs to search for it
        size -= 1
        old -= 1
    if old == size:  # what it had are candidates still: none of the new ones is worse
        cut = -np.inf
        for k in range(a, b):
            if lists.item[k] < n_o:
                cut = max(cut, lists.cost[k] + price[lists.item[k]])
        cut += 1e-12 * abs(cut) + 1e-300
    lists.threshold[i] = find(shop, price, i, cut, size, desk)
    n = 0
    for k in range(size):
        if desk.items[k] >= 0:
            lists.item[a + n], lists.cost[a + n] = desk.items[k], desk.costs[k]
            n += 1
    if price.shape[0] > n_o:
        lists.item[a + n], lists.cost[a + n] = n_o, 0.0
        n += 1
    lists.length[i] = n


@lean
def _refresh(lists: Lists, shop: Shop, price: Floats, bidders: Ints, desk: Desk) -> None:
    for i in bidders:
        search_list(lists, shop, price, i, desk)


def refresh(lists: Lists, shop: Shop, price: Floats, bidders: Ints) -> None:
    """Search the lists of some bidders anew, over threads; each bidder writes only its own list.

    A price more than there are objects in the shop belongs to an object that costs nothing and is on every list.
    """
    size = int((lists.start[bidders + 1] - lists.start[bidders]).max())
    if len(bidders) <= 4 * _CHUNK:  # threads would take longer to start
        _refresh(lists, shop, price, bidders, new_desk(size))
        return
    in_chunks(lambda part: _refresh(lists, shop, price, bidders[part], new_desk(size)), len(bidders), chunk=_CHUNK)


@inner
def enlist(lists: Lists, price: Floats, i: int, j: int, cost: float) -> None:
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


def announce(lists: Lists, price: Floats, back: Shop, ceiling: Floats, fallen: Ints) -> None:
    """Tell bidders of objects whose prices fell below their thresholds: the lists are true again.

    ``back`` is the shop where objects look for bidders, its prices (``ceiling``) minus the thresholds: an object at
    price p concerns the bidders with cost - threshold < -p.
    """
    _announce(lists, price, back, ceiling, fallen, new_desk(0))


@lean
def _announce(lists: Lists, price: Floats, back: Shop, ceiling: Floats, fallen: Ints, desk: Desk) -> None:
    for j in fallen:
        top = 0 + _enter(back, desk)
        while top > 0:
            leaf, top = _next_leaf(back, j, -price[j], desk, top)
            if leaf >= 0:
                _announce_leaf(lists, price, back, ceiling, j, leaf, desk.far)


@inlined
def _announce_leaf(lists: Lists, price: Floats, back: Shop, ceiling: Floats, j: int, leaf: int, far: Singles) -> None:
    cut = -price[j]
    mask = _near(back, ceiling, j, leaf, cut, far)
    while mask:
        k = lowest_bit(mask)
        mask &= mask - 1
        i = leaf * LEAF + k
        if far[k] <= _within(back, cut - ceiling[i]):
            cost = cost_of(back, j, i)
            if cost + price[j] < lists.threshold[i]:
                enlist(lists, price, i, j, cost)
