"""Flows over all matchings of a bipartite graph of classes: counted where it is small, sampled where it is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import kernel

_BURN_IN = 20  # draws that are thrown away
_STEPS = 2  # steps of the walk per unit and draw
_TURNED = 20  # the same of the walk that turns cycles
_LONG = 100  # steps per unit after which a gap is not waited for any longer


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
    """Mean flow over seeded random matchings of units.

    Where gaps hardly ever close (nearly all matchings but one pair, compared with whole ones, are far too many), cycles
    are turned instead, from the beginning: both walks have the same uniform matchings.
    """
    by_a, by_b = np.argsort(a, kind="stable"), np.argsort(b, kind="stable")
    start_a, start_b = (
        np.searchsorted(a[by_a], np.arange(a.max() + 2)),
        np.searchsorted(b[by_b], np.arange(b.max() + 2)),
    )
    capacity = np.bincount(b, weights=flow).astype(np.int64)
    pairs, start = _Pairs(a, b, by_a, start_a, by_b, start_b, capacity), flow.astype(np.int64)
    mean: Floats = _walk(pairs, start.copy(), draws, rng)
    return mean if len(mean) else turn_part(a, b, flow, draws, rng)


def turn_part(a: Ints, b: Ints, flow: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The same by turning cycles."""
    by_a, units = np.argsort(a, kind="stable"), flow.astype(np.int64)
    start = np.searchsorted(a[by_a], np.arange(a.max() + 2))
    capacity = np.bincount(b, weights=flow).astype(np.int64)
    before = np.append(0, np.cumsum(capacity[b[by_a]]))
    reach = before[1:] - before[start[a[by_a]]]
    first = np.append(0, np.cumsum(capacity))  # the first unit of each class b
    pair = np.repeat(np.arange(len(a)), units)  # of each unit of the left side, as it is matched at first
    owner = np.argsort(np.argsort(b[pair], kind="stable"), kind="stable")  # unit of b that each unit of a has
    holder = np.empty(len(pair), np.int64)
    holder[owner] = np.arange(len(pair))
    mean: Floats = _turn(_Reach(a, b, by_a, start, reach, first), pair, holder, draws, rng)
    return mean


class _Reach(NamedTuple):
    """Pairs of classes, and what each class a reaches by them."""

    a: Ints
    b: Ints
    by_a: Ints  # pairs in the order of a
    start_a: Ints
    reach: Ints  # units that a class reaches by its pairs up to this one, in the order of a
    first: Ints  # unit of each class b


@kernel
def _turn(pairs: _Reach, pair: Ints, holder: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Follow random tight units and their holders until one is met again, then turn that cycle; average the flow.

    Every unit on the way makes one choice, with chance 1 / degree, and the turned matching is turned back by as many
    choices of the same units. So the chain is symmetric, and its matchings are uniform.
    """
    units = len(pair)
    classes = pairs.a[pair]
    total, seen = np.zeros(len(pairs.a)), np.full(units, -1)
    way, taken, by = np.empty(units, np.int64), np.empty(units, np.int64), np.empty(units, np.int64)
    for draw in range(draws + _BURN_IN):
        steps = 0
        while steps < _TURNED * units:
            u, length = int(rng.random() * units), 0
            while seen[u] < 0:
                seen[u], way[length] = length, u
                by[length], taken[length] = _reached(pairs, classes[u], rng)
                u = holder[taken[length]]
                length += 1
            for i in range(seen[u], length):
                holder[taken[i]], pair[way[i]] = way[i], by[i]
            for i in range(length):
                seen[way[i]] = -1
            steps += length
        if draw >= _BURN_IN:
            for u in range(units):
                total[pair[u]] += 1
    return total / draws


@kernel
def _reached(pairs: _Reach, u: int, rng: np.random.Generator) -> tuple[int, int]:
    """A random unit that class u reaches: the pair of classes, and the unit."""
    low, high = pairs.start_a[u], pairs.start_a[u + 1] - 1
    x = int(rng.random() * pairs.reach[high])
    while low < high:
        middle = (low + high) // 2
        if pairs.reach[middle] > x:
            high = middle
        else:
            low = middle + 1
    e = pairs.by_a[low]
    j = pairs.b[e]
    return int(e), int(pairs.first[j + 1] + x - pairs.reach[low])


@kernel
def _walk(pairs: _Pairs, flow: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Open a random pair, move the gap until it closes, again and again; average the flow.

    A gap at u moves to a random tight unit w and takes its partner's place, with chance 1 / degree(u). The chain is
    reversible with weight degree(u) for a gap at u and equal weights for all closed matchings, so these are uniform.
    Nothing is returned where a gap stays open too long.
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
                if steps > _LONG * units:
                    return np.empty(0)
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
