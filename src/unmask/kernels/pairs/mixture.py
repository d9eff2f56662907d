"""What EM for a mixture of two kinds of pairs adds up: over patterns and their counts, and over sorted columns."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, kernel
from unmask.kernels.pairs.patterns import level_of

Levels = NDArray[np.uint8]

FAR = -35.0  # log of a share too small to count


@kernel
def expect(levels: Levels, counts: Floats, log_m: Floats, log_u: Floats, prior: float) -> tuple[Floats, float]:
    """Expected number of matches on each level of each attribute, and the log-likelihood."""
    matches = np.zeros(log_m.shape)
    likelihood = 0.0
    log_p, log_q = math.log(prior), math.log1p(-prior)
    for g in range(levels.shape[0]):
        a, b = log_p, log_q
        for k in range(levels.shape[1]):
            a += log_m[k, levels[g, k]]
            b += log_u[k, levels[g, k]]
        top = max(a, b)
        total = top + math.log(math.exp(a - top) + math.exp(b - top))
        likelihood += counts[g] * total
        share = counts[g] * math.exp(a - total)
        if share > 0:
            for k in range(levels.shape[1]):
                matches[k, levels[g, k]] += share
    return matches, likelihood


def levels_of_pairs(left: Floats, right: Floats, edges: Floats, n_edges: Ints) -> Levels:
    """Levels of all pairs, (left, right, attributes): for as many pairs as there is room for."""
    out = np.empty((len(left), len(right), left.shape[1]), dtype=np.uint8)
    in_chunks(lambda part: _levels(left[part], right, edges, n_edges, out[part]), len(left), chunk=64)
    return out


@kernel
def _levels(left: Floats, right: Floats, edges: Floats, n_edges: Ints, out: Levels) -> None:
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            for k in range(left.shape[1]):
                out[i, j, k] = level_of(abs(left[i, k] - right[j, k]), edges[k], n_edges[k])


def expect_people(levels: Levels, table: Floats) -> tuple[Floats, Floats]:
    """Expected levels of each person's one match, (people, attributes, levels), and log of the mean likelihood ratio.

    ``table`` holds log(m/u): the match is each record of the release with a probability in proportion to its ratio.
    """
    counts, likelihood = np.zeros((len(levels), *table.shape)), np.zeros(len(levels))
    in_chunks(lambda part: _expect_people(levels[part], table, counts[part], likelihood[part]), len(levels), chunk=64)
    return counts, likelihood


@kernel
def _expect_people(levels: Levels, table: Floats, counts: Floats, likelihood: Floats) -> None:
    weight = np.empty(levels.shape[1])
    for i in range(levels.shape[0]):
        top, total = -math.inf, 0.0
        for j in range(levels.shape[1]):
            weight[j] = 0.0
            for k in range(levels.shape[2]):
                weight[j] += table[k, levels[i, j, k]]
            top = max(top, weight[j])
        for j in range(levels.shape[1]):
            weight[j] = math.exp(weight[j] - top) if weight[j] - top > FAR else 0.0
            total += weight[j]
        likelihood[i] = top + math.log(total / levels.shape[1])
        for j in range(levels.shape[1]):
            if weight[j] > 0:
                for k in range(levels.shape[2]):
                    counts[i, k, levels[i, j, k]] += weight[j] / total


@kernel
def level_shares(own: Floats, other: Floats, n_own: int, n_other: int, edges: Floats) -> tuple[Floats, Floats]:
    """Share of the other file's records on each level of closeness, over own records: mean and sum of squares about it.

    Both columns are sorted and without their missing values; of ``n_own`` and ``n_other`` records the rest are missing,
    and make the last level. Two pointers per edge walk along: no pair is looked at twice.
    """
    bands, n = edges.shape[0], own.shape[0]
    low, high = np.zeros(bands, dtype=np.int64), np.zeros(bands, dtype=np.int64)
    mean, square = np.zeros(bands + 2), np.zeros(bands + 2)
    for i in range(n):
        before = 0
        for e in range(bands):
            while high[e] < other.shape[0] and other[high[e]] - own[i] <= edges[e]:
                high[e] += 1
            while low[e] < other.shape[0] and own[i] - other[low[e]] > edges[e]:
                low[e] += 1
            share = (high[e] - low[e] - before) / n_other
            before = high[e] - low[e]
            mean[e] += share
            square[e] += share * share
        share = (other.shape[0] - before) / n_other
        mean[bands] += share
        square[bands] += share * share
    lost = 1.0 - other.shape[0] / n_other  # for the present; everything, for the missing
    mean[bands + 1] = n * lost + (n_own - n)
    square[bands + 1] = n * lost * lost + (n_own - n)
    mean /= n_own
    return mean, np.maximum(square - n_own * mean * mean, 0.0)
