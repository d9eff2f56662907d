"""How well scores tell members from strangers: AUC, recall at few false alarms, precision. Ties are shared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats
from unmask.disclosure.one_run import Guesses
from unmask.evidence import Estimate, auc, corners, rate, recognised
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


def _curve(mine: Floats, others: Floats) -> tuple[Floats, Floats]:
    x, y = corners(np.sort(mine), np.sort(others))
    grid = np.unique(np.concatenate([np.linspace(0, 1, POINTS), np.linspace(0, 0.02, 21)]))
    return grid, np.interp(grid, x, y)
