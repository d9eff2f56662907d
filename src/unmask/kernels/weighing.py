"""The weight of every pair, and of each record's best candidates: one pass over all pairs, and none of them kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.chunks import in_chunks
from unmask.kernels.compiling import kernel, lean
from unmask.kernels.lottery import draw
from unmask.kernels.patterns import level_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.kernels.space import Floats

Ints = NDArray[np.int64]

TIE = 1e-9  # weights that differ by less are equal: sums of logarithms in another order
NOTHING = -1e300  # no candidate


class Weighing(NamedTuple):
    """One entry per query; weights are natural logarithms."""

    row: Ints  # one of the best candidates, by lot
    best: Floats
    second: Floats  # the best weight that is no tie; -inf when there is none
    ties: Ints
    true: Floats  # weight of the true candidate; NaN when there is none
    total: Floats  # log of the sum over candidates of exp(weight)


def weigh(
    left: Floats,
    right: Floats,
    edges: Floats,
    n_edges: Ints,
    table: Floats,
    truth: Ints,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Weighing:
    """Add up ``table[attribute, level]`` over the attributes of every pair, and keep the best of each query."""
    out = blank(len(left))
    in_chunks(
        lambda part: _weigh(left, right, edges, n_edges, table, truth, seed, np.arange(part.start, part.stop), out),
        len(left),
        progress=progress,
        chunk=64,
    )
    return out


def blank(n: int) -> Weighing:
    """Room for the results of n queries."""
    zeros = np.zeros(n, dtype=np.int64)
    return Weighing(
        zeros - 1, np.full(n, NOTHING), np.full(n, NOTHING), zeros.copy(), np.full(n, np.nan), np.full(n, -np.inf)
    )


@lean
def take(out: Weighing, i: int, j: int, weight: float, truth: int, seed: int, lot: float) -> float:
    """Enter candidate j of query i; returns the lot of the candidate that stands in ``row``."""
    if j == truth:
        out.true[i] = weight
    if weight == -math.inf:
        return lot
    top = out.total[i]
    if weight <= top:
        out.total[i] = top + math.log1p(math.exp(weight - top))
    else:
        out.total[i] = weight + math.log1p(math.exp(top - weight))
    if weight > out.best[i] + TIE:
        out.second[i] = out.best[i]
        out.best[i], out.ties[i], out.row[i] = weight, 1, j
        return draw(seed, i, j, 5)
    if weight >= out.best[i] - TIE:
        out.ties[i] += 1
        own = draw(seed, i, j, 5)
        if own < lot:
            out.row[i] = j
            return own
        return lot
    out.second[i] = max(out.second[i], weight)
    return lot


@kernel
def _weigh(
    left: Floats,
    right: Floats,
    edges: Floats,
    n_edges: Ints,
    table: Floats,
    truth: Ints,
    seed: int,
    queries: Ints,
    out: Weighing,
) -> None:
    for i in queries:
        lot = 0.0
        for j in range(right.shape[0]):
            weight = 0.0
            for k in range(left.shape[1]):
                weight += table[k, level_of(abs(left[i, k] - right[j, k]), edges[k], n_edges[k])]
            lot = take(out, i, j, weight, truth[i], seed, lot)


def pairs_above(
    left: Floats, right: Floats, edges: Floats, n_edges: Ints, table: Floats, least: float
) -> tuple[Ints, Ints, Floats]:
    """List every pair whose weight is at least ``least``: queries, points, weights."""
    parts: dict[int, tuple[Ints, Ints, Floats]] = {}

    def work(part: slice) -> None:
        parts[part.start] = _above(left, right, edges, n_edges, table, least, np.arange(part.start, part.stop))

    in_chunks(work, len(left), chunk=256)
    found = [parts[start] for start in sorted(parts)]
    rows, points, weights = (np.concatenate([entry[c] for entry in found]) for c in range(3))
    return rows, points, weights


@kernel
def _above(
    left: Floats, right: Floats, edges: Floats, n_edges: Ints, table: Floats, least: float, queries: Ints
) -> tuple[Ints, Ints, Floats]:
    room, used = 1024, 0
    rows, points, weights = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    for i in queries:
        for j in range(right.shape[0]):
            weight = 0.0
            for k in range(left.shape[1]):
                weight += table[k, level_of(abs(left[i, k] - right[j, k]), edges[k], n_edges[k])]
            if weight >= least:
                if used == room:
                    rows = np.concatenate((rows, np.empty(room, np.int64)))
                    points = np.concatenate((points, np.empty(room, np.int64)))
                    weights = np.concatenate((weights, np.empty(room)))
                    room *= 2
                rows[used], points[used], weights[used] = i, j, weight
                used += 1
    return rows[:used], points[:used], weights[:used]
