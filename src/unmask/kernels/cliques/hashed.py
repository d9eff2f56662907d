"""Thinning a product graph that is too large to hold: signatures of neighbourhoods instead of edges.

On a clique all target records differ, so that (target record, identification record mod m) is injective on every
clique. The *signature* of a vertex is the set of these values over its neighbours: a few thousand bits instead of all
vertices. Two vertices of a clique of ``need`` members share at least ``need - 2`` neighbours, hence at least that many
bits of their signatures; an edge whose ends share fewer goes, and a vertex whose remaining edges reach fewer than
``need - 1`` rows or columns goes with it. Edges are made anew by window joins in each pass and never stored; every pass
reads the signatures of the one before and writes new ones, so that the outcome does not depend on threads or order.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.cliques.bits import Words, put, shared, words_for
from unmask.kernels.cliques.branch import greedy
from unmask.kernels.cliques.product import Flags, Sides, adjacency_of, neighbours
from unmask.kernels.cliques.truss import by_edges
from unmask.kernels.compiling import in_strides, kernel

SMALL = 3000  # vertices that rows of bits take from here without hashing
MEMORY = 700_000_000  # bytes of signatures, old and new


@kernel
def _pass(
    s: Sides, rows: Codes, cols: Codes, place: Codes, old: Words, need: int, m: int, new: Words, alive: Flags,
    begin: int, step: int,
) -> None:  # fmt: skip
    """One pass over vertices begin, begin + step, ...: new signatures (m columns) from edges that pass the old ones.

    Rows with one edge are tested first; a vertex is lost as soon as too few rows can be left.
    """
    near, bound = np.empty(len(place) + 1, dtype=np.int32), np.empty(len(s.d1) + 1, dtype=np.int32)
    order, seen = np.empty(len(s.d1) + 1, dtype=np.int32), np.full(len(s.d2), -1, dtype=np.int32)
    for k in range(begin, len(rows), step):
        n = 0
        for i in range(neighbours(s, rows[k], cols[k], near)):
            near[n] = place[near[i]]
            n += near[n] >= 0
        n_rows, n_cols = by_edges(rows, near, n, bound, order), 0
        spare = n_rows - (need - 1)
        for j in range(n_rows):
            if spare < 0:
                break
            r, some = order[j], False
            for i in range(bound[r], bound[r + 1]):
                x = near[i]
                if old.shape[1] > 0 and shared(old[k], old[x]) < need - 2:
                    continue
                some = True
                n_cols += seen[cols[x]] != k
                seen[cols[x]] = k
                if m > 0:
                    put(new[k], rows[x] * m + cols[x] % m)
            spare -= not some
        alive[k] = spare >= 0 and n_cols >= need - 1


def _refine(s: Sides, keep: Codes, rows: Codes, cols: Codes, old: Words, need: int, m: int) -> tuple[Words, Flags]:
    place = np.full(s.first[-1], -1, dtype=np.int32)
    place[keep] = np.arange(len(keep), dtype=np.int32)
    new = np.zeros((len(keep), words_for(len(s.d1) * m)), dtype=np.uint64)
    alive = np.zeros(len(keep), dtype=np.bool_)
    in_strides(
        lambda begin, step: _pass(s, rows, cols, place, old, need, m, new, alive, begin, step), len(keep), least=500
    )
    return new, alive


def _columns(s: Sides, n: int, degree: float, need: int) -> int:
    """Fewest columns m for which two unrelated signatures would share too few bits, within memory."""
    m = 1
    widest = int(np.diff(s.start2).max())
    while m < widest and n * len(s.d1) * m / 4 <= MEMORY:  # two signatures of m * 2 columns each
        bits = len(s.d1) * m
        if bits * (1 - np.exp(-degree / bits)) ** 2 < 0.6 * need:
            break
        m *= 2
    return m


@kernel
def _mean_degree(s: Sides, rows: Codes, cols: Codes, sample: int) -> float:
    found = np.empty(s.first[-1], dtype=np.int32)
    total, seen = 0, 0
    for k in range(0, len(rows), max(1, len(rows) // sample)):
        total += neighbours(s, rows[k], cols[k], found)
        seen += 1
    return total / max(1, seen)


def thin(s: Sides, keep: Codes, rows: Codes, cols: Codes, need: int) -> Codes:
    """Positions in ``keep`` of the vertices that may lie in a clique of ``need`` members; no such clique is lost."""
    left = np.arange(len(keep), dtype=np.int32)
    old = np.zeros((len(keep), 0), dtype=np.uint64)
    m, stuck = 0, False
    while len(left) > SMALL or (m == 0 and len(left) > 0):
        degree = _mean_degree(s, rows[left], cols[left], 200) * len(left) / max(1, int(s.first[-1]))
        wider = max(m, _columns(s, len(left), degree, need))
        if stuck:
            wider = max(wider, 2 * m)
            if wider > int(np.diff(s.start2).max()) or len(left) * len(s.d1) * wider / 4 > MEMORY:
                break
        old, alive = _refine(s, keep[left], rows[left], cols[left], old, need, wider)
        stuck = m == wider and int(alive.sum()) > 0.9 * len(left)
        m = wider
        left, old = left[alive], old[alive]
    if old.shape[1] > 0 and len(left) > 0:
        _, alive = _refine(s, keep[left], rows[left], cols[left], old, need, 0)
        left = left[alive]
    return left


@kernel
def greedy_from(s: Sides, rows: Codes, cols: Codes, starts: Codes, best: int, out: Codes) -> int:
    """Write the best greedy clique (vertex numbers) through one of the starts if larger than best; return its size."""
    found = np.empty(s.first[-1], dtype=np.int32)
    trial = np.empty(min(len(s.d1), len(s.d2)) + 1, dtype=np.int32)
    for i in range(len(starts)):
        u = starts[i]
        k = neighbours(s, rows[u], cols[u], found)
        if k < best:
            continue
        near = found[:k]
        length = greedy(adjacency_of(s.d1, s.d2, rows[near], cols[near], s.window), trial)
        if length + 1 > best:
            best = length + 1
            for j in range(length):
                out[j] = near[trial[j]]
            out[length] = u
    return best
