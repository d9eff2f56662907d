"""What EM for a mixture of two kinds of pairs adds up: over patterns and their counts, and over sorted columns."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, kernel
from unmask.kernels.pairs.patterns import all_patterns, levels_of

Levels = NDArray[np.uint8]

LOWEST = -600.0  # log of a ratio too small to count
LEAST_TOTAL = 1e-200  # of a person's ratios relative to the best of all: below, they are taken relative to their own


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


class Kinds(NamedTuple):
    """The patterns of all pairs, and which of them each person has with the records of the other file."""

    levels: Levels  # (patterns, attributes)
    pattern: Ints  # (entries,) person after person
    records: Floats  # (entries,) with which the person has this pattern
    start: Ints  # (people + 1,) the first entry of each person


def kinds_of_pairs(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> Kinds:
    """What each person's pairs look like and how often: a few levels of a few attributes have few patterns."""
    n, m = len(left), len(right)
    codes = all_patterns(left, right, edges, n_edges, radix).reshape(n, m)
    codes.sort(axis=1)
    fresh = np.ones((n, m), dtype=np.bool_)
    fresh[:, 1:] = codes[:, 1:] != codes[:, :-1]
    first = np.flatnonzero(fresh)
    code, pattern = np.unique(codes.ravel()[first], return_inverse=True)
    count = np.diff(np.append(first, n * m)).astype(np.float64)
    start = np.append(0, np.cumsum(fresh.sum(axis=1)))
    return Kinds(levels_of(code, radix), pattern.astype(np.int64), count, start.astype(np.int64))


def expect_people(kinds: Kinds, table: Floats) -> tuple[Floats, Floats]:
    """Expected levels of each person's one match, (people, attributes, levels), and log of the mean likelihood ratio.

    ``table`` holds log(m/u): the match is each record of the release with a probability in proportion to its ratio.
    """
    people = len(kinds.start) - 1
    counts, likelihood = np.zeros((people, *table.shape)), np.zeros(people)
    ratio = ratios(kinds, table)

    def work(part: slice) -> None:
        start = kinds.start[part.start : part.stop + 1]
        _expect_people(kinds, start, ratio, counts[part], likelihood[part])

    in_chunks(work, people, chunk=64)
    return counts, likelihood


def expect_kinds(kinds: Kinds, table: Floats) -> tuple[Floats, float]:
    """The same added up over everybody: expected matches of each level of each attribute, and the log-likelihood."""
    ratio = ratios(kinds, table)
    top = float(ratio.max())
    weight = np.exp(np.maximum(ratio - top, LOWEST))
    share, likelihood = _expect_kinds(kinds, weight, ratio, top)
    matches = np.zeros(table.shape)
    for k in range(table.shape[0]):
        matches[k] = np.bincount(kinds.levels[:, k], weights=share, minlength=table.shape[1])
    return matches, float(likelihood)


def ratios(kinds: Kinds, table: Floats) -> Floats:
    """Log of the likelihood ratio of each pattern."""
    return np.asarray(table[np.arange(table.shape[0]), kinds.levels].sum(axis=1))


@kernel
def _expect_kinds(kinds: Kinds, weight: Floats, ratio: Floats, top: float) -> tuple[Floats, float]:
    """Matches that are expected of each pattern; whoever has only patterns far below the best counts by their own."""
    share, likelihood = np.zeros(weight.shape[0]), 0.0
    for i in range(kinds.start.shape[0] - 1):
        first, last = kinds.start[i], kinds.start[i + 1]
        own, total, records = top, 0.0, 0.0
        for g in range(first, last):
            total += kinds.records[g] * weight[kinds.pattern[g]]
            records += kinds.records[g]
        if total < LEAST_TOTAL:
            own, total = -math.inf, 0.0
            for g in range(first, last):
                own = max(own, ratio[kinds.pattern[g]])
            for g in range(first, last):
                total += kinds.records[g] * math.exp(max(ratio[kinds.pattern[g]] - own, LOWEST))
            for g in range(first, last):
                part = math.exp(max(ratio[kinds.pattern[g]] - own, LOWEST))
                share[kinds.pattern[g]] += kinds.records[g] * part / total
        else:
            for g in range(first, last):
                share[kinds.pattern[g]] += kinds.records[g] * weight[kinds.pattern[g]] / total
        likelihood += own + math.log(total / records)
    return share, likelihood


@kernel
def _expect_people(kinds: Kinds, start: Ints, ratio: Floats, counts: Floats, likelihood: Floats) -> None:
    for i in range(likelihood.shape[0]):
        first, last = start[i], start[i + 1]
        top, total, records = -math.inf, 0.0, 0.0
        for g in range(first, last):
            top = max(top, ratio[kinds.pattern[g]])
        for g in range(first, last):
            total += kinds.records[g] * math.exp(max(ratio[kinds.pattern[g]] - top, LOWEST))
            records += kinds.records[g]
        likelihood[i] = top + math.log(total / records)
        for g in range(first, last):
            part = kinds.records[g] * math.exp(max(ratio[kinds.pattern[g]] - top, LOWEST)) / total
            for k in range(counts.shape[1]):
                counts[i, k, kinds.levels[kinds.pattern[g], k]] += part


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
