"""The user's own analyses on both tables: would somebody who computes them on the release come to the same answer?

Each number has its 95 % confidence interval on both tables; their overlap is 1 where they are the same and 0 where they
have nothing in common (Karr et al. 2006).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints, Rows
from unmask.errors import ParameterError, RoleError, TableError, UnmaskError, check_name, did_you_mean
from unmask.shares import percent
from unmask.shown import Shown
from unmask.tables import bounds, has_intervals, to_floats
from unmask.utility.pairs import read_pair
from unmask.utility.statistics import STATISTICS, Answer, regress

FORMS = '"mean(income) by region", "count by sex", "share(smoker = yes)", "income ~ age + sex"'
MOST_GROUPS = 1000
CALL = re.compile(r"^(?P<name>[a-z]+)\s*(?:\((?P<inside>.*)\))?$", re.DOTALL)
EVERYBODY, ROW = "all", "row of the table"
OPEN = 1e300  # ends beyond are none: "[90, inf)" reaches up to the largest number there is


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis as it was asked for: a statistic of some columns, for everybody or by group, or a regression."""

    text: str
    statistic: str  # a name of STATISTICS, or "regression"
    columns: tuple[str, ...]
    by: tuple[str, ...] = ()
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Kept(Shown):
    """What an analysis says on both tables, a number for each label: a group, or a coefficient."""

    analysis: Analysis
    labels: tuple[str, ...]
    original: Floats
    released: Floats  # NaN where the release has no such group
    original_interval: Floats  # (labels, 2)
    released_interval: Floats
    people: Ints  # records of the original behind each number
    reason: str = ""  # why the release has no answer

    @property
    def overlaps(self) -> Floats:
        """Overlap of the two intervals for each label."""
        pairs = zip(self.original_interval, self.released_interval, strict=True)
        return np.array([interval_overlap(one, two) for one, two in pairs])

    @property
    def overlap(self) -> float:
        """Mean overlap over all labels: 1 the same answers, 0 answers that exclude each other."""
        return float(self.overlaps.mean())

    @property
    def words(self) -> str:
        """The result in one sentence."""
        if self.reason:
            return f"{self.analysis.text}: the release cannot answer it ({self.reason})."
        low, high = self.original_interval.T
        inside, among = int(((self.released >= low) & (self.released <= high)).sum()), len(self.labels)
        kept = f"{inside} of {among} numbers stay" if among > 1 else f"it {'stays' if inside else 'does not stay'}"
        overlap = f"the intervals overlap by {percent(self.overlap)}"
        return f"{self.analysis.text}: {kept} within the original's 95 % interval; {overlap}."


def interval_overlap(one: Sequence[float] | Floats, two: Sequence[float] | Floats) -> float:
    """Mean share of each interval that lies in the other: 1 the same, 0 nothing in common or no answer."""
    (low, high), (least, most) = one, two
    if np.isnan([low, high, least, most]).any():
        return float(np.isnan([low, high, least, most]).all())
    common = min(high, most) - max(low, least)
    if common < 0:
        return 0.0
    widths = high - low, most - least
    if not any(widths):
        return 1.0
    return float(np.mean([common / width if width else 1.0 for width in widths]))


def compare_analyses(original: object, released: object, keep: Iterable[str]) -> tuple[Kept, ...]:
    """Compute analyses on both tables and say how far the release comes to the same answers.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"town": ["A", "B"] * 20, "income": range(40)})
    >>> unmask.compare_analyses(people, people, ["mean(income) by town"])[0].overlap
    1.0

    """
    left, right = read_pair(original, released)
    asked = [parse_analysis(text, left.columns) for text in ((keep,) if isinstance(keep, str) else keep)]
    return tuple(_compared(analysis, left, right) for analysis in asked)


def parse_analysis(text: str, columns: Sequence[str]) -> Analysis:
    """Read an analysis; `columns` are those that it may name."""
    if "~" in text:
        return _formula(text, columns)
    head, _, groups = text.partition(" by ")
    call = CALL.match(head.strip())
    name = call["name"] if call else ""
    if call is None or name not in STATISTICS:
        raise ParameterError(
            "cannot read this analysis", got=repr(text), allowed=FORMS, hint=did_you_mean(name, STATISTICS)
        )
    needed, argument = STATISTICS[name].columns, ""
    parts = [part.strip() for part in (call["inside"] or "").split(",") if part.strip()]
    if name == "share":
        column, equals, argument = (part.strip() for part in (call["inside"] or "").partition("="))
        parts = [column] if column and equals and argument else []
    if name == "quantile" and len(parts) == 2:
        argument = parts.pop()
        _probability(argument, text)
    if len(parts) != needed or (name == "quantile" and not argument):
        raise ParameterError("this analysis is called wrongly", got=repr(text), allowed=STATISTICS[name].example)
    by = tuple(part.strip() for part in groups.split(",") if part.strip())
    return Analysis(text.strip(), name, _known(parts, columns), _known(by, columns), argument)


