"""One person: which columns give them away, in bits, and the smallest changes that would hide them.

Of the released records, those fit a person that are at least as near to what is known of them as their own record is,
in every column; a blank cell fits everybody. All records fit who is known by nothing; each column halves them once for
every bit that it tells. The columns are taken in the order in which each tells most.

A cell that is blanked in their record alone hides nobody whose column is published as it is: the others still have
another value there, and the blank is the only one left. So a record counts as fitting beside the blank one only if it
is as near as half of all people's own records are, or if it is blanked as well: company is part of the change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Counts, Flags, Floats, Rows
from unmask.errors import ParameterError
from unmask.evidence import Figure
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import as_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unmask.study import Study
    from unmask.tables import Release

MOST_TELLING, MOST_BLANKED, MOST_SHOWN = 10, 3, 5
MOST_TOLD = 2  # changes that are told in words
EQUAL = 1e-9  # of the larger value, within which two distances are the same


@dataclass(frozen=True, slots=True)
class Told:
    """What a column tells beyond those before it: bits, and how many records still fit after it."""

    column: str
    bits: float
    fit: int


@dataclass(frozen=True, slots=True)
class Change:
    """Columns to blank in the person's record and in those of some others, and how many records fit them afterwards."""

    columns: tuple[str, ...]
    fit: int
    others: tuple[int, ...] = ()  # records of the release, from 1, that lose the same cells to keep them company

    @property
    def cells(self) -> int:
        """Cells that are blanked in all."""
        return len(self.columns) * (1 + len(self.others))

    @property
    def risk(self) -> float:
        """Chance of an intruder who picks one of the records that fit."""
        return 1.0 / self.fit

    @property
    def words(self) -> str:
        """The change in a line."""
        company = f" in their record and {len(self.others)} like it" if self.others else ""
        return f"blank {_listed(self.columns)}{company}: {self.fit:,} records fit, risk {percent(self.risk)}"


@dataclass(frozen=True, slots=True)
class PersonStory(Shown):
    """Why a person is found, and what would hide them."""

    row: int  # of the original, from 1
    records: int
    k: int
    told: tuple[Told, ...]
    changes: tuple[Change, ...]
    record: int = 0  # of the release, from 1: the person's own

    @property
    def fit(self) -> int:
        """Records that fit the person at least as well as their own."""
        return self.told[-1].fit if self.told else self.records

    @property
    def words(self) -> str:
        """The story in a few sentences, without values."""
        fit = "only their own record fits" if self.fit == 1 else f"{self.fit:,} of {self.records:,} records fit"
        told = [f"Row {self.row}: {fit} what is known of them."]
        left = [(one.column, f"{one.fit:,}") for one in self.told if one.bits > 0]
        if left:
            by = [
                f"{column} leaves {fit}" if place == 0 else f"{column} {fit}"
                for place, (column, fit) in enumerate(left)
            ]
            told.append(f"Of {self.records:,} records, {_listed(by)}.")
        if self.fit >= self.k:
            told.append(f"They stand among {self.k} or more already.")
        elif not self.changes:
            told.append(f"There are no {self.k} records among which blanked cells could put them.")
        else:
            ways = [change.words for change in self.changes[:MOST_TOLD]]
            more = len(self.changes) - len(ways)
            told.append(f"To put them among {self.k}: {'; or '.join(ways)}{f' ({more} more)' if more else ''}.")
        return " ".join(told)

    def figure(self) -> Figure:
        """The bits of each column as a waterfall, and all of them."""
        bits = [(one.column, one.bits) for one in self.told if one.bits > 0]
        bars = Figure.bars(
            [*bits, ("all together", sum(value for _, value in bits))],
            title=f"What gives row {self.row} away?",
            caption="Bits that each column tells beyond those above it: each bit halves the records that fit. "
            f"{np.log2(self.records):.1f} bits single out one of {self.records:,}.",
            said=f"Bits that columns tell about row {self.row}: ",
            axes=("column", "bits"),
            form="{} {:.1f}",
        )
        return replace(bars, shape="waterfall")


