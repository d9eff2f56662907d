"""Probabilities of links where some people of either file are not in the other.

Each pair of a person and a record has a likelihood ratio: how much likelier its values are if the record is the
person's than if it is anybody's. A person has one record at most and a record one person at most, and either may be
alone: links are a matching, and its probability is the product of the ratios and of the odds of a link. The marginals
are found by belief propagation, which is exact where pairs form no cycles and near it in files, where few pairs count.
How many people are in both files is learnt with it: so many that as many links are expected after as before looking.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats

ROUNDS = 80
SETTLED = 1e-5
LARGEST = 25.0  # of a log likelihood ratio with its odds: beyond it, differences of sums lose their digits
MOST_IN_BOTH = 0.999  # of the smaller file


def shares_of(scores: Floats, in_both: float | None = None, rounds: int = ROUNDS) -> tuple[Floats, float]:
    """Probability of every link, and how many people are in both files.

    ``scores``: log likelihood ratios, people by records. ``in_both``: that number, where it is known.
    """
    n, m = scores.shape
    count = 0.5 * min(n, m) if in_both is None else in_both
    to_people, to_records = np.ones(scores.shape), np.ones(scores.shape)
    weight, found = _weighted(scores, count), np.zeros(scores.shape)
    for _ in range(rounds):
        heard = weight * to_people
        to_records = 1.0 / (1.0 + np.maximum(heard.sum(axis=1, keepdims=True) - heard, 0.0))
        heard = weight * to_records
        to_people = 1.0 / (1.0 + np.maximum(heard.sum(axis=0, keepdims=True) - heard, 0.0))
        odds = weight * to_people * to_records
        last, found = found, odds / (1.0 + odds)
        if in_both is None:
            count = float(np.clip(found.sum(), 1e-3, MOST_IN_BOTH * min(n, m)))
            weight = _weighted(scores, count)
        if float(np.abs(found - last).max()) < SETTLED:
            break
    return found, count


def _weighted(scores: Floats, count: float) -> Floats:
    """Likelihood ratios times the odds of a link, if so many people are in both files."""
    n, m = scores.shape
    odds = count / max(1e-9, (n - count) * (m - count))
    return np.asarray(np.exp(np.minimum(scores + np.log(odds), LARGEST)))
