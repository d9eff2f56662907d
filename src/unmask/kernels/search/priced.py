"""The search tree with prices: objects of least cost plus price, as an auction asks for them (kernels/assignment).

What a pair costs, and what boxes and prices say of it, is in costs.py; less the bidder's own dual, a priced cost is the
reduced cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import LANES, LEAF, ROWS, Codes, Floats, Ints, Singles
from unmask.kernels.compiling import in_chunks, inlined, inner, lean, lowest
from unmask.kernels.search import walk
from unmask.kernels.search.costs import (
    Index,
    cost_of,
    index_both,
    index_points,
    least_cost,
    near,
    reach,
    update_prices,
)
from unmask.kernels.search.least import find_least
from unmask.kernels.search.masks import block_masks
from unmask.kernels.search.walk import LEVEL_SHIFT, STACK, near_boxes
from unmask.kernels.search.wide import Block, block_of, reach_of, real_points

__all__ = [
    "CHUNK", "LONGEST", "Buffer", "Heaps", "Index", "cost_of", "effort", "enter", "fill", "find", "found_below",
    "index_both", "index_points", "least_costs", "near", "nearest_objects", "new_buffer", "new_heaps", "next_leaf",
    "pairs_below", "update_prices",
]  # fmt: skip

CHUNK = 256  # bidders per task of a thread
_PAIRS = 1 << 26  # room for pairs within a cut
_SAMPLE = 128
LONGEST = 64  # candidates up to which bidders are searched together: all their lists are in memory at once


class Buffer(NamedTuple):
    """Arrays that one search works in: a stack of boxes, bounds, and the candidates found so far as a heap."""

    nodes: Ints
    floors: Floats
    gaps: Singles
    far: Singles
    priced: Floats
    items: Codes
    costs: Floats
    looked: Ints  # (1,) leaves looked at


def new_buffer(size: int) -> Buffer:
    """Allocate a buffer for lists of up to ``size`` candidates."""
    return Buffer(
        np.empty(STACK, np.int64), np.empty(STACK), np.empty(LANES, np.float32), np.empty(LEAF, np.float32),
        np.empty(size), np.empty(size, np.int32), np.empty(size), np.zeros(1, np.int64),
    )  # fmt: skip


@inlined
def _replace_worst(heap: tuple[Floats, Codes, Floats], n: int, key: float, item: int, cost: float) -> None:
    """Put a candidate in the place of the worst of n: a heap with the greatest priced cost on top."""
    priced, items, costs = heap
    k = 0
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and priced[child + 1] > priced[child]:
            child += 1
        if priced[child] <= key:
            break
        priced[k], items[k], costs[k] = priced[child], items[child], costs[child]
        k = child
    priced[k], items[k], costs[k] = key, item, cost


@inlined
def _look(index: Index, price: Floats, i: int, leaf: int, cut: float, n: int, buffer: Buffer) -> float:
    """Offer the objects of a leaf to the heap. Returns the priced cost from which on nothing is wanted."""
    buffer.looked[0] += 1
    mask, known = near(index, price, i, leaf, cut, buffer.far), cut
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        t = leaf * LEAF + j
        if cut == known or buffer.far[j] <= reach(index, cut - price[t]):
            cost = cost_of(index, i, t)
            if cost + price[t] < cut:
                _replace_worst((buffer.priced, buffer.items, buffer.costs), n, cost + price[t], t, cost)
                cut = min(cut, buffer.priced[0])
    return cut


@inlined
def _open(index: Index, i: int, height: int, parent: int, cut: float, buffer: Buffer, top: int) -> int:
    """Put the children of a box on the stack, the most promising last, so that it comes first.

    Of equally promising ones each bidder has another first: where all objects cost the same, bidders with the same few
    on their lists would outbid each other, and search again.
    """
    tree, nodes, floors, gaps = index.tree, buffer.nodes, buffer.floors, buffer.gaps
    group = tree.level[height] + parent
    least = index.box[group, 0]
    for j in range(1, LANES):
        least = min(least, index.box[group, j])
    mask = near_boxes(tree, height, parent, tree.probes[i], reach(index, cut - least), gaps)
    turn, bottom = (i >> (4 * height)) % LANES, top
    mask = (mask >> turn | mask << (LANES - turn)) & ((1 << LANES) - 1)
    while mask:
        j = (lowest(mask) + turn) % LANES
        mask &= mask - 1
        floor = least_cost(index, gaps[j]) + index.box[group, j]
        if floor < cut:
            at = top
            while at > bottom and floors[at - 1] < floor:
                nodes[at], floors[at] = nodes[at - 1], floors[at - 1]
                at -= 1
            nodes[at], floors[at] = height << LEVEL_SHIFT | (parent * LANES + j), floor
            top += 1
    return top


@inner
def find(index: Index, price: Floats, i: int, cut: float, n: int, buffer: Buffer) -> float:
    """Find the n objects of least cost + price below ``cut`` for bidder i; items are -1 if there are fewer.

    Returns the threshold: no object that was not found is below it.
    """
    for k in range(n):
        buffer.priced[k], buffer.items[k] = np.inf, -1
    top = 0 + enter(index, buffer)  # a sum is no literal, for which numba would compile all of this once more
    while top > 0:
        leaf, top = next_leaf(index, i, cut, buffer, top)
        if leaf >= 0:
            cut = _look(index, price, i, leaf, cut, n, buffer)
    return cut


@inlined
def enter(index: Index, buffer: Buffer) -> int:
    """Put the root on the stack."""
    buffer.nodes[0], buffer.floors[0] = index.tree.level.shape[0] << LEVEL_SHIFT, -np.inf
    return 1


@inlined
def next_leaf(index: Index, i: int, cut: float, buffer: Buffer, top: int) -> tuple[int, int]:
    """Take one box off the stack. Returns the leaf it is, or -1, and the height of the stack."""
    leaf = -1
    top -= 1
    if buffer.floors[top] < cut:
        height, box = int(buffer.nodes[top]) >> LEVEL_SHIFT, int(buffer.nodes[top]) & ((1 << LEVEL_SHIFT) - 1)
        if height == 0:
            leaf = box
        else:
            top = _open(index, i, height - 1, box, cut, buffer, top)
    return leaf, top


# --- many bidders together, where files are wide (wide.py) -----------------------------------------------------------


class Heaps(NamedTuple):
    """The candidates of some bidders found so far: heaps with the greatest priced cost on top."""

    size: Ints  # (bidders,) candidates that each wants
    cut: Floats  # (bidders,) priced cost from which on nothing is wanted
    priced: Floats  # (bidders, longest)
    items: Codes
    costs: Floats


def new_heaps(size: Ints, cut: Floats) -> Heaps:
    """Empty heaps."""
    shape = len(size), int(size.max(initial=1))
    return Heaps(size, cut, np.full(shape, np.inf), np.full(shape, -1, np.int32), np.zeros(shape))


def fill(index: Index, price: Floats, bidders: Ints, heaps: Heaps) -> None:
    """Find the objects of least cost + price below each bidder's cut, which then is the threshold: see priced.find."""
    _fill(index, price, bidders, heaps, block_of(index.wide, bidders))


