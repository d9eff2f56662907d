"""A matching made of blocks, each matched by itself, and what of its proof each block can give.

Where both files have equally many records in each block, the matchings of the blocks are a matching of all. Any prices
prove a bound over all pairs (certificate.py), once it is known what records of other blocks would cost at them. The
prices at which an auction ends lie anywhere between too low and too high, which says little about other blocks. So each
block takes the least prices from 0 at which nobody prefers another record of the block: most of them are 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.assignment.certificate import bound, relative_gap
from unmask.kernels.assignment.classes import classify
from unmask.kernels.assignment.optima import credits as shares_of_optima
from unmask.kernels.assignment.solver import solve
from unmask.kernels.base import EUCLIDEAN, Floats, Ints, Space
from unmask.kernels.search import distance_of_pairs, priced

_ROUNDS = 200  # of rising prices
_BETTER = 8  # records that a person raises at a time
_SLACK = 1e-12  # of the largest cost: what is less is rounding


class Block(NamedTuple):
    """The best matching of one block: for each query what it costs, and its profit; for each point its price."""

    costs: Floats
    credit: Floats  # share of the best matchings of the block that contain the true pair
    profits: Floats
    prices: Floats
    alike: NDArray[np.bool_]  # queries that equal another one
    farthest: Floats  # the largest cost among those that equal it


def match_block(space: Space, truth: Ints, seed: int = 0) -> Block:
    """Match all queries of a block with all its points, which are as many; ``truth``: -1 for none in this block.

    Rows are looked at in an order of their values: that of the file shows in nothing.
    """
    people, records = classify(space.queries, space.query_codes), classify(space.points, space.point_codes)
    space = space.of(people.members, records.members)
    place = np.empty(len(truth), dtype=np.int64)
    place[records.members] = np.arange(len(truth))
    found = solve(space, seed=seed)
    credit = shares_of_optima(space, found, np.where(truth < 0, -1, place[truth])[people.members], seed=seed).credit
    profits, prices = _settled(space, found.cols, found.costs)
    label = people.label[people.members]
    farthest = np.zeros(len(people.size))
    np.maximum.at(farthest, label, found.costs)
    each = (found.costs, credit, profits, people.size[label] > 1, farthest[label])
    costs, credit, profits, alike, farthest = (_back(one, people.members) for one in each)
    return Block(costs, credit, profits, _back(prices, records.members), alike, farthest)


def _back(values: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Values in the order of the rows that they are of."""
    out = np.empty_like(values)
    out[rows] = values
    return out


def _settled(space: Space, cols: Ints, costs: Floats) -> tuple[Floats, Floats]:
    """Profits, and the least prices from 0 at which nobody prefers another record to the matched one.

    Whoever prefers a record raises its price until they do not; then its own person is asked again. In the best
    matching nobody is raised in a circle, so it ends; prices that are not settled prove less, and nothing wrong.
    """
    index, place, label = _indexed(space)
    own, price = place[label[cols]], np.zeros(len(place))  # equal records have one price
    slack, asked = _SLACK * float(costs.max(initial=0.0)), np.arange(len(costs))
    for _ in range(_ROUNDS):
        priced.update_prices(index, price)
        cut = costs[asked] + price[own[asked]] - slack
        found = priced.found_below(index, price, asked, cut, min(_BETTER, len(place)))
        who, which = np.nonzero(found >= 0)
        if not who.size:
            break
        item = found[who, which].astype(np.int64)
        reduced = distance_of_pairs(index.space, asked[who], item)
        cost = np.sqrt(reduced) if space.norm == EUCLIDEAN else reduced
        np.maximum.at(price, item, cut[who] + slack - cost)
        asked = np.unique(np.concatenate([np.flatnonzero(np.isin(own, item)), asked[who]]))
    priced.update_prices(index, price)
    profits = priced.least_costs(index, price, costs + price[own])
    return profits, price[place[label]]


def _indexed(space: Space) -> tuple[priced.Index, Ints, Ints]:
    """Where different points are looked for; the place of each of them there, and which one each point is."""
    different = classify(space.points, space.point_codes)
    index, rows = priced.index_points(
        space._replace(points=different.values, point_codes=different.codes), squared=False
    )
    return index, _back(np.arange(len(rows)), rows), different.label


def least_of_block(space: Space, prices: Floats, start: Floats) -> Floats:
    """The least cost + price among the points of a block, for queries of others; ``start``: where it is not below."""
    index, place, label = _indexed(space)
    price = np.full(len(place), np.inf)
    np.minimum.at(price, place[label], prices)
    priced.update_prices(index, price)
    return priced.least_costs(index, price, start)


def gap_of_blocks(costs: Floats, least: Floats, prices: Floats) -> tuple[float, float]:
    """The total of a matching, and by which share it may exceed the best one; ``least``: over all pairs."""
    total, ones = math.fsum(costs), np.ones(len(least), dtype=np.int64)
    dual = max(0.0, bound(least, prices, ones, ones).dual)
    return total, relative_gap(total, dual)
