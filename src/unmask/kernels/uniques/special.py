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

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, kernel, lowest
from unmask.kernels.uniques.partition import Levels, Scratch, by_cardinality, new_levels, new_scratch, restore, split

CHUNK = 1 << 16
MOST_TOLD = 21  # attributes up to which pairs are told by bits: four words for each class


class Found(NamedTuple):
    """MSUs as linked lists, one for each class: head of the list, next place, mask; how many places are taken.

    ``told``: a bit of each class for each attribute and each pair of them that is an MSU, where no larger subset
    matters: one look in place of a walk along a list. Else it is empty. With it there are no lists: ``heads`` says how
    many MSUs each class has, less one, and ``links`` whose each is.
    """

    heads: Codes
    links: Codes
    masks: Ints
    many: int
    told: Ints


class WorkBoundError(RuntimeError):
    """The walk was given up: it had looked at more classes than the caller allowed."""


def minimal_uniques(
    codes: Codes,
    counts: NDArray[np.int64],
    *,
    max_size: int | None = None,
    max_work: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Codes, Ints]:
    """Return (class, mask) of every minimal sample unique with at most ``max_size`` attributes, sorted by both.

    ``codes`` (classes x attributes, values 0..cardinality-1) are the *distinct* key combinations, ``counts`` their
    numbers of records. Bit k of a mask stands for column k. ``max_work`` bounds the number of classes looked at, over
    all sets; :class:`WorkBoundError` is raised when it is passed. ``progress`` is told the share of sets done.
    """
    n, m = codes.shape
    max_size = m if max_size is None else min(max_size, m)
    if n == 0 or m == 0 or max_size == 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    columns, order, n_codes = by_cardinality(codes)
    found = _walk(columns, n_codes, counts == 1, Bounds(max_size, max_work), progress)
    for start in range(0, found.many, CHUNK):  # in place, and few at a time: there may be many more MSUs than classes
        part = found.masks[start : min(start + CHUNK, found.many)]
        part[:] = restore(part, order)
    lay_out = _in_rows if found.told.shape[0] else _unlink
    return lay_out(found.heads, found.links, found.masks, found.many)


class Bounds(NamedTuple):
    """Attributes of a set, and classes that may be looked at (None: any number)."""

    size: int
    work: int | None


def _walk(
    columns: Codes,
    n_codes: int,
    alone: NDArray[np.bool_],
    bounds: Bounds,
    progress: Callable[[float], None] | None,
) -> Found:
    """Take each attribute as the highest of a set: one compiled call for all sets that it is the highest of."""
    m, n = columns.shape
    words = (m + comb(m, 2)) // 64 + 1 if bounds.size <= 3 and m <= MOST_TOLD else 0
    told = np.zeros((n if words else 0, words), np.int64)
    found = Found(np.full(n, -1, np.int32), np.empty(max(n, 16), np.int32), np.empty(max(n, 16), np.int64), 0, told)
    scratch, levels = new_scratch(n, n_codes), new_levels(n, bounds.size)
    work, most = 0, bounds.work or -1
    for high in range(m):
        order = np.argsort(columns[high], kind="stable") if words else None
        now = _ordered(found, order)
        near = (columns, alone) if order is None else (columns[: high + 1, order], alone[order])
        work, now = _descend(*near, levels, high, bounds.size, now, scratch, work, most)
        found = _restored(found, now, order)
        del near
        if bounds.work is not None and work > bounds.work:
            raise WorkBoundError
        if progress is not None:
            progress(_sets(high + 1, bounds.size) / _sets(m, bounds.size))
    return found


def _ordered(found: Found, order: Ints | None) -> Found:
    """The same with classes in the order of the highest attribute: groups then lie together, and so do their reads."""
    return found if order is None else found._replace(heads=found.heads[order], told=found.told[order])


def _restored(before: Found, after: Found, order: Ints | None) -> Found:
    """Classes by their own numbers again."""
    if order is None:
        return after
    before.heads[order], before.told[order] = after.heads, after.told
    fresh = after.links[before.many : after.many]
    fresh[:] = order[fresh]
    return after._replace(heads=before.heads, told=before.told)


def _sets(m: int, max_size: int) -> int:
    """Count the sets of m attributes, the empty one aside."""
    return sum(comb(m, k) for k in range(1, max_size + 1))


@kernel
def _unlink(heads: Codes, links: Codes, masks: Ints, found: int) -> tuple[Codes, Ints]:
    """Lay the linked lists of all classes out as two arrays: the class, and its MSUs in increasing order."""
    rows, sets = np.empty(found, np.int32), np.empty(found, np.int64)
    at = 0
    for row in range(heads.shape[0]):
        place, first = heads[row], at
        while place >= 0:
            rows[at], sets[at] = row, masks[place]
            at += 1
            place = links[place]
        _sort(sets, first, at)
    return rows, sets


