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

from unmask.kernels.assignment.auction import (
    Queue,
    bids_made,
    call_up,
    drain,
    empty_queue,
    held_levels,
    least_levels,
    level_out,
    release,
    searches_made,
    take_stale,
    turn,
)
from unmask.kernels.assignment.candidates import (
    Lists,
    Shop,
    announce,
    cost_of,
    empty_lists,
    new_desk,
    refresh,
    update_prices,
)
from unmask.kernels.assignment.market import Market, hand, open_market, seat
from unmask.kernels.base.compiling import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LISTED = 16  # candidates of a bidder, besides as many as it wants
CROWD_LISTED = 256
_ALONE = 128  # bidders that search one by one rather than in threads
_WAR = 40  # bids per unit that make a price war
_MANY = 4000  # free units up to which the rest is matched with some care
_SLICE = 8192  # searches between two looks at the clock


class Side(NamedTuple):
    """One direction of bidding."""

    shop: Shop
    lists: Lists
    market: Market
    queue: Queue


class Bargain(NamedTuple):
    """Both directions."""

    forward: Side
    backward: Side
    crowd: int  # the bidder that wants leftovers at no cost, or -1
    patience: int  # searches after which sides are swapped, if few are left over


def open_bargain(forward: Shop, backward: Shop, supply: Ints, capacity: Ints, ratio: float) -> Bargain:
    """Prepare both sides; sum(supply) <= sum(capacity). The crowd comes when the others have chosen.

    Where objects search at the same cost as bidders, taking turns saves most of the searches; where it costs them twice
    as much, nearly nothing (rank swapping and noise of one standard deviation; 10,000 to 100,000 records): ``ratio``.
    """
    patience = max(64, int(len(supply) * min(3.0, 0.2 * max(1.0, ratio) ** 5)))
    rest = int(capacity.sum() - supply.sum())
    crowd = len(supply) if rest else -1
    sizes, back_sizes = _list_sizes(supply, len(capacity)), _list_sizes(capacity, len(supply))
    if rest:
        supply, sizes = np.append(supply, rest), np.append(sizes, min(CROWD_LISTED, len(capacity)))
        back_sizes = back_sizes + 1
    bargain = Bargain(
        Side(forward, empty_lists(sizes, crowd=crowd), open_market(supply, capacity), empty_queue(len(supply))),
        Side(backward, empty_lists(back_sizes), open_market(capacity, supply), empty_queue(len(capacity))),
        crowd,
        patience,
    )
    if rest:
        bargain.forward.market.free[crowd] = 0
    return bargain


def _list_sizes(wanted: Ints, n: int) -> Ints:
    sizes: Ints = np.minimum(LISTED + np.where(wanted > 1, wanted, 0), n).astype(np.int64)
    return sizes


def search_lists(bargain: Bargain, side: Side, stale: Ints) -> None:
    """Search the lists of stale bidders at today's prices."""
    market = side.market
    if side is bargain.forward and bargain.crowd in stale:
        _search_crowd(side, bargain.crowd)
        stale = stale[stale != bargain.crowd]
    if len(stale):
        update_prices(side.shop, market.price)
        refresh(side.lists, side.shop, market.price, np.sort(stale))


def _search_crowd(side: Side, crowd: int) -> None:
    """List the cheapest objects of which the crowd does not hold everything."""
    market, lists = side.market, side.lists
    alone = (market.tranches == 1) & (market.used == market.capacity) & (market.holder[market.slot[:-1]] == crowd)
    others = np.flatnonzero(~alone)
    a, size = lists.start[crowd], lists.start[crowd + 1] - lists.start[crowd]
    lists.threshold[crowd] = np.inf
    if len(others) > size:
        others = others[np.argpartition(market.price[others], size - 1)[:size]]
        lists.threshold[crowd] = market.price[others].max()
    lists.item[a : a + len(others)], lists.cost[a : a + len(others)] = others, 0.0
    lists.length[crowd] = len(others)


def trade(bargain: Bargain, side: Side, epsilon: float, stop: Callable[[int, int], bool], most: int) -> bool:
    """Let one side bid until nothing is free, which is True, or stop(searches so far, units still free) says so.

    Also stops after ``most`` bids: then it is a price war.
    """
    done = _trade(bargain, side, epsilon, stop, bids_made(side.queue) + most)
    level_out(side.market, held_levels(side.market))
    return done


def _trade(bargain: Bargain, side: Side, epsilon: float, stop: Callable[[int, int], bool], last: int) -> bool:
    market, lists, queue, shop = side.market, side.lists, side.queue, side.shop
    call_up(queue, market.free)
    desk = new_desk(int(np.diff(lists.start).max()))
    before, searches, alone = searches_made(queue), 0, 0
    while drain(market, lists, queue, shop, desk, epsilon, last, alone):
        stale = take_stale(queue)
        for part in range(0, len(stale), _SLICE):
            done = searches + searches_made(queue) - before
            if stop(done, int(market.free[stale].sum())):
                return False
            chosen = stale[part : part + _SLICE]
            search_lists(bargain, side, chosen)
            searches += len(chosen)
        alone = _ALONE if len(stale) <= _ALONE else 0
    return not market.free.any()


