"""The auction: bidders outbid each other for the objects of least cost plus price, by steps of at least epsilon.

After Bertsekas (1988), Gauss-Seidel, for classes of equal records as in Bertsekas and Castanon (1989). A bidder looks
at a short list of candidates and a *threshold*: no object off the list costs less than that, price included. Prices
only rise, so a threshold stays true, and a list is searched anew only when its best entry has passed the threshold.

The *priced cost* of an object for a bidder is cost + price, and the least of them is the bidder's dual. Every function
here keeps epsilon-complementary slackness: no bidder holds units at a priced cost above its dual plus epsilon.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.assignment.allocation import Allocation, holds_all, lower_bid, place_bid
from unmask.kernels.assignment.candidates import Lists, add_candidate, search_list
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inlined, inner, kernel, lean
from unmask.kernels.search import priced

_HEAD, _LENGTH, _STALE, _BIDS, _SEARCHES = 0, 1, 2, 3, 4
_TOUCH = 32  # searches between two updates of box prices, at least; and a share of the leaves, which that passes over


class Queue(NamedTuple):
    """A ring of bidders with free units, and those of them whose lists must be searched first."""

    ring: Ints
    waiting: NDArray[np.bool_]
    stale: Ints
    state: Ints  # head and length of the ring, number of stale bidders, bids made, searches made


def empty_queue(n: int) -> Queue:
    """Return a queue for n bidders."""
    return Queue(np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(5, np.int64))


@inlined
def _push(q: Queue, i: int) -> None:
    if q.waiting[i]:
        return
    q.waiting[i] = True
    q.ring[(q.state[_HEAD] + q.state[_LENGTH]) % q.ring.shape[0]] = i
    q.state[_LENGTH] += 1


@inlined
def _pop(q: Queue) -> int:
    i = q.ring[q.state[_HEAD]]
    q.state[_HEAD] = (q.state[_HEAD] + 1) % q.ring.shape[0]
    q.state[_LENGTH] -= 1
    q.waiting[i] = False
    return int(i)


@lean
def bids_made(q: Queue) -> int:
    """Return the number of bids ever made."""
    return int(q.state[_BIDS])


@lean
def searches_made(q: Queue) -> int:
    """Return the number of searches that bidders ever made."""
    return int(q.state[_SEARCHES])


def count_searches(q: Queue, more: int) -> None:
    """Count searches that were made for bidders."""
    q.state[_SEARCHES] += more


@lean
def fill_queue(q: Queue, free: Ints) -> None:
    """Queue every bidder that has free units; forget who waited before."""
    q.state[:_BIDS] = 0
    q.waiting[:] = False
    for i in range(free.shape[0]):
        if free[i] > 0:
            _push(q, i)


@kernel
def take_stale(q: Queue) -> Ints:
    """Return the bidders whose lists must be searched anew, and queue them: they bid when that is done."""
    out = q.stale[: q.state[_STALE]].copy()
    q.state[_STALE] = 0
    for i in out:
        q.waiting[i] = False
        _push(q, i)
    return out


@inlined
def _best_two(m: Allocation, lists: Lists, i: int) -> tuple[int, float, float]:
    """Place and priced cost of the best object of which i does not hold everything, and the next best priced cost."""
    best, second, at = np.inf, np.inf, -1
    for k in range(lists.start[i], lists.start[i] + lists.length[i]):
        j = int(np.int64(lists.item[k]))
        cost = lists.cost[k] + m.price[j]
        if cost < second and not holds_all(m, i, j):
            if cost < best:
                best, second, at = cost, best, k
            else:
                second = cost
    return at, best, second


@inner
def _settle(m: Allocation, lists: Lists, i: int, epsilon: float) -> None:
    """Level the bids of a bidder of many units before others act.

    Its next choice, at some priced cost, is all that counts: what it holds alone rises to that, so that nobody takes it
    for less than i would pay elsewhere, and a bid for a shared object falls to it, as the price may follow up to there.
    """
    _, best, _ = _best_two(m, lists, i)
    other = min(best, lists.threshold[i])
    if other == np.inf:
        return
    for k in range(lists.start[i], lists.start[i] + lists.length[i]):
        j, bid = int(np.int64(lists.item[k])), other + epsilon - lists.cost[k]
        if holds_all(m, i, j):
            m.bid[m.slot[j]] = m.price[j] = max(m.price[j], bid)
        elif m.capacity[j] > 1:
            lower_bid(m, i, j, bid)
    if i == lists.dummy:
        for j in range(m.capacity.shape[0]):
            if m.price[j] < other and holds_all(m, i, j):
                m.bid[m.slot[j]] = m.price[j] = other


@inner
def _bid(m: Allocation, lists: Lists, q: Queue, i: int, epsilon: float) -> bool:
    """Let bidder i place its free units. False if its list is exhausted first."""
    while m.free[i] > 0:
        at, best, second = _best_two(m, lists, i)
        if at < 0 or best > lists.threshold[i]:
            return False
        other = min(second, lists.threshold[i])
        if other == np.inf:  # nothing else is to be had
            other = best
        j, cost = int(np.int64(lists.item[at])), lists.cost[at]
        loser = place_bid(m, i, j, max(other + epsilon - cost, m.price[j] + 0.5 * epsilon), cost)
        q.state[_BIDS] += 1
        if loser >= 0:
            _push(q, loser)
        if loser >= 0 and loser == lists.dummy:
            add_candidate(lists, m.price, loser, j, 0.0)
    return True


@lean
def drain(
    m: Allocation,
    lists: Lists,
    q: Queue,
    index: priced.Index,
    buffer: priced.Buffer,
    epsilon: float,
    most: int,
    alone: int,
) -> int:
    """Let queued bidders bid until only those with exhausted lists are left, or ``most`` bids were ever made.

    The first ``alone`` of them search at once; the rest are left for threads. Returns how many these are.
    """
    searched, pause = 0, max(_TOUCH, index.leaf.shape[0] // _TOUCH)
    while q.state[_LENGTH] > 0 and q.state[_BIDS] < most:
        i = _pop(q)
        if m.free[i] == 0:
            continue
        done = _bid(m, lists, q, i, epsilon)
        if m.supply[i] > 1:
            _settle(m, lists, i, epsilon)
        if done:
            continue
        if searched < alone and i != lists.dummy:
            if searched % pause == 0:  # box prices that are too low are bounds still
                priced.update_prices(index, m.price)
            search_list(lists, index, m.price, i, np.inf, buffer)
            searched += 1
            q.state[_SEARCHES] += 1
            _push(q, i)
        else:
            q.stale[q.state[_STALE]] = i
            q.state[_STALE] += 1
            q.waiting[i] = True
    return int(q.state[_STALE])


@kernel
def least_priced(m: Allocation, lists: Lists) -> Floats:
    """Return a lower bound of each bidder's dual, its least priced cost, from its list and threshold."""
    out = lists.threshold.copy()
    for i in range(out.shape[0]):
        for k in range(lists.start[i], lists.start[i] + lists.length[i]):
            out[i] = min(out[i], lists.cost[k] + m.price[lists.item[k]])
    return out


