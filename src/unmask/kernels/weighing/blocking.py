"""Best candidates by match weight without looking at every pair, and none of them missed.

The records of the release are cut in two, again and again, where agreement tells the most: on the attribute on which
the records of a block differ by the most bits. Every block knows the range of each attribute, and whether a value is
missing in it. From that follows the greatest weight that any record of the block can have for a person: on each
attribute the closest level that its range allows, or the weight of a missing value if that is greater. A block whose
bound is below the wanted weight holds no pair that reaches it, and is left out. That is the whole proof: nothing else
is ever left out. It needs no order among weights: the bound takes the greatest of all levels from there on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.pairs import level_of
from unmask.kernels.weighing.weighing import Scale, Tell, Weighing, blank, take

LEAF = 16
JUDGES = 64  # records of a block that tell which attribute to cut
MARGIN = 24 * math.log(2)  # how far below the best the next one is looked for: odds of 16 million
SLACK = 0.01  # share of a person's sum of likelihoods that candidates left out may have together


class Blocks(NamedTuple):
    """A binary tree over the release: the children of block b are first[b] and first[b] + 1; a leaf has first 0."""

    records: Floats  # (n, attributes) in the order of the leaves
    rows: Ints  # their rows
    first: Ints
    begin: Ints
    end: Ints
    low: Floats  # (blocks, attributes) over the present values; inf and -inf where there are none
    high: Floats
    gaps: NDArray[np.bool_]  # a value is missing


class Walk(NamedTuple):
    """Blocks that are still to be looked at, and the greatest weight in each; the whole release is the first."""

    stack: Ints
    bounds: Floats


def _new_walk(blocks: Blocks) -> Walk:
    depth = 4 * int(np.ceil(np.log2(len(blocks.first) + 2))) + 16
    return Walk(np.zeros(depth, np.int64), np.full(depth, math.inf))


def cut_blocks(records: Floats, scale: Scale) -> Blocks:
    """Cut the release into blocks of at most LEAF records."""
    n = len(records)
    rows = np.arange(n)
    room = 4 * (n // LEAF + 2)
    first, begin, end = (np.zeros(room, dtype=np.int64) for _ in range(3))
    end[0], used, at = n, 1, 0
    while at < used:
        mine = slice(begin[at], end[at])
        k = _widest(records, rows[mine], scale) if end[at] - begin[at] > LEAF else -1
        if k >= 0:
            half = (begin[at] + end[at]) // 2
            order = np.argpartition(records[rows[mine], k], half - begin[at])
            rows[mine] = rows[mine][order]
            first[at] = used
            begin[used], end[used], begin[used + 1], end[used + 1] = begin[at], half, half, end[at]
            used += 2
        at += 1
    ordered = np.ascontiguousarray(records[rows])
    ranges = _ranges(ordered, begin[:used], end[:used])
    return Blocks(ordered, rows, first[:used], begin[:used], end[:used], *ranges)


def _widest(records: Floats, rows: Ints, scale: Scale) -> int:
    """The attribute on which the records of a block lose the most bits against its median; -1: they are all equal."""
    some = records[rows[:: max(1, len(rows) // JUDGES)]]
    return int(_most_told(np.ascontiguousarray(some), scale.edges, scale.n_edges, scale.table))


@kernel
def _most_told(some: Floats, edges: Floats, n_edges: Ints, table: Floats) -> int:
    best, chosen = 1e-12, -1
    for k in range(some.shape[1]):
        middle = np.sort(some[:, k])[some.shape[0] // 2]  # missing values stand last
        lost = 0.0
        for i in range(some.shape[0]):
            lost += table[k].max() - table[k, level_of(abs(some[i, k] - middle), edges[k], n_edges[k])]
        same = True
        for i in range(1, some.shape[0]):
            same = same and (some[i, k] == some[0, k] or (some[i, k] != some[i, k] and some[0, k] != some[0, k]))
        if not same and lost > best:
            best, chosen = lost, k
    return chosen


@kernel
def _ranges(records: Floats, begin: Ints, end: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    blocks, m = begin.shape[0], records.shape[1]
    low, high = np.full((blocks, m), np.inf), np.full((blocks, m), -np.inf)
    gaps = np.zeros((blocks, m), dtype=np.bool_)
    for b in range(blocks):
        for i in range(begin[b], end[b]):
            for k in range(m):
                value = records[i, k]
                if value != value:  # noqa: PLR0124  NaN
                    gaps[b, k] = True
                else:
                    low[b, k], high[b, k] = min(low[b, k], value), max(high[b, k], value)
    return low, high, gaps


@inner
def _bound(blocks: Blocks, scale: Scale, x: Floats, b: int) -> float:
    """The greatest weight that a record of a block can have."""
    total = 0.0
    for k in range(x.shape[0]):
        last = scale.n_edges[k] + 1
        if x[k] != x[k]:
            total += scale.table[k, last]
            continue
        most = -math.inf
        if blocks.low[b, k] <= blocks.high[b, k]:
            gap = max(blocks.low[b, k] - x[k], x[k] - blocks.high[b, k], 0.0)
            most = scale.most[k, level_of(gap, scale.edges[k], scale.n_edges[k])]
        if blocks.gaps[b, k]:
            most = max(most, scale.table[k, last])
        total += most
    return total


@inner
def _weight(blocks: Blocks, scale: Scale, x: Floats, place: int, least: float) -> float:
    """Weight of a pair; -inf as soon as the attributes that are left cannot bring it to ``least``."""
    total = 0.0
    for k in range(x.shape[0]):
        total += scale.table[k, level_of(abs(x[k] - blocks.records[place, k]), scale.edges[k], scale.n_edges[k])]
        if total + scale.rest[k] < least:
            return -math.inf
    return total


@inner
def _next(blocks: Blocks, scale: Scale, x: Floats, least: float, walk: Walk, top: int) -> tuple[int, int]:
    """Return the next leaf that may hold a weight of ``least`` (-1: none is left), and the height of the stack.

    Of a block that is opened both halves go on the stack, the better one on top.
    """
    while top > 0:
        top -= 1
        b = walk.stack[top]
        if walk.bounds[top] < least:
            continue
        first = blocks.first[b]
        if not first:
            return b, top
        one, two = _bound(blocks, scale, x, first), _bound(blocks, scale, x, first + 1)
        better = first if one >= two else first + 1
        walk.stack[top], walk.bounds[top] = 2 * first + 1 - better, min(one, two)
        walk.stack[top + 1], walk.bounds[top + 1] = better, max(one, two)
        top += 2
    return -1, 0


@inner
def _start(walk: Walk) -> int:
    """Put the whole release on the stack."""
    walk.stack[0], walk.bounds[0] = 0, math.inf
    return 1


def weigh_blocks(
    left: Floats, blocks: Blocks, scale: Scale, truth: Ints, seed: int = 0, progress: Tell = None
) -> Weighing:
    """As `weigh`, but ``total`` may lack SLACK of the sum (never more), and ``second`` is sure within MARGIN."""
    out = blank(len(left))
    home = np.empty(len(blocks.rows), dtype=np.int64)
    home[blocks.rows] = np.arange(len(blocks.rows))

    def work(part: slice) -> None:
        _search(left, blocks, scale, truth, home, seed, np.arange(part.start, part.stop), _new_walk(blocks), out)

    in_chunks(work, len(left), progress=progress, chunk=64)
    return out


@kernel
def _search(
    left: Floats,
    blocks: Blocks,
    scale: Scale,
    truth: Ints,
    home: Ints,
    seed: int,
    queries: Ints,
    walk: Walk,
    out: Weighing,
) -> None:
    for i in queries:
        _best_of(left[i], blocks, scale, i, seed, walk, out)
        out.total[i] = out.best[i] + math.log(_sum_of(left[i], blocks, scale, out.best[i], walk))
        if truth[i] >= 0:
            out.true[i] = _weight(blocks, scale, left[i], home[truth[i]], -math.inf)


@inner
def _best_of(x: Floats, blocks: Blocks, scale: Scale, i: int, seed: int, walk: Walk, out: Weighing) -> None:
    """Best weight, its ties, and the next: blocks that cannot reach the next best, or MARGIN, are left out."""
    lot, top = 0.0, _start(walk)
    while True:
        b, top = _next(blocks, scale, x, max(out.second[i], out.best[i] - MARGIN), walk, top)
        if b < 0:
            return
        for place in range(blocks.begin[b], blocks.end[b]):
            least = max(out.second[i], out.best[i] - MARGIN)
            weight = _weight(blocks, scale, x, place, least)
            if weight >= least:
                lot = take(out, i, blocks.rows[place], weight, -1, seed, lot)


@inner
def _sum_of(x: Floats, blocks: Blocks, scale: Scale, best: float, walk: Walk) -> float:
    """Sum of exp(weight - best), but for candidates each below SLACK / n of the sum so far: at most SLACK in all."""
    total, each, top = 0.0, math.log(SLACK / blocks.rows.shape[0]), _start(walk)
    least = best + each
    while True:
        b, top = _next(blocks, scale, x, least, walk, top)
        if b < 0:
            return total
        for place in range(blocks.begin[b], blocks.end[b]):
            weight = _weight(blocks, scale, x, place, least)
            if weight >= least:
                total += math.exp(weight - best)
        least = best + each + math.log(max(total, 1.0))


def pairs_in_blocks(left: Floats, blocks: Blocks, scale: Scale, least: float) -> tuple[Ints, Ints, Floats]:
    """List every pair whose weight is at least ``least``: queries, rows of the release, weights."""
    parts: dict[int, tuple[Ints, Ints, Floats]] = {}

    def work(part: slice) -> None:
        parts[part.start] = _above(left, blocks, scale, least, np.arange(part.start, part.stop), _new_walk(blocks))

    in_chunks(work, len(left), chunk=256)
    found = [parts[start] for start in sorted(parts)]
    rows, points, weights = (np.concatenate([entry[c] for entry in found]) for c in range(3))
    return rows, points, weights


@kernel
def _above(
    left: Floats, blocks: Blocks, scale: Scale, least: float, queries: Ints, walk: Walk
) -> tuple[Ints, Ints, Floats]:
    rows, points, weights = [np.int64(0)], [np.int64(0)], [0.0]
    for i in queries:
        top = _start(walk)
        while True:
            b, top = _next(blocks, scale, left[i], least, walk, top)
            if b < 0:
                break
            for place in range(blocks.begin[b], blocks.end[b]):
                weight = _weight(blocks, scale, left[i], place, least)
                if weight >= least:
                    rows.append(i)
                    points.append(blocks.rows[place])
                    weights.append(weight)
    return np.array(rows)[1:], np.array(points)[1:], np.array(weights)[1:]
