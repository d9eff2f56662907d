"""What no clique of a given size contains goes: vertices with too few rows or columns, edges with too few in common.

A clique of ``need`` vertices gives each of them neighbours of ``need - 1`` distinct rows and as many columns, and each
two of them ``need - 2`` common neighbours. Testing an edge costs a row of bits, so a vertex tests those edges first
that settle its fate soonest: rows with one edge before rows with many. Once too few rows can be left it is lost, and a
mask takes it out of every later test.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.cliques.bits import ONE, ZERO, Words, drop, members, put, shared, words_for
from unmask.kernels.cliques.product import Flags
from unmask.kernels.compiling import kernel, lean, lowest

MANY = 3  # edges from which on a row waits until the end
ENOUGH = 50  # a pass that removes less than one edge in so many is the last


@lean
def distinct(values: Codes, chosen: Codes, n: int, seen: Codes, stamp: int) -> int:
    """Count distinct values among the first n chosen vertices; ``seen`` remembers by stamp."""
    total = 0
    for i in range(n):
        value = values[chosen[i]]
        total += seen[value] != stamp
        seen[value] = stamp
    return total


@lean
def by_edges(rows: Codes, near: Codes, n: int, bound: Codes, order: Codes) -> int:
    """Write where each row of the n neighbours ends, and the rows' order, fewest neighbours first; return how many.

    Neighbours of one row must stand together. Row r holds neighbours ``bound[r]`` to ``bound[r + 1]``.
    """
    k, last, bound[0] = 0, -1, 0
    for i in range(n):
        row = rows[near[i]]
        k += row != last
        bound[k] = i + 1
        last = row
    place = 0
    for edges in range(1, MANY + 1):
        for r in range(k):
            order[place] = r
            place += min(bound[r + 1] - bound[r], MANY) == edges
    return k


@kernel
def _survives(
    bits: Words, own: Words, rows: Codes, need: int, near: Codes, n: int, bound: Codes, order: Codes, weak: Codes
) -> int:  # fmt: skip
    """Test edges until too few rows can be left (-1), or all. Returns how many failed, and writes these to ``weak``."""
    k = by_edges(rows, near, n, bound, order)
    spare, lost = k - (need - 1), 0
    for j in range(k):
        if spare < 0:
            break
        r, some = order[j], False
        for i in range(bound[r], bound[r + 1]):
            if shared(own, bits[near[i]]) >= need - 2:
                some = True
            else:
                weak[lost] = near[i]
                lost += 1
        spare -= not some
    return lost if spare >= 0 else -1


@kernel
def thin_out(bits: Words, rows: Codes, cols: Codes, need: int, alive: Flags, begin: int) -> tuple[int, int]:
    """Remove vertices (from ``alive``) and edges (in place) that no clique of ``need`` members contains, in one pass.

    Rows must not fall from one vertex to the next. Returns (where it stopped, edges removed): it stops early when half
    of the vertices have gone, for the caller to make the rows of bits shorter.
    """
    n, width = bits.shape
    near, weak, order = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
    bound, own, mask = np.empty(n + 1, dtype=np.int32), np.empty(width, np.uint64), np.zeros(width, np.uint64)
    seen = np.full(cols.max() + 1 if n else 1, -1, dtype=np.int32)
    for u in range(n):
        put(mask, u)
    left, removed = n, 0
    half = left // 2 if left > 512 else -1
    for u in range(begin, n):
        for word in range(width):
            own[word] = bits[u, word] & mask[word]
        k, lost = members(own, near), -1
        if k >= need - 1:
            lost = _survives(bits, own, rows, need, near, k, bound, order, weak)
        if lost < 0 or distinct(cols, near, k, seen, u) < need - 1:
            drop(mask, u)
            alive[u] = False
            removed += k
            left -= 1
            if left == half:
                return u + 1, removed
            continue
        removed += lost
        for i in range(lost):
            drop(bits[u], weak[i])
            drop(bits[weak[i]], u)
    return n, removed


def prune(bits: Words, rows: Codes, cols: Codes, need: int) -> tuple[Words, Codes]:
    """Core and truss until a pass removes hardly anything. Returns what is left, and its old numbers.

    All cliques of at least ``need`` vertices stay, whatever the order of removal.
    """
    kept = np.arange(len(bits), dtype=np.int32)
    begin, gone = 0, 0
    alive = np.ones(len(bits), dtype=np.bool_)
    edges = int(np.bitwise_count(bits).sum()) // 2
    while len(kept):
        stop, removed = thin_out(bits, rows[kept], cols[kept], need, alive, begin)
        gone += removed
        finished = stop >= len(kept)
        begin = 0 if finished else int(alive[:stop].sum())
        bits, place = compact(bits, alive)
        kept, alive = kept[place], np.ones(len(place), dtype=np.bool_)
        if finished:
            if gone * ENOUGH <= edges:
                break
            edges, gone = edges - gone, 0
    return bits, kept


@kernel
def compact(bits: Words, alive: Flags) -> tuple[Words, Codes]:
    """Adjacency among the living vertices, and their old numbers."""
    kept = np.flatnonzero(alive).astype(np.int32)
    place, mask = np.zeros(len(bits), dtype=np.int32), np.zeros(bits.shape[1], dtype=np.uint64)
    for k in range(len(kept)):
        place[kept[k]] = k
        put(mask, kept[k])
    small = np.zeros((len(kept), words_for(len(kept))), dtype=np.uint64)
    for k in range(len(kept)):
        row, new = bits[kept[k]], small[k]
        for i in range(len(mask)):
            word = row[i] & mask[i]
            while word != ZERO:
                put(new, place[(i << 6) + lowest(word)])
                word &= word - ONE
    return small, kept
