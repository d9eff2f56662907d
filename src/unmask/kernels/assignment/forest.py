"""Exact prices from nearly exact ones, along a forest of tight pairs.

Where many costs are equal (few values, ranks, texts), a phase of the auction costs as much at every epsilon: hundreds
of objects are within it, and bidders find them anew. Yet the matching is often the best one after two phases, and only
its prices are off by some epsilons. In an optimal dual every matched pair is tight: profit - price = cost. So are, as a
rule, the pairs that are within a few epsilons of it. Following both through a spanning forest of all classes gives
prices that satisfy them to rounding. Whether these prove the matching is for the certificate to say, not for this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.assignment.allocation import holdings
from unmask.kernels.assignment.forward_reverse import Side
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inlined, kernel

_NEAR = 1.5  # epsilons within which a pair is taken for tight; more would tie people who need not be
_TIED = 0.5


class _Near(NamedTuple):
    """Candidates within a few epsilons of the best of their bidder, the nearest to it first."""

    who: Ints
    what: Ints
    cost: Floats
    least: Floats  # (bidders,) their duals
    share: float  # of all candidates


def snapped_prices(side: Side, epsilon: float) -> Floats:
    """Prices that make matched pairs tight, and those within a few epsilons as far as these do not contradict."""
    state, n_b = side.state, len(side.state.supply)
    holder, item, _, cost = holdings(state)
    near = _near(side, epsilon)
    a, b = np.concatenate([holder, near.who]), np.concatenate([item, near.what])
    root, level = _span(n_b + len(state.price), a, n_b + b, np.concatenate([cost, near.cost]))
    tree = np.unique(root, return_inverse=True)[1]
    off = np.bincount(tree, np.concatenate([near.least, state.price]) - level) / np.bincount(tree)
    prices: Floats = (level + off[tree])[n_b:]
    return prices


def is_tied(side: Side, epsilon: float) -> bool:
    """Tell whether most candidates are as good as the best: then a smaller epsilon will not part them either."""
    return _near(side, epsilon).share > _TIED


def _near(side: Side, epsilon: float) -> _Near:
    lists, price = side.lists, side.state.price
    who = np.repeat(np.arange(len(lists.length)), lists.length)
    before = np.cumsum(lists.length) - lists.length
    at = lists.start[who] + np.arange(len(who)) - before[who]
    what, cost = lists.item[at].astype(np.int64), lists.cost[at]
    holder, item, _, held = holdings(side.state)
    least = np.full(len(lists.length), np.inf)
    np.minimum.at(least, holder, held + price[item])
    np.minimum.at(least, who, cost + price[what])
    slack = cost + price[what] - least[who]
    near = np.flatnonzero(slack <= _NEAR * epsilon)
    near = near[np.argsort(slack[near], kind="stable")]
    return _Near(who[near], what[near], cost[near], least, len(near) / max(1, len(who)))


@kernel
def _span(n: int, a: Ints, b: Ints, cost: Floats) -> tuple[Ints, Floats]:
    """Join vertices by pairs, the first ones first, where they close no circle.

    Returns the root of each vertex and its level over it: level[a] - level[b] is the cost of a pair that joins them.
    """
    root, level, size = np.arange(n), np.zeros(n), np.ones(n, np.int64)
    for e in range(len(a)):
        top, low = _root(root, level, a[e]), _root(root, level, b[e])
        if top == low:
            continue
        rise = cost[e] - level[a[e]] + level[b[e]]  # of top over low
        if size[top] < size[low]:
            root[top], level[top] = low, rise
            size[low] += size[top]
        else:
            root[low], level[low] = top, -rise
            size[top] += size[low]
    for v in range(n):
        _root(root, level, v)
    return root, level


@inlined
def _root(root: Ints, level: Floats, v: int) -> int:
    """Root of a vertex; everything on the way is hung directly below it. The level of a root is 0."""
    top, height = v, 0.0
    while root[top] != top:
        height += level[top]
        top = root[top]
    while root[v] != top and v != top:
        parent, rise = root[v], level[v]
        root[v], level[v] = top, height
        height -= rise
        v = parent
    return int(top)
