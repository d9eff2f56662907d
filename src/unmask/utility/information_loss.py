"""Probabilistic information loss: would sampling alone explain how far a statistic moved? [PIL]_

For a statistic t of the original, t' of the release and the sampling error s of t, the loss is
P(|Z| <= |t' - t| / s), Z standard normal: 0 where it did not move, near 1 where no sampling moves it so far. Means,
variances, covariances, correlations and quantiles have one each, averaged over columns or pairs.

Sampling errors come from influence functions, which is the papers' formula of fourth moments. Quantiles: instead of a
density at the quantile, where the released quantile stands among the original values is held against a binomial count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erf

from unmask.arrays import Floats
from unmask.shown import Shown
from unmask.utility.pairs import numbers, numeric_names, read_pair

QUANTILES = np.linspace(0.05, 0.95, 19)
LEAST_ERROR = 1e-12  # relative to the statistics' scale: below it a sampling error is rounding


@dataclass(frozen=True, slots=True)
class InformationLoss(Shown):
    """Probabilistic information loss of five kinds of statistics, each from 0 (nothing lost) to 1."""

    means: float
    variances: float
    covariances: float | None  # None with a single column
    correlations: float | None
    quantiles: float

    @property
    def value(self) -> float:
        """The mean over the kinds."""
        kinds = self.means, self.variances, self.covariances, self.correlations, self.quantiles
        return float(np.mean([kind for kind in kinds if kind is not None]))


def information_loss(original: object, released: object, *, columns: Iterable[str] | None = None) -> InformationLoss:
    """Compare the columns that are numbers in both tables (or the named ones), over complete records.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.information_loss(people, people).value
    0.0

    """
    left, right = read_pair(original, released)
    names = numeric_names(left, right, columns)
    return loss_of(numbers(left, names), numbers(right, names))


def loss_of(x: Floats, y: Floats) -> InformationLoss:
    """The same of two matrices; rows with a gap are left out."""
    x, y = (side[~np.isnan(side).any(axis=1)] for side in (x, y))
    if min(len(x), len(y)) < 2:
        return InformationLoss(0.0, 0.0, None, None, 0.0)
    n, width = x.shape
    one, two = x - x.mean(axis=0), y - y.mean(axis=0)
    square, product = one**2, one.T @ one / n
    means = _loss(y.mean(axis=0) - x.mean(axis=0), one, n)
    variances = _loss((two**2).mean(axis=0) - square.mean(axis=0), square - square.mean(axis=0), n)
    quantiles = float(np.mean([_quantiles(x[:, j], y[:, j]) for j in range(width)]))
    if width < 2:
        return InformationLoss(means, variances, None, None, quantiles)
    a, b = np.triu_indices(width, 1)
    covariances = _loss((two.T @ two / len(y) - product)[a, b], one[:, a] * one[:, b] - product[a, b], n)
    return InformationLoss(means, variances, covariances, _correlations(one, two, (a, b)), quantiles)


def _correlations(one: Floats, two: Floats, pairs: tuple[Any, Any]) -> float:
    """Influence of a record on r: z_a z_b - r (z_a^2 + z_b^2) / 2."""
    a, b = pairs
    z, w = (
        np.divide(side, side.std(axis=0), out=np.zeros_like(side), where=side.std(axis=0) > 0) for side in (one, two)
    )
    r = (z[:, a] * z[:, b]).mean(axis=0)
    influence = z[:, a] * z[:, b] - r * (z[:, a] ** 2 + z[:, b] ** 2) / 2
    return _loss((w[:, a] * w[:, b]).mean(axis=0) - r, influence, len(one))


def _loss(change: Floats, influence: Floats, n: int) -> float:
    """Mean loss of statistics that moved by `change`, each with the influence of every record on it."""
    error = np.sqrt((influence**2).mean(axis=0) / n)
    scale = np.abs(influence).max(axis=0) + np.abs(change)
    still = np.abs(change) <= LEAST_ERROR * scale
    z = np.divide(np.abs(change), error, out=np.full_like(error, np.inf), where=error > LEAST_ERROR * scale)
    return float(np.where(still, 0.0, erf(z / np.sqrt(2))).mean())


def _quantiles(x: Floats, y: Floats) -> float:
    """How far from its share of the original values each released quantile stands; ties count as where they help."""
    values, wanted = np.sort(x), np.quantile(y, QUANTILES, method="inverted_cdf")
    below = np.searchsorted(values, wanted, side="left") / values.size
    upto = np.searchsorted(values, wanted, side="right") / values.size
    gap = np.maximum(0.0, np.maximum(below - QUANTILES, QUANTILES - upto) - 1e-12)
    return float(erf(gap / np.sqrt(QUANTILES * (1 - QUANTILES) / values.size) / np.sqrt(2)).mean())