@kernel
def _in_rows(heads: Codes, owners: Codes, masks: Ints, found: int) -> tuple[Codes, Ints]:
    """Lay MSUs out as `_unlink` does, where each says whose it is: no list has to be walked from place to place."""
    rows, sets = np.empty(found, np.int32), np.empty(found, np.int64)
    ends = np.empty(heads.shape[0], np.int64)
    at = 0
    for row in range(heads.shape[0]):
        ends[row] = at
        at += heads[row] + 1
    for place in range(found):
        row = owners[place]
        rows[ends[row]], sets[ends[row]] = row, masks[place]
        ends[row] += 1
    first = 0
    for row in range(heads.shape[0]):
        _sort(sets, first, ends[row])
        first = ends[row]
    return rows, sets


@inner
def _sort(values: Ints, first: int, last: int) -> None:
    """Put some values in increasing order (Shell's sort, each gap 4/9 of the last): numba's takes longer to compile."""
    gap = last - first
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for i in range(first + gap, last):
            value, at = values[i], i
            while at - gap >= first and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value


@kernel
def _note(row: int, mask: int, found: Found) -> Found:
    """Add S to the MSUs of a class that is unique on S, unless a subset of S is among them."""
    heads, links, masks, many, told = found
    if told.shape[0]:
        if _is_told(told, row, mask):
            return found
    else:
        place = heads[row]
        while place >= 0 and masks[place] & mask != masks[place]:
            place = links[place]
        if place >= 0:
            return found
    if many == links.shape[0]:
        wider, longer = np.empty(2 * many, np.int32), np.empty(2 * many, np.int64)
        for i in range(many):
            wider[i], longer[i] = links[i], masks[i]
        links, masks = wider, longer
    if told.shape[0]:
        links[many], masks[many], heads[row] = row, mask, heads[row] + 1
    else:
        links[many], masks[many], heads[row] = heads[row], mask, many
    return Found(heads, links, masks, many + 1, told)


@kernel
def _is_told(told: Ints, row: int, mask: int) -> bool:
    """Whether an attribute or a pair of attributes of S is an MSU of a class; if not, S of one or two is told now."""
    place, size, rest = 0, 0, mask
    while rest:
        b = lowest(rest)
        rest &= rest - 1
        place, size = _pair(b, b), size + 1
        if told[row, place >> 6] >> (place & 63) & 1:
            return True
        others = rest
        while others:
            place = _pair(lowest(others), b)
            others &= others - 1
            if told[row, place >> 6] >> (place & 63) & 1:
                return True
    if size <= 2:
        low = lowest(mask)
        place = _pair(low if size == 1 else lowest(mask & (mask - 1)), low)
        told[row, place >> 6] |= np.int64(1) << np.int64(place & 63)
    return False


@kernel
def _pair(high: int, low: int) -> int:
    """Place of a pair of attributes, or of one by itself (twice the same), among the bits of a class."""
    return high * (high + 1) // 2 + low


@kernel
def _refine(
    column: Codes,
    alone: NDArray[np.bool_],
    levels: Levels,
    depth: int,
    groups: int,
    mask: int,
    found: Found,
    scratch: Scratch,
) -> tuple[int, Found]:
    """Split every group of level ``depth - 1`` by one column into level ``depth``; note what falls out alone.

    Groups that can still tell something are kept: two classes or more, one of them a full-key unique.
    """
    rows, starts = levels.rows[depth - 1], levels.starts[depth - 1]
    out, ends = levels.rows[depth], levels.starts[depth]
    edges = scratch.edges
    at, kept = 0, 0
    for g in range(groups):
        parts = split(column, rows, starts[g], starts[g + 1], out, at, scratch)
        for p in range(parts):
            begin, end = edges[p], edges[p + 1]
            if end - begin == 1:
                if alone[out[begin]]:
                    found = _note(out[begin], mask, found)
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
    return kept, found


@kernel
def _descend(
    columns: Codes,
    alone: NDArray[np.bool_],
    levels: Levels,
    high: int,
    max_size: int,
    found: Found,
    scratch: Scratch,
    work: int,
    max_work: int,
) -> tuple[int, Found]:
    """Walk all sets whose highest attribute is ``high``, depth first, in increasing order of mask."""
    chain = np.empty(max_size + 1, np.int64)  # the attribute added at each depth
    kept = np.empty(max_size + 1, np.int64)  # the groups left there
    chain[1], kept[0], depth = high, 1, 1
    mask = np.int64(1) << chain[1]
    while depth > 0:
        column, many = columns[chain[depth]], kept[depth - 1]
        work += levels.starts[depth - 1, many]
        if 0 <= max_work < work:
            break
        kept[depth], found = _refine(column, alone, levels, depth, many, mask, found, scratch)
        if depth < max_size and chain[depth] > 0 and kept[depth] > 0:
            depth += 1
            chain[depth] = 0
            mask |= np.int64(1)
            continue
        while depth > 0:  # the next sibling of this set, or of its parent; {high} has none here
            mask ^= np.int64(1) << chain[depth]
            chain[depth] += 1
            if depth > 1 and chain[depth] < chain[depth - 1]:
                mask |= np.int64(1) << chain[depth]
                break
            depth -= 1
    return work, found