@kernel
def most_held(m: Allocation) -> Floats:
    """Return the highest priced cost at which each bidder holds something."""
    out = np.empty(len(m.supply), np.float64)
    out[:] = -np.inf
    for j in range(m.capacity.shape[0]):
        for k in range(m.slot[j], m.slot[j] + m.tranches[j]):
            i = m.holder[k]
            out[i] = max(out[i], m.cost[k] + m.price[j])
    return out


@lean
def raise_sole(m: Allocation, held: Floats) -> None:
    """Raise what a bidder holds alone to the highest priced cost at which it holds anything.

    While others raise the price of an object that it shares, a bidder does not act, and what it holds alone stays
    cheap. Nobody else is concerned if that catches up.
    """
    for j in range(m.capacity.shape[0]):
        s = m.slot[j]
        i = m.holder[s]
        if m.tranches[j] == 1 and m.amount[s] == m.capacity[j] and m.supply[i] > m.amount[s]:
            m.bid[s] = m.price[j] = max(m.price[j], held[i] - m.cost[s])


@lean
def release(m: Allocation, profit: Floats, epsilon: float) -> None:
    """Begin a phase: free what is held above profit + epsilon, and forget bids that an older epsilon allowed."""
    for j in range(m.capacity.shape[0]):
        s, kept = m.slot[j], 0
        for k in range(s, s + m.tranches[j]):
            i = m.holder[k]
            if m.cost[k] + m.price[j] > profit[i] + epsilon:
                m.free[i] += m.amount[k]
                m.used[j] -= m.amount[k]
                continue
            m.holder[s + kept], m.amount[s + kept], m.cost[s + kept] = i, m.amount[k], m.cost[k]
            m.bid[s + kept] = m.price[j]
            kept += 1
        m.tranches[j] = kept


@lean
def swap_sides(m: Allocation, profit: Floats, out: Allocation) -> None:
    """Swap sides: objects become bidders, bidders objects, and the price of a bidder is minus its profit."""
    for i in range(m.supply.shape[0]):
        out.used[i], out.price[i], out.tranches[i] = m.supply[i] - m.free[i], -profit[i], 0
    for j in range(m.capacity.shape[0]):
        out.free[j] = m.capacity[j] - m.used[j]
        for k in range(m.slot[j], m.slot[j] + m.tranches[j]):
            i = m.holder[k]
            s = out.slot[i] + out.tranches[i]
            out.holder[s], out.amount[s], out.cost[s], out.bid[s] = j, m.amount[k], m.cost[k], out.price[i]
            out.tranches[i] += 1
