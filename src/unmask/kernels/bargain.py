"""Two sides of a market: bidders look for objects, and when few are left over, objects look for bidders.

The last free bidders must raise the prices of everything between them and the last free objects. In many dimensions
this is most of the file. Letting the objects do the same from their end, by turns, makes both meet half way: the
combined forward and reverse auction (Bertsekas, Castanon and Tsaknakis, 1993).

With unequal sizes the bidders are the smaller file, and one more bidder, the *crowd*, wants what is left over at no
cost: whatever it holds must be among the cheapest. So every problem here is balanced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.auction import (
    Queue, call_up, drain, empty_queue, held_levels, least_levels, release, take_stale, turn,
)
from unmask.kernels.candidates import Lists, Shop, announce, empty_lists, open_shops, refresh, update_prices
from unmask.kernels.market import Market, open_market

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.kernels.space import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LISTED = 16  # candidates of a bidder
CROWD_LISTED = 256


class Side(NamedTuple):
    """One direction of bidding."""

    shop: Shop
    lists: Lists
    market: Market
    queue: Queue


class Bargain(NamedTuple):
    """Both directions, and where records stand in them: bidder b of the market is class ``bidders[b]`` of its file."""

    forward: Side
    backward: Side
    bidders: Ints
    objects: Ints
    crowd: int  # the bidder that wants leftovers at no cost, or -1


def open_bargain(space: Space, supply: Ints, capacity: Ints, *, squared: bool) -> Bargain:
    """Prepare both sides. Queries are distinct bidders, points distinct objects; sum(supply) <= sum(capacity)."""
    shop, back, bidders, objects = open_shops(space, squared=squared)
    supply, capacity = supply[bidders], capacity[objects]
    rest = int(capacity.sum() - supply.sum())
    crowd = len(supply) if rest else -1
    sizes = np.minimum(LISTED + np.where(supply > 1, supply, 0), len(capacity))
    if rest:
        supply, sizes = np.append(supply, rest), np.append(sizes, min(CROWD_LISTED, len(capacity)))
    back_sizes = np.minimum(LISTED + np.where(capacity > 1, capacity, 0), len(bidders)) + (rest > 0)
    forward = Side(shop, empty_lists(sizes), open_market(supply, capacity), empty_queue(len(supply)))
    backward = Side(back, empty_lists(back_sizes), open_market(capacity, supply), empty_queue(len(capacity)))
    return Bargain(forward, backward, bidders, objects, crowd)


def search_lists(bargain: Bargain, side: Side, stale: Ints) -> None:
    """Search the lists of stale bidders at today's prices."""
    market = side.market
    if side is bargain.forward and bargain.crowd in stale:
        _search_crowd(side, bargain.crowd)
        stale = stale[stale != bargain.crowd]
    if len(stale):
        update_prices(side.shop, market.price[: len(side.shop.space.points)])
        refresh(side.lists, side.shop, market.price, np.sort(stale))


def _search_crowd(side: Side, crowd: int) -> None:
    """List the cheapest objects of which the crowd does not hold everything."""
    market, lists = side.market, side.lists
    alone = (market.tranches == 1) & (market.used == market.capacity) & (market.holder[market.slot[:-1]] == crowd)
    price = np.where(alone, np.inf, market.price)
    a, size = lists.start[crowd], lists.start[crowd + 1] - lists.start[crowd]
    best = np.argpartition(price, size - 1)[:size] if size < len(price) else np.arange(len(price))
    best = best[price[best] < np.inf]
    lists.item[a : a + len(best)], lists.cost[a : a + len(best)] = best, 0.0
    lists.length[crowd] = len(best)
    lists.threshold[crowd] = price[best].max() if len(best) == size and size < len(price) else np.inf


def trade(bargain: Bargain, side: Side, epsilon: float, stop: Callable[[int, int], bool]) -> bool:
    """Let one side bid until nothing is free, which is True, or stop(searches so far, units still free) says so."""
    call_up(side.queue, side.market.free)
    searches = 0
    while drain(side.market, side.lists, side.queue, epsilon):
        stale = take_stale(side.queue)
        if stop(searches, int(side.market.free[stale].sum())):
            return False
        searches += len(stale)
        search_lists(bargain, side, stale)
    return True


def turn_back(bargain: Bargain, epsilon: float) -> None:
    """Let the objects bid. Their lists belong to other prices and are forgotten: few objects will need one."""
    old, new = bargain.forward, bargain.backward
    profit = np.maximum(least_levels(old.market, old.lists), held_levels(old.market) - epsilon)
    turn(old.market, profit, new.market)
    new.lists.length[:] = 0
    new.lists.threshold[:] = -np.inf


def turn_forth(bargain: Bargain, epsilon: float) -> None:
    """Let the bidders bid again. Where prices fell meanwhile, lists are mended rather than searched anew."""
    old, new = bargain.backward, bargain.forward
    held = held_levels(old.market) - epsilon
    levels = np.where(old.market.free > 0, least_levels(old.market, old.lists), held)
    before = new.market.price.copy()
    turn(old.market, np.maximum(levels, -before), new.market)
    fallen = np.flatnonzero(new.market.price < before)
    real = len(bargain.bidders)
    ceiling = -new.lists.threshold[:real]
    update_prices(old.shop, ceiling)
    announce(new.lists, new.market.price, old.shop, ceiling, fallen)
    if bargain.crowd >= 0:
        new.lists.length[bargain.crowd], new.lists.threshold[bargain.crowd] = 0, -np.inf


import os
PAT=float(os.environ.get('PAT','0.05'))
def run_phase(bargain: Bargain, epsilon: float, stop: Callable[[], bool], log=None) -> bool:
    """Match everything within epsilon, by turns from both ends. False if ``stop`` cut it short."""
    forward = bargain.forward
    units = int(forward.market.supply.sum())
    patience = max(64, int(len(bargain.bidders)*PAT))
    few = max(8, units // 50)
    def enough(searches, free):
        return searches >= patience and free <= few
    while not trade(bargain, forward, epsilon, enough):
        if log: log('forward', forward.market.free.sum())
        turn_back(bargain, epsilon)
        trade(bargain, bargain.backward, epsilon, enough)
        turn_forth(bargain, epsilon)
        if log: log('backward', forward.market.free.sum())
    return True


def begin_phase(bargain: Bargain, epsilon: float) -> None:
    side = bargain.forward
    profit = least_levels(side.market, side.lists)
    release(side.market, profit, epsilon)
