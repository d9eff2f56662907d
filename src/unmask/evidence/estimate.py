"""A rate, its interval, the rate of a blind guess, the rate on people outside the file: never one without the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unmask.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Interval = Literal["wilson", "bootstrap", "exact"]
Z95 = 1.959963984540054  # two-sided 95 %
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
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
    def excess(self) -> float:
        """What the attack adds to a blind guess."""
        return self.value - self.chance


def wilson(hits: float, n: int) -> tuple[float, float]:
    """95 % score interval of a proportion [WILSON]_; never empty, never outside [0, 1].

    With fractional hits (shared ties) it is conservative: a credit in [0, 1] varies no more than a coin of its mean.
    """
    if n <= 0:
        return 0.0, 1.0
    rate, z2 = hits / n, Z95 * Z95
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * np.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if hits <= 0 else max(0.0, centre - half)
    high = 1.0 if hits >= n else min(1.0, centre + half)
    return float(low), float(high)


def bootstrap(credits_: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """95 % percentile interval of the mean over resampled records.

    Resampling n records is drawing the counts of the distinct credits from one multinomial: the same law, no loop,
    and the same result for any order of the records.
    """
    values, counts = np.unique(credits_, return_counts=True)
    n = int(counts.sum())
    draws = np.random.default_rng(seed).multinomial(n, counts / n, size=RESAMPLES)
    means = draws @ values / n
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def rate(credits_: NDArray[np.float64], *, chance: float, seed: int = 0, control: float | None = None) -> Estimate:
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


def exact(value: float, *, n: int, chance: float) -> Estimate:
    """Return a figure that is a fact of the file, with no sampling behind it."""
    return Estimate(value, value, value, n, chance, None, "exact")
