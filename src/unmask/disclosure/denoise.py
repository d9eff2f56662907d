"""Estimates of masked numbers from the whole record: what is published of a person says more than one cell of it.

The true value is regressed on *all* that the record shows (docs/methods.md, section 12); every person's estimate comes
from what others taught, in two folds, so nothing is remembered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats, Rows
from unmask.tables import canonical_order

FOLDS = 2
MOST_LEVELS = 20  # of a category, with a column each
TEACHERS = 30_000  # people who teach, at most: many more teach nothing that these do not
BLOCK = 50_000  # people who are estimated at once
SHRINK = (1e-3, 1e-1, 10.0)  # ridge penalties per person, chosen on the people taught


class Record:
    """What a release shows of each person, standardised once for all numbers that the same people have."""

    def __init__(self, shown: Floats) -> None:
        self.shown = shown
        self._people, self._design = np.zeros(0, dtype=np.int64), _Design(shown[:0])

    def design(self, people: Rows) -> _Design:
        """How columns are standardised among these people."""
        if not np.array_equal(people, self._people):
            self._people, self._design = people, _Design(self.shown[people])
        return self._design


def denoised(values: Floats, masked: Floats, record: Floats | Record, *, seed: int = 0) -> Floats:
    """Estimate ``values`` (n,) from the published number ``masked`` (n,) and the whole ``record`` (n, m).

    In each fold the people of the other one teach: a ridge regression with the penalty that does best on them is used
    where it errs less, on them, than the published number itself; else that is taken as it stands. NaN where the
    number is not published.
    """
    whole, estimate = record if isinstance(record, Record) else Record(record), masked.copy()
    known = np.flatnonzero(~np.isnan(values) & ~np.isnan(masked))
    if known.size < 10 * FOLDS or np.ptp(values[known]) == 0:
        return estimate
    some = known if known.size <= TEACHERS else _drawn(values, masked, whole.shown, known, seed)
    cell, rest_of = _Design(masked[some, None]), whole.design(some)

    def design_of(rows: Rows) -> Floats:
        return np.column_stack([cell(masked[rows, None]), rest_of(whole.shown[rows])])

    design, truth = design_of(some), values[some]
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
                estimate[rows] = guess(design_of(rows))
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
    published = np.median(np.abs(masked - truth))
    if published == 0:  # nothing errs less
        return None
    half = np.arange(len(truth)) % 2 == 0
    order = canonical_order(np.column_stack([truth, design]))
    half = half[np.argsort(order)]
    fits = [(_Taught(design[side], truth[side]), design[~side], truth[~side]) for side in (half, ~half)]
    errors = {
        shrink: np.mean([np.median(np.abs(taught.ridge(shrink)(asked) - true)) for taught, asked, true in fits])
        for shrink in SHRINK
    }
    shrink = min(errors, key=lambda each: errors[each])
    return _Taught(design, truth).ridge(shrink) if errors[shrink] < published else None


class _Taught:
    """Some people as least squares sees them: their products, once for all penalties.

    With more columns than people the slopes are a sum over people, X' (X X' + a I)^-1 y, which is the same and takes
    the solution of a smaller system.
    """

    def __init__(self, design: Floats, truth: Floats) -> None:
        self.centre, self.mean = design.mean(axis=0), float(truth.mean())
        self.x, self.y = design - self.centre, truth - self.mean
        self.wide = self.x.shape[1] > self.x.shape[0]
        self.products = self.x @ self.x.T if self.wide else self.x.T @ self.x

    def ridge(self, shrink: float) -> _Ridge:
        """Fit with a penalty on the slopes."""
        system = self.products + shrink * len(self.y) * np.eye(len(self.products))
        if self.wide:
            return _Ridge(self.centre, self.mean, self.x.T @ np.linalg.solve(system, self.y))
        return _Ridge(self.centre, self.mean, np.linalg.solve(system, self.x.T @ self.y))


class _Ridge(NamedTuple):
    """Least squares with an intercept and a penalty on the slopes."""

    centre: Floats
    mean: float
    slopes: Floats

    def __call__(self, design: Floats) -> Floats:
        return np.asarray((design - self.centre) @ self.slopes + self.mean)
