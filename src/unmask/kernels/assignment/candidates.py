"""Candidate lists of the bidders: objects of least priced cost, and a threshold that is proven for all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import LEAF, Codes, Floats, Ints, Singles
from unmask.kernels.compiling import in_chunks, inlined, inner, lean, lowest
from unmask.kernels.search import priced

_CHUNK = 64  # bidders per task of a thread
TOGETHER = 4  # bidders who meet all objects of a wide file together; fewer search one by one


class Lists(NamedTuple):
    """Candidates of bidder i: places start[i] to start[i] + length[i]; no other object is below threshold[i]."""

    start: Ints  # (n_b + 1,)
    length: Ints  # (n_b,)
    item: Codes
    cost: Floats
    threshold: Floats  # (n_b,)
    dummy: int  # the one bidder whose list leaves out what it holds, or -1


def empty_lists(sizes: Ints, *, dummy: int = -1) -> Lists:
    """Return lists of given capacities. Nothing is proven yet, so every bidder must search first."""
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total, n = int(start[-1]), len(sizes)
    return Lists(
        start, np.zeros(n, np.int64), np.full(total, -1, np.int32), np.zeros(total), np.full(n, -np.inf), dummy
    )


@inner
def search_list(lists: Lists, index: priced.Index, price: Floats, i: int, most: float, buffer: priced.Buffer) -> None:
    """Search the list of bidder i anew, see refresh; ``most``: below this priced cost it finds all that it wants."""
    size, cut = _wanted(lists, index, price, i)
    lists.threshold[i] = priced.find(index, price, i, min(cut, most), size, buffer)
    _write(lists, index, price, i, buffer.items[:size], buffer.costs[:size])


@inner
def _wanted(lists: Lists, index: priced.Index, price: Floats, i: int) -> tuple[int, float]:
    """How many objects bidder i looks for, and below which priced cost."""
    n_o = index.space.points.shape[0]
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
    return size, cut


@inner
def _write(lists: Lists, index: priced.Index, price: Floats, i: int, items: Codes, costs: Floats) -> None:
    """Put what was found on the list of bidder i."""
    n_o = index.space.points.shape[0]
    a, n = lists.start[i], 0
    for k in range(items.shape[0]):
        if items[k] >= 0:
            lists.item[a + n], lists.cost[a + n] = items[k], costs[k]
            n += 1
    if price.shape[0] > n_o:
        lists.item[a + n], lists.cost[a + n] = n_o, 0.0
        n += 1
    lists.length[i] = n


@lean
def _refresh(lists: Lists, index: priced.Index, price: Floats, bidders: Ints, buffer: priced.Buffer) -> None:
    most = np.inf
    for s in range(bidders.shape[0]):
        if s > 0:
            most = _as_before(lists, index, price, bidders[s], bidders[s - 1])
        search_list(lists, index, price, bidders[s], most, buffer)


@inlined
def _as_before(lists: Lists, index: priced.Index, price: Floats, i: int, before: int) -> float:
    """Priced cost below which there are as many objects as bidder i wants: those of the bidder before, who is near."""
    n_o, most, found = index.space.points.shape[0], -np.inf, 0
    for k in range(lists.start[before], lists.start[before] + lists.length[before]):
        j = int(np.int64(lists.item[k]))
        if j < n_o:
            most = max(most, priced.cost_of(index, i, j) + price[j])
            found += 1
    wanted = lists.start[i + 1] - lists.start[i] - int(price.shape[0] > n_o)
    return most + 1e-12 * abs(most) + 1e-300 if found >= wanted else np.inf


def refresh(lists: Lists, index: priced.Index, price: Floats, bidders: Ints) -> None:
    """Search the lists of some bidders anew, over threads; each bidder writes only its own list.

    A price more than there are objects in the index belongs to an object that costs nothing and is on every list.
    """
    size = int((lists.start[bidders + 1] - lists.start[bidders]).max())
    if len(index.wide.tiles) and len(bidders) >= TOGETHER and size <= priced.LONGEST:
        in_chunks(lambda part: _refresh_wide(lists, index, price, bidders[part]), len(bidders), chunk=priced.CHUNK)
        return
    if len(bidders) <= 4 * _CHUNK:  # threads would take longer to start
        _refresh(lists, index, price, bidders, priced.new_buffer(size))
        return
    in_chunks(
        lambda part: _refresh(lists, index, price, bidders[part], priced.new_buffer(size)), len(bidders), chunk=_CHUNK
    )


def _refresh_wide(lists: Lists, index: priced.Index, price: Floats, bidders: Ints) -> None:
    """Let some bidders meet all objects together."""
    size, cut = np.empty(len(bidders), np.int64), np.empty(len(bidders))
    _all_wanted(lists, index, price, bidders, size, cut)
    heaps = priced.new_heaps(size, cut)
    priced.fill(index, price, bidders, heaps)
    lists.threshold[bidders] = heaps.cut
    _write_all(lists, index, price, bidders, heaps)


@lean
def _all_wanted(lists: Lists, index: priced.Index, price: Floats, bidders: Ints, size: Ints, cut: Floats) -> None:
    for s in range(bidders.shape[0]):
        size[s], cut[s] = _wanted(lists, index, price, bidders[s])


@lean
def _write_all(lists: Lists, index: priced.Index, price: Floats, bidders: Ints, heaps: priced.Heaps) -> None:
    for s in range(bidders.shape[0]):
        n = heaps.size[s]
        _write(lists, index, price, bidders[s], heaps.items[s, :n], heaps.costs[s, :n])


@inner
def add_candidate(lists: Lists, price: Floats, i: int, j: int, cost: float) -> None:
    """Put object j on bidder i's list; if there is no place, the worst entry goes and the threshold says so."""
    a, n = lists.start[i], lists.length[i]
    worst, at = cost + price[j], -1
    for k in range(a, a + n):
        if lists.item[k] == j:
            return
        other = lists.cost[k] + price[lists.item[k]]
        if other > worst:
            worst, at = other, k
    if a + n < lists.start[i + 1]:
        at = a + n
        lists.length[i] += 1
    else:
        lists.threshold[i] = min(lists.threshold[i], worst)
    if at >= 0:
        lists.item[at], lists.cost[at] = j, cost


def readmit(lists: Lists, price: Floats, back: priced.Index, ceiling: Floats, fallen: Ints) -> None:
    """Tell bidders of objects whose prices fell below their thresholds: the lists are true again.

    ``back`` is the index where objects look for bidders, its prices (``ceiling``) minus the thresholds: an object at
    price p concerns the bidders with cost - threshold < -p.
    """
    _readmit(lists, price, back, ceiling, fallen, priced.new_buffer(0))


@lean
def _readmit(
    lists: Lists, price: Floats, back: priced.Index, ceiling: Floats, fallen: Ints, buffer: priced.Buffer
) -> None:
    for j in fallen:
        top = 0 + priced.enter(back, buffer)
        while top > 0:
            leaf, top = priced.next_leaf(back, j, -price[j], buffer, top)
            if leaf >= 0:
                _readmit_leaf(lists, price, back, ceiling, j, leaf, buffer.far)


@inlined
def _readmit_leaf(
    lists: Lists, price: Floats, back: priced.Index, ceiling: Floats, j: int, leaf: int, far: Singles
) -> None:
    cut = -price[j]
    mask = priced.near(back, ceiling, j, leaf, cut, far)
    while mask:
        k = lowest(mask)
        mask &= mask - 1
        i = leaf * LEAF + k
        cost = priced.cost_of(back, j, i)
        if cost + price[j] < lists.threshold[i]:
            add_candidate(lists, price, i, j, cost)
