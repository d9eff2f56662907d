"""How often the columns of two files agree for one person and for two, learnt from the files alone.

As Fellegi and Sunter have it, but links are a matching (`shares`): a person has one record at most. In turn the
probabilities of all links are found, and of these links how often each column agrees. It begins with what is usual,
columns that agree for nine of ten people, and so many people are added to what is counted as if they had been seen:
where hardly anybody is in both files there is nothing to learn from, and loose agreement must not pass for links.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Floats
from unmask.linkage.believed.shares import shares_of
from unmask.linkage.probabilistic import Comparison

Levels = Sequence[NDArray[np.uint8]]  # of each attribute: people by records

AGREE = 0.9  # of people, to begin with
USUAL = 8.0  # people who are added with these rates
STEPS, SETTLED = 30, 1e-3
ROUNDS = 15  # of finding links in each step


def agreement_scores(comparison: Comparison, mixed: int | None = None) -> Floats:
    """Log likelihood ratio of every pair of a person and a record.

    ``mixed``: a seed; each column of the second file is shuffled by itself, so that none of its rows is anybody's.
    """
    levels = _levels(comparison, comparison.right if mixed is None else _shuffled(comparison.right, mixed))
    others = [np.bincount(one.ravel(), minlength=int(size)) / one.size
              for one, size in zip(levels, comparison.radix, strict=True)]  # fmt: skip
    usual = [_usual(int(edges), u, missing=bool(gap)) for edges, u, gap in
             zip(comparison.n_edges, others, comparison.gaps, strict=True)]  # fmt: skip
    rates, scores = usual, _scored(levels, usual, others)
    for _ in range(STEPS):
        links, count = shares_of(scores, rounds=ROUNDS)
        last = rates
        rates = [_counted(*one, links, count) for one in zip(levels, usual, others, comparison.gaps, strict=True)]
        scores = _scored(levels, rates, others)
        if max(float(np.abs(a - b).max()) for a, b in zip(rates, last, strict=True)) < SETTLED:
            break
    return scores


def _shuffled(right: Floats, seed: int) -> Floats:
    """Every column by itself in an order of its own, the same for any order of the rows."""
    draw = np.random.default_rng([seed, 17])
    return np.column_stack([draw.permutation(np.sort(right[:, k])) for k in range(right.shape[1])])


def _levels(comparison: Comparison, right: Floats) -> Levels:
    """How closely every pair agrees in each attribute; the last level, where values are missing, is their own."""
    found = []
    for k in range(len(comparison.names)):
        gap = np.abs(comparison.left[:, k][:, None] - right[:, k][None, :])
        level = np.searchsorted(comparison.edges[k, : comparison.n_edges[k]], gap, side="left")
        level[np.isnan(gap)] = comparison.n_edges[k] + 1
        found.append(level.astype(np.uint8))
    return found


def _usual(edges: int, others: Floats, *, missing: bool) -> Floats:
    """Rates of one person to begin with: nine of ten agree, half of them as closely as can be, half of the rest less.

    A value is missing as often as it is for others, and says nothing.
    """
    close = 0.5 ** np.arange(edges)
    rates = np.append(AGREE * close / close.sum(), 1 - AGREE)
    return np.append(rates * (1 - others[-1]), others[-1]) if missing else rates


def _counted(level: NDArray[np.uint8], usual: Floats, others: Floats, gap: bool, links: Floats, count: float) -> Floats:  # noqa: FBT001
    """How often links agree on each level, with the usual people added."""
    seen = np.bincount(level.ravel(), weights=links.ravel(), minlength=usual.size) + USUAL * usual
    rates = seen / (count + USUAL) if count + USUAL > 0 else usual
    rates = rates / rates.sum()
    if gap:  # a missing value is as likely for links as for others
        rates = np.append(rates[:-1] / max(rates[:-1].sum(), 1e-12) * (1 - others[-1]), others[-1])
    return np.asarray(rates)


def _scored(levels: Levels, rates: Sequence[Floats], others: Sequence[Floats]) -> Floats:
    scores = np.zeros(levels[0].shape)
    for level, m, u in zip(levels, rates, others, strict=True):
        least = 0.5 / level.size
        scores += np.log(np.maximum(m, least) / np.maximum(u, least))[level]
    return scores
