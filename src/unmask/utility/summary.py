"""Utility as a report shows it beside the risk: a headline, never alone, with columns, pairs, models and analyses.

No value of the data is in it but what the user's own analyses ask for, and of those no number of fewer than eleven
people. Tables of many rows are looked at through a sample; analyses are computed on all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.discretion import LEAST
from unmask.errors import UnmaskError
from unmask.shown import Shown
from unmask.tables import check_columns
from unmask.utility.analyses import Kept, compare_analyses
from unmask.utility.associations import Associations, compare_associations
from unmask.utility.coding import both_coded
from unmask.utility.columns import ColumnUtility, compare_column
from unmask.utility.information_loss import information_loss
from unmask.utility.left import Left, left_of, widest
from unmask.utility.moments import Moments, compare_moments
from unmask.utility.pairs import read_pair
from unmask.utility.prediction import Prediction, compare_predictions
from unmask.utility.propensity import Propensity, propensity_score

MOST_ROWS, MOST_LEARNT = 10_000, 1_000  # rows that are looked at, and that models learn from
PERMUTATIONS, MOST_TARGETS = 5, 3
DIGITS = 6


@dataclass(frozen=True, slots=True)
class NumberUtility:
    """What became of the columns that are numbers in both tables.

    ``correlation_norm``: Frobenius norm of the change of the correlations; ``eigenvalue_shift``: half the sum of the
    changes of the shares of their eigenvalues; ``loss``: probabilistic information loss; ``il1s``: sum of |x - y| over
    sqrt(2) sd, and ``il1`` the same per value (null where rows are not paired).
    """

    correlation_norm: float
    eigenvalue_shift: float
    loss: float
    il1s: float | None
    il1: float | None


@dataclass(frozen=True, slots=True)
class KeptNumber:
    """One number of an analysis in both tables; released is null where the release has none."""

    label: str
    original: float
    released: float | None
    overlap: float


@dataclass(frozen=True, slots=True)
class AnalysisUtility:
    """One of the user's own analyses.

    ``overlap``: of the 95 % intervals, the mean over all its numbers; ``hidden``: numbers of fewer than eleven people,
    which are not shown.
    """

    analysis: str
    overlap: float
    words: str
    numbers: tuple[KeptNumber, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class UtilityEntry(Shown):
    """What is left of the data, 0 to 1, with what the headline is made of and what it does not say.

    ``value``: the mean of ``columns_left``, ``relations_left`` and ``analyses_left``; ``rows``: of the original, looked
    at; ``told_apart``: a classifier between both tables (null: not asked, or too few records).
    """

    value: float
    words: str
    columns_left: float
    relations_left: float | None
    analyses_left: float | None
    rows: int
    paired: bool
    columns: tuple[ColumnUtility, ...]
    pairs: Associations | None
    numbers: NumberUtility | None
    told_apart: Propensity | None
    predicted: tuple[Prediction, ...]
    analyses: tuple[AnalysisUtility, ...]


def summarise_utility(  # noqa: PLR0913 - what to look at, and how closely
    original: object,
    released: object,
    *,
    columns: Iterable[str] | None = None,
    keep: Iterable[str] = (),
    targets: Iterable[str] = (),
    paired: bool = True,
    learn: bool = True,
    seed: int = 0,
) -> UtilityEntry:
    """Say what is left of the columns of a table (default: all); ``paired`` rows are in the same order in both.

    ``targets``: columns that models learn (default: those with the strongest relations); ``learn``: whether any do.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.summarise_utility(people, people, learn=False).words
    '100 % of the data is left, where 100 % is the original itself (columns 100 %, relations between columns 100 %).'

    """
    left, right = read_pair(original, released)
    paired = paired and left.height == right.height
    kept = compare_analyses(left, right, keep)
    names = list(left.columns if columns is None else check_columns(columns, left.columns, "columns", "the original"))
    left, right = left.select(names), right.select([name for name in names if name in right.columns])
    left, right = some_rows(left, right, MOST_ROWS, paired=paired, seed=seed)
    codes = {name: both_coded(left[name], right.get_column(name, default=None)) for name in names}
    whole = left_of(codes, [one.overlap for one in kept], paired=paired)
    moments = _moments(left, right)
    pairs = compare_associations(
        {name: codes[name] for name in widest(codes)}, None if moments is None else moments.correlations
    )
    apart, predicted = _learnt(left, right, tuple(targets), pairs, paired=paired, seed=seed) if learn else (None, ())
    entry = UtilityEntry(
        whole.value, headline(whole), whole.of_columns, whole.relations, whole.analyses, left.height, paired,
        tuple(compare_column(name, whole.columns[name], left[name], right.get_column(name, default=None), codes[name])
              for name in names),
        pairs, _numbers(left, right, moments, paired=paired), apart, predicted,
        tuple(_analysis(one) for one in kept),
    )  # fmt: skip
    told: UtilityEntry = rounded(entry)
    return told


def headline(left: Left) -> str:
    """The headline with its parts, in one sentence."""
    shares = {
        "columns": left.of_columns,
        "relations between columns": left.relations,
        "your analyses": left.analyses,
    }
    parts = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items() if share is not None)
    return f"{100 * left.value:.0f} % of the data is left, where 100 % is the original itself ({parts})."


def some_rows(
    left: pl.DataFrame, right: pl.DataFrame, most: int, *, paired: bool, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows in an order of their own content, so that nothing depends on the file's; of many a sample."""
    if not right.width:
        return left, right
    if paired:
        rows = _drawn(pl.concat([left, right.rename(lambda name: f"released {name}")], how="horizontal"), most, seed)
        return left[rows], right[rows]
    return left[_drawn(left, most, seed)], right[_drawn(right, most, seed)]


