"""The weight of every pair, and of each record's best candidates: one pass over all pairs, and none of them kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.draws import draw
from unmask.kernels.pairs import level_of

Tell = Callable[[float], None] | None  # is told the share that is done

TIE = 1e-9  # weights that differ by less are equal: sums of logarithms in another order
NOTHING = -1e300  # no candidate


class Weighing(NamedTuple):
    """One entry per query; weights are natural logarithms."""

    row: Ints  # one of the best candidates, by draw
    best: Floats
    second: Floats  # the best weight that is no tie; -inf when there is none
    ties: Ints
    true: Floats  # weight of the true candidate; NaN when there is none
    total: Floats  # log of the sum over candidates of exp(weight)


class Scale(NamedTuple):
    """How close is how much: edges of the levels, weights of the levels, and the most from each level on."""

    edges: Floats
    n_edges: Ints
    table: Floats  # natural logarithms
    most: Floats
    rest: Floats  # (attributes,) what the attributes after this one can add at most, rounded up


def scale_of(edges: Floats, n_edges: Ints, table: Floats) -> Scale:
    """Add what a block can reach at most from each level on, missing values aside."""
    most = table.copy()
    for k in range(len(table)):
        last = int(n_edges[k]) + 1
        most[k, :last] = np.maximum.accumulate(table[k, :last][::-1])[::-1]
    used = np.array([table[k, : int(n_edges[k]) + 2].max() for k in range(len(table))])
    rest = np.append(np.cumsum(used[::-1])[::-1][1:], 0.0) + 1e-9
    return Scale(edges, n_edges, table, most, rest)


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
def _weigh(left: Floats, right: Floats, scale: Scale, truth: Ints, seed: int, queries: Ints, out: Weighing) -> None:
    for i in queries:
        lot = 0.0
        for j in range(right.shape[0]):
            weight = 0.0
            for k in range(left.shape[1]):
                level = level_of(abs(left[i, k] - right[j, k]), scale.edges[k], scale.n_edges[k])
                weight += scale.table[k, level]
            lot = take(out, i, j, weight, truth[i], seed, lot)
