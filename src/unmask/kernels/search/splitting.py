"""Points in tree order: ranges of leaves are split at medians until each is one leaf.

A range is split on the attribute where random pairs differ most, at the multiple of 16**h leaves nearest to the median:
see the top of tree.py. What is sorted apart are keys of 64 bits, a number above and its point below.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import EUCLIDEAN, LANES, LEAF, Codes, Ints, Singles
from unmask.kernels.compiling import in_chunks, inlined, inner, kernel, machine

Kinds = tuple[Singles, Singles, int, int]  # contributions of missing values and unequal codes, p, norm

INFINITE = 0x7F800000  # bits of an infinite number; those of a missing one are more
PAIRS = 128  # that tell on which attribute a range is split
_SHARED, _TASKS = 512, 64  # leaves from which on threads share the splitting, and ranges that are then given out


def split_leaves(table: Singles, kinds: Kinds, order: Ints, n_leaves: int) -> None:
    """Put the points in tree order: split ranges of leaves until each is one leaf, the large ones in threads."""
    bits, keys, ranges = table.view(np.int32), np.empty((2, len(table)), np.int64), [(0, n_leaves)]

    def split_all(*, once: bool) -> list[int]:
        middles = [0] * len(ranges)

        def work(part: slice) -> None:
            first, last = ranges[part.start]
            middles[part.start] = _split_range(table, kinds, order, (bits, keys), first, last, once=once)

        in_chunks(work, len(ranges), chunk=1)
        return middles

    while n_leaves >= _SHARED and len(ranges) < _TASKS:
        middles = split_all(once=True)
        ranges = [half for (a, b), c in zip(ranges, middles, strict=True) for half in ((a, c), (c, b))]
    split_all(once=False)


@kernel
def _split_range(
    table: Singles,
    kinds: Kinds,
    order: Ints,
    keys: tuple[Codes, Ints],
    first: int,
    last: int,
    once: bool,  # noqa: FBT001
) -> int:
    """Split a range of leaves, once or down to single leaves; returns the first leaf of the second half.

    `keys` are the bits of the table and room for two keys of each point.
    """
    n, todo, halfway = table.shape[0], [(first, last)], last
    totals = np.empty(table.shape[1], np.float32)
    while todo:
        first, last = todo.pop()
        if last - first <= 1:
            continue
        middle = first + _left_part(last - first)
        a, b = first * LEAF, min(n, last * LEAF)
        k = _widest(table, order[a:b], kinds, totals)
        _sort_apart(keys[0], k, order[a:b], keys[1][:, a:b], (middle - first) * LEAF)
        if once:
            halfway = middle
            continue
        todo.append((first, middle))
        todo.append((middle, last))
    return halfway


@inner
def _left_part(count: int) -> int:
    """Leaves of the left side: half of them, in multiples of the largest power of 16 below their number."""
    unit = 1
    while unit * LANES < count:
        unit *= LANES
    return ((count + unit - 1) // unit // 2) * unit


@inner
def _widest(table: Singles, order: Ints, kinds: Kinds, totals: Singles) -> int:
    """Return the attribute with the largest mean contribution over some pairs spread over the range."""
    missing, step, p, norm = kinds
    n = order.shape[0]
    half = n // 2
    stride = max(1, half // PAIRS)
    for k in range(totals.shape[0]):
        totals[k] = 0.0
    for i in range(0, half, stride):
        one, other = order[i], order[i + half]
        for k in range(p):  # two plain loops: they become vector instructions
            gap = abs(table[one, k] - table[other, k])
            part = gap * gap if norm == EUCLIDEAN else gap
            totals[k] += part if gap == gap else missing[k]  # noqa: PLR0124
        for k in range(p, totals.shape[0]):
            gap = table[one, k] - table[other, k]
            part = step[k] if gap != 0 else np.float32(0.0)
            totals[k] += part if gap == gap else missing[k]  # noqa: PLR0124
    best = 0
    for k in range(1, totals.shape[0]):
        if totals[k] > totals[best]:
            best = k
    return best


@inner
def _sort_apart(bits: Codes, k: int, order: Ints, keys: Ints, rank: int) -> None:
    """Put the `rank` points that are smallest in an attribute first.

    A key is a number's bits, which ascend as the numbers do once those of negative ones are turned round, and the point
    below them: no two are equal, however many numbers are. What is missing comes last.
    """
    for i in range(order.shape[0]):
        word = int(bits[order[i], k])
        if word & 0x7FFFFFFF > INFINITE:
            word = INFINITE
        keys[0, i] = (word ^ ((word >> 31) & 0x7FFFFFFF)) << 32 | order[i]
    _select(keys[0], rank, keys[1])
    for i in range(order.shape[0]):
        order[i] = keys[0, i] & 0xFFFFFFFF


@inlined
def _select(keys: Ints, rank: int, room: Ints) -> None:
    """Put the `rank` smallest of different keys first: quickselect."""
    left, right = 0, keys.shape[0]
    while right - left > 1:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        middle = divide(keys, left, right, max(pivot, min(a, c) + 1), room)  # of two: the larger
        if rank < middle:
            right = middle
        else:
            left = middle


@machine
def divide(keys: Ints, first: int, last: int, pivot: int, room: Ints) -> int:
    """Put those of a range of keys first that are smaller than a pivot; returns where the others begin."""
    middle, others = first, 0
    for i in range(first, last):
        key = keys[i]
        keys[middle], room[others] = key, key
        middle, others = middle + int(key < pivot), others + int(key >= pivot)
    keys[middle:last] = room[:others]
    return middle
