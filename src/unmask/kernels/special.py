"""Special uniques (SUDA2): every minimal sample unique up to a size, exactly.

A record is unique on a set S of attributes when nobody shares its values there; S is a *minimal sample unique* (MSU)
of the record when no proper subset of S is unique [Elliot, Manning, Ford 2002; Manning, Haglin, Keane 2008]. Only
records that are unique on all attributes together have any.

How it is found: walk the sets in increasing order of their bit mask, so that all subsets of S come before S. Each step
refines the partition of the set without its lowest attribute and keeps only groups that can still tell something: two
classes or more, one of them a full-key unique. A class that falls out alone is unique on S; it is an MSU unless one of
its MSUs found before is a subset of S. Attributes with many values get the high bits: they split early, little is left.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unmask.kernels.partition import split

if TYPE_CHECKING:
    from collections.abc import Callable

Codes = NDArray[np.int32]
Masks = NDArray[np.int64]

MAX_ATTRIBUTES = 62  # attribute sets are bit masks in int64


class WorkBoundError(RuntimeError):
    """The walk was given up: it had looked at more classes than the caller allowed."""


def minimal_uniques(
    codes: Codes,
    counts: NDArray[np.int64],
    *,
    max_size: int | None = None,
    max_work: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Codes, Masks]:
    """Return (class, mask) of every minimal sample unique with at most ``max_size`` attributes, sorted by both.

    ``codes`` (classes x attributes, values 0..cardinality-1) are the *distinct* key combinations, ``counts`` their
    numbers of records. Bit k of a mask stands for column k. ``max_work`` bounds the number of classes looked at, over
    all sets; :class:`WorkBoundError` is raised when it is passed. ``progress(done, total)`` counts attribute sets.
    """
    n, m = codes.shape
    max_size = m if max_size is None else min(max_size, m)
    if n == 0 or m == 0 or max_size == 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    cards = codes.max(axis=0).astype(np.int64) + 1
    order = np.argsort(cards, kind="stable")
    narrow = np.uint8 if cards.max() <= 256 else np.int32  # a column that fits the cache is read twice as fast
    columns = np.ascontiguousarray(codes[:, order].T.astype(narrow))
    heads, links, masks, found = _walk(columns, cards[order], counts, max_size, max_work, progress)
    rows, places = _unlink(heads, links, found)
    del heads, links
    original = _restore(masks[places], order)
    by = np.lexsort((original, rows))
    return rows[by], original[by]


def _walk(columns, cards, counts, max_size, max_work, progress):  # type: ignore[no-untyped-def] # private, arrays in and out
    m, n = columns.shape
    alone = counts == 1
    sizes = max_size + 1
    store = (np.full(n, -1, np.int32), np.empty(max(n, 16), np.int32), np.empty(max(n, 16), np.int64), 0)
    everyone, whole = np.arange(n, dtype=np.int32), np.array([0, n], dtype=np.int32)
    scratch = (np.zeros(int(cards.max()), np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int32))
    levels = np.empty((sizes, n), np.int32), np.empty((sizes, n // 2 + 2), np.int32)
    total = sum(comb(m, k) for k in range(1, max_size + 1))
    done, work = 0, 0
    for high in range(m):
        rows, starts = np.empty(n, np.int32), np.empty(n // 2 + 2, np.int32)
        groups, *store = _refine(columns[high], alone, everyone, whole, 1, rows, starts, 1 << high, *store, *scratch)
        done, work = done + 1, work + n
        for low in range(high if max_size > 1 else 0):
            work, sets, *store = _descend(
                columns, alone, rows, starts, groups, high, low, max_size, *levels, *store, *scratch, work, max_work or -1
            )
            done += sets
            if max_work is not None and work > max_work:
                raise WorkBoundError
            if progress is not None:
                progress(_covered(high, low, max_size), total)
    if progress is not None:
        progress(total, total)
    return store


def _covered(high: int, low: int, max_size: int) -> int:
    """Count the sets whose mask is at most that of the last set below {high, low}: all were looked at or skipped."""
    below_high = sum(comb(high, k) for k in range(1, max_size + 1))
    below_low = sum(comb(low + 1, k) for k in range(max_size))
    return below_high + below_low


def _restore(masks: Masks, order: NDArray[np.intp]) -> Masks:
    """Bits in the order of the walk back to bits in the caller's order of columns."""
    restored = np.zeros_like(masks)
    for position, column in enumerate(order):
        restored |= ((masks >> position) & 1) << np.int64(column)
    return restored


