"""A rate, its interval, the rate of a blind guess, the rate on people outside the file: never one without the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError
from unmask.shares import percent
from unmask.shown import Shown

Interval = Literal["wilson", "bootstrap", "clustered", "exact"]
Z95 = 1.959963984540054  # two-sided 95 %
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate(Shown):
    """A rate in [0, 1] with its 95 % interval; ``chance`` is what a blind guess gets on the same task."""

    value: float
    low: float
    high: float
    n: int
    chance: float
    control: float | None = None
    method: Interval = "wilson"

    @property
    def hits(self) -> float:
        """The count behind the rate (fractional when ties were shared)."""
        return self.value * self.n

    @property
    def counted(self) -> str:
        """How many of how many: 510 of 600; "about 510 of 600" where shared ties make it another share than is told."""
        if 0 < self.hits < 0.5:
            return f"fewer than 1 of {self.n:,}"
        whole = f"{self.hits:,.0f} of {self.n:,}"
        return whole if self.n == 0 or percent(round(self.hits) / self.n) == percent(self.value) else f"about {whole}"

    @property
    def excess(self) -> float:
        """What the attack adds to a blind guess."""
        return self.value - self.chance


def wilson(hits: float, n: float, z: float = Z95) -> tuple[float, float]:
    """95 % score interval of a proportion [WILSON]_; never empty, never outside [0, 1]. ``z``: for another level.

    With fractional hits (shared ties) it is conservative: a credit in [0, 1] varies no more than a coin of its mean.
    """
    if n <= 0:
        return 0.0, 1.0
    rate, z2 = hits / n, z * z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z * np.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if hits <= 0 else max(0.0, centre - half)
    high = 1.0 if hits >= n else min(1.0, centre + half)
    return float(low), float(high)


def bootstrap(credits_: Floats, seed: int) -> tuple[float, float]:
    """95 % percentile interval of the mean over resampled records.

    Resampling n records is drawing the counts of the distinct credits from one multinomial: the same law, no loop,
    and the same result for any order of the records.
    """
    low, high = np.quantile(_resampled(credits_, np.random.default_rng(seed)), [0.025, 0.975])
    return float(low), float(high)


def rate(credits_: Floats, *, chance: float, seed: int = 0, control: float | None = None) -> Estimate:
    """Estimate the mean of per-record credits: Wilson for plain counts, bootstrap when ties made them fractional."""
    if credits_.size == 0:
        raise ParameterError("a rate needs at least one attempt", got="no records")
    n = int(credits_.size)
    total = float(np.sort(credits_).sum())
    value = min(1.0, total / n)
    if bool(np.isin(credits_, (0.0, 1.0)).all()):
        low, high = wilson(round(total), n)
        return Estimate(value, low, high, n, chance, control, "wilson")
    # Resampling does not see what the sample lacks: few or equal credits would look sure. The score interval, which is
    # conservative for fractional credits, does, and so more risk can never look safer.
    drawn, scored = bootstrap(credits_, seed), wilson(total, n)
    low, high = min(drawn[0], scored[0]), max(drawn[1], scored[1])
    return Estimate(value, min(low, value), max(high, value), n, chance, control, "bootstrap")


def rate_of_counts(values: Floats, counts: Ints, *, chance: float, seed: int = 0) -> Estimate:
    """The same of credits that so many people have each: of a hundred million people no array is made."""
    different, place = np.unique(values, return_inverse=True)
    many = np.bincount(place, counts).astype(np.int64)
    different, many = different[many > 0], many[many > 0]
    n, total = int(many.sum()), float(different @ many)
    if n == 0:
        raise ParameterError("a rate needs at least one attempt", got="no records")
    value, scored = min(1.0, total / n), wilson(min(total, float(n)), n)
    if bool(np.isin(different, (0.0, 1.0)).all()):
        return Estimate(value, *wilson(round(total), n), n, chance, None, "wilson")
    drawn = np.quantile(_means(different, many, np.random.default_rng(seed)), [0.025, 0.975])
    low, high = min(float(drawn[0]), scored[0]), max(float(drawn[1]), scored[1])
    return Estimate(value, min(low, value), max(high, value), n, chance, None, "bootstrap")


def excess(attack: Floats, without: Floats, *, seed: int = 0, among: int = 1, crowds: Ints | None = None) -> Estimate:
    """Estimate what an attack gains over the same attack without the person, record by record: at least 0, chance 0.

    ``among``: this one is the largest of so many figures, so its interval is that of each at 1 - 0.05/among.
    ``crowds``: records of one number gain or lose together, and are one draw: the interval is no narrower than that.
    """
    if attack.size == 0 or attack.shape != without.shape:
        raise ParameterError("an excess needs two credits for each of some records", got=f"{attack.size} records")
    gains = np.sort(attack - without)
    n, tail = int(gains.size), 0.025 / max(1, among)
    if gains[0] == gains[-1]:  # resampling equal gains shows no uncertainty; the score interval does
        low, high = wilson(max(0.0, float(gains[0])) * n, n)
        return _gain(float(gains.sum() / n), low, high, n)
    low, high = np.quantile(_resampled(gains, np.random.default_rng(seed)), [tail, 1 - tail])
    value, error = float(gains.sum() / n), 0.0 if crowds is None else _of_crowds(attack - without, crowds, tail)
    return _gain(value, min(float(low), value - error), max(float(high), value + error), n)


def _of_crowds(gains: Floats, crowds: Ints, tail: float) -> float:
    """Half the width of the interval of a mean to which each crowd adds the sum of its own."""
    from scipy import special  # noqa: PLC0415 - this alone needs it

    parts = np.bincount(crowds, gains - np.sort(gains).mean())
    return float(special.ndtri(1 - tail) * np.sqrt(np.sort(parts**2).sum()) / gains.size)


def excess_over_control(
    attack: Floats, control: Floats, *, seed: int = 0, among: int = 1, times: float = 1.0
) -> Estimate:
    """Estimate what an attack gains on the people of the file over people outside it: two samples, at least 0.

    ``times``: over that many times as much.
    """
    if attack.size == 0 or control.size == 0:
        raise ParameterError("an excess over control needs people on both sides", got="no records")
    a, b = np.sort(attack), np.sort(control)
    n, tail = int(a.size), 0.025 / max(1, among)
    gain = float(a.sum() / n - times * b.sum() / b.size)
    rng = np.random.default_rng(seed)
    draws = _resampled(a, rng) - times * _resampled(b, rng)
    low, high = np.quantile(draws, [tail, 1 - tail])
    if low == high:
        sides = wilson(float(a.sum()), n), wilson(float(b.sum()), int(b.size))
        low, high = sides[0][0] - times * sides[1][1], sides[0][1] - times * sides[1][0]
    elif all(bool(np.isin(side, (0.0, 1.0)).all()) for side in (a, b)):
        # Resampling does not see what the sample lacks: nobody of 300 is not nobody of all.
        ends = newcombe((float(a.sum()), n), (float(b.sum()), int(b.size)), tail, times)
        low, high = min(float(low), ends[0]), max(float(high), ends[1], wilson(max(0.0, gain) * n, n)[1])
    return _gain(gain, float(low), float(high), n)


def newcombe(
    one: tuple[float, int], other: tuple[float, int], tail: float = 0.025, times: float = 1.0
) -> tuple[float, float]:
    """The interval of a difference of two shares, hits and number each, by their score intervals [NEWCOMBE]_.

    ``times``: of the one and so many times the other.
    """
    from scipy import special  # noqa: PLC0415 - this alone needs it

    wider = float(special.ndtri(1 - tail)) / Z95
    a, b = one[0] / one[1], other[0] / other[1]
    (low_a, high_a), (low_b, high_b) = wilson(*one), wilson(*other)
    below, above = np.hypot(a - low_a, times * (high_b - b)), np.hypot(high_a - a, times * (b - low_b))
    return float(a - times * b - wider * below), float(a - times * b + wider * above)


def largest(estimates: Sequence[Estimate]) -> Estimate:
    """The largest of several figures of one kind, whose interval is that of each at 1 - 0.05 / their number.

    The best of several attacks is in part the luckiest. Whoever is held against a limit by it would be too large too
    often, were its interval that of an attack chosen before.
    """
    from scipy import special  # noqa: PLC0415 - this alone needs it

    best = max(estimates, key=lambda estimate: estimate.value)
    wider = float(special.ndtri(1 - 0.025 / len(estimates))) / Z95
    low, high = (best.value + wider * (end - best.value) for end in (best.low, best.high))
    return replace(best, low=max(0.0, low), high=min(1.0, high))


def tail(hits: float, n: float, chance: float) -> float:
    """P(at least so many hits among n), each with this chance."""
    from scipy import special  # noqa: PLC0415 - judging alone needs it

    return float(special.betainc(hits, n - hits + 1, chance)) if hits >= 1 else 1.0


def _resampled(figures: Floats, rng: np.random.Generator) -> Floats:
    """Means over resampled records."""
    return _means(*np.unique(figures, return_counts=True), rng)


def _means(values: Floats, counts: Ints, rng: np.random.Generator) -> Floats:
    """Means over resampled records, of which so many have each of some different values."""
    n = int(counts.sum())
    return np.asarray(rng.multinomial(n, counts / n, size=RESAMPLES) @ values / n)


def _gain(value: float, low: float, high: float, n: int) -> Estimate:
    value, low, high = (min(1.0, max(0.0, float(figure))) for figure in (value, low, high))
    return Estimate(value, min(low, value), max(high, value), n, 0.0, None, "bootstrap")


def exact(value: float, *, n: int, chance: float) -> Estimate:
    """Return a figure that is a fact of the file, with no sampling behind it."""
    return Estimate(value, value, value, n, chance, None, "exact")


def shared_rate(credit: Floats, chance: float) -> Estimate:
    """Mean credit with the score interval: where few people have small shares, resampling is too sure of itself."""
    return share_of(float(np.sort(credit).sum()), len(credit), chance)


def share_of(hits: float, n: int, chance: float) -> Estimate:
    """The same by the sum of credits of so many people."""
    return Estimate(min(1.0, hits / n), *wilson(min(hits, float(n)), n), n, chance)
