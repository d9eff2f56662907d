"""The same matching where searching is done elsewhere: rounds of an auction among listed pairs, each with its proof.

A search over all pairs is what takes long, and it falls into bidders: each is asked for by itself, on any machine. So
each bidder lists its nearest objects, and each object its nearest bidders: without the second list an object that is
nobody's choice would have to become everybody's bargain before it is found. The auction is held here, among listed
pairs alone. Then every bidder is asked once more, at the prices of that auction, for objects that are not on its list
and would suit it better. That is the proof over all pairs (certificate.py), and what is found joins the lists of the
next round; where nothing is found, the matching of the lists is the matching of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.assignment.allocation import holdings, new_allocation
from unmask.kernels.assignment.bidding import empty_queue, least_priced
from unmask.kernels.assignment.candidates import Lists
from unmask.kernels.assignment.certificate import Bound, bound, relative_gap
from unmask.kernels.assignment.classes import both, of_classes
from unmask.kernels.assignment.forward_reverse import (
    DUMMY_LISTED,
    LISTED,
    WAR,
    Auction,
    Side,
    give_dummy,
    next_phase,
    profits_of,
    run_side,
)
from unmask.kernels.assignment.solver import EXACT, FACTOR, Layout, Matching, Progress, centred, epsilons, expand
from unmask.kernels.base import EUCLIDEAN, Floats, Ints, Space
from unmask.kernels.search import distance_of_pairs, priced

ROUNDS = 20  # of auction and proof: two to six make a gap of 1e-4 of numbers with noise, more of many ties
_BETTER = 8  # objects that a bidder adds to its list in a round
_PHASES = 16  # of falling epsilon, in a round
_SHARE = 0.25  # of the gap that is wanted: what the auction may leave of it


class Pairs(NamedTuple):
    """Pairs of a bidder and an object, by their numbers, and what they cost."""

    bidder: Ints
    object: Ints
    cost: Floats


class Look(NamedTuple):
    """A question that can be asked anywhere, for some bidders at a time: which objects have the least cost + price?

    The answer does not depend on who else is asked for at the same place.
    """

    space: Space  # bidders as queries, objects as points; no two of either are equal
    price: Floats  # of the objects
    cut: Floats  # of each bidder: objects from here on are not wanted
    most: Ints  # of each bidder: how many objects

    def __call__(self, bidders: Ints) -> Pairs:
        """Search for some bidders."""
        index, rows = priced.index_points(self.space, squared=False)
        price = self.price[rows]
        priced.update_prices(index, price)
        who, what = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        most = np.minimum(self.most, len(rows))[bidders]
        for size in np.unique(most):
            asked = bidders[most == size]
            found = priced.found_below(index, price, asked, self.cut[asked], int(size))
            row, col = np.nonzero(found >= 0)
            who.append(asked[row])
            what.append(rows[found[row, col]])
        bidder, item = np.concatenate(who), np.concatenate(what)
        return Pairs(bidder, item, costs_of(self.space, bidder, item))


Ask = Callable[[Look, str], Pairs]


def ask_here(look: Look, _words: str = "") -> Pairs:
    """Ask for all bidders, in this process."""
    return look(np.arange(len(look.cut)))


def costs_of(space: Space, bidder: Ints, item: Ints) -> Floats:
    """The distance of each pair as people read it."""
    reduced = distance_of_pairs(space, bidder, item)
    return np.sqrt(reduced) if space.norm == EUCLIDEAN else reduced


def solve_in_rounds(
    space: Space,
    ask: Ask = ask_here,
    *,
    seed: int = 0,
    max_gap: float = 0.0,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Matching:
    """Match every record of the smaller file with one of the other at the least total distance.

    Parameters
    ----------
    space
        The two files and their metric.
    ask
        Answers a `Look` for all its bidders, wherever that is done.
    seed
        Decides between equal records.
    max_gap
        Stop when the total is proven to be within this share of the least.
    rounds
        Stop after so many in any case, with the best bound that was proven.
    progress
        Called with a fraction and a text before each search.
    """
    tell = progress or (lambda _done, _words: None)
    queries, points = both(space)
    swapped = len(space.queries) > len(space.points)
    between = of_classes(space, queries, points)
    between, bidding, offered = (between.swapped(), points, queries) if swapped else (between, queries, points)
    supply, capacity = bidding.size, offered.size
    layout = Layout(queries, points, swapped, np.arange(len(supply)), np.arange(len(capacity)))
    tell(0.0, "candidates")
    pairs, price = _first_pairs(between, supply, capacity, ask), np.zeros(len(capacity))
    best = Bound(np.zeros(len(supply)), price, 0.0)  # no distance is below 0
    for number in range(1, rounds + 1):
        tell(number / (rounds + 2), f"round {number}: auction among {len(pairs.cost):,} pairs")
        auction = _match(between, pairs, supply, capacity, price, max_gap)
        tell((number + 0.5) / (rounds + 2), f"round {number}: certificate over all pairs")
        proof, better = _prove(between, auction, ask)
        best = proof if proof.dual > best.dual else best
        gap = relative_gap(_total(auction), best.dual)
        tell((number + 1) / (rounds + 2), f"round {number}: gap {gap:.1e}")
        if gap <= max(max_gap, EXACT) or not len(better.cost):
            break
        pairs = _together(pairs, better)
        price = auction.forward.state.price if auction.dummy < 0 else price  # leftovers must begin as the cheapest
    return expand(space, layout, auction, best, seed, squared=False)


def _first_pairs(space: Space, supply: Ints, capacity: Ints, ask: Ask) -> Pairs:
    """The nearest objects of each bidder and bidders of each object, and pairs that make up some whole matching."""
    there, back = (
        ask(Look(side, np.zeros(len(other)), np.full(len(own), np.inf), LISTED + np.where(own > 1, own, 0)), words)
        for side, own, other, words in (
            (space, supply, capacity, "the nearest records of each person"),
            (space.swapped(), capacity, supply, "the nearest people of each record"),
        )
    )
    bidder = np.repeat(np.arange(len(supply)), supply)  # both files in order: of their values
    item = np.repeat(np.arange(len(capacity)), capacity)[: len(bidder)]
    some = Pairs(bidder, item, costs_of(space, bidder, item))
    return _together(there, Pairs(back.object, back.bidder, back.cost), some)


def _together(*parts: Pairs) -> Pairs:
    """Pairs in order of bidder and object, each once."""
    bidder, item, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((item, bidder))
    bidder, item, cost = bidder[order], item[order], cost[order]
    new = np.concatenate([[True], (np.diff(bidder) != 0) | (np.diff(item) != 0)])
    return Pairs(bidder[new], item[new], cost[new])


def _listed(pairs: Pairs, n: int, *, dummy: int, room: int) -> Lists:
    """Pairs as lists of n bidders; nothing is off a list. The dummy's is empty until it searches."""
    length = np.bincount(pairs.bidder, minlength=n)
    threshold, item, cost = np.full(n, np.inf), pairs.object.astype(np.int32), pairs.cost
    if dummy >= 0:
        length, threshold = np.append(length, room), np.append(threshold, -np.inf)
        item, cost = np.append(item, np.full(room, -1, np.int32)), np.append(cost, np.zeros(room))
    lists = Lists(np.concatenate([[0], np.cumsum(length)]).astype(np.int64), length, item, cost, threshold, dummy)
    if dummy >= 0:
        lists.length[dummy] = 0
    return lists


