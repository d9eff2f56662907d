"""Moments: what masking does to means, variances, covariances, correlations, quantiles and principal components.

The Frobenius norm of the change in correlations is the utility axis of the paper's Figures 4 and 7 [MAXKNOW]_.
IL1s is sdcMicro's: sum over cells of |x - y| / (sqrt(2) sd) [SDCM]_; it needs paired rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats
from unmask.shown import Shown
from unmask.utility.pairs import numbers, numeric_names, present, read_pair

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Moments(Shown):
    """Statistics of both tables, original first; differences are released minus original."""

    names: tuple[str, ...]
    means: tuple[Floats, Floats]
    variances: tuple[Floats, Floats]
    covariances: tuple[Floats, Floats]  # over records complete in these columns
    correlations: tuple[Floats, Floats]  # 0 where a column is constant
    quantiles: tuple[Floats, Floats]  # rows: 5, 25, 50, 75, 95 percent
    il1s: float | None  # None where rows are not paired
    cells: int  # pairs of present values behind il1s

    @property
    def il1(self) -> float | None:
        """IL1s per cell."""
        return None if self.il1s is None or not self.cells else self.il1s / self.cells

    @property
    def mean_shift(self) -> Floats:
        """Change of each mean in sds of the original; 0 where a constant stays."""
        return _in_sds(self.means[1] - self.means[0], self.variances[0])

    @property
    def quantile_shift(self) -> Floats:
        """Change of each quantile in sds of the original."""
        return _in_sds(self.quantiles[1] - self.quantiles[0], self.variances[0])

    @property
    def variance_ratio(self) -> Floats:
        """Released over original variance; 1 where both are 0, infinite where only the original is."""
        before, after = self.variances
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((before == 0) & (after == 0), 1.0, after / before)

    @property
    def correlation_norm(self) -> float:
        """Frobenius norm of the change in the correlation matrix ([MAXKNOW]_ Figure 4)."""
        return float(np.linalg.norm(self.correlations[1] - self.correlations[0]))

    @property
    def covariance_norm(self) -> float:
        """Frobenius norm of the change in the covariance matrix, relative to that of the original."""
        norm = float(np.linalg.norm(self.covariances[0]))
        change = float(np.linalg.norm(self.covariances[1] - self.covariances[0]))
        return change / norm if norm else float(change > 0)

    @property
    def eigenvalues(self) -> tuple[Floats, Floats]:
        """Eigenvalues of the correlation matrices, the largest first."""
        before, after = (np.linalg.eigvalsh(side)[::-1].astype(np.float64) for side in self.correlations)
        return before, after

    @property
    def eigenvalue_shift(self) -> float:
        """Half the sum of absolute changes of the eigenvalues' shares: 0 alike, 1 nothing in common."""
        before, after = (side / max(side.sum(), 1e-300) for side in self.eigenvalues)
        return float(np.abs(after - before).sum() / 2)


def compare_moments(original: object, released: object, *, columns: Iterable[str] | None = None) -> Moments:
    """Compare the moments of the columns that are numeric in both tables (or of the named ones).

    Rows are taken as paired for IL1s when both tables have as many.
    """
    left, right = read_pair(original, released)
    names = numeric_names(left, right, columns)
    x, y = numbers(left, names), numbers(right, names)
    il1s, cells = _il1s(x, y) if len(x) == len(y) else (None, 0)
    return Moments(
        names,
        (_per_column(x, _mean), _per_column(y, _mean)),
        (_per_column(x, _variance), _per_column(y, _variance)),
        (_covariance(x), _covariance(y)),
        (correlation(x), correlation(y)),
        (_quantiles(x), _quantiles(y)),
        il1s,
        cells,
    )


def correlation(values: Floats) -> Floats:
    """Return the correlation matrix over complete records: 1 on the diagonal, 0 off it where a column is constant."""
    covariance = _covariance(values)
    sd = np.sqrt(np.diag(covariance))
    scale = np.outer(sd, sd)
    result: Floats = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(result, 1.0)
    return result


def _covariance(values: Floats) -> Floats:
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) < 2:
        return np.zeros((values.shape[1], values.shape[1]))
    return np.atleast_2d(np.cov(complete, rowvar=False))


def _il1s(x: Floats, y: Floats) -> tuple[float, int]:
    """Sum of |x - y| / (sqrt(2) sd(x)) over cells present in both; constant columns have no scale and count 0."""
    both = ~np.isnan(x) & ~np.isnan(y)
    sd = np.sqrt(_per_column(x, _variance))
    gaps = np.abs(np.where(both, x - y, 0.0)).sum(axis=0)
    return float(np.divide(gaps, np.sqrt(2.0) * sd, out=np.zeros_like(gaps), where=sd > 0).sum()), int(both.sum())


def _in_sds(change: Floats, variance: Floats) -> Floats:
    sd = np.broadcast_to(np.sqrt(variance), change.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(change == 0, 0.0, change / sd)


def _per_column(values: Floats, statistic: Callable[[Floats], float]) -> Floats:
    return np.array([statistic(present(values[:, j])) for j in range(values.shape[1])])


def _mean(column: Floats) -> float:
    return float(column.mean()) if column.size else float("nan")


def _variance(column: Floats) -> float:
    return float(column.var(ddof=1)) if column.size > 1 else 0.0


def _quantiles(values: Floats) -> Floats:
    columns = [present(values[:, j]) for j in range(values.shape[1])]
    return np.column_stack(
        [
            np.quantile(column, PROBABILITIES) if column.size else np.full(len(PROBABILITIES), np.nan)
            for column in columns
        ]
    )
