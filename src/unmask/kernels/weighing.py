"""Each record's best candidates by match weight: one pass over all pairs, of which none is kept.

Weights are natural logarithms; those within TIE are equal. `blank` and `take` keep the best candidates for other
kernels that pass over pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.draws import draw
from unmask.kernels.pairs import level_of

__all__ = ["TIE", "Scale", "Weighing", "blank", "pairs_above", "take", "weigh"]

Tell = Callable[[float], None] | None  # is told the share that is done

TIE = 1e-9  # weights that differ by less are equal: sums of logarithms in another order
NOTHING = -1e300  # no candidate
FAR = 50.0  # so far below the sum of all others a candidate does not change it


class Weighing(NamedTuple):
    """One entry per query; weights are natural logarithms."""

    row: Ints  # one of the best candidates, by draw
    best: Floats
    second: Floats  # the best weight that is no tie; -inf when there is none
    ties: Ints
    true: Floats  # weight of the true candidate; NaN when there is none
    total: Floats  # log of the sum over candidates of exp(weight)


class Scale(NamedTuple):
    """How close is how much: edges of the levels (inf beyond the last), their number, and the levels' weights."""

    edges: Floats
    n_edges: Ints
    table: Floats  # natural logarithms


def weigh(left: Floats, right: Floats, scale: Scale, truth: Ints, seed: int = 0, progress: Tell = None) -> Weighing:
    """Add up ``scale.table[attribute, level]`` over the attributes of every pair, and keep the best of each query."""
    out = blank(len(left))
    in_chunks(
        lambda part: _weigh(left, right, scale, truth, seed, np.arange(part.start, part.stop), out),
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


@inner
def take(out: Weighing, i: int, j: int, weight: float, truth: int, seed: int, lot: float) -> float:
    """Enter candidate j of query i; returns the lot of the candidate that stands in ``row``."""
    if j == truth:
        out.true[i] = weight
    if weight == -math.inf:
        return lot
    top = out.total[i]
    if weight > top:
        out.total[i] = weight + math.log1p(math.exp(top - weight))
    elif weight > top - FAR:
        out.total[i] = top + math.log1p(math.exp(weight - top))
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
def _weigh(left: Floats, right: Floats, scale: Scale, truth: Ints, seed: int, queries: Ints, out: Weighing) -> None:
    for i in queries:
        lot = 0.0
        for j in range(right.shape[0]):
            weight = 0.0
            for k in range(left.shape[1]):
                level = level_of(abs(left[i, k] - right[j, k]), scale.edges[k], scale.n_edges[k])
                weight += scale.table[k, level]
            lot = take(out, i, j, weight, truth[i], seed, lot)


def pairs_above(left: Floats, right: Floats, scale: Scale, least: float) -> tuple[Ints, Ints, Floats]:
    """List every pair whose weight is at least ``least``: queries, rows of the release, weights."""
    used = np.array([row[: n + 2].max() for row, n in zip(scale.table, scale.n_edges, strict=True)])
    rest = np.append(np.cumsum(used[:0:-1])[::-1], 0.0) + 1e-9  # what the attributes after each can add, rounded up
    parts: dict[int, tuple[Ints, Ints, Floats]] = {}

    def work(part: slice) -> None:
        parts[part.start] = _above(left, right, scale, least, rest, np.arange(part.start, part.stop))

    in_chunks(work, len(left), chunk=256)
    rows, points, weights = (np.concatenate([parts[start][c] for start in sorted(parts)]) for c in range(3))
    return rows, points, weights


@kernel
def _above(
    left: Floats, right: Floats, scale: Scale, least: float, rest: Floats, queries: Ints
) -> tuple[Ints, Ints, Floats]:
    rows, points, weights = [np.int64(0)], [np.int64(0)], [0.0]
    for i in queries:
        for j in range(right.shape[0]):
            weight = 0.0
            for k in range(left.shape[1]):
                level = level_of(abs(left[i, k] - right[j, k]), scale.edges[k], scale.n_edges[k])
                weight += scale.table[k, level]
                if weight + rest[k] < least:
                    weight = -math.inf
                    break
            if weight >= least:
                rows.append(i)
                points.append(np.int64(j))
                weights.append(weight)
    return np.array(rows)[1:], np.array(points)[1:], np.array(weights)[1:]
