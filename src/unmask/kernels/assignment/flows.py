"""Flows over all matchings of a bipartite graph of classes: counted where it is small, sampled where it is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import kernel

_BURN_IN = 20  # draws that are thrown away
_STEPS = 2  # steps of the walk per unit and draw


@kernel
def strip(a: Ints, b: Ints, degree_a: Ints, degree_b: Ints) -> NDArray[np.bool_]:
    """Pairs that stay when classes with a single pair are taken away again and again: the others cannot vary."""
    alive = np.ones(len(a), np.bool_)
    changed = True
    while changed:
        changed = False
        for e in range(len(a)):
            if alive[e] and (degree_a[a[e]] == 1 or degree_b[b[e]] == 1):
                alive[e] = False
                degree_a[a[e]] -= 1
                degree_b[b[e]] -= 1
                changed = True
    return alive


def count_part(a: Ints, b: Ints, flow: Floats) -> Floats:
    """Mean flow over all matchings of units, exactly: counts over subsets of the right-give units."""
    supply = np.bincount(a, weights=flow).astype(np.int64)
    capacity = np.bincount(b, weights=flow).astype(np.int64)
    tight = np.zeros((len(supply), len(capacity)), np.bool_)
    tight[a, b] = True
    left, right = np.repeat(np.arange(len(supply)), supply), np.repeat(np.arange(len(capacity)), capacity)
    pairs = _count(tight[left][:, right])
    whole = np.zeros(tight.shape)
    np.add.at(whole, (left[:, None], right[None, :]), pairs)
    mean: Floats = whole[a, b]
    return mean


@kernel
def _count(tight: NDArray[np.bool_]) -> Floats:
    """Share of the perfect matchings that contain each pair. Row k takes one unit that rows before it left."""
    n = len(tight)
    full = 1 << n
    before, after = np.zeros((n + 1, full)), np.zeros((n + 1, full))
    before[0, 0] = 1.0
    after[n, full - 1] = 1.0
    for k in range(n):
        for used in range(full):
            for j in range(n):
                if tight[k, j] and not used >> j & 1:
                    before[k + 1, used | 1 << j] += before[k, used]
    for k in range(n - 1, -1, -1):
        for used in range(full):
            for j in range(n):
                if tight[k, j] and not used >> j & 1:
                    after[k, used] += after[k + 1, used | 1 << j]
    share = np.zeros((n, n))
    for k in range(n):
        for used in range(full):
            for j in range(n):
                if tight[k, j] and not used >> j & 1:
                    share[k, j] += before[k, used] * after[k + 1, used | 1 << j]
    share /= before[n, full - 1]
    return share


class _Pairs(NamedTuple):
    """Pairs of classes, and where those of each class are."""

    a: Ints
    b: Ints
    by_a: Ints  # pairs in the order of a
    start_a: Ints
    by_b: Ints
    start_b: Ints
    capacity: Ints  # units of each class b


def sample_part(a: Ints, b: Ints, flow: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Mean flow over seeded random matchings of units."""
    by_a, by_b = np.argsort(a, kind="stable"), np.argsort(b, kind="stable")
    start_a, start_b = (
        np.searchsorted(a[by_a], np.arange(a.max() + 2)),
        np.searchsorted(b[by_b], np.arange(b.max() + 2)),
    )
    capacity = np.bincount(b, weights=flow).astype(np.int64)
    mean: Floats = _walk(_Pairs(a, b, by_a, start_a, by_b, start_b, capacity), flow.astype(np.int64), draws, rng)
    return mean


@kernel
def _walk(pairs: _Pairs, flow: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Open a random pair, move the gap until it closes, again and again; average the flow.

    A gap at u moves to a random tight unit w and takes its partner's place, with chance 1 / degree(u). The chain is
    reversible with weight degree(u) for a gap at u and equal weights for all closed matchings, so these are uniform.
    """
    units = pairs.capacity.sum()
    total = np.zeros(len(flow))
    for draw in range(draws + _BURN_IN):
        steps = 0
        while steps < _STEPS * units:
            e = _matched_pair(pairs, flow, units, rng)
            flow[e] -= 1
            u = pairs.a[e]
            while u >= 0:
                u = _step(pairs, flow, u, rng)
                steps += 1
        if draw >= _BURN_IN:
            total += flow
    return total / draws


@kernel
def _matched_pair(pairs: _Pairs, flow: Ints, units: int, rng: np.random.Generator) -> int:
    """Choose the pair of a random unit of the right-hand side."""
    x = int(rng.random() * units)
    j = 0
    while x >= pairs.capacity[j]:
        x -= pairs.capacity[j]
        j += 1
    for k in range(pairs.start_b[j], pairs.start_b[j + 1]):
        x -= flow[pairs.by_b[k]]
        if x < 0:
            return int(pairs.by_b[k])
    return int(pairs.by_b[pairs.start_b[j + 1] - 1])


@kernel
def _step(pairs: _Pairs, flow: Ints, u: int, rng: np.random.Generator) -> int:
    """Match the free unit of class u with a random tight one. Returns the class that lost it, -1 if it was free."""
    b, by_a, start_a, capacity = pairs.b, pairs.by_a, pairs.start_a, pairs.capacity
    degree = 0
    for k in range(start_a[u], start_a[u + 1]):
        degree += capacity[b[by_a[k]]]
    x = int(rng.random() * degree)
    k = start_a[u]
    while x >= capacity[b[by_a[k]]]:
        x -= capacity[b[by_a[k]]]
        k += 1
    taken = by_a[k]
    for r in range(pairs.start_b[b[taken]], pairs.start_b[b[taken] + 1]):
        e = pairs.by_b[r]
        if x < flow[e]:
            flow[e] -= 1
            flow[taken] += 1
            return int(pairs.a[e])
        x -= flow[e]
    flow[taken] += 1
    return -1
