"""Who is known for certain: a threshold learnt on some people, claims counted on others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

PRECISION = 0.95
LOWEST = 0.5  # a claim that is more likely wrong than right is none


def claims(best: Floats, credit: Floats, asked: Flags, seed: int) -> Flags:
    """Whose best posterior is above the threshold that the other half of the people teaches."""
    rows = np.flatnonzero(asked)
    mixed = np.random.default_rng([seed, 11]).permutation(rows)
    halves = mixed[::2], mixed[1::2]
    claimed = np.zeros(best.size, dtype=bool)
    for teachers, others in (halves, halves[::-1]):
        claimed[others] = best[others] >= threshold(best[teachers], credit[teachers])
    return claimed


def threshold(best: Floats, credit: Floats) -> float:
    """The least posterior above which claims were right 19 times in 20; infinite if there is none.

    Where nobody comes near, the posterior's own word counts: above 0.95.
    """
    order = np.lexsort((credit, -best))
    top, right = best[order], np.cumsum(credit[order])
    share = right / np.arange(1, top.size + 1)
    last = np.append(top[1:] != top[:-1], True)
    good = np.flatnonzero((share >= PRECISION) & last & (top >= LOWEST))
    if good.size:
        return float(top[good[-1]])
    return np.inf if (top >= LOWEST).any() else PRECISION
