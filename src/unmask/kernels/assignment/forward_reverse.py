"""The auction from both sides: bidders look for objects, and when few are left over, objects look for bidders.

The last free bidders must raise the prices of everything between them and the last free objects. In many dimensions
this is most of the file. Letting the objects do the same from their end, by turns, makes both meet half way: the
combined forward and reverse auction (Bertsekas, Castanon and Tsaknakis, 1993).

With unequal sizes the bidders are the smaller file, and one more bidder, the *dummy*, wants what is left over at no
cost: whatever it holds must be among the cheapest. So every problem here is balanced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.assignment.allocation import Allocation, give, give_rest, new_allocation
from unmask.kernels.assignment.bidding import (
    Queue,
    bids_made,
    count_searches,
    drain,
    empty_queue,
    fill_queue,
    least_priced,
    most_held,
    raise_sole,
    release,
    searches_made,
    swap_sides,
    take_stale,
)
from unmask.kernels.assignment.candidates import Lists, empty_lists, readmit, refresh
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import kernel
from unmask.kernels.search import priced

LISTED = 16  # candidates of a bidder, besides as many as it wants
DUMMY_LISTED = 256
_ALONE = 128  # bidders that search one by one rather than in threads
WAR = 40  # bids per unit that make a price war
FEW = 20  # of so many units one is free when sides may be swapped
_MANY = 4000  # free units up to which the rest is matched with some care
_SLICE = 8192  # searches between two looks at the clock


class Side(NamedTuple):
    """One direction of bidding."""

    objects: priced.Index  # where it looks for objects
    lists: Lists
    state: Allocation
    queue: Queue


class Auction(NamedTuple):
    """Both directions."""

    forward: Side
    reverse: Side
    dummy: int  # the bidder that wants leftovers at no cost, or -1
    patience: int  # searches after which sides are swapped, if few are left over


def new_auction(forward: priced.Index, reverse: priced.Index, supply: Ints, capacity: Ints) -> Auction:
    """Prepare both sides; sum(supply) <= sum(capacity). The dummy comes when the others have chosen."""
    rest = int(capacity.sum() - supply.sum())
    dummy = len(supply) if rest else -1
    sizes, back_sizes = _list_sizes(supply, len(capacity)), _list_sizes(capacity, len(supply))
    if rest:
        supply, sizes = np.append(supply, rest), np.append(sizes, min(DUMMY_LISTED, len(capacity)))
        back_sizes = back_sizes + 1
    auction = Auction(
        Side(forward, empty_lists(sizes, dummy=dummy), new_allocation(supply, capacity), empty_queue(len(supply))),
        Side(reverse, empty_lists(back_sizes), new_allocation(capacity, supply), empty_queue(len(capacity))),
        dummy,
        0,
    )
    if rest:
        auction.forward.state.free[dummy] = 0
    return auction


def with_patience(auction: Auction) -> Auction:
    """The auction that knows when to take turns.

    Where objects search at the same cost as bidders, that saves most of the searches; where it costs them twice as
    much, nearly nothing (rank swapping and noise of one standard deviation; 10,000 to 100,000 records).
    """
    ahead, back = (priced.effort(side.objects, LISTED) for side in (auction.forward, auction.reverse))
    n_b = len(auction.forward.state.supply)
    return auction._replace(patience=max(64, int(n_b * min(2.0, 0.4 * max(1.0, back / ahead) ** 5))))


def _list_sizes(wanted: Ints, n: int) -> Ints:
    sizes: Ints = np.minimum(LISTED + np.where(wanted > 1, wanted, 0), n).astype(np.int64)
    return sizes


def search_lists(auction: Auction, side: Side, stale: Ints) -> None:
    """Search the lists of stale bidders at today's prices."""
    state = side.state
    if side is auction.forward and auction.dummy in stale:
        _search_dummy(side, auction.dummy)
        stale = stale[stale != auction.dummy]
    if len(stale):
        priced.update_prices(side.objects, state.price)
        refresh(side.lists, side.objects, state.price, np.sort(stale))


def _search_dummy(side: Side, dummy: int) -> None:
    """List the cheapest objects of which the dummy does not hold everything."""
    state, lists = side.state, side.lists
    alone = (state.tranches == 1) & (state.used == state.capacity) & (state.holder[state.slot[:-1]] == dummy)
    others = np.flatnonzero(~alone)
    a, size = lists.start[dummy], lists.start[dummy + 1] - lists.start[dummy]
    lists.threshold[dummy] = np.inf
    if len(others) > size:
        others = others[np.argpartition(state.price[others], size - 1)[:size]]
        lists.threshold[dummy] = state.price[others].max()
    lists.item[a : a + len(others)], lists.cost[a : a + len(others)] = others, 0.0
    lists.length[dummy] = len(others)


def run_side(auction: Auction, side: Side, epsilon: float, stop: Callable[[int, int], bool], most: int) -> bool:
    """Let one side bid until nothing is free, which is True, or stop(searches so far, units still free) says so.

    Also stops after ``most`` bids: then it is a price war.
    """
    done = _run(auction, side, epsilon, stop, bids_made(side.queue) + most)
    raise_sole(side.state, most_held(side.state))
    return done


