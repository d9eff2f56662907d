"""Flows over all matchings of a bipartite graph of classes: counted where it is small, sampled where it is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inlined, kernel

_BURN_IN = 20  # draws that are thrown away
_STEPS = 2  # steps of the walk per unit and draw
_TURNED = 20  # the same of the walk that turns cycles
_LONG = 100  # steps per unit after which a gap is not waited for any longer


@kernel
def strip(a: Ints, b: Ints, degree_a: Ints, degree_b: Ints) -> NDArray[np.bool_]:
    """Pairs that stay when classes with a single pair are taken away again and again: the others cannot vary."""
    alive = np.empty(len(a), np.bool_)
    alive[:] = True
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


def spread_part(a: Ints, b: Ints, flow: Floats) -> Floats | None:
    """Mean flow where every class is tight with every other: any unit is matched with each as often. None elsewhere."""
    supply, capacity = np.bincount(a, weights=flow), np.bincount(b, weights=flow)
    return supply[a] * (capacity / flow.sum())[b] if len(a) == len(supply) * len(capacity) else None


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
    """Pairs of classes, and what each class a reaches by them."""

    a: Ints
    b: Ints
    by_a: Ints  # pairs in the order of a
    start_a: Ints
    reach: Ints  # units that a class reaches by its pairs up to this one, in the order of a
    first: Ints  # the first unit of each class b


class _Walk(NamedTuple):
    """A matching on its way: the flow of each pair, and its sum over the draws so far, up to its last change."""

    flow: Ints
    held: Ints  # pairs with a flow, by class b from its first unit on, in the order of the pairs
    amount: Ints  # how many of them each class b has
    total: Floats
    since: Ints  # draws that are in the total


def sample_part(a: Ints, b: Ints, flow: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Mean flow over seeded random matchings of units.

    Where gaps hardly ever close (nearly all matchings but one pair, compared with whole ones, are far too many), cycles
    are turned instead, from the beginning: both walks have the same uniform matchings.
    """
    pairs = _ordered(a, b, flow)
    used = np.flatnonzero(flow)
    used = used[np.argsort(b[used], kind="stable")]
    amount = np.bincount(b[used], minlength=len(pairs.first) - 1)
    held = np.zeros(pairs.first[-1], np.int64)
    before = np.cumsum(amount) - amount
    held[pairs.first[b[used]] + np.arange(len(used)) - before[b[used]]] = used
    walk = _Walk(flow.astype(np.int64), held, amount, np.zeros(len(a)), np.zeros(len(a), np.int64))
    mean: Floats = _walk(pairs, walk, draws, rng)
    return mean if len(mean) else turn_part(a, b, flow, draws, rng)


def _ordered(a: Ints, b: Ints, flow: Floats) -> _Pairs:
    by_a = np.argsort(a, kind="stable")
    start = np.searchsorted(a[by_a], np.arange(a.max() + 2))
    capacity = np.bincount(b, weights=flow).astype(np.int64)
    before = np.append(0, np.cumsum(capacity[b[by_a]]))
    reach = before[1:] - before[start[a[by_a]]]
    return _Pairs(a, b, by_a, start, reach, np.append(0, np.cumsum(capacity)))


def turn_part(a: Ints, b: Ints, flow: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The same by turning cycles."""
    pair = np.repeat(np.arange(len(a)), flow.astype(np.int64))  # of each unit of the left side, as it is matched first
    owner = np.argsort(np.argsort(b[pair], kind="stable"), kind="stable")  # unit of b that each unit of a has
    holder = np.empty(len(pair), np.int64)
    holder[owner] = np.arange(len(pair))
    mean: Floats = _turn(_ordered(a, b, flow), pair, holder, draws, rng)
    return mean


@kernel
def _turn(pairs: _Pairs, pair: Ints, holder: Ints, draws: int, rng: np.random.Generator) -> Floats:
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


@inlined
def _above(values: Ints, low: int, high: int, x: int) -> int:
    """First place from low to high whose value is above x; high at the latest."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _reached(pairs: _Pairs, u: int, rng: np.random.Generator) -> tuple[int, int]:
    """A random unit that class u reaches: the pair of classes, and the unit."""
    low, high = pairs.start_a[u], pairs.start_a[u + 1] - 1
    x = int(rng.random() * pairs.reach[high])
    k = _above(pairs.reach, low, high, x)
    e = pairs.by_a[k]
    return int(e), int(pairs.first[pairs.b[e] + 1] + x - pairs.reach[k])


@kernel
def _walk(pairs: _Pairs, walk: _Walk, draws: int, rng: np.random.Generator) -> Floats:
    """Open a random pair, move the gap until it closes, again and again; average the flow.

    A gap at u moves to a random tight unit w and takes its partner's place, with chance 1 / degree(u). The chain is
    reversible with weight degree(u) for a gap at u and equal weights for all closed matchings, so these are uniform.
    Nothing is returned where a gap stays open too long.
    """
    units = pairs.first[-1]
    for draw in range(-_BURN_IN, draws):
        steps = 0
        while steps < _STEPS * units:
            e = _matched_pair(pairs, walk, units, rng)
            _change(pairs, walk, e, -1, max(draw, 0))
            u = pairs.a[e]
            while u >= 0:
                u = _step(pairs, walk, u, max(draw, 0), rng)
                steps += 1
                if steps > _LONG * units:
                    return np.empty(0)
    return (walk.total + walk.flow * (draws - walk.since)) / draws


@inlined
def _matched_pair(pairs: _Pairs, walk: _Walk, units: int, rng: np.random.Generator) -> int:
    """Choose the pair of a random unit of the right-hand side."""
    x = int(rng.random() * units)
    j = _above(pairs.first, 0, len(pairs.first) - 1, x) - 1
    return _held(pairs, walk, j, x - pairs.first[j])


@inlined
def _held(pairs: _Pairs, walk: _Walk, j: int, x: int) -> int:
    """Pair that holds unit x of class j; -1 if it is free, as one is while a gap is open."""
    for k in range(pairs.first[j], pairs.first[j] + walk.amount[j]):
        x -= walk.flow[walk.held[k]]
        if x < 0:
            return int(walk.held[k])
    return -1


@inlined
def _step(pairs: _Pairs, walk: _Walk, u: int, draw: int, rng: np.random.Generator) -> int:
    """Match the free unit of class u with a random tight one. Returns the class that lost it, -1 if it was free."""
    taken, unit = _reached(pairs, u, rng)
    j = pairs.b[taken]
    e = _held(pairs, walk, j, unit - pairs.first[j])
    if e >= 0:
        _change(pairs, walk, e, -1, draw)
    _change(pairs, walk, taken, 1, draw)
    return int(pairs.a[e]) if e >= 0 else -1


@inlined
def _change(pairs: _Pairs, walk: _Walk, e: int, by: int, draw: int) -> None:
    """Change the flow of a pair by a unit; its old flow counts for the draws before."""
    walk.total[e] += walk.flow[e] * (draw - walk.since[e])
    walk.since[e] = draw
    walk.flow[e] += by
    j, held = pairs.b[e], walk.held
    first = pairs.first[j]
    if walk.flow[e] == 0:
        walk.amount[j] -= 1
        k = first
        while held[k] != e:
            k += 1
        for r in range(k, first + walk.amount[j]):
            held[r] = held[r + 1]
    elif by > 0 and walk.flow[e] == by:
        k = first + walk.amount[j]
        while k > first and held[k - 1] > e:
            held[k] = held[k - 1]
            k -= 1
        held[k] = e
        walk.amount[j] += 1