@njit(cache=True)
def _unlink(heads, links, found):  # type: ignore[no-untyped-def] # pragma: no cover - compiled
    rows, places = np.empty(found, np.int32), np.empty(found, np.int32)
    at = 0
    for row in range(heads.shape[0]):
        place = heads[row]
        while place >= 0:
            rows[at], places[at] = row, place
            at += 1
            place = links[place]
    return rows, places


@njit(cache=True)
def _refine(column, alone, rows, starts, groups, out, ends, mask, heads, links, masks, found, tally, touched, edges):  # type: ignore[no-untyped-def] # pragma: no cover - compiled
    """Split every group by one column; note new minimal uniques; keep the groups that can still tell something."""
    at, kept = 0, 0
    for g in range(groups):
        parts = split(column, rows, starts[g], starts[g + 1], out, at, edges, tally, touched)
        for p in range(parts):
            begin, end = edges[p], edges[p + 1]
            if end - begin == 1:
                row = out[begin]
                if alone[row]:
                    place = heads[row]
                    while place >= 0 and masks[place] & mask != masks[place]:
                        place = links[place]
                    if place < 0:  # no subset of S is unique: S is minimal
                        if found == links.shape[0]:
                            wider, longer = np.empty(2 * found, np.int32), np.empty(2 * found, np.int64)
                            wider[:found], longer[:found] = links, masks
                            links, masks = wider, longer
                        links[found], masks[found], heads[row] = heads[row], mask, found
                        found += 1
                continue
            telling = False
            for i in range(begin, end):
                if alone[out[i]]:
                    telling = True
                    break
            if telling:
                ends[kept] = at
                kept += 1
                for i in range(begin, end):
                    out[at] = out[i]
                    at += 1
    ends[kept] = at
    return kept, heads, links, masks, found


@njit(cache=True)
def _descend(
    columns, alone, rows, starts, groups, high, low, max_size, row_levels, start_levels,
    heads, links, masks, found, tally, touched, edges, work, max_work,
):  # type: ignore[no-untyped-def] # pragma: no cover - compiled
    """Walk all sets below {high, low} (attributes under ``low`` added), depth first and in increasing order of mask."""
    chain = np.empty(max_size, np.int64)  # the attribute added at each depth
    kept = np.empty(max_size, np.int64)  # the groups left there
    chain[0], depth, sets = low, 0, 0
    mask = (np.int64(1) << high) | (np.int64(1) << low)
    fresh = True
    while depth >= 0:
        if fresh:
            parents, edges_in = (rows, starts) if depth == 0 else (row_levels[depth - 1], start_levels[depth - 1])
            many = groups if depth == 0 else kept[depth - 1]
            work += edges_in[many]
            sets += 1
            kept[depth], heads, links, masks, found = _refine(
                columns[chain[depth]], alone, parents, edges_in, many, row_levels[depth], start_levels[depth], mask,
                heads, links, masks, found, tally, touched, edges,
            )
            if 0 <= max_work < work:
                break
            if depth + 2 < max_size and kept[depth] > 0 and chain[depth] > 0:
                depth += 1
                chain[depth] = 0
                mask |= np.int64(1)
                continue
        # the next sibling of this set, or back to its parent
        if depth == 0:
            break
        mask ^= np.int64(1) << chain[depth]
        chain[depth] += 1
        fresh = chain[depth] < chain[depth - 1]
        if fresh:
            mask |= np.int64(1) << chain[depth]
        else:
            depth -= 1
    return work, sets, heads, links, masks, found
