"""Global linkage: the one-to-one matching of two files with the least total distance, and a proof of it.

No n × n matrix is ever held. Classes of equal records bid for each other in an auction with falling epsilon
(bidding.py, forward_reverse.py) over candidate lists that a tree search keeps proven (candidates.py); where nearly all
have a nearest object of their own, without epsilon (opening.py). In the end each bidder's dual is searched over *all*
pairs, where its first search does not prove it, and weak duality makes a bound of both (certificate.py).

The solver sees classes in an order that depends on their values alone (classes.py), so totals, prices and bounds do not
depend on the order of the rows. Which of several equal records gets which partner is drawn at random.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.assignment.allocation import holdings
from unmask.kernels.assignment.bidding import bids_made, least_priced
from unmask.kernels.assignment.candidates import Lists
from unmask.kernels.assignment.certificate import Bound, bound, centre, relative_gap
from unmask.kernels.assignment.classes import Classes, both, of_classes
from unmask.kernels.assignment.forward_reverse import (
    LISTED,
    Auction,
    match_rest,
    new_auction,
    next_phase,
    run_phase,
    search_lists,
    with_patience,
)
from unmask.kernels.assignment.line import is_line, match_line
from unmask.kernels.assignment.opening import bid_exactly, give_nearest, take_back
from unmask.kernels.assignment.settling import settled_prices
from unmask.kernels.base import EUCLIDEAN, Floats, Ints, Space
from unmask.kernels.search import distance_of_pairs, priced

Progress = Callable[[float, str], None]

CERTIFIED = 1e-9  # relative gap up to which a matching counts as optimal: rounding, not doubt
_FIRST_EPSILON = 0.02  # of the median least cost
_LAST_EPSILON = 1e-14  # of the largest cost on a list: less is lost in rounding
EXACT = 1e-11  # relative gap at which to stop in any case
FACTOR = 10.0
_EASY_FACTOR = 100.0  # after a phase of few bids: the matching hardly changes any more
_LOOKS = 4000  # at leaves, that tell which side should bid
_SURE = 1.5  # standard errors that are no accident
_CHUNK = 16384  # first searches between two looks at the clock


class Matching(NamedTuple):
    """A one-to-one matching. profits[i] - prices[j] <= cost of (i, j) for all pairs proves the bound ``dual``."""

    cols: Ints  # (n_queries,) the matched point, or -1
    costs: Floats  # (n_queries,) NaN where there is none
    total: float
    dual: float  # no matching costs less
    gap: float  # (total - dual) / total
    optimal: bool  # the gap is no more than rounding
    profits: Floats  # (n_queries,) none is above 0 if there are more queries than points
    prices: Floats  # (n_points,) none is below 0 if there are more points than queries
    squared: bool


class Layout(NamedTuple):
    """Who bids: classes of both files, and which of them are bidders and objects in the order of the trees."""

    queries: Classes
    points: Classes
    swapped: bool  # points bid for queries
    bidders: Ints
    objects: Ints


class _Clock:
    """Tells when it is late, and reports progress."""

    def __init__(self, budget: float | None, progress: Progress | None) -> None:
        self.end = math.inf if budget is None else time.monotonic() + budget
        self.progress = progress

    def late(self) -> bool:
        return time.monotonic() > self.end

    def say(self, fraction: float, text: str) -> None:
        if self.progress:
            self.progress(fraction, text)


def solve(
    space: Space,
    *,
    squared: bool = False,
    seed: int = 0,
    max_gap: float = 0.0,
    time_budget: float | None = None,
    progress: Progress | None = None,
) -> Matching:
    """Match every record of the smaller file with one of the other at the least total cost.

    Parameters
    ----------
    space
        The two files and their metric. A cost is the distance that people read (see Space), or its square.
    squared
        Add up squared Euclidean distances.
    seed
        Decides between equal records.
    max_gap
        Stop when the total is proven to be within this share of the optimum.
    time_budget
        Seconds after which the best matching so far is completed and returned with its bound.
    progress
        Called with a fraction and a text between phases.
    """
    if not len(space.queries) or not len(space.points):
        raise ValueError("both files need records")
    clock = _Clock(time_budget, progress)
    if is_line(space):
        return _solve_line(space, seed, squared=squared)
    clock.say(0.0, "grouping equal records and planting trees")
    layout, auction = _prepare(space, squared=squared)
    clock.say(0.05, "first candidates")
    proof = _auction(auction, max_gap, clock)
    if not proof:
        clock.say(0.95, "certificate over all pairs")
        proof = _certify(auction, exact=not clock.late())
    matching = expand(space, layout, auction, proof, seed, squared=squared)
    clock.say(1.0, f"gap {matching.gap:.1e}")
    return matching


def _prepare(space: Space, *, squared: bool) -> tuple[Layout, Auction]:
    """Group both files, and decide who bids: the smaller file, else the one whose searches are cheaper."""
    queries, points = both(space)
    there, back, rows, cols = priced.index_both(of_classes(space, queries, points), squared=squared)
    swapped = len(space.queries) > len(space.points)
    if len(space.queries) == len(space.points):
        swapped = _points_bid(there, back, queries.size[rows], points.size[cols])
    if swapped:
        auction = new_auction(back, there, points.size[cols], queries.size[rows])
        return Layout(queries, points, swapped, cols, rows), auction
    auction = new_auction(there, back, queries.size[rows], points.size[cols])
    return Layout(queries, points, swapped, rows, cols), auction


def _points_bid(there: priced.Index, back: priced.Index, supply: Ints, capacity: Ints) -> bool:
    """Tell, of files of one size, whether points should bid for queries.

    At prices of zero the least costs of all bidders are a bound of the total. The side whose bound is higher has less
    to do, as more of its bidders have a nearest object of their own; that counts twice how many classes bid. Where the
    bounds differ by no more than samples do, the side bids whose searches are cheaper.
    """
    (mine, my_error), (others, their_error) = _least_of_all(there, supply), _least_of_all(back, capacity)
    if abs(mine - others) > _SURE * math.hypot(my_error, their_error):
        return math.sqrt(len(capacity) / len(supply)) * mine < others
    return priced.effort(back, LISTED) * len(capacity) < priced.effort(there, LISTED) * len(supply)


def _least_of_all(index: priced.Index, size: Ints) -> tuple[float, float]:
    """What bidders of such sizes pay for their nearest objects, from a sample, and its standard error."""
    n = len(size)
    sample = np.arange(0, n, max(1, int(n * priced.effort(index, 1) / _LOOKS)))
    costs = n * size[sample] * priced.nearest_objects(index, sample)[1]
    return float(costs.mean()), float(costs.std()) * math.sqrt((1.0 - len(sample) / n) / len(sample))


def _auction(auction: Auction, max_gap: float, clock: _Clock) -> Bound | None:
    """Run phases of falling epsilon until the gap is small enough, or it is late; then match what is left anyhow.

    Returns a proof over all pairs, if one came about on the way.
    """
    side = auction.forward
    real = len(side.objects.space.queries)
    nearest = give_nearest(auction, clock.late)
    if nearest is not None and bid_exactly(auction, clock.late):
        proof = _proof_by(auction, side.state.price, nearest)
        if proof:
            return proof
    if nearest is None or take_back(auction):
        for part in range(0, real, _CHUNK):
            if not clock.late():
                search_lists(auction, side, np.arange(part, min(real, part + _CHUNK)))
        epsilon, last = epsilons(side.lists, real)
    else:
        epsilon, last = _range(nearest, side.lists.cost[: side.lists.start[real]])
    auction = with_patience(auction)
    phases = math.log(epsilon / last)
    while True:
        before = bids_made(side.queue)
        epsilon = run_phase(auction, epsilon, clock.late)
        if not epsilon:
            match_rest(auction)
            return None
        gap = _current_gap(auction)
        done = 1.0 - math.log(epsilon / last) / phases
        clock.say(0.2 + 0.7 * min(1.0, done), f"epsilon {epsilon:.1e}, gap {gap:.1e}")
        if gap <= max(max_gap, EXACT) or epsilon <= last:
            return None
        proof = None if clock.late() else _proof_by(auction, settled_prices(side))
        if proof:
            return proof
        easy = bids_made(side.queue) - before < 3 * side.state.supply.sum()
        epsilon = max(last, epsilon / (_EASY_FACTOR if easy else FACTOR))
        next_phase(auction, epsilon)


def _proof_by(auction: Auction, prices: Floats | None, nearest: Floats | None = None) -> Bound | None:
    """The proof that prices make, if they are exact."""
    if prices is None:
        return None
    state = auction.forward.state
    _, _, amount, cost = holdings(state)
    proof = _prove(auction, prices, nearest)
    if relative_gap(math.fsum(amount * cost), proof.dual) <= EXACT:
        return proof
    priced.update_prices(auction.forward.objects, state.price)
    return None


def epsilons(lists: Lists, real: int) -> tuple[float, float]:
    """First and last epsilon, from the costs on the lists of so many bidders."""
    listed = lists.cost[: lists.start[real]]
    return _range(np.minimum.reduceat(listed, lists.start[:real]), listed)


def _range(near: Floats, listed: Floats) -> tuple[float, float]:
    positive = near[near > 0] if (near > 0).sum() > 0.5 * len(near) else listed[listed > 0]
    if not len(positive):
        return 1.0, 0.1
    scale = float(np.median(positive))
    return _FIRST_EPSILON * scale, _LAST_EPSILON * float(listed.max())


def _current_gap(auction: Auction) -> float:
    side = auction.forward
    proof = _certify(auction, exact=False)
    _, _, amount, cost = holdings(side.state)
    return relative_gap(math.fsum(amount * cost), proof.dual)


def _certify(auction: Auction, *, exact: bool) -> Bound:
    """Bound the optimum, with a search over all pairs if exact, else from lists and thresholds."""
    side = auction.forward
    state, real = side.state, len(side.objects.space.queries)
    if exact:
        return _prove(auction, state.price)
    price, shift, sunk = centred(auction, state.price)
    least = np.maximum(least_priced(state, side.lists)[:real] - shift - sunk, price.min())
    return bound(least, price, state.supply[:real], state.capacity, float(np.abs(state.price).max()))


def _prove(auction: Auction, price: Floats, nearest: Floats | None = None) -> Bound:
    """Bound the optimum by any prices, with a search over all pairs.

    ``nearest``: least costs that such searches found. Where no price is below zero, whoever holds an object for no more
    than that needs no other search.
    """
    side = auction.forward
    state, real = side.state, len(side.objects.space.queries)
    holder, item, _, cost = holdings(state)
    price = centred(auction, price)[0]
    start = np.full(real, np.inf)
    priced.update_prices(side.objects, price)
    np.minimum.at(start, holder[holder < real], (cost + price[item])[holder < real])
    if nearest is None or price.min() < 0:
        least = priced.least_costs(side.objects, price, start)
    else:
        least, unsure = start, np.flatnonzero(start > nearest)
        least[unsure] = priced.least_costs(side.objects, price, start[unsure], unsure)
    return bound(least, price, state.supply[:real], state.capacity)


def centred(auction: Auction, price: Floats) -> tuple[Floats, float, float]:
    """Centre prices, leftovers at the lowest one; what was subtracted, and by how much leftovers were above it."""
    shift = centre(price, leftovers=auction.dummy >= 0)
    price = price - shift
    if auction.dummy < 0:
        return price, shift, 0.0
    holder, item, _, _ = holdings(auction.forward.state)
    leftover = item[holder == auction.dummy]
    sunk = float(price[leftover].max(initial=0.0))
    price[leftover] = price.min()  # within epsilon of it; the bound is sharper so
    return price, shift, sunk


def expand(space: Space, layout: Layout, auction: Auction, proof: Bound, seed: int, *, squared: bool) -> Matching:
    """Turn classes back into records, equal ones at random."""
    holder, item, amount, _ = holdings(auction.forward.state)
    holder, item = np.repeat(holder, amount), np.repeat(item, amount)
    bidding, offered = (layout.points, layout.queries) if layout.swapped else (layout.queries, layout.points)
    rng = np.random.default_rng(seed)
    b = _deal(holder, layout.bidders, bidding, rng)
    o = _deal(item, layout.objects, offered, rng)
    rows, cols = (o[b >= 0], b[b >= 0]) if layout.swapped else (b[b >= 0], o[b >= 0])
    profit, price = np.empty(len(layout.bidders)), np.empty(len(layout.objects))
    profit[layout.bidders], price[layout.objects] = proof.profits, proof.prices
    if layout.swapped:
        profit, price = -price, -profit
    return _finish(space, rows, cols, proof.dual, (profit[layout.queries.label], price[layout.points.label]), squared)


def _finish(
    space: Space,
    rows: Ints,
    cols: Ints,
    dual: float,
    proof: tuple[Floats, Floats],
    squared: bool,  # noqa: FBT001
) -> Matching:
    """Add up the costs of the matched pairs and compare with the bound."""
    costs, matched = np.full(len(space.queries), np.nan), np.full(len(space.queries), -1)
    matched[rows] = cols
    reduced = distance_of_pairs(space, rows, cols)
    costs[rows] = np.sqrt(reduced) if space.norm == EUCLIDEAN and not squared else reduced
    total, dual = math.fsum(costs[rows]), max(dual, 0.0)
    gap = relative_gap(total, dual)
    if total == 0:  # no cost is below 0: nothing else needs to be proven
        proof = np.zeros_like(proof[0]), np.zeros_like(proof[1])
    return Matching(matched, costs, total, dual, gap, gap <= CERTIFIED, *proof, squared)


def _solve_line(space: Space, seed: int, *, squared: bool) -> Matching:
    """Match one numeric attribute in sorted order; the proof is by search over all pairs here too."""
    queries, points = both(space)
    squares = space.norm == EUCLIDEAN and squared
    rows, cols, prices = match_line(space, np.random.default_rng(seed), squared=squares)
    index, _, bidders, objects = priced.index_both(of_classes(space, queries, points), squared=squared)
    price = np.empty(len(points.size))
    price[points.label[cols]] = prices
    price -= centre(price, leftovers=False)
    priced.update_prices(index, price[objects])
    least = priced.least_costs(index, price[objects], np.full(len(bidders), np.inf))
    proof = bound(least, price[objects], queries.size[bidders], points.size[objects])
    profit = np.empty(len(queries.size))
    profit[bidders], price[objects] = proof.profits, proof.prices
    return _finish(space, rows, cols, proof.dual, (profit[queries.label], price[points.label]), squared)


def _deal(units: Ints, names: Ints, classes: Classes, rng: np.random.Generator) -> Ints:
    """Give each unit of a class one of its records, at random; -1 for the dummy, which comes after all classes."""
    if len(classes.size) == len(classes.label):  # nothing is equal to anything
        return np.append(classes.members[names], -1)[units]
    shuffled = rng.permutation(len(classes.label))
    members = shuffled[np.argsort(classes.label[shuffled], kind="stable")]
    dealt = np.full(len(units), -1)
    real = np.flatnonzero(units < len(names))
    label = names[units[real]]
    order = np.argsort(label, kind="stable")
    sorted_label = label[order]
    first = np.searchsorted(sorted_label, sorted_label)
    dealt[real[order]] = members[classes.start[sorted_label] + np.arange(len(order)) - first]
    return dealt
