"""Estimates of masked numbers from the whole record: what is published of a person says more than one cell of it.

The true value is regressed on *all* that the record shows (docs/methods.md, section 12); every person's estimate comes
from what others taught, in two folds, so nothing is remembered.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Codes, Floats, Rows
from unmask.tables import canonical_order

FOLDS = 2
MOST_LEVELS = 20  # of a category, with a column each
SHRINK = (1e-3, 1e-1, 10.0)  # ridge penalties per person, chosen on the people taught


def denoised(values: Floats, masked: Floats, record: Floats, *, seed: int = 0) -> Floats:
    """Estimate ``values`` (n,) from the published number ``masked`` (n,) and the whole ``record`` (n, m).

    In each fold the people of the other one teach: a ridge regression with the penalty that does best on them is used
    where it errs less, on them, than the published number itself; else that is taken as it stands. NaN where the
    number is not published.
    """
    estimate = masked.copy()
    known = np.flatnonzero(~np.isnan(values) & ~np.isnan(masked))
    if known.size < 10 * FOLDS or np.ptp(values[known]) == 0:
        return estimate
    design = _design(np.column_stack([masked, record])[known])
    truth = values[known]
    fold = _folds(np.column_stack([truth, design]), seed)
    for part in range(FOLDS):
        taught, asked = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        guess = _best(design[taught], truth[taught], masked[known][taught])
        if guess is not None:
            estimate[known[asked]] = guess(design[asked])
    return estimate


def indicators(codes: Codes) -> list[Floats]:
    """Categories as numbers that no label decides: one column for each of a few, else how many records have it."""
    columns = []
    for column in codes.T:
        levels, place, count = np.unique(column, return_inverse=True, return_counts=True)
        if levels.size > MOST_LEVELS:
            columns.append(count[place].astype(np.float64))
        else:
            columns += [(column == level).astype(np.float64) for level in levels[np.argsort(-count, kind="stable")]]
    return columns


def _design(columns: Floats) -> Floats:
    """Standardised columns, missing cells at the mean with a flag of their own; constants are left out."""
    missing = np.isnan(columns)
    centre = np.array([_mean(columns[~gap, k]) for k, gap in enumerate(missing.T)])
    filled = np.where(missing, centre, columns)
    spread = np.array([np.sqrt(_mean((column - _mean(column)) ** 2)) for column in filled.T])
    kept = spread > 0
    flags = missing[:, missing.any(axis=0) & ~missing.all(axis=0)].astype(np.float64)
    return np.column_stack([(filled[:, kept] - centre[kept]) / spread[kept], flags])


def _mean(column: Floats) -> float:
    return float(np.sort(column).sum() / column.size) if column.size else 0.0


def _folds(content: Floats, seed: int) -> Rows:
    """Deal people by content, not by row; equal people may fall into either fold."""
    order = canonical_order(content)
    fold = np.empty(len(content), dtype=np.int64)
    fold[order] = np.random.default_rng(seed).permutation(len(content)) % FOLDS
    return fold


def _best(design: Floats, truth: Floats, masked: Floats) -> _Ridge | None:
    """The ridge regression that errs least on people it did not see, if it beats the published number there."""
    half = np.arange(len(truth)) % 2 == 0
    order = canonical_order(np.column_stack([truth, design]))
    half = half[np.argsort(order)]
    errors = {
        shrink: np.mean(
            [
                np.median(np.abs(_Ridge(design[side], truth[side], shrink)(design[~side]) - truth[~side]))
                for side in (half, ~half)
            ]
        )
        for shrink in SHRINK
    }
    shrink = min(errors, key=lambda each: errors[each])
    return _Ridge(design, truth, shrink) if errors[shrink] < np.median(np.abs(masked - truth)) else None


class _Ridge:
    """Least squares with an intercept and a penalty on the slopes."""

    def __init__(self, design: Floats, truth: Floats, shrink: float) -> None:
        self.centre, self.mean = design.mean(axis=0), float(truth.mean())
        x, y = design - self.centre, truth - self.mean
        gram = x.T @ x + shrink * len(y) * np.eye(x.shape[1])
        self.slopes = np.linalg.solve(gram, x.T @ y)

    def __call__(self, design: Floats) -> Floats:
        return np.asarray((design - self.centre) @ self.slopes + self.mean)
