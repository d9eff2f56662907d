"""DIS: is a unique match right? Taken from the sample itself, without a model of the population [SE02]_.

A record is taken out of the file and put back with probability pi: a unique match is then right when the record came
back, and wrong when its double stands there alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.arrays import Counts
from unmask.evidence import wilson


@dataclass(frozen=True, slots=True)
class Dis:
    """P(correct match | unique match): the value with its 95 % interval, and the unique matches behind it."""

    value: float
    low: float
    high: float
    n_matches: int
    method: str


def dis_by_formula(counts: Counts, fraction: float) -> Dis:
    """Skinner, Elliot 2002: pi n1 / (pi n1 + 2 (1 - pi) n2), n1 uniques and n2 pairs.

    Nobody unique: no unique match is right, the value is 0 (sdcMicro divides by zero and says NaN). The interval
    treats the n1 + 2 n2 records as a sample: their shares are multinomial, and the ratio is a function of one
    proportion.
    """
    ones, pairs = int((counts == 1).sum()), int((counts == 2).sum())
    low, high = wilson(ones, ones + 2 * pairs) if ones + pairs else (0.0, 0.0)
    share = ones / (ones + 2 * pairs) if ones + pairs else 0.0
    return Dis(_odds(share, fraction), _odds(low, fraction), _odds(high, fraction), ones + 2 * pairs, "formula")


def dis_by_removal(counts: Counts, fraction: float, *, rounds: int = 100, seed: int = 0) -> Dis:
    """The experiment itself: every record is taken out once a round, put back with probability pi, and matched.

    Records of one class are exchangeable, so a round needs only the number of uniques that came back (right matches)
    and of records in pairs that did not (wrong ones): two binomial draws.
    """
    rng = np.random.default_rng(seed)
    ones, doubles = int((counts == 1).sum()), 2 * int((counts == 2).sum())
    right = int(rng.binomial(ones, fraction, size=rounds).sum())
    wrong = int(rng.binomial(doubles, 1 - fraction, size=rounds).sum())
    low, high = wilson(right, right + wrong) if right + wrong else (0.0, 1.0)
    return Dis(right / (right + wrong) if right + wrong else 0.0, low, high, right + wrong, "record removal")


def _odds(share: float, fraction: float) -> float:
    right, wrong = share * fraction, (1 - share) * (1 - fraction)
    return right / (right + wrong) if right > 0 else 0.0
