"""Statistics with their 95 % confidence intervals: means, counts, shares, quantiles, correlations, regressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import TableError
from unmask.evidence import Z95 as Z
from unmask.evidence import wilson

MOST_LEVELS = 50  # categories of one column in a regression


class Answer(NamedTuple):
    """A number and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Statistic:
    """How a statistic is computed: of how many columns, and from their values, the number of rows and an argument."""

    columns: int
    example: str
    compute: Callable[[list[Floats], int, float], Answer | None]


def _around(value: float, error: float) -> Answer:
    return Answer(value, value - Z * error, value + Z * error)


def _present(columns: list[Floats]) -> list[Floats]:
    there = ~np.isnan(np.column_stack(columns)).any(axis=1)
    return [column[there] for column in columns]


def _mean(columns: list[Floats], _rows: int, _argument: float) -> Answer | None:
    (x,) = _present(columns)
    return _around(float(x.mean()), _error(x)) if x.size else None


def _total(columns: list[Floats], _rows: int, _argument: float) -> Answer | None:
    (x,) = _present(columns)
    return _around(float(x.sum()), x.size * _error(x)) if x.size else None


def _error(x: Floats) -> float:
    return float(x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else 0.0


def _sd(columns: list[Floats], _rows: int, _argument: float) -> Answer | None:
    """Standard deviation; its error by the fourth moment, which needs no normal distribution."""
    (x,) = _present(columns)
    if x.size < 2:
        return None
    sd = float(x.std(ddof=1))
    if sd == 0:
        return Answer(0.0, 0.0, 0.0)
    fourth = float(((x - x.mean()) ** 4).mean())
    variance = max(0.0, (fourth - sd**4) / x.size)
    return _around(sd, float(np.sqrt(variance)) / (2 * sd))


def _count(_columns: list[Floats], rows: int, whole: float) -> Answer:
    share = rows / whole
    return _around(float(rows), float(np.sqrt(whole * share * (1 - share))))


def _share(columns: list[Floats], _rows: int, _argument: float) -> Answer | None:
    (x,) = _present(columns)
    if not x.size:
        return None
    return Answer(float(x.mean()), *wilson(float(x.sum()), x.size))


def _quantile(columns: list[Floats], _rows: int, probability: float) -> Answer | None:
    """Quantile with the order statistics around it, as many as a binomial count goes astray."""
    (x,) = _present(columns)
    if not x.size:
        return None
    ordered, n = np.sort(x), x.size
    wide = Z * np.sqrt(n * probability * (1 - probability))
    ends = (int(np.clip(np.floor(n * probability + side * wide), 0, n - 1)) for side in (-1, 1))
    low, high = (float(ordered[end]) for end in ends)
    return Answer(float(np.quantile(ordered, probability)), low, high)


def _median(columns: list[Floats], rows: int, _argument: float) -> Answer | None:
    return _quantile(columns, rows, 0.5)


def _correlation(columns: list[Floats], _rows: int, _argument: float) -> Answer | None:
    """Pearson's correlation with Fisher's interval."""
    x, y = _present(columns)
    if x.size < 4 or x.std() == 0 or y.std() == 0:  # it divides by them: there is no such number
        return None
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    z, error = np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15)), 1 / np.sqrt(x.size - 3)
    return Answer(r, float(np.tanh(z - Z * error)), float(np.tanh(z + Z * error)))


STATISTICS = {
    "mean": Statistic(1, "mean(income)", _mean),
    "total": Statistic(1, "total(income)", _total),
    "sd": Statistic(1, "sd(income)", _sd),
    "median": Statistic(1, "median(income)", _median),
    "quantile": Statistic(1, "quantile(income, 0.9)", _quantile),
    "count": Statistic(0, "count by region", _count),
    "share": Statistic(1, "share(smoker = yes)", _share),
    "correlation": Statistic(2, "correlation(age, income)", _correlation),
}


def regress(columns: Mapping[str, Floats | pl.Series]) -> dict[str, Answer]:
    """Least squares of the first column on the others, categories as levels against the first one; by coefficient."""
    (target, y), *terms = columns.items()
    if not isinstance(y, np.ndarray):
        raise TableError(f"column {target!r} holds no numbers")
    names, parts = ["intercept"], [np.ones(len(y))]
    for name, values in terms:
        for label, part in [(name, values)] if isinstance(values, np.ndarray) else _levels(name, values):
            names.append(label)
            parts.append(part)
    there = ~np.isnan(np.column_stack([y, *parts])).any(axis=1)
    x, y = np.column_stack(parts)[there], y[there]
    if len(y) <= x.shape[1]:
        raise TableError("there are too few complete records for this regression", got=f"{len(y)} records")
    solved, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    if rank < x.shape[1]:
        raise TableError(
            "this regression divides by zero", got=f"{target} ~ {' + '.join(name for name, _ in terms)}",
            hint="leave out a column that does not vary, or that follows from the others",
        )  # fmt: skip
    left = y - x @ solved
    spread = np.linalg.pinv(x.T @ x) * float(left @ left) / (len(y) - x.shape[1])
    errors = np.sqrt(np.maximum(np.diag(spread), 0.0))
    return {name: _around(float(b), float(e)) for name, b, e in zip(names, solved, errors, strict=True)}


def _levels(name: str, values: pl.Series) -> list[tuple[str, Floats]]:
    text = values.cast(pl.String)
    levels = sorted(text.drop_nulls().unique())
    if len(levels) > MOST_LEVELS:
        raise TableError(f"column {name!r} has too many categories for a regression", got=str(len(levels)))
    gaps = text.is_null().to_numpy()
    return [
        (f"{name}={level}", np.where(gaps, np.nan, (text == level).fill_null(value=False).to_numpy()))
        for level in levels[1:]
    ]
