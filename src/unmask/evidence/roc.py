"""How well scores tell members from strangers: AUC, and members recognised at few false alarms. Ties are shared."""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats
from unmask.evidence.estimate import Z95, Estimate

RESAMPLED = 2000


def auc(mine: Floats, others: Floats) -> Estimate:
    """P(member > stranger) + P(equal) / 2, with the interval of DeLong et al. (1988)."""
    a, b = np.sort(mine), np.sort(others)
    wins = (np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")) / (2 * b.size)
    losses = 1 - (np.searchsorted(a, b, "left") + np.searchsorted(a, b, "right")) / (2 * a.size)
    value = float(wins.mean())
    spread = np.sqrt(_variance(wins) / a.size + _variance(losses) / b.size)
    edge = 1.0 / (a.size * b.size) if value in {0.0, 1.0} else 0.0  # all told apart: the variance is not 0 but unseen
    half = Z95 * max(float(spread), edge)
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), int(a.size), 0.5, None, "bootstrap")


def _variance(values: Floats) -> float:
    return float(values.var(ddof=1)) if values.size > 1 else 0.25


def tpr_at(mine: Floats, others: Floats, false_alarms: float) -> float:
    """Members recognised when this share of strangers is accused; among equal scores some are accused by lot."""
    x, y = corners(np.sort(mine), np.sort(others))
    return float(np.interp(false_alarms, x, y))


def corners(mine: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Corners of the curve, from nobody accused to everybody. Where several stand above one x the last counts."""
    levels = np.unique(np.concatenate([mine, others]))[::-1]
    x, y = ((side.size - np.searchsorted(side, levels, "left")) / side.size for side in (others, mine))  # 0.01 is 1/100
    return np.concatenate([[0.0], x]), np.concatenate([[0.0], y])


def recognised(mine: Floats, others: Floats, false_alarms: float, seed: int) -> Estimate:
    """Estimate ``tpr_at``, with an interval over what members and strangers leave open.

    The share of all strangers above the k-th highest of m has a Beta law whatever their scores are. So each draw places
    the level that this share of strangers is above, between two of those met or beyond the highest, takes the members
    above it by the chord between the two, and draws their share among all members. Resampling the strangers would not
    do: above the highest of a hundred there may be 3 % of all strangers, and no resample shows it.
    """
    a, b = np.sort(mine), np.sort(others)
    value = tpr_at(a, b, false_alarms)
    rng = np.random.default_rng(seed)
    most = min(b.size, int(false_alarms * b.size + 8 * np.sqrt(false_alarms * b.size)) + 12)
    steps = rng.standard_exponential((RESAMPLED, most))
    rest = rng.standard_gamma(b.size + 1.0 - most, RESAMPLED)
    above = np.cumsum(steps, axis=1) / (steps.sum(axis=1) + rest)[:, None]  # true shares of strangers
    above = np.hstack([np.zeros((RESAMPLED, 1)), above])
    hits = np.append(np.concatenate([[0.0], _members_above(a, b, most)]), float(a.size))
    k = (above <= false_alarms).sum(axis=1)  # the level is between the k-1st and the k-th
    before = above[np.arange(RESAMPLED), k - 1]
    after = np.where(k <= most, above[np.arange(RESAMPLED), np.minimum(k, most)], 1.0)
    chord = hits[k - 1] + (hits[k] - hits[k - 1]) * (false_alarms - before) / (after - before)
    shares = rng.beta(chord + 0.5, a.size - chord + 0.5)
    low, high = map(float, np.quantile(shares, [0.025, 0.975]))
    return Estimate(value, min(low, value), max(high, value), int(a.size), false_alarms, None, "bootstrap")


def _members_above(mine: Floats, others: Floats, most: int) -> Floats:
    """Members above each of the highest strangers; among equal scores the order is by lot, and its mean is taken."""
    levels = others[::-1][:most]
    met = np.arange(1, most + 1) - (others.size - np.searchsorted(others, levels, "right"))  # of equal ones
    equal = np.searchsorted(others, levels, "right") - np.searchsorted(others, levels, "left")
    higher, same = mine.size - np.searchsorted(mine, levels, "right"), np.searchsorted(mine, levels, "left")
    return np.asarray(higher + (mine.size - higher - same) * met / (equal + 1))
