"""The product graph of two labelled files with distances, never larger in memory than asked for [KROLL]_ (Def. 6).

A vertex is a pair (target record, identification record) whose labels may match; two vertices are adjacent when they
differ on both sides and the two distances agree. The edges of one vertex come from a *window join*: the distances of
its two records, sorted once within each label, are walked side by side, so that a vertex costs its degree plus the
length of the two files and no pair of vertices is ever tested and refused. All records are numbered so that equal
labels are neighbours (``start`` says where each label begins); vertices are numbered by target record, then
identification record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.cliques.bits import ONE, Words, mirror, words_for
from unmask.kernels.compiling import in_strides, kernel, lean

Flags = NDArray[np.bool_]


class Window(NamedTuple):
    """When two distances agree: ``d2 - low_slope * d1 > low`` and ``d2 - high_slope * d1 < high``, both strictly.

    A closed window is an open one whose ends are moved to the next floating-point number.
    """

    low: float
    high: float
    low_slope: float = 1.0
    high_slope: float = 1.0

    def closed(self) -> Window:
        """Return the window with its ends."""
        return self._replace(low=float(np.nextafter(self.low, -np.inf)), high=float(np.nextafter(self.high, np.inf)))


class Sides(NamedTuple):
    """Two files made ready for window joins."""

    d1: Floats  # (n1, n1): distances of the target file
    d2: Floats  # (n2, n2): distances of the identification file
    near1: Floats  # (n1, n1): distances of each target record, rising within each label
    who1: Codes  # (n1, n1): whose they are
    near2: Floats  # (n2, n2): the same of the identification file
    who2: Codes
    start1: Ints  # (labels + 1,): first target record of each label
    start2: Ints
    couples: Ints  # (c, 2): labels that may match, target then identification, sorted
    shift: Ints  # (c,): where the couple's columns begin among the candidates of a target record
    first: Ints  # (n1 + 1,): first vertex of each target record
    window: Window


@kernel
def agree(window: Window, d1: float, d2: float) -> bool:
    """Say whether the identification distance d2 agrees with the target distance d1."""
    return d2 - window.low_slope * d1 > window.low and d2 - window.high_slope * d1 < window.high


@kernel
def _sorted_rows(distances: Floats, start: Ints, near: Floats, who: Codes, begin: int, step: int) -> None:
    for v in range(begin, len(distances), step):
        for block in range(len(start) - 1):
            a, b = start[block], start[block + 1]
            order = np.argsort(distances[v, a:b], kind="mergesort")
            for k in range(b - a):
                near[v, a + k] = distances[v, a + order[k]]
                who[v, a + k] = a + order[k]


@kernel
def _vertex_ranges(start1: Ints, start2: Ints, couples: Ints) -> tuple[Ints, Ints]:
    """Where each couple's columns begin, and where each target record's vertices begin."""
    width = np.zeros(len(start1) - 1, dtype=np.int64)
    shift = np.empty(len(couples), dtype=np.int64)
    for c in range(len(couples)):
        a, b = couples[c]
        shift[c] = width[a]
        width[a] += start2[b + 1] - start2[b]
    first = np.zeros(start1[-1] + 1, dtype=np.int64)
    for a in range(len(start1) - 1):
        for v in range(start1[a], start1[a + 1]):
            first[v + 1] = first[v] + width[a]
    return shift, first


def sides(
    d1: Floats, d2: Floats, start1: Ints, start2: Ints, couples: Ints, window: Window, *, joins: bool = True
) -> Sides:  # fmt: skip
    """Number the vertices and (``joins``: what window joins need) sort both files' distances within labels."""
    n1, n2 = (len(d1), len(d2)) if joins else (0, 0)
    near1, who1 = np.empty((n1, n1)), np.empty((n1, n1), dtype=np.int32)
    near2, who2 = np.empty((n2, n2)), np.empty((n2, n2), dtype=np.int32)
    if joins:
        in_strides(lambda begin, step: _sorted_rows(d1, start1, near1, who1, begin, step), n1, least=300)
        in_strides(lambda begin, step: _sorted_rows(d2, start2, near2, who2, begin, step), n2, least=300)
    shift, first = _vertex_ranges(start1, start2, couples)
    return Sides(d1, d2, near1, who1, near2, who2, start1, start2, couples, shift, first, window)


@kernel
def vertices(start1: Ints, start2: Ints, couples: Ints, first: Ints) -> tuple[Codes, Codes]:
    """Target and identification record of every vertex, in the order of the numbering."""
    rows = np.empty(first[-1], dtype=np.int32)
    cols = np.empty(first[-1], dtype=np.int32)
    fill = first[:-1].copy()
    for c in range(len(couples)):
        a, b = couples[c]
        for v in range(start1[a], start1[a + 1]):
            for w in range(start2[b], start2[b + 1]):
                rows[fill[v]], cols[fill[v]] = v, w
                fill[v] += 1
    return rows, cols