def _run(auction: Auction, side: Side, epsilon: float, stop: Callable[[int, int], bool], last: int) -> bool:
    state, lists, queue, index = side.state, side.lists, side.queue, side.objects
    fill_queue(queue, state.free)
    buffer = priced.new_buffer(int(np.diff(lists.start).max()))
    before, alone = searches_made(queue), 0
    while drain(state, lists, queue, index, buffer, epsilon, last, alone):
        stale = take_stale(queue)
        for part in range(0, len(stale), _SLICE):
            if stop(searches_made(queue) - before, int(state.free[stale].sum())):
                return False
            chosen = stale[part : part + _SLICE]
            search_lists(auction, side, chosen)
            count_searches(queue, len(chosen))
        alone = _ALONE if len(stale) <= _ALONE else 0
    return not state.free.any()


def to_reverse(auction: Auction, epsilon: float) -> None:
    """Let the objects bid. Their lists belong to other prices and are forgotten: few objects will need one."""
    old, new = auction.forward, auction.reverse
    swap_sides(old.state, np.maximum(profits_of(old), most_held(old.state) - epsilon), new.state)
    new.lists.length[:] = 0
    new.lists.threshold[:] = -np.inf


def to_forward(auction: Auction, epsilon: float) -> None:
    """Let the bidders bid again. Where prices had to fall meanwhile, lists are mended rather than searched anew."""
    old, new = auction.reverse, auction.forward
    held = most_held(old.state) - epsilon
    duals = np.where(old.state.free > 0, np.maximum(least_priced(old.state, old.lists), held), held)
    before = new.state.price.copy()
    swap_sides(old.state, np.maximum(duals, -before), new.state)
    fallen = np.flatnonzero(new.state.price < before)
    ceiling = -new.lists.threshold[: len(old.objects.space.points)]
    priced.update_prices(old.objects, ceiling)
    readmit(new.lists, new.state.price, old.objects, ceiling, fallen)
    _reset_dummy(new)


def run_phase(auction: Auction, epsilon: float, late: Callable[[], bool]) -> float:
    """Match everything within epsilon, by turns from both ends. Returns 0 if it got too late before all was matched.

    Where costs differ by orders of magnitude, a small epsilon ends in a price war. Then epsilon is raised, which spoils
    nothing, and the epsilon that did it is returned: the next phase goes down from there.
    """
    side, back = auction.forward, auction.reverse
    units = int(side.state.capacity.sum())
    few, most = max(8, units // FEW), WAR * units + 10_000

    def stop(searches: int, free: int) -> bool:
        return late() or (searches >= auction.patience and free <= few)

    made = bids_made(side.queue)
    done = run_side(auction, side, epsilon, stop, most)
    while not done and not late() and bids_made(side.queue) - made >= most:
        made, most, epsilon = bids_made(side.queue), 2 * most, 8.0 * epsilon
        done = run_side(auction, side, epsilon, stop, most)
    give_dummy(auction)
    made = bids_made(side.queue) + bids_made(back.queue)
    while not done and not late():
        to_reverse(auction, epsilon)
        run_side(auction, back, epsilon, stop, most)
        to_forward(auction, epsilon)
        done = run_side(auction, side, epsilon, stop, most)
        if bids_made(side.queue) + bids_made(back.queue) > made + most:
            made, most, epsilon = bids_made(side.queue) + bids_made(back.queue), 2 * most, 8.0 * epsilon
    return epsilon if done else 0.0


def give_dummy(auction: Auction) -> None:
    """Give the dummy what nobody took. Nobody bid for it, so it stands at the lowest price, as it must."""
    state = auction.forward.state
    rest = int(state.capacity.sum() - state.used.sum() - state.free.sum())
    if rest:
        give_rest(state, auction.dummy, rest)


def profits_of(side: Side) -> Floats:
    """Lower bounds of the duals of the bidders. The dummy's list leaves out what it holds."""
    out = least_priced(side.state, side.lists)
    if side.lists.dummy >= 0:
        out[side.lists.dummy] = side.state.price.min()
    return out


def next_phase(auction: Auction, epsilon: float) -> None:
    """Free the holdings that a smaller epsilon does not allow."""
    side = auction.forward
    release(side.state, profits_of(side), epsilon)
    _reset_dummy(side)


def _reset_dummy(side: Side) -> None:
    """Have the dummy search anew: it holds other objects now, and its list knows nothing of those it held."""
    if side.lists.dummy >= 0:
        side.lists.length[side.lists.dummy], side.lists.threshold[side.lists.dummy] = 0, -np.inf


def match_rest(auction: Auction) -> None:
    """Match whatever is still free, without care for the optimum: nearest first, or in tree order if there is much."""
    side = auction.forward
    free, left = side.state.free, side.state.capacity - side.state.used
    objects = np.repeat(np.arange(len(left)), left)
    _give_all(side.state, side.objects, np.repeat(np.arange(len(free)), free), objects, len(objects) <= _MANY)


@kernel
def _give_all(m: Allocation, index: priced.Index, bidders: Ints, objects: Ints, choose: bool) -> None:  # noqa: FBT001
    real = index.space.queries.shape[0]
    for k in range(len(bidders)):
        i, at, least = bidders[k], k, np.inf
        if choose and i < real:
            for r in range(k, len(objects)):
                cost = priced.cost_of(index, i, objects[r])
                if cost < least:
                    at, least = r, cost
        objects[k], objects[at] = objects[at], objects[k]
        give(m, i, objects[k], priced.cost_of(index, i, objects[k]) if i < real else 0.0)
