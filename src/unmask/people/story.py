"""One person: which columns give them away, in bits, and the smallest changes of their record that would hide them.

Of the released records, those fit a person that are at least as near to what is known of them as their own record is,
in every column. All records fit who is known by nothing; each column halves them once for every bit that it tells. The
columns are taken in the order in which each tells most. Blanking a cell takes back what its column told.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats
from unmask.errors import ParameterError
from unmask.evidence import Figure
from unmask.shown import Shown
from unmask.study import as_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unmask.study import Study
    from unmask.tables import Release

MOST_TELLING, MOST_BLANKED, MOST_SHOWN = 10, 3, 5
EQUAL = 1e-9  # of the larger value, within which two distances are the same


@dataclass(frozen=True, slots=True)
class Told:
    """What a column tells beyond those before it: bits, and how many records still fit after it."""

    column: str
    bits: float
    fit: int


@dataclass(frozen=True, slots=True)
class Change:
    """Cells of the person's record to blank, and how many records fit them afterwards."""

    columns: tuple[str, ...]
    fit: int

    @property
    def risk(self) -> float:
        """Chance of an intruder who picks one of the records that fit."""
        return 1.0 / self.fit

    @property
    def words(self) -> str:
        """The change in a line."""
        return f"blank {' and '.join(self.columns)}: {self.fit:,} records fit, risk {self.risk:.1%}"


@dataclass(frozen=True, slots=True)
class PersonStory(Shown):
    """Why a person is found, and what would hide them."""

    row: int  # of the original, from 1
    records: int
    k: int
    told: tuple[Told, ...]
    changes: tuple[Change, ...]

    @property
    def fit(self) -> int:
        """Records that fit the person at least as well as their own."""
        return self.told[-1].fit if self.told else self.records

    @property
    def words(self) -> str:
        """The story in a few sentences, without values."""
        fit = "only their own record fits" if self.fit == 1 else f"{self.fit:,} of {self.records:,} records fit"
        bits = sum(one.bits for one in self.told)
        columns = ", ".join(f"{one.column} ({one.bits:.1f} bits)" for one in self.told if one.bits > 0)
        begun = f"Row {self.row}: {fit} what is known of them, by {columns or 'nothing that a column tells'}"
        told = [f"{begun}; {np.log2(self.records):.1f} bits single out one of {self.records:,}, {bits:.1f} are told."]
        if self.fit >= self.k:
            told.append(f"They stand among {self.k} or more already.")
        elif not self.changes:
            told.append(f"Blanking up to {MOST_BLANKED} cells does not put them among {self.k} records that fit.")
        else:
            told.append(f"To put them among {self.k}: {'; or '.join(change.words for change in self.changes)}.")
        return " ".join(told)

    def figure(self) -> Figure:
        """The bits of each column, one after the other."""
        return Figure.bars(
            [(one.column, one.bits) for one in self.told if one.bits > 0],
            title=f"What gives row {self.row} away?",
            caption="Bits that each column tells beyond those above it: each bit halves the records that fit.",
            said=f"Bits that columns tell about row {self.row}: ",
            axes=("column", "bits"),
            form="{} {:.1f}",
        )


def explain_person(release: Release | Study, row: int, *, k: int = 5) -> PersonStory:
    """Say which columns give a person away, and the smallest changes after which ``k`` records fit them.

    ``row``: of the original, from 1, as in the report and in ``records``.
    """
    study = as_study(release)
    n, records = study.release.original.height, study.release.released.height
    if not 1 <= row <= n:
        raise ParameterError("there is no such row", got=str(row), allowed=f"1 to {n}")
    if k < 2:
        raise ParameterError("k counts the records among which somebody hides", got=str(k), allowed="2 or more")
    own = int(study.release.truth[row - 1])
    if own < 0:
        raise ParameterError("this person has no record in the release", got=f"row {row}")
    fits = {name: _fits(study, name, row - 1, own) for name in study.compared}
    told = _told(fits, records)
    return PersonStory(row, records, k, told, _changes(fits, told, records, k))


def hiding_list(stories: Sequence[PersonStory]) -> pl.DataFrame:
    """What to blank for several people: columns, whom it hides, cells; most people hidden per cell first.

    Everybody counts where their own smallest change is: a row of people who need more than that is not here.
    """
    rows: dict[tuple[str, ...], list[int]] = {}
    for story in stories:
        if story.changes:
            rows.setdefault(tuple(sorted(story.changes[0].columns)), []).append(story.row)
    found = sorted(rows.items(), key=lambda one: (len(one[0]), -len(one[1]), one[0]))
    return pl.DataFrame(
        {
            "blank": pl.Series([", ".join(columns) for columns, _ in found], dtype=pl.String),
            "people": pl.Series([len(hidden) for _, hidden in found], dtype=pl.Int64),
            "cells": pl.Series([len(hidden) * len(columns) for columns, hidden in found], dtype=pl.Int64),
            "rows": pl.Series([hidden for _, hidden in found], dtype=pl.List(pl.Int64)),
        }
    )


def _fits(study: Study, name: str, person: int, own: int) -> Flags:
    """Records whose value is at least as near to the person's as that of their own record."""
    encoding = study.encoding()
    if name in encoding.spans:
        span = encoding.spans[name]
        value = span.values[person]
        gap = np.maximum(np.maximum(span.low - value, value - span.high), 0.0)
    elif name in encoding.numeric_names:
        left, right = encoding.columns(name)
        gap = np.abs(right - left[person])
        gap = np.where(np.isnan(right) & np.isnan(left[person]), 0.0, gap)
    else:
        left, right = encoding.columns(name)
        same = (right == left[person]) | (np.isnan(right) & np.isnan(left[person]))
        gap = np.where(same, 0.0, 1.0)
    gap = np.where(np.isnan(gap), np.inf, gap)
    if np.isinf(gap[own]):
        return np.ones(gap.size, dtype=bool)
    return np.asarray(gap <= gap[own] * (1 + EQUAL) + EQUAL * _size(gap))


def _size(gap: Floats) -> float:
    """A length by which rounding is measured: the median distance."""
    there = gap[np.isfinite(gap)]
    return float(np.median(there)) if there.size else 0.0


def _told(fits: dict[str, Flags], records: int) -> tuple[Told, ...]:
    """Columns in the order in which each tells most; those that tell nothing more come last, by name."""
    left, now, told = dict(sorted(fits.items())), np.ones(records, dtype=bool), []
    while left:
        name = min(left, key=lambda one: int((now & left[one]).sum()))
        before, now = int(now.sum()), now & left.pop(name)
        told.append(Told(name, float(np.log2(before / now.sum())), int(now.sum())))
    return tuple(told)


def _changes(fits: dict[str, Flags], told: tuple[Told, ...], records: int, k: int) -> tuple[Change, ...]:
    """The smallest sets of cells whose blanking leaves k records that fit, the largest crowds first."""
    if not told or told[-1].fit >= k:
        return ()
    telling = [one.column for one in told[:MOST_TELLING]]
    found: list[Change] = []
    for size in range(1, min(MOST_BLANKED, len(telling)) + 1):
        for columns in combinations(telling, size):
            if any(set(smaller.columns) <= set(columns) for smaller in found):
                continue
            kept = [fits[name] for name in fits if name not in columns]
            fit = int(np.logical_and.reduce(kept).sum()) if kept else records
            found += [Change(columns, fit)] if fit >= k else []
    return tuple(sorted(found, key=lambda one: (len(one.columns), -one.fit, one.columns))[:MOST_SHOWN])