def _match(space: Space, pairs: Pairs, supply: Ints, capacity: Ints, price: Floats, max_gap: float) -> Auction:
    """The auction among listed pairs, with falling epsilon; nobody searches but the dummy, who wants leftovers."""
    real, rest = len(supply), int(capacity.sum() - supply.sum())
    dummy = real if rest else -1
    lists = _listed(pairs, real, dummy=dummy, room=min(DUMMY_LISTED, len(capacity)))
    wanted = np.append(supply, rest) if rest else supply
    nothing, _ = priced.index_points(space.of(slice(1), slice(1)), squared=False)
    side = Side(nothing, lists, new_allocation(wanted, capacity), empty_queue(len(wanted)))
    auction = Auction(side, side, dummy, 0)
    side.state.price[:] = price
    if rest:
        side.state.free[dummy] = 0
    epsilon, last = epsilons(lists, real)
    for _ in range(_PHASES):
        epsilon = _phase(auction, epsilon)
        if epsilon <= last or _gap_of_lists(auction) <= max(_SHARE * max_gap, EXACT):
            break
        epsilon = max(last, epsilon / FACTOR)
        next_phase(auction, epsilon)
    else:
        _phase(auction, epsilon)
    return auction


def _phase(auction: Auction, epsilon: float) -> float:
    """Bid until all is matched; in a price war epsilon is raised, and what did it is returned."""
    side, most = auction.forward, WAR * int(auction.forward.state.capacity.sum()) + 10_000
    while not run_side(auction, side, epsilon, lambda _searches, _free: False, most):
        most, epsilon = 2 * most, 8.0 * epsilon
    give_dummy(auction)
    return epsilon


def _total(auction: Auction) -> float:
    _, _, amount, cost = holdings(auction.forward.state)
    return math.fsum(amount * cost)


def _gap_of_lists(auction: Auction) -> float:
    """How far the matching may be from the best one of listed pairs."""
    state = auction.forward.state
    dual = math.fsum(state.supply * profits_of(auction.forward)) - math.fsum(state.capacity * state.price)
    return relative_gap(_total(auction), dual)


def _prove(space: Space, auction: Auction, ask: Ask) -> tuple[Bound, Pairs]:
    """A bound over all pairs at the prices of an auction, and pairs off the lists that would suit a bidder better."""
    side, real = auction.forward, len(space.queries)
    price = centred(auction, side.state.price)[0]
    listed = least_priced(side.state._replace(price=price), side.lists)[:real]
    words = "what no list has, for each of them"
    better = ask(Look(space, price, listed, np.full(real, _BETTER)), words)
    least = listed.copy()
    np.minimum.at(least, better.bidder, better.cost + price[better.object])
    return bound(least, price, side.state.supply[:real], side.state.capacity), better
