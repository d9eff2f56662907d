"""Maximum cliques with a certificate, and the union of all of them without listing any [KROLL]_ (Corollary 8).

1. a greedy clique gives a bound; 2. vertices with too few distinct rows or columns around them, then edges with too few
common neighbours (truss), cannot lie in a clique of that size and go, until nothing moves; 3. branch and bound on the
neighbourhood of one vertex at a time, in the order of least degree; 4. for every vertex left: is there a clique of that
size through it? One decision each, and every clique found answers for all its members. Vertices carry a row and a
column (the two records of a product vertex); on a clique both are distinct, and so is any function of them that is
injective on cliques.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from unmask.kernels.bits import Words, drop, has, members, put, shared, size, words_for
from unmask.kernels.product import Flags, Shorts
from unmask.kernels.search import greedy, induced, narrowing_order, search


class Cliques(NamedTuple):
    """What is known of the maximum cliques of a graph."""

    size: int  # omega, or the largest found
    union: Flags  # (n,): lies in some maximum clique
    clique: Shorts  # one of them
    n_found: int  # different maximum cliques met on the way: a lower bound of their number
    certified: bool  # True: size and union are proven; False: the budget ended first
    nodes: int  # of branch and bound


@njit(cache=True, nogil=True)
def _distinct(values: Shorts, chosen: Shorts, n: int, seen: Shorts, stamp: int) -> int:
    """Count distinct values among the first n chosen vertices; ``seen`` remembers by stamp."""
    total = 0
    for i in range(n):
        if seen[values[chosen[i]]] != stamp:
            seen[values[chosen[i]]] = stamp
            total += 1
    return total


@njit(cache=True, nogil=True)
def _isolate(bits: Words, u: int, found: Shorts) -> None:
    for i in range(members(bits[u], found)):
        drop(bits[found[i]], u)
    bits[u, :] = np.uint64(0)


@njit(cache=True, nogil=True)
def core(bits: Words, rows: Shorts, cols: Shorts, need: int, alive: Flags) -> int:
    """Remove (in place) vertices that see fewer than need - 1 distinct rows or columns, until none is left to remove."""
    n = len(bits)
    found, other = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    seen_row = np.full(rows.max() + 1 if n else 1, -1, dtype=np.int32)
    seen_col = np.full(cols.max() + 1 if n else 1, -1, dtype=np.int32)
    removed, stamp, moved = 0, 0, True
    while moved:
        moved = False
        for u in range(n):
            if not alive[u]:
                continue
            k = members(bits[u], found)
            stamp += 1
            if (
                k < need - 1
                or _distinct(rows, found, k, seen_row, stamp) < need - 1
                or _distinct(cols, found, k, seen_col, stamp) < need - 1
            ):
                _isolate(bits, u, other)
                alive[u] = False
                removed += 1
                moved = True
    return removed


@njit(cache=True, nogil=True)
def truss(bits: Words, need: int, alive: Flags) -> int:
    """Remove (in place) edges with fewer than need - 2 common neighbours, one pass; return how many."""
    found = np.empty(len(bits), dtype=np.int32)
    removed = 0
    for u in range(len(bits)):
        if not alive[u]:
            continue
        for i in range(members(bits[u], found)):
            x = found[i]
            if x > u and shared(bits[u], bits[x]) < need - 2:
                drop(bits[u], x)
                drop(bits[x], u)
                removed += 1
    return removed


@njit(cache=True, nogil=True)
def prune(bits: Words, rows: Shorts, cols: Shorts, need: int, alive: Flags) -> None:
    """Core and truss in turn until a pass removes less than one edge in fifty: all cliques of ``need`` vertices stay."""
    while True:
        core(bits, rows, cols, need, alive)
        edges = 0
        for u in range(len(bits)):
            if alive[u]:
                edges += size(bits[u])
        gone = truss(bits, need, alive)
        if gone * 100 <= edges:
            core(bits, rows, cols, need, alive)
            return


@njit(cache=True, nogil=True)
def compact(bits: Words, alive: Flags) -> tuple[Words, Shorts]:
    """Adjacency among the living vertices, and their old numbers."""
    kept = np.flatnonzero(alive).astype(np.int32)
    place = np.full(len(bits), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    small = np.zeros((len(kept), words_for(len(kept))), dtype=np.uint64)
    found = np.empty(len(bits), dtype=np.int32)
    for k in range(len(kept)):
        for i in range(members(bits[kept[k]], found)):
            put(small[k], place[found[i]])
    return small, kept


@njit(cache=True, nogil=True)
def _around(bits: Words, u: int, limit: Shorts, found: Shorts) -> Shorts:
    """Neighbours x of u with limit[x] > limit[u]."""
    k = 0
    for i in range(members(bits[u], found)):
        if limit[found[i]] > limit[u]:
            found[k] = found[i]
            k += 1
    return found[:k].copy()


@njit(cache=True, nogil=True)
def _probe(bits: Words, u: int, chosen: Shorts, best: int, first: bool, budget: int, out: Shorts) -> tuple[int, int]:  # noqa: FBT001
    """Search the chosen neighbours of u for a clique that makes more than ``best`` with u. Returns (size, nodes)."""
    if best <= 0:
        out[0] = u
        return 1, 0
    if len(chosen) < best:
        return 0, 0
    small = induced(bits, chosen)
    alive = np.ones(len(chosen), dtype=np.bool_)
    line = np.arange(len(chosen)).astype(np.int32)
    core(small, line, line, best, alive)
    left = np.flatnonzero(alive).astype(np.int32)
    if len(left) < best:
        return 0, 0
    order = left[narrowing_order(induced(small, left))]
    length, nodes = search(induced(small, order), best - 1, first, budget, out)
    if length == 0:
        return 0, nodes
    for i in range(length):
        out[i] = chosen[order[out[i]]]
    out[length] = u
    return length + 1, nodes


@njit(cache=True, nogil=True)
def greedy_bound(bits: Words, starts: int, out: Shorts) -> int:
    """Write the best greedy clique through one of the ``starts`` vertices of largest degree; return its size."""
    n = len(bits)
    degree = np.empty(n, dtype=np.int64)
    for u in range(n):
        degree[u] = size(bits[u])
    order = np.argsort(-degree, kind="mergesort")
    found, trial = np.empty(n + 1, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
    best = 0
    for s in range(min(starts, n)):
        u = order[s]
        if degree[u] < best:
            break
        chosen = found[: members(bits[u], found)].copy()
        length = greedy(induced(bits, chosen), trial)
        if length + 1 > best:
            best = length + 1
            for i in range(length):
                out[i] = chosen[trial[i]]
            out[length] = u
    return best


@njit(cache=True, nogil=True)
def largest(bits: Words, best: int, budget: int, out: Shorts) -> tuple[int, int]:
    """Find a clique larger than ``best``, the largest there is. Returns (size or 0, nodes); budget as in `search`."""
    order = narrowing_order(bits)
    rank = np.empty(len(bits), dtype=np.int32)
    for i in range(len(order)):
        rank[order[i]] = len(order) - i  # least degree first
    found = np.empty(len(bits) + 1, dtype=np.int32)
    trial = np.empty(len(bits) + 1, dtype=np.int32)
    length, nodes = 0, 0
    for i in range(len(order) - 1, -1, -1):
        u = order[i]
        got, spent = _probe(bits, u, _around(bits, u, rank, found), best, False, budget - nodes, trial)  # noqa: FBT003
        nodes += spent
        if got > best:
            best, length = got, got
            out[:got] = trial[:got]
        if nodes > budget:
            return length, nodes
    return length, nodes


@njit(cache=True, nogil=True)
def union(bits: Words, omega: int, budget: int, inside: Flags) -> tuple[int, int]:
    """Mark (in place) every vertex of some clique of size omega, the maximum. Returns (cliques met, nodes).

    A vertex that no such clique contains is taken out of the graph at once, so that later decisions are easier.
    """
    n = len(bits)
    found = np.empty(n + 1, dtype=np.int32)
    trial = np.empty(n + 1, dtype=np.int32)
    order = narrowing_order(bits)
    met, nodes = 0, 0
    for i in range(n - 1, -1, -1):
        u = order[i]
        if inside[u]:
            continue
        chosen = found[: members(bits[u], found)].copy()
        got, spent = _probe(bits, u, chosen, omega - 1, True, budget - nodes, trial)  # noqa: FBT003
        nodes += spent
        if got >= omega:
            met += 1
            for j in range(got):
                inside[trial[j]] = True
        elif nodes > budget:
            return met, nodes
        else:
            _isolate(bits, u, trial)
    return met, nodes


@njit(cache=True, nogil=True)
def is_clique(bits: Words, chosen: Shorts) -> bool:
    """Say whether the chosen vertices are pairwise adjacent."""
    for i in range(len(chosen)):
        for j in range(i):
            if not has(bits[chosen[i]], chosen[j]):
                return False
    return True


def maximum_cliques(bits: Words, rows: Shorts, cols: Shorts, *, bound: Shorts | None = None, budget: int = 50_000_000) -> Cliques:
    """Solve a graph in rows of bits (it is used up). ``bound``: a clique that is known already."""
    n = len(bits)
    if n == 0:
        return Cliques(0, np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int32), 0, certified=True, nodes=0)
    out = np.empty(n + 1, dtype=np.int32)
    length = greedy_bound(bits, 32, out)
    clique = out[:length].copy()
    if bound is not None and len(bound) > length:
        clique = bound.astype(np.int32)
    alive = np.ones(n, dtype=np.bool_)
    prune(bits, rows, cols, len(clique), alive)
    bits, kept = compact(bits, alive)
    bigger, nodes = largest(bits, len(clique), budget, out)
    if bigger:
        clique = kept[out[:bigger]]
        alive = np.ones(len(kept), dtype=np.bool_)
        prune(bits, rows[kept], cols[kept], bigger, alive)
        bits, place = compact(bits, alive)
        kept = kept[place]
    inside = np.zeros(len(kept), dtype=np.bool_)
    inside[np.searchsorted(kept, np.sort(clique))] = True
    met, spent = union(bits, len(clique), budget - nodes, inside) if nodes <= budget else (0, 0)
    answer = np.zeros(n, dtype=np.bool_)
    answer[kept[inside]] = True
    return Cliques(len(clique), answer, np.sort(clique), 1 + met, certified=nodes + spent <= budget, nodes=nodes + spent)
