"""Who is known for certain: a threshold learnt on some people, claims counted on others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PRECISION = 0.95
LOWEST = 0.5  # a claim that is more likely wrong than right is none
PARTS = 10  # the threshold of each part of the people is learnt from the others
DRAWS = 200  # of people who teach the threshold again
DECIMALS = 12  # sums end otherwise on another processor: people who differ by less are as sure as one another


def claims(sure: Floats, credit: Floats, asked: Flags, seed: int) -> Flags:
    """Who is claimed: they are as sure as the threshold that other people teach."""
    rows, sure = np.flatnonzero(asked), np.round(sure, DECIMALS)
    mixed = np.random.default_rng([seed, 11]).permutation(rows)
    part = np.arange(mixed.size) % PARTS
    claimed = np.zeros(sure.size, dtype=bool)
    for number in range(min(PARTS, mixed.size)):
        teachers, others = mixed[part != number], mixed[part == number]
        claimed[others] = sure[others] >= threshold(sure[teachers], credit[teachers])
    return claimed


def claims_again(sure: Floats, credit: Floats, asked: Flags, seed: int) -> tuple[float, float]:
    """95 % percentile interval of the share of people rightly claimed, if others had been asked for.

    A few wrong claims more or less among the surest move the threshold, and with it many claims: so it is learnt again
    from each draw of these people.
    """
    rows = np.flatnonzero(asked)
    order = rows[np.lexsort((credit[rows], -np.round(sure[rows], DECIMALS)))]
    top, right = np.round(sure[order], DECIMALS), credit[order]
    may_end = np.append(top[1:] != top[:-1], True) & (top >= LOWEST)
    rng, known = np.random.default_rng([seed, 12]), np.zeros(DRAWS)
    for draw in range(DRAWS):
        times = rng.poisson(1.0, top.size)
        claimed, hits = np.cumsum(times), np.cumsum(times * right)
        wrong = claimed - hits + np.minimum(1.0, np.cumsum(times * (1.0 - top)))
        good = np.flatnonzero((wrong <= (1.0 - PRECISION + 1e-12) * claimed) & may_end)
        known[draw] = hits[good[-1]] / max(int(claimed[-1]), 1) if good.size else 0.0
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def threshold(sure: Floats, credit: Floats) -> float:
    """The least posterior above which claims are right 19 times in 20; infinite if there is none.

    The largest set that was right so often is right by luck as well. So one wrong claim more is counted, as in the
    control of false discoveries, or fewer where the posteriors themselves expect fewer. Where nobody comes near, the
    posterior's own word counts: above 0.95.
    """
    order = np.lexsort((credit, -sure))
    top = sure[order]
    wrong, expected = np.cumsum(1.0 - credit[order]), np.cumsum(1.0 - top)
    share = (wrong + np.minimum(1.0, expected)) / np.arange(1, top.size + 1)
    last = np.append(top[1:] != top[:-1], True)
    good = np.flatnonzero((share <= 1.0 - PRECISION + 1e-12) & last & (top >= LOWEST))
    if good.size:
        return float(top[good[-1]])
    return np.inf if (top >= LOWEST).any() else PRECISION
