"""The most likely one-to-one matching: each record was made from one person, so people compete for records."""

from __future__ import annotations

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.kernels.assignment import classify
from unmask.kernels.likelihood import Makings, all_pairs
from unmask.tables import Encoding, canonical_order

MOST_PAIRS = 9_000_000  # that are matched exactly, all at once: 3,000 people and records
WORST = 1e4  # log-likelihoods below a person's best: beyond, one is as bad as another
LOT = 1e-6  # what a lot adds, so that no order of rows decides between equally likely matchings
DRAWS = 8  # of such lots, where they change the matching


def matching_credit(made: Makings, encoding: Encoding, truth: Ints, seed: int = 0) -> Floats:
    """Success of each person in the matching of the largest total log-likelihood.

    Equally likely matchings share it: each is drawn by lot, and equal people, and equal records, stand for each other.
    """
    people, records = (canonical_order(side.numeric, side.codes) for side in (encoding.original, encoding.released))
    scores, possible = comparable(all_pairs(made)[np.ix_(people, records)])
    left = classify(encoding.original.numeric, encoding.original.codes).label[people]
    right = classify(encoding.released.numeric, encoding.released.codes).label
    wanted = np.where(truth >= 0, right[truth], -1)[people]
    rng = np.random.default_rng([seed, 11])
    drawn: list[Ints] = []
    for _ in range(DRAWS):
        links = _match(scores + LOT * rng.random(scores.shape), possible)
        drawn.append(np.where(links >= 0, right[records[links]], -2))
        if len(drawn) == 2 and np.array_equal(drawn[0], drawn[1]):  # two lots agree: there is nothing to share
            break
    shares = np.mean([_shared(left, kinds, wanted) for kinds in drawn], axis=0)
    credit = np.zeros(len(people))
    credit[people] = shares / np.where(wanted >= 0, np.bincount(right)[wanted], 1)
    return credit


def comparable(weights: Floats) -> tuple[Floats, Flags]:
    """Finite scores: log p(y | x) less that of y from anybody, impossible pairs far below; and which are possible."""
    possible = weights > -np.inf
    top = np.where(possible.any(axis=0), weights.max(axis=0), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        crowd = top + np.log(np.where(possible, np.exp(weights - top), 0.0).sum(axis=0))
    scores = np.where(possible, weights, 0.0) - np.where(np.isfinite(crowd), crowd, 0.0)
    best = np.where(possible, scores, -np.inf).max(axis=1, keepdims=True)
    best = np.where(np.isfinite(best), best, 0.0)
    return np.where(possible, np.maximum(scores, best - WORST), best - 2 * WORST), possible


def _match(scores: Floats, possible: Flags) -> Ints:
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - heavy

    rows, columns = linear_sum_assignment(scores, maximize=True)
    links = np.full(len(scores), -1, dtype=np.int64)
    links[rows] = np.where(possible[rows, columns], columns, -1)
    return links


def _shared(people: Ints, kinds: Ints, wanted: Ints) -> Floats:
    """Share of the people equal to each one who were given a record of the kind wanted."""
    width = max(int(kinds.max()), int(wanted.max())) + 3
    keys, counts = np.unique(people * width + kinds + 2, return_counts=True)
    asked = people * width + wanted + 2
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    hits = np.where((keys[place] == asked) & (wanted >= 0), counts[place], 0)
    return np.asarray(hits / np.bincount(people)[people])
