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
TEACHERS = 30_000  # people who teach, at most: many more teach nothing that these do not
BLOCK = 50_000  # people who are estimated at once
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
    some = known if known.size <= TEACHERS else _drawn(values, masked, record, known, seed)
    shown = np.column_stack([masked[some], record[some]])
    design_of = _Design(shown)
    design, truth = design_of(shown), values[some]
    fold = _folds(np.column_stack([truth, design]), seed)
    for part in range(FOLDS):
        taught, asked = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        guess = _best(design[taught], truth[taught], masked[some][taught])
        if guess is None:
            continue
        estimate[some[asked]] = guess(design[asked])
        if part == 0 and some.size < known.size:  # whoever taught nobody may ask any of them
            rest = np.setdiff1d(known, some, assume_unique=True)
            for rows in (rest[start : start + BLOCK] for start in range(0, rest.size, BLOCK)):
                estimate[rows] = guess(design_of(np.column_stack([masked[rows], record[rows]])))
    return estimate


def _drawn(values: Floats, masked: Floats, record: Floats, known: Rows, seed: int) -> Rows:
    """So many people by lot, whatever the order of rows: those of the smallest marks of what is known of them."""
    mark = np.full(known.size, np.uint64(seed % 2**63 + 1))
    for column in (values, masked, *record.T):
        mark ^= np.where(np.isnan(column[known]), -1.0, column[known] + 0.0).view(np.uint64)
        mark *= np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
    return np.sort(known[np.argsort(mark, kind="stable")[:TEACHERS]])


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


class _Design:
    """Standardised columns, missing cells at the mean with a flag of their own; constants are left out."""

    def __init__(self, columns: Floats) -> None:
        missing = np.isnan(columns)
        self.centre = np.array([_mean(columns[~gap, k]) for k, gap in enumerate(missing.T)])
        filled = np.where(missing, self.centre, columns)
        self.spread = np.array([np.sqrt(_mean((column - _mean(column)) ** 2)) for column in filled.T])
        self.kept = self.spread > 0
        self.flagged = missing.any(axis=0) & ~missing.all(axis=0)

    def __call__(self, columns: Floats) -> Floats:
        missing, kept = np.isnan(columns), self.kept
        filled = np.where(missing, self.centre, columns)
        flags = missing[:, self.flagged].astype(np.float64)
        return np.column_stack([(filled[:, kept] - self.centre[kept]) / self.spread[kept], flags])


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