@lean
def _fill(index: Index, price: Floats, bidders: Ints, heaps: Heaps, block: Block) -> None:
    tiles, cut = index.wide.tiles, heaps.cut
    for leaf in range(tiles.shape[0]):
        for slot in range(bidders.shape[0]):
            block.within[slot] = _whole_reach(index, cut[slot] - index.leaf[leaf])
        for first in range(0, block.within.shape[0], ROWS):
            within = block.within[first : first + ROWS]
            if max(within[0], within[1], within[2], within[3]) < 0:
                continue
            if block_masks(tiles, leaf, block.probes, first, within, block.masks, block.far):
                for i in range(min(ROWS, bidders.shape[0] - first)):
                    mask = block.masks[i] & real_points(index.tree, leaf)
                    if mask:
                        cut[first + i] = _offer(
                            index, price, bidders[first + i], leaf, mask, heaps, first + i, block.far[i]
                        )


@inlined
def _whole_reach(index: Index, room: float) -> int:
    """Distances in whole numbers of pairs that cost at most ``room`` do not exceed this; negative: there are none."""
    if room < 0.0:
        return -1
    return reach_of(index.tree, index.wide, room * room if index.root else room)


@inlined
def _offer(index: Index, price: Floats, i: int, leaf: int, mask: int, heaps: Heaps, slot: int, far: Codes) -> float:
    """Offer objects of a leaf to a heap. Returns the priced cost from which on nothing is wanted."""
    cut, n = heaps.cut[slot], heaps.size[slot]
    heap = heaps.priced[slot], heaps.items[slot], heaps.costs[slot]
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        t = leaf * LEAF + j
        if far[j] <= _whole_reach(index, cut - price[t]):
            cost = cost_of(index, i, t)
            if cost + price[t] < cut:
                _replace_worst(heap, n, cost + price[t], t, cost)
                cut = min(cut, heap[0][0])
    return float(cut)


# --- questions ------------------------------------------------------------------------------------------------------