def _listed(parts: Sequence[str]) -> str:
    """Parts as people list them: a, b and c."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


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
    near, fits = dict[str, Flags](), dict[str, Flags]()
    for name in study.compared:
        gap = _gaps(study, name, row - 1)
        slack = _slack(gap)
        near[name] = _within(gap, study.kept(("reach of masking", name), partial(_reach, study, name)), slack)
        fits[name] = near[name] if _blank(study, name)[own] else _within(gap, gap[own], slack)
    told = _told(fits, records)
    return PersonStory(row, records, k, told, _changes(fits, near, told, own, k), own + 1)


def stories_of(study: Study, rows: Iterable[int]) -> tuple[PersonStory, ...]:
    """The stories of those of these people who have a record and whose columns can be compared."""
    if not study.release.quasi or not study.compared:  # files that share no name of a column
        return ()
    paired = set((study.release.paired_rows + 1).tolist())
    return tuple(explain_person(study, row) for row in rows if row in paired)


def hiding_list(stories: Sequence[PersonStory]) -> pl.DataFrame:
    """What to blank for several people: columns, whom it hides, cells, records; most people hidden per cell first.

    Everybody counts where their own smallest change is. ``records``: of the release, from 1, the company included;
    who needs the same columns blanked is company for the others, and no cell is counted twice.
    """
    rows: dict[tuple[str, ...], list[PersonStory]] = {}
    for story in stories:
        if story.changes:
            rows.setdefault(tuple(sorted(story.changes[0].columns)), []).append(story)
    found = [
        (columns, hidden, sorted({row for one in hidden for row in (one.record, *one.changes[0].others)}))
        for columns, hidden in rows.items()
    ]
    found.sort(key=lambda one: (len(one[0]) * len(one[2]) / len(one[1]), -len(one[1]), one[0]))
    return pl.DataFrame(
        {
            "blank": pl.Series([", ".join(columns) for columns, _, _ in found], dtype=pl.String),
            "people": pl.Series([len(hidden) for _, hidden, _ in found], dtype=pl.Int64),
            "cells": pl.Series([len(records) * len(columns) for columns, _, records in found], dtype=pl.Int64),
            "rows": pl.Series([[one.row for one in hidden] for _, hidden, _ in found], dtype=pl.List(pl.Int64)),
            "records": pl.Series([records for _, _, records in found], dtype=pl.List(pl.Int64)),
        }
    )


def _gaps(study: Study, name: str, person: int) -> Floats:
    """How far each record's value is from what is known of the person; a blank cell is not far from anything."""
    encoding = study.encoding()
    if name in encoding.spans:
        span = encoding.spans[name]
        value = span.values[person]
        if np.isnan(value):
            return np.where(_blank(study, name), 0.0, np.inf)
        gap = np.maximum(np.maximum(span.low - value, value - span.high), 0.0)
        return np.where(np.isnan(gap), 0.0, gap)
    left, right = encoding.columns(name)
    if np.isnan(left[person]):
        return np.where(np.isnan(right), 0.0, np.inf)
    numeric = name in encoding.numeric_names
    gap = _apart(right, left[person]) if numeric else (right != left[person]).astype(np.float64)
    return np.where(np.isnan(right), 0.0, gap)


def _blank(study: Study, name: str) -> Flags:
    """Records that say nothing in a column."""
    encoding = study.encoding()
    if name in encoding.spans:
        return np.asarray(np.isnan(encoding.spans[name].low) | np.isnan(encoding.spans[name].high))
    return np.asarray(np.isnan(encoding.columns(name)[1]))