def _formula(text: str, columns: Sequence[str]) -> Analysis:
    target, _, terms = text.partition("~")
    names = [target.strip(), *(term.strip() for term in terms.split("+"))]
    if not all(names) or len(names) < 2:
        raise ParameterError("cannot read this formula", got=repr(text), allowed='such as "income ~ age + sex"')
    return Analysis(text.strip(), "regression", _known(names, columns))


def _known(names: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        check_name(name, columns, f"no column is called {name!r}", RoleError)
    return tuple(names)


def _probability(written: str, text: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1:
        raise ParameterError("a quantile is a number between 0 and 1", got=repr(text), allowed="quantile(income, 0.9)")
    return value


def _compared(analysis: Analysis, left: pl.DataFrame, right: pl.DataFrame) -> Kept:
    here = _answers(analysis, left)
    if not here:
        raise TableError(
            "this analysis has no number on the original", got=analysis.text, hint="are the columns empty?"
        )
    labels, nothing = tuple(here), Answer(np.nan, np.nan, np.nan)
    there, reason = {}, ""
    absent = [name for name in (*analysis.columns, *analysis.by) if name not in right.columns]
    if absent:
        reason = f"it has no column {absent[0]!r}"
    else:
        try:
            there = _answers(analysis, right)
        except UnmaskError as error:
            reason = error.what
    answers = [there.get(label, nothing) for label in labels]
    return Kept(
        analysis,
        labels,
        np.array([answer.value for answer in here.values()]),
        np.array([answer.value for answer in answers]),
        np.array([(answer.low, answer.high) for answer in here.values()]),
        np.array([(answer.low, answer.high) for answer in answers]),
        _people(analysis, left, labels),
        reason if reason or any(label in there for label in labels) else "its groups have other names",
    )


def _answers(analysis: Analysis, table: pl.DataFrame) -> dict[str, Answer]:
    """The numbers of an analysis on one table, in the order of their labels."""
    if analysis.statistic == "regression":
        columns = {name: numbers(table[name]) if is_number(table[name]) else table[name] for name in analysis.columns}
        return regress(columns)
    statistic = STATISTICS[analysis.statistic]
    if analysis.statistic == "share":
        values = [(table[analysis.columns[0]].cast(pl.String) == analysis.argument).cast(pl.Float64).to_numpy()]
    else:
        values = [numbers(table[name]) for name in analysis.columns]
    argument = float(analysis.argument) if analysis.statistic == "quantile" else table.height
    found = {
        label: statistic.compute([column[rows] for column in values], len(rows), argument)
        for label, rows in _groups(table, analysis.by).items()
    }
    return {label: answer for label, answer in found.items() if answer is not None}


def _people(analysis: Analysis, table: pl.DataFrame, labels: Iterable[str]) -> Ints:
    """Records behind each number: complete in the columns, and in the group or of the level that the label names."""
    complete = table.with_row_index(ROW).drop_nulls(list(analysis.columns))[ROW].to_numpy()
    if analysis.statistic != "regression":
        groups = _groups(table, analysis.by)
        return np.array([np.isin(groups[label], complete).sum() for label in labels], dtype=np.int64)
    levels = {
        f"{name}={level}": count
        for name in analysis.columns
        if not is_number(table[name])
        for level, count in table[complete][name].cast(pl.String).alias("").value_counts().rows()
    }
    return np.array([levels.get(label, complete.size) for label in labels], dtype=np.int64)


def _groups(table: pl.DataFrame, by: tuple[str, ...]) -> dict[str, Rows]:
    """Rows of each group, in the order of their labels; records without a group are left out."""
    if not by:
        return {EVERYBODY: np.arange(table.height, dtype=np.int64)}
    keys = table.select(pl.concat_str([pl.col(name).cast(pl.String) for name in by], separator=", ").alias("label"))
    grouped = keys.with_row_index("row").drop_nulls("label").group_by("label").agg("row").sort("label")
    if grouped.height > MOST_GROUPS:
        raise ParameterError("there are too many groups", got=f"{grouped.height:,}", allowed=f"at most {MOST_GROUPS:,}")
    return {label: np.array(rows, dtype=np.int64) for label, rows in grouped.iter_rows()}


def is_number(column: pl.Series) -> bool:
    """Say whether a column holds numbers, days, or intervals of them."""
    return column.dtype.is_numeric() or column.dtype.is_temporal() or has_intervals(column)


def numbers(column: pl.Series) -> Floats:
    """A column as numbers; an interval counts with its middle, an open one with its end; else it is missing."""
    if has_intervals(column):
        low, high = bounds(column)
        open_low, open_high = low < -OPEN, high > OPEN
        ends = np.where(open_low, high, low), np.where(open_high, low, high)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = (ends[0] + ends[1]) / 2
        return np.where(np.isfinite(middle), middle, np.nan)
    if not (column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype == pl.Boolean):
        raise TableError(f"column {column.name!r} holds no numbers")
    return to_floats(column, column.name)