def least_costs(index: Index, price: Floats, start: Floats, bidders: Ints | None = None) -> Floats:
    """Least cost + price over *all* objects, for every bidder or some, by a search of its own. ``start``: some met."""
    out, asked, found = start.copy(), np.arange(len(start)) if bidders is None else bidders, _none_found(len(start))
    in_chunks(lambda part: _find_some(index, price, asked[part], out[part], found[part]), len(out), chunk=CHUNK)
    return out


def nearest_objects(index: Index, bidders: Ints) -> tuple[Codes, Floats]:
    """The object of least cost of some bidders, and what it costs: where all prices are zero, twice as fast."""
    n, tree = len(index.space.queries), index.tree._replace(rows=np.arange(len(index.space.points)))
    if len(index.wide.tiles):
        price, least, found = np.zeros(len(tree.rows)), np.full(len(bidders), np.inf), _none_found(len(bidders))
        update_prices(index, price)
        in_chunks(lambda k: _find_some(index, price, bidders[k], least[k], found[k]), len(bidders), chunk=CHUNK)
        return found[:, 0], least
    least, floor, place = np.full(n, np.inf), np.zeros(n), np.full(n, -1, np.int32)

    def work(part: slice) -> None:
        find_least(index.space, tree, bidders[part], (least, floor, place), walk.new_buffer())

    in_chunks(work, len(bidders), chunk=CHUNK)
    return place[bidders], np.sqrt(least[bidders]) if index.root else least[bidders]


def _none_found(n: int) -> Codes:
    return np.full((n, 1), -1, np.int32)


def effort(index: Index, n: int) -> float:
    """Leaves that a bidder looks at for n candidates, from a sample: the noisier file should do the asking."""
    if len(index.wide.tiles):
        return float(len(index.wide.tiles))
    n_b, n_o = len(index.space.queries), len(index.space.points)
    buffer, price = new_buffer(min(n, n_o)), np.zeros(n_o)
    update_prices(index, price)
    sample = np.arange(0, n_b, max(1, n_b // _SAMPLE))
    _find(index, price, sample, np.full(len(sample), np.inf), np.empty((len(sample), min(n, n_o)), np.int32), buffer)
    return float(buffer.looked[0]) / len(sample)


def pairs_below(index: Index, price: Floats, cut: Floats) -> tuple[Ints, Ints, bool]:
    """All pairs (bidder, object) with cost + price below the bidder's ``cut``, and whether these are all.

    Where nearly every pair is, as with equal costs, bidders with the most get a share of them only: see _PAIRS.
    """
    who, what = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    todo, size, n_o = np.arange(len(cut)), min(8, len(index.space.points)), len(index.space.points)
    whole = True
    while len(todo):
        found = found_below(index, price, todo, cut[todo], size)
        full = (found[:, -1] >= 0) & (size < n_o)
        if len(todo) * size > _PAIRS // 8 and full.any():
            whole, full = False, np.zeros(len(todo), np.bool_)
        row, col = np.nonzero((found >= 0) & ~full[:, None])
        who.append(todo[row])
        what.append(found[row, col].astype(np.int64))
        todo, size = todo[full], min(8 * size, n_o)
    return np.concatenate(who), np.concatenate(what), whole


def found_below(index: Index, price: Floats, bidders: Ints, cut: Floats, size: int) -> Codes:
    """For some bidders the objects of least cost + price below their ``cut``, up to ``size`` of them; -1: no more."""
    found = np.full((len(bidders), size), -1, np.int32)
    cut = cut.copy()
    in_chunks(lambda part: _find_some(index, price, bidders[part], cut[part], found[part]), len(bidders))
    return found


def _find_some(index: Index, price: Floats, bidders: Ints, cut: Floats, found: Codes) -> None:
    """Put the least objects of some bidders in ``found``, and into ``cut`` what is proven of all others."""
    n = found.shape[1]
    if not len(index.wide.tiles) or n > LONGEST:
        _find(index, price, bidders, cut, found, new_buffer(n))
        return
    heaps = new_heaps(np.full(len(bidders), n), cut)
    fill(index, price, bidders, heaps)
    found[:] = heaps.items[:, ::-1]


@lean
def _find(index: Index, price: Floats, bidders: Ints, cut: Floats, found: Codes, buffer: Buffer) -> None:
    """The same, one after the other."""
    n = found.shape[1]
    for s in range(bidders.shape[0]):
        cut[s] = min(cut[s], find(index, price, bidders[s], cut[s], n, buffer))
        for k in range(n):  # a heap with fewer than n objects has its empty places on top
            found[s, n - 1 - k] = buffer.items[k]