@lean
def neighbours(s: Sides, v: int, w: int, out: Codes) -> int:
    """Write the vertices adjacent to (v, w), return how many: sorted windows, one pass per couple of labels."""
    low, high, low_slope, high_slope = s.window
    near1, who1, near2, who2 = s.near1[v], s.who1[v], s.near2[w], s.who2[w]
    couples, start1, start2, shift, begin = s.couples, s.start1, s.start2, s.shift, s.first
    k = 0
    for c in range(len(couples)):
        a, b = couples[c, 0], couples[c, 1]
        lo, end, offset = start2[b], start2[b + 1], shift[c] - start2[b]
        for i in range(start1[a], start1[a + 1]):
            # d2 - slope * d1 is monotone in both, so the window's lower end only moves up
            floor, roof = low_slope * near1[i], high_slope * near1[i]
            while lo < end and not near2[lo] - floor > low:
                lo += 1
            r = who1[i]
            if r == v:
                continue
            first = begin[r] + offset
            j = lo
            while j < end and near2[j] - roof < high:
                if who2[j] != w:
                    out[k] = first + who2[j]
                    k += 1
                j += 1
    return k


@lean
def _matching(s: Sides, v: int, w: int) -> int:
    """Most records that can be paired one to one so that both distances to (v, w) agree, label by label.

    Windows move up with d1, so that taking the first free record inside the window is optimal within a couple.
    """
    low, high, low_slope, high_slope = s.window
    near1, who1, near2, who2 = s.near1[v], s.who1[v], s.near2[w], s.who2[w]
    couples, start1, start2 = s.couples, s.start1, s.start2
    total = 0
    for c in range(len(couples)):
        a, b = couples[c, 0], couples[c, 1]
        j, end = start2[b], start2[b + 1]
        for i in range(start1[a], start1[a + 1]):
            if who1[i] == v:
                continue
            floor = low_slope * near1[i]
            while j < end and (who2[j] == w or not near2[j] - floor > low):
                j += 1
            if j == end:
                break
            if near2[j] - high_slope * near1[i] < high:
                total += 1
                j += 1
    return total


@kernel
def _bounds(s: Sides, rows: Codes, cols: Codes, out: Codes, begin: int, step: int) -> None:
    for u in range(begin, len(rows), step):
        out[u] = 1 + _matching(s, rows[u], cols[u])


def matching_bounds(s: Sides, rows: Codes, cols: Codes) -> Codes:
    """Upper bound of the clique through each vertex: one-to-one agreements seen from it, and itself."""
    out = np.empty(len(rows), dtype=np.int32)
    in_strides(lambda begin, step: _bounds(s, rows, cols, out, begin, step), len(rows), least=2000)
    return out


@lean
def _compare(floor: Floats, roof: Floats, row: Floats, cols: Codes, low: float, high: float, out: Words) -> None:
    """Write, as bits, which distances agree: sixty-four at a stroke, as vector instructions do best."""
    for word in range(len(out)):
        f, r, c = floor[64 * word : 64 * word + 64], roof[64 * word : 64 * word + 64], cols[64 * word : 64 * word + 64]
        bits = np.uint64(0)
        for k in range(len(c)):
            far = row[c[k]]
            bits |= np.uint64((far - f[k] > low) & (far - r[k] < high)) << np.uint64(k)
        out[word] = bits


@kernel
def _fill(d1: Floats, d2: Floats, rows: Codes, cols: Codes, window: Window, bits: Words, begin: int, step: int) -> None:
    """Write each edge once, at its lower vertex. What must not be adjacent (the same record) agrees with nothing: NaN.

    The distances of a target record are spread over the vertices once for all vertices of it that follow each other.
    """
    low, high, low_slope, high_slope = window
    floor, roof, row, last = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(d2)), -1
    for u in range(begin, len(rows), step):
        v, w, word = rows[u], cols[u], u >> 6
        for x in range(64 * word, len(rows) if v != last else 0):
            distance = d1[v, rows[x]] if rows[x] != v else np.nan
            floor[x], roof[x] = low_slope * distance, high_slope * distance
        last = v
        row[:] = d2[w]
        row[w] = np.nan
        first = 64 * word
        _compare(floor[first:], roof[first:], row, cols[first:], low, high, bits[u, word:])
        bits[u, word] &= ~((ONE << np.uint64(u & 63)) - ONE)


def adjacency(s: Sides, rows: Codes, cols: Codes) -> Words:
    """Adjacency of given vertices as rows of bits: every pair is tested, which is less than walking sorted lists."""
    bits = np.zeros((len(rows), words_for(len(rows))), dtype=np.uint64)
    in_strides(lambda begin, step: _fill(s.d1, s.d2, rows, cols, s.window, bits, begin, step), len(rows), least=10_000)
    mirror(bits)
    return bits


@kernel
def adjacency_of(d1: Floats, d2: Floats, rows: Codes, cols: Codes, window: Window) -> Words:
    """The same of a few vertices, for kernels too."""
    bits = np.zeros((len(rows), words_for(len(rows))), dtype=np.uint64)
    _fill(d1, d2, rows, cols, window, bits, 0, 1)
    mirror(bits)
    return bits


@kernel
def consistency(s: Sides, rows: Codes, cols: Codes, known_rows: Codes, known_cols: Codes) -> Floats:
    """Share of the known matches, other than those of its own records, with which each vertex agrees."""
    share = np.zeros(len(rows))
    for u in range(len(rows)):
        agreed, asked = 0, 0
        for k in range(len(known_rows)):
            if rows[u] != known_rows[k] and cols[u] != known_cols[k]:
                asked += 1
                agreed += agree(s.window, s.d1[rows[u], known_rows[k]], s.d2[cols[u], known_cols[k]])
        share[u] = agreed / max(1, asked)
    return share
