"""The product graph of two labelled files with distances, never larger in memory than asked for [KROLL]_ (Def. 6).

A vertex is a pair (target record, identification record) whose labels may match; two vertices are adjacent when they
differ on both sides and the two distances agree. The edges of one vertex come from a *window join*: the distances of its
two records, sorted once within each label, are walked side by side, so that a vertex costs its degree plus the length
of the two files and no pair of vertices is ever tested and refused. All records are numbered so that equal labels are
neighbours (``start`` says where each label begins); vertices are numbered by target record, then identification record.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unmask.kernels.bits import Words, put, words_for

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Flags = NDArray[np.bool_]


class Window(NamedTuple):
    """When two distances agree: ``d2 - low_slope * d1 > low`` and ``d2 - high_slope * d1 < high`` (``>=``, ``<=`` if closed)."""

    low: float
    high: float
    closed: bool
    low_slope: float = 1.0
    high_slope: float = 1.0


class Sides(NamedTuple):
    """Two files made ready for window joins."""

    near1: Floats  # (n1, n1): distances of each target record, rising within each label
    who1: Shorts  # (n1, n1): whose they are
    near2: Floats  # (n2, n2): the same of the identification file
    who2: Shorts
    start1: Ints  # (labels + 1,): first target record of each label
    start2: Ints
    couples: Ints  # (c, 2): labels that may match, target then identification, sorted
    shift: Ints  # (c,): where the couple's columns begin among the candidates of a target record
    first: Ints  # (n1 + 1,): first vertex of each target record
    window: Window


@njit(cache=True, nogil=True)
def agree(window: Window, d1: float, d2: float) -> bool:
    """Say whether the identification distance d2 agrees with the target distance d1."""
    above, below = d2 - window.low_slope * d1, d2 - window.high_slope * d1
    if window.closed:
        return above >= window.low and below <= window.high
    return above > window.low and below < window.high


def spread(work: Callable[[int, int], None], n: int, *, least: int = 2000) -> None:
    """Call ``work(begin, step)`` in as many threads as there are cores: each does items begin, begin + step, ... below n.

    Items write to places of their own, so that the answer does not depend on the number of threads.
    """
    threads = min(os.cpu_count() or 1, max(1, n // least))
    if threads == 1:
        work(0, 1)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda begin: work(begin, threads), range(threads)))


@njit(cache=True, nogil=True)
def _sorted_rows(distances: Floats, start: Ints, near: Floats, who: Shorts, begin: int, step: int) -> None:
    for v in range(begin, len(distances), step):
        for block in range(len(start) - 1):
            a, b = start[block], start[block + 1]
            order = np.argsort(distances[v, a:b], kind="mergesort")
            for k in range(b - a):
                near[v, a + k] = distances[v, a + order[k]]
                who[v, a + k] = a + order[k]


@njit(cache=True, nogil=True)
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


def sides(d1: Floats, d2: Floats, start1: Ints, start2: Ints, couples: Ints, window: Window) -> Sides:
    """Sort both files' distances within labels and number the vertices."""
    near1, who1 = np.empty_like(d1), np.empty(d1.shape, dtype=np.int32)
    near2, who2 = np.empty_like(d2), np.empty(d2.shape, dtype=np.int32)
    spread(lambda begin, step: _sorted_rows(d1, start1, near1, who1, begin, step), len(d1), least=300)
    spread(lambda begin, step: _sorted_rows(d2, start2, near2, who2, begin, step), len(d2), least=300)
    shift, first = _vertex_ranges(start1, start2, couples)
    return Sides(near1, who1, near2, who2, start1, start2, couples, shift, first, window)


@njit(cache=True, nogil=True)
def vertices(start1: Ints, start2: Ints, couples: Ints, first: Ints) -> tuple[Shorts, Shorts]:
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


