"""Maximum cliques with a certificate, and the union of all of them without listing any [KROLL]_ (Corollary 8).

1. a greedy clique gives a bound; 2. vertices with too few distinct rows or columns around them, then edges with too few
common neighbours (truss), cannot lie in a clique of that size and go, until nothing moves; 3. branch and bound on the
neighbourhood of one vertex at a time, in the order of least degree; 4. for every vertex left: is there a clique of that
size through it? One decision each, and every clique found answers for all its members. Vertices carry a row and a
column (the two records of a product vertex); on a clique both are distinct, and so is any function of them that is
injective on cliques.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.cliques.bits import Words, drop, members, size
from unmask.kernels.cliques.branch import degeneracy_order, greedy, induced, search
from unmask.kernels.cliques.product import Flags
from unmask.kernels.cliques.truss import prune
from unmask.kernels.compiling import kernel

Tell = Callable[[float], None]

CHUNK = 64  # vertices searched between two words of progress
GREED = 5_000_000  # work that greedy cliques may take


def silent(_share: float) -> None:
    """Show no progress."""


class Cliques(NamedTuple):
    """What is known of the maximum cliques of a graph."""

    size: int  # omega, or the largest found
    union: Flags  # (n,): lies in some maximum clique
    clique: Codes  # one of them
    n_found: int  # different maximum cliques met on the way: a lower bound of their number
    certified: bool  # True: size and union are proven; False: the budget ended first
    work: int  # of branch and bound


@kernel
def _isolate(bits: Words, u: int, found: Codes) -> None:
    for i in range(members(bits[u], found)):
        drop(bits[found[i]], u)
    bits[u, :] = np.uint64(0)


@kernel
def _around(bits: Words, u: int, limit: Codes, found: Codes) -> Codes:
    """Neighbours x of u with limit[x] > limit[u]."""
    k = 0
    for i in range(members(bits[u], found)):
        if limit[found[i]] > limit[u]:
            found[k] = found[i]
            k += 1
    return found[:k].copy()


@kernel
def _core(bits: Words, least: int) -> Codes:
    """Vertices that keep at least ``least`` neighbours when all others are taken away (in place)."""
    n = len(bits)
    alive = np.ones(n, dtype=np.bool_)
    other = np.empty(n, dtype=np.int32)
    moved = True
    while moved:
        moved = False
        for u in range(n):
            if alive[u] and size(bits[u]) < least:
                _isolate(bits, u, other)
                alive[u] = False
                moved = True
    return np.flatnonzero(alive).astype(np.int32)


@kernel
def _probe(bits: Words, u: int, chosen: Codes, best: int, first: bool, budget: int, out: Codes) -> tuple[int, int]:  # noqa: FBT001
    """Search the chosen neighbours of u for a clique that makes more than ``best`` with u. Returns (size, work)."""
    if best <= 0:
        out[0] = u
        return 1, 0
    if len(chosen) < best:
        return 0, 0
    effort = (len(chosen) * len(chosen)) >> 9  # to look at every pair of them
    if effort > budget:
        return 0, effort
    small = induced(bits, chosen)
    left = _core(small, best - 1)
    if len(left) < best:
        return 0, effort
    order = left[degeneracy_order(induced(small, left))]
    length, work = search(induced(small, order), best - 1, first, budget - effort, out)
    work += effort
    if length == 0:
        return 0, work
    for i in range(length):
        out[i] = chosen[order[out[i]]]
    out[length] = u
    return length + 1, work


@kernel
def greedy_bound(bits: Words, starts: int, budget: int, out: Codes) -> int:
    """Write the best greedy clique through one of the ``starts`` vertices of largest degree; return its size.

    No further one is tried when the work is done that the budget has.
    """
    n = len(bits)
    degree = np.empty(n, dtype=np.int64)
    for u in range(n):
        degree[u] = size(bits[u])
    order = np.argsort(-degree, kind="mergesort")
    found, trial = np.empty(n + 1, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
    best, work = 0, 0
    for s in range(min(starts, n)):
        u = order[s]
        if degree[u] < best or work > budget:
            break
        work += (degree[u] * degree[u]) >> 9
        chosen = found[: members(bits[u], found)].copy()
        length = greedy(induced(bits, chosen), trial)
        if length + 1 > best:
            best = length + 1
            for i in range(length):
                out[i] = chosen[trial[i]]
            out[length] = u
    return best


@kernel
def _largest_among(
    bits: Words, some: Codes, rank: Codes, best: int, budget: int, out: Codes
) -> tuple[int, int]:  # fmt: skip
    """Find a clique larger than ``best`` of one of some vertices and such as come after it. Returns (size, work)."""
    found = np.empty(len(bits) + 1, dtype=np.int32)
    trial = np.empty(len(bits) + 1, dtype=np.int32)
    length, work = 0, 0
    for u in some:
        got, spent = _probe(bits, u, _around(bits, u, rank, found), best, False, budget - work, trial)  # noqa: FBT003
        work += spent
        if got > best:
            best, length = got, got
            out[:got] = trial[:got]
        if work > budget:
            break
    return length, work


def largest(bits: Words, best: int, budget: int, out: Codes, tell: Tell = silent) -> tuple[int, int]:
    """Find a clique larger than ``best``, the largest there is. Returns (size or 0, work); budget as in `search`."""
    order = degeneracy_order(bits)[::-1].copy()  # least degree first
    rank = np.empty(len(bits), dtype=np.int32)
    rank[order] = np.arange(1, len(bits) + 1)
    length, work = 0, 0
    for begin in range(0, len(order), CHUNK):
        some = order[begin : begin + CHUNK]
        got, spent = _largest_among(bits, some, rank, max(best, length), budget - work, out)
        work, length = work + spent, max(got, length)
        tell(max(begin / len(order), min(1.0, work / max(1, budget))))
        if work > budget:
            break
    return length, work


@kernel
def union(bits: Words, omega: int, budget: int, inside: Flags, orbit: Codes) -> tuple[int, int]:
    """Mark (in place) every vertex of some clique of size omega, the maximum. Returns (cliques met, work).

    A vertex that no such clique contains is taken out of the graph at once, so that later decisions are easier.
    Vertices of one orbit (numbers from 0) can be exchanged: one decision holds for all of them.
    """
    n = len(bits)
    found = np.empty(n + 1, dtype=np.int32)
    trial = np.empty(n + 1, dtype=np.int32)
    order = degeneracy_order(bits)
    met, work = 0, 0
    verdict = np.zeros(orbit.max() + 1 if n else 1, dtype=np.int8)  # 1: inside, -1: outside
    for u in range(n):
        if inside[u]:
            verdict[orbit[u]] = 1
    for i in range(n - 1, -1, -1):
        u = order[i]
        if verdict[orbit[u]] == 1:
            continue
        if verdict[orbit[u]] == -1:
            _isolate(bits, u, trial)
            continue
        chosen = found[: members(bits[u], found)].copy()
        got, spent = _probe(bits, u, chosen, omega - 1, True, budget - work, trial)  # noqa: FBT003
        work += spent
        if got >= omega:
            met += 1
            for j in range(got):
                verdict[orbit[trial[j]]] = 1
        elif work > budget:
            break
        else:
            verdict[orbit[u]] = -1
            _isolate(bits, u, trial)
    for u in range(n):
        inside[u] = verdict[orbit[u]] == 1
    return met, work


def improve(bits: Words, clique: Codes, kept: Codes, starts: int, budget: int = GREED) -> Codes:
    """Return a larger greedy clique among what is left, or the same."""
    out = np.empty(len(bits) + 1, dtype=np.int32)
    length = greedy_bound(bits, starts, min(budget, GREED), out)
    return kept[out[:length]] if length > len(clique) else clique


def maximum_cliques(
    bits: Words, rows: Codes, cols: Codes, *, bound: Codes, orbit: Codes | None = None, upper: int | None = None,
    budget: int = 20_000_000, tell: Tell = silent,
) -> Cliques:  # fmt: skip
    """Solve a graph in rows of bits (used up). Rows must not fall from one vertex to the next.

    ``bound``: a clique known already, or none (empty); ``orbit``: equal for vertices that can be exchanged; ``upper``:
    no clique is larger than this; ``tell`` hears the share done of the search.
    """
    n = len(bits)
    everyone = np.arange(n, dtype=np.int32)
    edges = int(np.bitwise_count(bits).sum())
    clique = bound if len(bound) else improve(bits, bound, everyone, 8)
    strangers = edges**2 / max(1, n) ** 3  # neighbours that two vertices have in common anyhow
    upper = n if upper is None else upper
    if len(clique) < min(upper, 8 + 4 * strangers):  # pruning needs a better bound
        clique = improve(bits, clique, everyone, 64, budget // 4)
    bits, kept = prune(bits, rows, cols, len(clique))
    if len(kept) > 1000 and len(clique) < upper:  # the bound was poor: look harder before proving
        better = improve(bits, clique, kept, 400, budget // 4)
        if len(better) > len(clique):
            clique = better
            bits, place = prune(bits, rows[kept], cols[kept], len(clique))
            kept = kept[place]
    out = np.empty(n + 1, dtype=np.int32)
    bigger, work = (0, 0) if len(clique) >= upper else largest(bits, len(clique), budget, out, tell)
    if bigger:
        clique = kept[out[:bigger]]
        bits, place = prune(bits, rows[kept], cols[kept], bigger)
        kept = kept[place]
    inside = np.isin(kept, clique)
    same = kept if orbit is None else orbit[kept]
    met, spent = union(bits, len(clique), budget - work, inside, same) if work <= budget else (0, 0)
    answer = np.zeros(n, dtype=np.bool_)
    answer[clique] = True
    answer[kept[inside]] = True
    several = max(1 + met, 1 + int(answer.sum() > len(clique)))  # exchanging twins makes another one
    certain = work + spent <= budget
    return Cliques(len(clique), answer, np.sort(clique), min(n, several), certified=certain, work=work + spent)
