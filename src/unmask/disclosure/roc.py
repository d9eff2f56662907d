"""How well scores tell members from strangers: AUC, recall at few false alarms, precision. Ties are shared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats
from unmask.disclosure.one_run import Guesses
from unmask.evidence import Z95, Estimate, rate
from unmask.shown import Shown

RESAMPLED = 2000
POINTS = 200


class Epsilon(NamedTuple):
    """What a release gives away about presence, as differential privacy counts it: ln(TPR/FPR), and its lower end."""

    value: float
    low: float


NOTHING = Epsilon(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Membership(Shown):
    """Who is told to be in the release (or among those a model was learnt from)."""

    auc: Estimate  # a member scores higher than a stranger; chance 1/2
    tpr_at_1_percent: Estimate  # members recognised while 1 % of strangers are accused; chance 1 %
    tpr_at_01_percent: Estimate  # the same at 0.1 %
    recall: Estimate  # members with a positive score: Torra's miaAR; chance: strangers with one
    precision: Estimate  # of the accused, if half of all people were members; chance 1/2
    f1: Estimate  # harmonic mean of recall and precision; chance: as many accused at random
    n_strangers: int
    per_record: Floats = field(repr=False)
    curve: tuple[Floats, Floats] = field(repr=False)  # strangers accused, members recognised
    learnt: bool = False  # by what shadow releases taught, not by the release alone
    attacks: tuple[str, ...] = ()  # those that were best on one half of the people, and were used on the other
    epsilon: Epsilon = NOTHING
    guesses: tuple[Guesses, ...] = ()  # of halves, by what the other half chose: what a claim of privacy is held to

    @property
    def precision_recall(self) -> tuple[Floats, Floats]:
        """Members recognised, and how many of the accused are members, if half of all people were."""
        wrong, right = self.curve
        return right, np.divide(right, right + wrong, out=np.full_like(right, 1.0), where=right + wrong > 0)


def summarise(mine: Floats, others: Floats, per_record: Floats, seed: int) -> Membership:
    """Sum up the scores of members and of strangers; a positive score is an accusation."""
    accused, wrongly = float((mine > 0).mean()), float((others > 0).mean())
    precision, f1 = accusations(accused, wrongly, (mine.size, others.size), seed)
    return Membership(
        auc=auc(mine, others),
        tpr_at_1_percent=recognised(mine, others, 0.01, seed),
        tpr_at_01_percent=recognised(mine, others, 0.001, seed),
        recall=rate((mine > 0).astype(np.float64), chance=wrongly, seed=seed, control=wrongly),
        precision=precision,
        f1=f1,
        n_strangers=int(others.size),
        per_record=per_record,
        curve=_curve(mine, others),
    )


def accusations(accused: float, wrongly: float, sizes: tuple[int, int], seed: int) -> tuple[Estimate, Estimate]:
    """Precision and F1 of the accusations, if half of all people were members, with a bootstrap over both groups.

    Resampling people is drawing the numbers of accused members and of accused strangers from two binomials.
    """
    rng = np.random.default_rng([seed, 2])
    right = rng.binomial(sizes[0], accused, RESAMPLED) / sizes[0]
    wrong = rng.binomial(sizes[1], wrongly, RESAMPLED) / sizes[1]
    both = (accused + wrongly) / 2
    estimates = []
    for measured, chance in (
        (_precision, 0.5 if both else 0.0),
        (_f1, float(_f1(np.array([both]), np.array([both]))[0])),
    ):
        value = float(measured(np.array([accused]), np.array([wrongly]))[0])
        low, high = np.quantile(measured(right, wrong), [0.025, 0.975])
        ends = min(float(low), value), max(float(high), value)
        estimates.append(Estimate(value, *ends, sum(sizes), chance, None, "bootstrap"))
    return estimates[0], estimates[1]


def _precision(right: Floats, wrong: Floats) -> Floats:
    return np.asarray(right / np.maximum(right + wrong, 1e-300))


def _f1(right: Floats, wrong: Floats) -> Floats:
    precision = _precision(right, wrong)
    return np.asarray(2 * precision * right / np.maximum(precision + right, 1e-300))


def centred(mine: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Shift scores so that half of all people are accused (score above 0) if half of them are members."""
    values = np.concatenate([mine, others])
    weights = np.concatenate([np.full(mine.size, 0.5 / mine.size), np.full(others.size, 0.5 / others.size)])
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), 0.5 - 1e-12))
    level = values[order][min(place, values.size - 1)]
    return mine - level, others - level


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
    x, y = _roc(np.sort(mine), np.sort(others))
    return float(np.interp(false_alarms, x, y))


def _roc(mine: Floats, others: Floats) -> tuple[Floats, Floats]:
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


def _curve(mine: Floats, others: Floats) -> tuple[Floats, Floats]:
    x, y = _roc(np.sort(mine), np.sort(others))
    grid = np.unique(np.concatenate([np.linspace(0, 1, POINTS), np.linspace(0, 0.02, 21)]))
    return grid, np.interp(grid, x, y)
