"""All edges of a product graph that fits in rows of bits: every pair of vertices tested, sixty-four at a stroke.

Two vertices are adjacent when both records differ and the distances agree. Spread out over the vertices, the distances
of one target and one identification record are two long lines of numbers, and comparing them is what vector
instructions do best: a third of a nanosecond for a pair, less than walking sorted lists costs for an edge. What must
not be adjacent (the same record) is not a number, and agrees with nothing.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.cliques.bits import Words, mirror, words_for
from unmask.kernels.cliques.product import Sides
from unmask.kernels.compiling import in_strides, kernel, lean

RECORDS = 32  # target records at a time
WORDS = 16  # of 64 vertices at a time: what a core's own memory holds


@lean
def _compare(floor: Floats, roof: Floats, far: Floats, low: float, high: float, out: Words) -> None:
    """Write, as bits, which of the numbers agree."""
    for word in range(len(out)):
        f, r, d = floor[64 * word : 64 * word + 64], roof[64 * word : 64 * word + 64], far[64 * word : 64 * word + 64]
        bits = np.uint64(0)
        for k in range(64):
            bits |= np.uint64((d[k] - f[k] > low) & (d[k] - r[k] < high)) << np.uint64(k)
        out[word] = bits


@kernel
def _blocks(start: Ints, couples: Ints) -> Ints:
    """Return (couple, first target record, end) of every few target records that share their candidates."""
    total = 0
    for c in range(len(couples)):
        total += (start[couples[c, 0] + 1] - start[couples[c, 0]] + RECORDS - 1) // RECORDS
    blocks, k = np.empty((total, 3), dtype=np.int64), 0
    for c in range(len(couples)):
        end = start[couples[c, 0] + 1]
        for v in range(start[couples[c, 0]], end, RECORDS):
            blocks[k, 0], blocks[k, 1], blocks[k, 2] = c, v, min(v + RECORDS, end)
            k += 1
    return blocks


@kernel
def _fill(s: Sides, rows: Codes, cols: Codes, blocks: Ints, bits: Words, begin: int, step: int) -> None:
    """Write each edge once, at the vertex of the lower target record."""
    low, high, low_slope, high_slope = s.window
    floor, roof = np.empty((RECORDS, 64 * WORDS)), np.empty((RECORDS, 64 * WORDS))
    far = np.empty(64 * WORDS)
    for item in range(begin, len(blocks), step):
        c, v0, v1 = blocks[item]
        b = s.couples[c, 1]
        for word in range(s.first[v0 + 1] >> 6, bits.shape[1], WORDS):
            stop = min(word + WORDS, bits.shape[1])
            some, others = rows[64 * word : 64 * stop], cols[64 * word : 64 * stop]
            far[len(some) :] = np.nan
            for v in range(v0, v1):
                for x in range(len(some)):
                    distance = s.d1[v, some[x]] if some[x] > v else np.nan
                    floor[v - v0, x], roof[v - v0, x] = low_slope * distance, high_slope * distance
            for w in range(s.start2[b], s.start2[b + 1]):
                for x in range(len(some)):
                    far[x] = s.d2[w, others[x]] if others[x] != w else np.nan
                for v in range(v0, v1):
                    u = s.first[v] + s.shift[c] + w - s.start2[b]
                    _compare(floor[v - v0], roof[v - v0], far, low, high, bits[u, word:stop])


def all_pairs(s: Sides, rows: Codes, cols: Codes) -> Words:
    """Adjacency of all vertices as rows of bits; the sides need not be sorted."""
    bits = np.zeros((len(rows), words_for(len(rows))), dtype=np.uint64)
    blocks = _blocks(s.start1, s.couples)
    in_strides(lambda begin, step: _fill(s, rows, cols, blocks, bits, begin, step), len(rows), least=10_000)
    mirror(bits)
    return bits
