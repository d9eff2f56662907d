"""A partial assignment: classes of equal records on both sides, who holds how much of what, and the prices (duals).

Records that are equal in every attribute form one class. A class of the *bidding* side wants ``supply`` units, a class
of the *object* side has ``capacity`` units. Grouping is what keeps price wars away: equal records would otherwise
outbid each other by one epsilon at a time (Bertsekas and Castanon, "The auction algorithm for the transportation
problem", 1989, section 4).

The units of an object are held in *tranches* (holder, amount, bid). They form a heap with the lowest bid on top: the
price of a full object is its lowest bid, and that is the tranche which a better bid displaces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inlined, kernel


class Allocation(NamedTuple):
    """Holdings and prices. ``n_b`` bidding classes and ``n_o`` object classes; ``slot`` places tranches by object."""

    supply: Ints  # (n_b,)
    free: Ints  # (n_b,) units that hold nothing yet
    capacity: Ints  # (n_o,)
    used: Ints  # (n_o,) units that are held
    price: Floats  # (n_o,) lowest bid of a full object, else where bidding starts
    slot: Ints  # (n_o + 1,) the tranches of object j live in slot[j]:slot[j+1]
    tranches: Ints  # (n_o,) how many of them
    holder: Ints  # (units,)
    amount: Ints  # (units,)
    bid: Floats  # (units,)
    cost: Floats  # (units,) of holder and object, kept because a holder's list may have lost the object


def new_allocation(supply: Ints, capacity: Ints) -> Allocation:
    """Return an allocation where nothing is held and every price is zero."""
    slot = np.concatenate([[0], np.cumsum(capacity)]).astype(np.int64)
    units, n_o = int(slot[-1]), len(capacity)
    return Allocation(
        supply=supply.astype(np.int64),
        free=supply.astype(np.int64).copy(),
        capacity=capacity.astype(np.int64),
        used=np.zeros(n_o, np.int64),
        price=np.zeros(n_o),
        slot=slot,
        tranches=np.zeros(n_o, np.int64),
        holder=np.full(units, -1, np.int64),
        amount=np.zeros(units, np.int64),
        bid=np.zeros(units),
        cost=np.zeros(units),
    )


@inlined
def holds_all(m: Allocation, i: int, j: int) -> bool:
    """Tell whether bidder i holds every unit of object j: then it has nothing to win there."""
    s = m.slot[j]
    return bool(m.tranches[j] == 1 and m.holder[s] == i and m.amount[s] == m.capacity[j])


@inlined
def _swap(m: Allocation, a: int, b: int) -> None:
    m.holder[a], m.holder[b] = m.holder[b], m.holder[a]
    m.amount[a], m.amount[b] = m.amount[b], m.amount[a]
    m.bid[a], m.bid[b] = m.bid[b], m.bid[a]
    m.cost[a], m.cost[b] = m.cost[b], m.cost[a]


@inlined
def _sift_down(m: Allocation, j: int, k: int) -> None:
    s, n = m.slot[j], m.tranches[j]
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and m.bid[s + child + 1] < m.bid[s + child]:
            child += 1
        if m.bid[s + k] <= m.bid[s + child]:
            return
        _swap(m, s + k, s + child)
        k = child


@inlined
def _sift_up(m: Allocation, j: int, k: int) -> None:
    s = m.slot[j]
    while k > 0 and m.bid[s + k] < m.bid[s + (k - 1) // 2]:
        _swap(m, s + k, s + (k - 1) // 2)
        k = (k - 1) // 2


@inlined
def _insert(m: Allocation, i: int, j: int, units: int, offer: float, cost: float) -> None:
    """Add a tranche; one that i already has there is raised to the new bid instead (bids of one class are equal)."""
    s = m.slot[j]
    if m.supply[i] > 1:
        for k in range(m.tranches[j]):
            if m.holder[s + k] == i:
                m.amount[s + k] += units
                m.bid[s + k] = max(m.bid[s + k], offer)
                _sift_down(m, j, k)
                return
    k = m.tranches[j]
    m.holder[s + k], m.amount[s + k], m.bid[s + k], m.cost[s + k] = i, units, offer, cost
    m.tranches[j] += 1
    _sift_up(m, j, k)


@inlined
def lower_bid(m: Allocation, i: int, j: int, most: float) -> None:
    """Lower i's bid for j to ``most``, though not below the price."""
    s = m.slot[j]
    for k in range(m.tranches[j]):
        if m.holder[s + k] == i and m.bid[s + k] > most:
            m.bid[s + k] = max(most, m.price[j])
            _sift_up(m, j, k)
            return


@inlined
def _drop_top(m: Allocation, j: int) -> None:
    s = m.slot[j]
    m.tranches[j] -= 1
    last = m.tranches[j]
    if last > 0:
        _swap(m, s, s + last)
        _sift_down(m, j, int(np.int64(0)))


@inlined
def place_bid(m: Allocation, i: int, j: int, offer: float, cost: float) -> int:
    """Bid ``offer`` for as many units of j as stand at its price. Returns who lost units, or -1."""
    s = m.slot[j]
    room = m.capacity[j] - m.used[j]
    loser = -1
    if room > 0:
        units = min(m.free[i], room)
        m.used[j] += units
        m.free[i] -= units
        _insert(m, i, j, units, offer, cost)
    elif m.holder[s] == i:  # its own tranche is the cheapest: defend it
        m.bid[s] = max(m.bid[s], offer)
        _sift_down(m, j, int(np.int64(0)))
    else:
        loser = m.holder[s]
        units = min(m.free[i], m.amount[s])
        m.free[loser] += units
        m.free[i] -= units
        m.amount[s] -= units
        if m.amount[s] == 0:
            _drop_top(m, j)
        _insert(m, i, j, units, offer, cost)
    if m.used[j] == m.capacity[j]:
        m.price[j] = m.bid[s]
    return loser


@inlined
def give(m: Allocation, i: int, j: int, cost: float) -> None:
    """Give bidder i one unit of j at its price."""
    m.free[i] -= 1
    m.used[j] += 1
    _insert(m, i, j, 1, m.price[j], cost)


@kernel
def give_rest(m: Allocation, i: int, units: int) -> None:
    """Let bidder i have so many of the units that nobody holds, at their prices and no cost."""
    for j in range(m.capacity.shape[0]):
        take = min(units, m.capacity[j] - m.used[j])
        if take > 0:
            m.used[j] += take
            units -= take
            _insert(m, i, j, take, m.price[j], 0.0)


def holdings(m: Allocation) -> tuple[Ints, Ints, Ints, Floats]:
    """Return all tranches: holders, objects, amounts and costs."""
    item = np.repeat(np.arange(len(m.capacity)), m.tranches)
    first = np.concatenate(([0], np.cumsum(m.tranches)))
    at = m.slot[item] + np.arange(len(item)) - first[item]
    return m.holder[at], item, m.amount[at], m.cost[at]
