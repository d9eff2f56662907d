"""Exact prices from nearly exact ones, along a forest of tight pairs.

Where many costs are equal (few values, ranks, texts), a phase of the auction costs as much at every epsilon: hundreds
of objects are within it, and bidders find them anew. Yet the matching is often the best one after two phases, and only
its prices are off by some epsilons. In an optimal dual every matched pair is tight: profit - price = cost. So are, as a
rule, the pairs that are within a few epsilons of it. Following both through a spanning forest of all classes gives
prices that satisfy them to rounding. Whether these prove the matching is for the certificate to say, not for this file.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.assignment.allocation import holdings
from unmask.kernels.assignment.forward_reverse import Side
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inlined, kernel

_NEAR = 2.0  # epsilons within which a pair is taken for tight


def snapped_prices(side: Side, epsilon: float) -> Floats:
    """Prices that make matched pairs tight, and those within a few epsilons as far as these do not contradict."""
    state, n_b = side.state, len(side.state.supply)
    holder, item, _, cost = holdings(state)
    who, what, listed = _listed(side)
    least = np.full(n_b, np.inf)
    np.minimum.at(least, holder, cost + state.price[item])
    np.minimum.at(least, who, listed + state.price[what])
    slack = listed + state.price[what] - least[who]
    near = np.flatnonzero(slack <= _NEAR * epsilon)
    near = near[np.argsort(slack[near], kind="stable")]
    a, b = np.concatenate([holder, who[near]]), np.concatenate([item, what[near]])
    root, level = _span(n_b + len(state.price), a, n_b + b, np.concatenate([cost, listed[near]]))
    tree = np.unique(root, return_inverse=True)[1]
    off = np.bincount(tree, np.concatenate([least, state.price]) - level) / np.bincount(tree)
    prices: Floats = (level + off[tree])[n_b:]
    return prices


def _listed(side: Side) -> tuple[Ints, Ints, Floats]:
    """All candidates: bidders, objects, costs."""
    lists = side.lists
    who = np.repeat(np.arange(len(lists.length)), lists.length)
    before = np.cumsum(lists.length) - lists.length
    at = lists.start[who] + np.arange(len(who)) - before[who]
    return who, lists.item[at].astype(np.int64), lists.cost[at]


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