def _apart(one: Floats, other: Floats | float) -> Floats:
    """How far numbers are apart; infinite ones that are the same are not."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, np.abs(one - other))


def _reach(study: Study, name: str) -> float:
    """How far masking moves a value of this column: the median of all people whose record says something."""
    encoding, people = study.encoding(), study.release.paired_rows
    own = study.release.truth[people]
    if name in encoding.spans:
        span = encoding.spans[name]
        value = span.values[people]
        gap = np.maximum(np.maximum(span.low[own] - value, value - span.high[own]), 0.0)
    else:
        left, right = encoding.columns(name)
        gap = _apart(right[own], left[people])
        gap = gap if name in encoding.numeric_names else np.where(np.isnan(gap), np.nan, (gap > 0).astype(np.float64))
    return float(np.median(gap[np.isfinite(gap)])) if np.isfinite(gap).any() else 0.0


def _slack(gap: Floats) -> float:
    """What rounding may add to a gap."""
    there = gap[np.isfinite(gap)]
    return EQUAL * (float(np.median(there)) if there.size else 0.0)


def _within(gap: Floats, reach: float, slack: float) -> Flags:
    """Records at most so far away, up to rounding."""
    return np.asarray(gap <= reach * (1 + EQUAL) + slack)


def _told(fits: dict[str, Flags], records: int) -> tuple[Told, ...]:
    """Columns in the order in which each tells most; those that tell nothing more come last, by name."""
    left, now, told = dict(sorted(fits.items())), np.ones(records, dtype=bool), []
    while left:
        name = min(left, key=lambda one: int((now & left[one]).sum()))
        before, now = int(now.sum()), now & left.pop(name)
        told.append(Told(name, float(np.log2(before / now.sum())), int(now.sum())))
    return tuple(told)


class _Scene(NamedTuple):
    """What is asked: which cells of a record to blank so that k records fit."""

    fits: dict[str, Flags]
    near: dict[str, Flags]
    own: int
    k: int
    misses: Counts  # of each record: columns in which it does not fit
    rows: Rows  # of the release

    def of_few_misses(self, most: int) -> _Scene:
        """The records that fit if so many columns are blanked: all that matter then."""
        some = np.flatnonzero(self.misses <= most)
        fits, near = ({name: flags[some] for name, flags in side.items()} for side in (self.fits, self.near))
        own = int(np.searchsorted(some, self.own))
        return _Scene(fits, near, own, self.k, self.misses[some], self.rows[some])

    def fitting(self, without: Iterable[str]) -> Flags:
        """Records that fit in all other columns."""
        left = self.misses.copy()
        for name in without:
            left -= ~self.fits[name]
        return np.asarray(left == 0)


def _changes(
    fits: dict[str, Flags], near: dict[str, Flags], told: tuple[Told, ...], own: int, k: int
) -> tuple[Change, ...]:
    """The changes of fewest cells after which k records fit; among equal ones those of the largest crowds first.

    Where no few columns are enough, one change of more of them.
    """
    if not told or told[-1].fit >= k:
        return ()
    telling = [one.column for one in told[:MOST_TELLING]]
    misses = np.sum([~fit for fit in fits.values()], axis=0)
    scene = _Scene(fits, near, own, k, misses, np.arange(misses.size))
    few = scene.of_few_misses(MOST_BLANKED)
    tried = [set_ for size in range(1, MOST_BLANKED + 1) for set_ in combinations(telling, size)]
    found = [change for columns in tried if (change := _change(columns, few)) is not None]
    found.sort(key=lambda one: (one.cells, -one.fit, one.columns))
    return _not_repeated(found)[:MOST_SHOWN] or _larger_change([one.column for one in told], scene)


def _change(columns: tuple[str, ...], scene: _Scene) -> Change | None:
    """Blank these columns, with the company that it takes; None where fewer than k records fit even so."""
    rest = scene.fitting(columns)
    crowd = rest & np.logical_and.reduce([scene.near[name] for name in columns])
    crowd[scene.own] = True
    company = np.flatnonzero(rest & ~crowd)[: max(0, scene.k - int(crowd.sum()))]
    fit = int(crowd.sum()) + company.size
    return Change(columns, fit, tuple((scene.rows[company] + 1).tolist())) if fit >= scene.k else None


def _larger_change(names: list[str], scene: _Scene) -> tuple[Change, ...]:
    """Blank one column after the other, always the one after which most records fit; then none that is not needed."""
    columns, found = tuple[str, ...](), None
    left, misses = list(names), scene.misses.copy()
    while found is None and left:
        name = max(left, key=lambda name: int(np.count_nonzero(misses == ~scene.fits[name])))
        left.remove(name)
        columns += (name,)
        misses -= ~scene.fits[name]
        found = _change(columns, scene)
    for name in columns:
        fewer = () if found is None else tuple(one for one in found.columns if one != name)
        found = (_change(fewer, scene) if fewer else None) or found
    return () if found is None else (found,)


def _not_repeated(changes: list[Change]) -> tuple[Change, ...]:
    """Without changes that blank all that an earlier one does, and more."""
    kept: list[Change] = []
    for one in changes:
        if not any(set(other.columns) <= set(one.columns) for other in kept):
            kept.append(one)
    return tuple(kept)