def turn_back(bargain: Bargain, epsilon: float) -> None:
    """Let the objects bid. Their lists belong to other prices and are forgotten: few objects will need one."""
    old, new = bargain.forward, bargain.backward
    turn(old.market, np.maximum(_profits(old), held_levels(old.market) - epsilon), new.market)
    new.lists.length[:] = 0
    new.lists.threshold[:] = -np.inf


def turn_forth(bargain: Bargain, epsilon: float) -> None:
    """Let the bidders bid again. Where prices had to fall meanwhile, lists are mended rather than searched anew."""
    old, new = bargain.backward, bargain.forward
    held = held_levels(old.market) - epsilon
    levels = np.where(old.market.free > 0, np.maximum(least_levels(old.market, old.lists), held), held)
    before = new.market.price.copy()
    turn(old.market, np.maximum(levels, -before), new.market)
    fallen = np.flatnonzero(new.market.price < before)
    ceiling = -new.lists.threshold[: len(old.shop.space.points)]
    update_prices(old.shop, ceiling)
    announce(new.lists, new.market.price, old.shop, ceiling, fallen)
    _forget_crowd(new)


def run_phase(bargain: Bargain, epsilon: float, late: Callable[[], bool]) -> float:
    """Match everything within epsilon, by turns from both ends. Returns 0 if it got too late before all was matched.

    Where costs differ by orders of magnitude, a small epsilon ends in a price war. Then epsilon is raised, which spoils
    nothing, and the epsilon that did it is returned: the next phase goes down from there.
    """
    side, back = bargain.forward, bargain.backward
    units = int(side.market.capacity.sum())
    few, most = max(8, units // 50), _WAR * units + 10_000

    def stop(searches: int, free: int) -> bool:
        return late() or (searches >= bargain.patience and free <= few)

    made = bids_made(side.queue)
    done = trade(bargain, side, epsilon, stop, most)
    while not done and not late() and bids_made(side.queue) - made >= most:
        made, most, epsilon = bids_made(side.queue), 2 * most, 8.0 * epsilon
        done = trade(bargain, side, epsilon, stop, most)
    _seat_crowd(bargain)
    made = bids_made(side.queue) + bids_made(back.queue)
    while not done and not late():
        turn_back(bargain, epsilon)
        trade(bargain, back, epsilon, stop, most)
        turn_forth(bargain, epsilon)
        done = trade(bargain, side, epsilon, stop, most)
        if bids_made(side.queue) + bids_made(back.queue) > made + most:
            made, most, epsilon = bids_made(side.queue) + bids_made(back.queue), 2 * most, 8.0 * epsilon
    return epsilon if done else 0.0


def _seat_crowd(bargain: Bargain) -> None:
    """Give the crowd what nobody took. Nobody bid for it, so it stands at the lowest price, as it must."""
    market = bargain.forward.market
    rest = int(market.capacity.sum() - market.used.sum() - market.free.sum())
    if rest:
        seat(market, bargain.crowd, rest)


def _profits(side: Side) -> Floats:
    """Lower bounds of the least levels of the bidders. The crowd's list leaves out what it holds."""
    out = least_levels(side.market, side.lists)
    if side.lists.crowd >= 0:
        out[side.lists.crowd] = side.market.price.min()
    return out


def next_phase(bargain: Bargain, epsilon: float) -> None:
    """Free the holdings that a smaller epsilon does not allow."""
    side = bargain.forward
    release(side.market, _profits(side), epsilon)
    _forget_crowd(side)


def _forget_crowd(side: Side) -> None:
    """Have the crowd search anew: it holds other objects now, and its list knows nothing of those it held."""
    if side.lists.crowd >= 0:
        side.lists.length[side.lists.crowd], side.lists.threshold[side.lists.crowd] = 0, -np.inf


def match_rest(bargain: Bargain) -> None:
    """Match whatever is still free, without care for the optimum: nearest first, or in tree order if there is much."""
    side = bargain.forward
    free, left = side.market.free, side.market.capacity - side.market.used
    objects = np.repeat(np.arange(len(left)), left)
    _hand_out(side.market, side.shop, np.repeat(np.arange(len(free)), free), objects, len(objects) <= _MANY)


@kernel
def _hand_out(m: Market, shop: Shop, bidders: Ints, objects: Ints, choose: bool) -> None:  # noqa: FBT001
    real = shop.space.queries.shape[0]
    for k in range(len(bidders)):
        i, at, least = bidders[k], k, np.inf
        if choose and i < real:
            for r in range(k, len(objects)):
                cost = cost_of(shop, i, objects[r])
                if cost < least:
                    at, least = r, cost
        objects[k], objects[at] = objects[at], objects[k]
        hand(m, i, objects[k], cost_of(shop, i, objects[k]) if i < real else 0.0)
