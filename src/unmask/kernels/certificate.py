"""Proof that a matching is the cheapest, by weak duality over all pairs.

Give every object a price p_j and let a bidder's profit be u_i = min over ALL objects of (c_ij + p_j). Then any matching
costs at least sum u_i - sum p_j, wherever prices come from: each matched pair costs at least u_i - p_j. Objects left
over must not lower that sum, so the least price is subtracted from all when the object side is larger.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from unmask.kernels.market import Floats, Ints

_UNIT = 2.0**-52


class Bound(NamedTuple):
    """A proven lower bound of the cost of every matching."""

    profits: Floats  # (bidders,)
    prices: Floats  # (objects,)
    dual: float  # sum of profits minus sum of prices, rounding subtracted


def bound(least: Floats, price: Floats, supply: Ints, capacity: Ints) -> Bound:
    """Bound from least levels of the bidders and prices of the objects, any prices."""
    shift = float(price.min()) if capacity.sum() > supply.sum() else float(np.median(price))
    profits, prices = least - shift, price - shift
    dual = math.fsum(supply * profits) - math.fsum(capacity * prices)
    # cost, sum and difference are each rounded once per record, relative to numbers of this size
    error = 8.0 * _UNIT * (math.fsum(supply * np.abs(profits)) + math.fsum(capacity * np.abs(prices)))
    return Bound(profits, prices, dual - error)


def relative_gap(total: float, dual: float) -> float:
    """Share of the total by which it may exceed the optimum."""
    excess = max(0.0, total - dual)
    if total > 0:
        return excess / total
    return 0.0 if excess <= 0.0 else math.inf
