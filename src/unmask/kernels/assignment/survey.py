"""Questions to a shop besides lists: least levels, all objects below a level, and what searching costs."""

from __future__ import annotations

import numpy as np

from unmask.kernels.assignment.candidates import Desk, Floats, Ints, Items, Shop, find, new_desk, update_prices
from unmask.kernels.base.chunks import in_chunks
from unmask.kernels.base.compiling import lean

CHUNK = 256  # bidders per task of a thread
_SAMPLE = 128
_PAIRS = 1 << 26  # room for pairs within a cut


def least_costs(shop: Shop, price: Floats, start: Floats) -> Floats:
    """Least cost + price over *all* objects, for every bidder, by a search of its own. ``start`` are levels met."""
    out, bidders, found = start.copy(), np.arange(len(start)), np.empty((len(start), 1), np.int32)
    in_chunks(
        lambda part: _find(shop, price, bidders[part], out[part], found[part], new_desk(1)), len(out), chunk=CHUNK
    )
    return out


def effort(shop: Shop, n: int) -> float:
    """Leaves that a bidder looks at for n candidates, from a sample: the noisier file should do the asking."""
    n_b, n_o = len(shop.space.queries), len(shop.space.points)
    desk, price = new_desk(min(n, n_o)), np.zeros(n_o)
    update_prices(shop, price)
    sample = np.arange(0, n_b, max(1, n_b // _SAMPLE))
    _find(shop, price, sample, np.full(len(sample), np.inf), np.empty((len(sample), min(n, n_o)), np.int32), desk)
    return float(desk.looked[0]) / len(sample)


def within(shop: Shop, price: Floats, cut: Floats) -> tuple[Ints, Ints, bool]:
    """All pairs (bidder, object) with cost + price below the bidder's ``cut``, and whether these are all.

    Where nearly every pair is, as with equal costs, bidders with the most get a share of them only: see _PAIRS.
    """
    who, what = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    todo, size, n_o = np.arange(len(cut)), min(8, len(shop.space.points)), len(shop.space.points)
    whole = True
    while len(todo):
        found = _found(shop, price, todo, cut[todo], size)
        full = (found[:, -1] >= 0) & (size < n_o)
        if len(todo) * size > _PAIRS // 8 and full.any():
            whole, full = False, np.zeros(len(todo), np.bool_)
        row, col = np.nonzero((found >= 0) & ~full[:, None])
        who.append(todo[row])
        what.append(found[row, col].astype(np.int64))
        todo, size = todo[full], min(8 * size, n_o)
    return np.concatenate(who), np.concatenate(what), whole


def _found(shop: Shop, price: Floats, bidders: Ints, cut: Floats, size: int) -> Items:
    found = np.full((len(bidders), size), -1, np.int32)
    cut = cut.copy()
    in_chunks(lambda part: _find(shop, price, bidders[part], cut[part], found[part], new_desk(size)), len(bidders))
    return found


@lean
def _find(shop: Shop, price: Floats, bidders: Ints, cut: Floats, found: Items, desk: Desk) -> None:
    """Put the least objects of some bidders in ``found``, and into ``cut`` what is proven of all others."""
    n = found.shape[1]
    for s in range(bidders.shape[0]):
        cut[s] = min(cut[s], find(shop, price, bidders[s], cut[s], n, desk))
        for k in range(n):  # a heap with fewer than n objects has its empty places on top
            found[s, n - 1 - k] = desk.items[k]