@njit(cache=True, nogil=True)
def neighbours(s: Sides, v: int, w: int, out: Shorts) -> int:
    """Write the vertices adjacent to (v, w); return how many. Sorted windows, one pass per couple of labels."""
    k = 0
    for c in range(len(s.couples)):
        a, b = s.couples[c]
        lo, end, offset = s.start2[b], s.start2[b + 1], s.shift[c] - s.start2[b]
        for i in range(s.start1[a], s.start1[a + 1]):
            d1, r = s.near1[v, i], s.who1[v, i]
            # d2 - slope * d1 is monotone in both, so the window's lower end only moves up
            while lo < end and _under(s.window, d1, s.near2[w, lo]):
                lo += 1
            if r == v:
                continue
            j = lo
            while j < end and not _over(s.window, d1, s.near2[w, j]):
                if s.who2[w, j] != w:
                    out[k] = s.first[r] + offset + s.who2[w, j]
                    k += 1
                j += 1
    return k


@njit(cache=True, nogil=True)
def _under(window: Window, d1: float, d2: float) -> bool:
    difference = d2 - window.low_slope * d1
    return difference < window.low or (not window.closed and difference == window.low)


@njit(cache=True, nogil=True)
def _over(window: Window, d1: float, d2: float) -> bool:
    difference = d2 - window.high_slope * d1
    return difference > window.high or (not window.closed and difference == window.high)


@njit(cache=True, nogil=True)
def _matching(s: Sides, v: int, w: int) -> int:
    """Most records that can be paired one to one so that both distances to (v, w) agree, label by label.

    Windows move up with d1, so that taking the first free record inside the window is optimal within a couple.
    """
    total = 0
    for c in range(len(s.couples)):
        a, b = s.couples[c]
        j, end = s.start2[b], s.start2[b + 1]
        for i in range(s.start1[a], s.start1[a + 1]):
            if s.who1[v, i] == v:
                continue
            d1 = s.near1[v, i]
            while j < end and (s.who2[w, j] == w or _under(s.window, d1, s.near2[w, j])):
                j += 1
            if j == end:
                break
            if not _over(s.window, d1, s.near2[w, j]):
                total += 1
                j += 1
    return total


@njit(cache=True, nogil=True)
def _bounds(s: Sides, rows: Shorts, cols: Shorts, out: Shorts, begin: int, step: int) -> None:
    for u in range(begin, len(rows), step):
        out[u] = 1 + _matching(s, rows[u], cols[u])


def matching_bounds(s: Sides, rows: Shorts, cols: Shorts) -> Shorts:
    """Upper bound of the clique through each vertex: one-to-one agreements seen from it, and itself."""
    out = np.empty(len(rows), dtype=np.int32)
    spread(lambda begin, step: _bounds(s, rows, cols, out, begin, step), len(rows))
    return out


@njit(cache=True, nogil=True)
def _fill(s: Sides, rows: Shorts, cols: Shorts, place: Shorts, bits: Words, begin: int, step: int) -> None:
    found = np.empty(len(place), dtype=np.int32)
    for k in range(begin, len(rows), step):
        for i in range(neighbours(s, rows[k], cols[k], found)):
            if place[found[i]] >= 0:
                put(bits[k], place[found[i]])


def adjacency(s: Sides, keep: Shorts, rows: Shorts, cols: Shorts) -> Words:
    """Adjacency of the kept vertices (rising numbers, with their records) as rows of bits."""
    place = np.full(s.first[-1], -1, dtype=np.int32)
    place[keep] = np.arange(len(keep), dtype=np.int32)
    bits = np.zeros((len(keep), words_for(len(keep))), dtype=np.uint64)
    spread(lambda begin, step: _fill(s, rows, cols, place, bits, begin, step), len(keep))
    return bits


@njit(cache=True, nogil=True)
def adjacency_of(d1: Floats, d2: Floats, rows: Shorts, cols: Shorts, window: Window) -> Words:
    """Adjacency of a few given vertices by testing each pair: for cores that are small already."""
    k = len(rows)
    bits = np.zeros((k, words_for(k)), dtype=np.uint64)
    for i in range(k):
        for j in range(i):
            distinct = rows[i] != rows[j] and cols[i] != cols[j]
            if distinct and agree(window, d1[rows[i], rows[j]], d2[cols[i], cols[j]]):
                put(bits[i], j)
                put(bits[j], i)
    return bits
