"""Proof that a matching is the cheapest, by weak duality over all pairs.

Give every object a price p_j and let a bidder's profit be u_i = min over ALL objects of (c_ij + p_j). Then any matching
costs at least sum u_i - sum p_j, wherever prices come from: each matched pair costs at least u_i - p_j. Objects left
over must not lower that sum, so the least price is subtracted from all when the object side is larger.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints

_UNIT = 2.0**-52


class Bound(NamedTuple):
    """A proven lower bound of the cost of every matching."""

    profits: Floats  # (bidders,)
    prices: Floats  # (objects,)
    dual: float  # sum of profits minus sum of prices, rounding subtracted


def centre(price: Floats, *, leftovers: bool) -> float:
    """Return what to subtract from prices: bounds stay, sums lose less by rounding; with leftovers the least is 0."""
    return float(price.min()) if leftovers else float(np.median(price))


def bound(least: Floats, prices: Floats, supply: Ints, capacity: Ints, size: float = 0.0) -> Bound:
    """Bound from least priced costs of the bidders and centred prices of the objects, any prices.

    A priced cost is the sum of a cost and a price, each rounded relative to its own size; they may cancel. ``size`` is
    the largest number that took part in finding them, if it is larger than the prices.
    """
    dual = math.fsum((supply * least).tolist()) - math.fsum((capacity * prices).tolist())
    size = max(size, float(np.abs(prices).max()))
    error = 8.0 * _UNIT * (float((supply * np.abs(least)).sum()) + float(capacity.sum()) * size)
    return Bound(least, prices, dual - error)


def relative_gap(total: float, dual: float) -> float:
    """Share of the total by which it may exceed the optimum."""
    excess = max(0.0, total - dual)
    if total > 0:
        return excess / total
    return 0.0 if excess <= 0.0 else math.inf
