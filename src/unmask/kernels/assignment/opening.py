"""The beginning, where nearly every bidder has a nearest object of its own: whoever is alone with it, keeps it.

At prices of zero a bidder that holds its nearest object holds what it wants most, and nothing else needs to be known of
it. Where a release is near the truth, that leaves few bidders. Only they list candidates, and they bid without epsilon:
a price rises to where the next best object is as good, no further. So prices stay at zero for most objects, matched
pairs are exact at any moment, and if all are matched in the end, the matching is the best one.

Without epsilon bids may end in a circle of equally good objects, or crawl: then the phases (solver.py) take over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.kernels.assignment.forward_reverse import Auction, Side, give_dummy, run_side
from unmask.kernels.base import Codes, Floats
from unmask.kernels.search import priced

_SHARED = 1 / 8  # bidders that may find no room where they are nearest
_FIRST = 256  # bidders that are looked at first: neighbours, as the order is that of a tree
_CHUNK = 16384  # searches between two looks at the clock
_STUCK = 1 / 100  # bidders who are many to be free still
_ROUND = 2  # bids per unit between two looks at how many are left


def give_nearest(auction: Auction, late: Callable[[], bool]) -> Floats | None:
    """Give each bidder its nearest object, if it is the nearest of those that want it; what is nearest costs that much.

    None, and nothing is given, where too many want the same. Nor to classes of several records: without epsilon, one
    that already holds a part of an object could bid for another part of it for ever.
    """
    side, state = auction.forward, auction.forward.state
    n = len(side.objects.space.queries)
    if state.supply[:n].max() > 1:
        return None
    item, cost = np.empty(n, np.int32), np.empty(n)
    first = min(n, max(_FIRST, n // 8))
    for a, b in [(0, first), *((k, min(n, k + _CHUNK)) for k in range(first, n, _CHUNK))]:
        item[a:b], cost[a:b] = priced.nearest_objects(side.objects, np.arange(a, b))
        if late() or (item[a:b] < 0).any():  # infinitely far from everything
            return None
        wanted = np.bincount(item[:b], minlength=len(state.capacity))
        if np.minimum(wanted, state.capacity).sum() < (1 - _SHARED) * b:
            return None
    _give(side, item, cost)
    return cost


def _give(side: Side, item: Codes, cost: Floats) -> None:
    """Match; a list of one, whose threshold is a shade lower, is searched anew as soon as that one is lost."""
    state, lists = side.state, side.lists
    owner = np.full(len(state.capacity), -1)
    owner[item] = np.arange(len(item))
    objects = np.flatnonzero(owner >= 0)
    bidders = owner[objects]
    slot, place = state.slot[objects], lists.start[bidders]
    state.holder[slot], state.amount[slot], state.bid[slot], state.cost[slot] = bidders, 1, 0.0, cost[bidders]
    state.tranches[objects] = state.used[objects] = 1
    state.free[bidders] = 0
    lists.item[place], lists.cost[place], lists.length[bidders] = objects, cost[bidders], 1
    lists.threshold[bidders] = np.nextafter(cost[bidders], -np.inf)


def bid_exactly(auction: Auction, late: Callable[[], bool]) -> bool:
    """Let whoever is free bid without epsilon, as long as each round leaves half of them. True if all is matched."""
    side, left = auction.forward, np.inf
    free = side.state.free
    while free.sum() <= left / 2 and not late():
        left = free.sum()
        if run_side(auction, side, 0.0, lambda _searches, _free: late(), _ROUND * int(side.state.capacity.sum())):
            give_dummy(auction)
            return True
    return False


def take_back(auction: Auction) -> bool:
    """Take everything back, prices and lists too, if many are free still: equal costs, where phases do better."""
    state, lists = auction.forward.state, auction.forward.lists
    if state.free.sum() <= _STUCK * len(state.free):
        return False
    for array in (state.used, state.tranches, state.price, lists.length):
        array[:] = 0
    lists.threshold[:] = -np.inf
    state.free[:] = 1
    if auction.dummy >= 0:
        state.free[auction.dummy] = 0
    return True
