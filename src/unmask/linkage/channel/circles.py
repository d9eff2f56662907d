"""Numbers that go round: a time of day near midnight, a direction in degrees, a day of the year.

Noise moves 23:50 to 00:10, and another time zone moves every time: the error is the shorter way round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.factors import States, fit_states
from unmask.linkage.channel.material import Key, Material
from unmask.linkage.channel.residuals import Law, fit_law, log_density

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PERIODS = (7.0, 12.0, 24.0, 360.0, 365.0, 366.0, 1440.0, 86_400.0)  # days, months, hours, degrees, minutes, seconds
ENDS = 0.1  # of the circle, before and after its beginning, where there must be some
AT_ENDS = 0.02  # share of the numbers there, on either side


@dataclass(frozen=True, slots=True)
class Around:
    """A released number that is a known one, moved round a circle."""

    target: int
    feature: Key
    period: float

    def fit(self, material: Material, taught: Ints) -> Turned:
        """Learn how far it was turned for everybody, and the law of the rest."""
        known, value = material.feature(self.feature).values, material.records[self.target].number
        made = material.truth[taught]
        ours, theirs = (np.where(np.isfinite(side), 0, 1) for side in (known, value))
        states = fit_states(ours, theirs, taught, made)
        gap = value[made] - known[taught]
        gap = gap[np.isfinite(gap)]
        turn = np.angle(np.exp(2j * np.pi * gap / self.period).sum()) * self.period / (2 * np.pi) if gap.size else 0.0
        step = material.records[self.target].step
        turn = round(float(turn) / step) * step
        law = fit_law(shorter(gap - turn, self.period), reach=self.period, step=step)
        return Turned(known + turn, value, log_density(value, step), law, states, self.period)


def shorter(gap: Floats, period: float) -> Floats:
    """The shorter way round."""
    return np.asarray(gap - period * np.round(gap / period))


@dataclass(frozen=True, slots=True)
class Turned:
    """A released number near a known one on a circle: the law of the shorter way over the marginal of the released."""

    predicted: Floats
    value: Floats
    marginal: Floats
    law: Law
    states: States
    period: float

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the states, and the values where there are both."""
        gap = shorter(self.value[j] - self.predicted[i], self.period)
        body = self.law.log(gap) - self.marginal[j]
        return np.where(np.isnan(gap), 0.0, body) + self.states.log(i, j)

    def places(self, unit: float) -> list[tuple[Floats, Floats]]:
        """Coordinates of both sides on the circle, in units of so much of the way round."""
        radius, ways = self.period / (2 * np.pi), (np.cos, np.sin)
        return [(_at(way, self.predicted, radius, unit), _at(way, self.value, radius, unit)) for way in ways]


def _at(way: np.ufunc, side: Floats, radius: float, unit: float) -> Floats:
    return np.asarray(way(side / radius) * radius / unit)


def around(material: Material, target: int, features: list[Key]) -> list[Around]:
    """The features that go round the same circle as a released number, if both cross its beginning."""
    period = _period(material.records[target].number)
    return [
        Around(target, key, period) for key in features if period and _period(material.feature(key).values) == period
    ]


def _period(values: Floats) -> float:
    """The smallest circle that the numbers go round, with some on both sides of its beginning; 0 if there is none."""
    there = values[np.isfinite(values)]
    if there.size < 2 or there.min() < 0:
        return 0.0
    for period in PERIODS:
        if there.max() <= period:
            ends = (there < ENDS * period).mean(), (there > (1 - ENDS) * period).mean()
            return period if min(ends) >= AT_ENDS else 0.0
    return 0.0