def _drawn(table: pl.DataFrame, most: int, seed: int) -> Rows:
    order = table.with_row_index("row of the table").sort(table.columns, nulls_last=True)["row of the table"].to_numpy()
    if order.size > most:
        order = order[np.sort(np.random.default_rng([seed, 29]).choice(order.size, most, replace=False))]
    return order.astype(np.int64)


def _moments(left: pl.DataFrame, right: pl.DataFrame) -> Moments | None:
    try:
        return compare_moments(left, right)
    except UnmaskError:  # no column is numbers on both sides
        return None


def _numbers(left: pl.DataFrame, right: pl.DataFrame, moments: Moments | None, *, paired: bool) -> NumberUtility | None:
    if moments is None:
        return None
    loss = information_loss(left, right, columns=moments.names).value
    il1 = (moments.il1s, moments.il1) if paired else (None, None)
    return NumberUtility(moments.correlation_norm, moments.eigenvalue_shift, loss, *il1)


def _learnt(
    left: pl.DataFrame,
    right: pl.DataFrame,
    targets: tuple[str, ...],
    pairs: Associations | None,
    *,
    paired: bool,
    seed: int,
) -> tuple[Propensity | None, tuple[Prediction, ...]]:
    """Tell the tables apart, and learn some columns: those named, or those with the strongest relations."""
    left, right = some_rows(left, right, MOST_LEARNT, paired=paired, seed=seed)
    if min(left.height, right.height) < 2 or not right.width:
        return None, ()
    score = propensity_score(left, right, model="cart", seed=seed, permutations=PERMUTATIONS)
    related = [name for pair in (pairs.strongest if pairs else ()) for name in pair]
    wanted = [name for name in dict.fromkeys(targets or related) if name in right.columns]
    return score, compare_predictions(left, right, wanted[:MOST_TARGETS], paired=paired, seed=seed)


def _analysis(kept: Kept) -> AnalysisUtility:
    rows = zip(kept.labels, kept.original, kept.released, kept.overlaps, kept.people, strict=True)
    shown = tuple(
        KeptNumber(label, float(one), None if np.isnan(two) else float(two), float(overlap))
        for label, one, two, overlap, people in rows
        if people >= LEAST
    )
    return AnalysisUtility(kept.analysis.text, kept.overlap, kept.words, shown, len(kept.labels) - len(shown))


def rounded(value: Any) -> Any:  # noqa: ANN401 - an entry, and what it is made of
    """The same with so few digits that neither threads nor the order of rows show."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else value
    if isinstance(value, tuple):
        return tuple(rounded(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: rounded(getattr(value, field.name)) for field in fields(value)})
    return value
