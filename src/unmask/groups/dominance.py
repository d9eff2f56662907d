"""Dominance: totals that few people make, and that give their amounts away.

A total is unsafe when few contribute most of it, (n, k) dominance, or when the second largest contributor can estimate
the largest to within p %: T - x_1 - x_2 < p x_1 [SDC]_ (Hundepool et al. 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats
from unmask.errors import ParameterError, RoleError
from unmask.groups.counting import Classes, as_key, check_keys, collect, count_classes, open_table, select_keys

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Dominance:
    """Totals of a magnitude by cell, and which may not be published."""

    magnitude: str
    classes: Classes
    n: int
    share: float
    p: float
    totals: Floats
    largest: Floats  # sum of the n largest contributions
    rest: Floats  # total less the two largest
    first: Floats  # the largest

    @property
    def dominated(self) -> Flags:
        """(n, k) rule: the n largest make more than the share of the total."""
        return np.asarray((self.totals > 0) & (self.largest > self.share * self.totals))

    @property
    def estimable(self) -> Flags:
        """P % rule: the second largest can estimate the largest too closely."""
        return np.asarray((self.first > 0) & (self.rest < self.p * self.first))

    @property
    def n_dominated(self) -> int:
        """Cells that fail the (n, k) rule."""
        return int(self.dominated.sum())

    @property
    def n_estimable(self) -> int:
        """Cells that fail the p % rule."""
        return int(self.estimable.sum())

    @property
    def per_record(self) -> Flags:
        """Whether the record is in a cell that fails one of the rules, in row order."""
        return self.classes.spread(self.dominated | self.estimable)

    def table(self) -> pl.DataFrame:
        """One row for each cell."""
        return self.classes.table(total=self.totals, dominated=self.dominated, estimable=self.estimable)


def dominance(
    table: Any,  # noqa: ANN401 - any frame that narwhals takes
    *,
    quasi: Iterable[str],
    magnitude: str,
    n: int = 2,
    share: float = 0.85,
    p: float = 0.10,
) -> Dominance:
    """Apply (n, k) dominance and the p % rule to the total of ``magnitude`` in each cell.

    Contributions count by their absolute value; missing ones count nothing. Only the largest few of each cell leave
    the place where the data lives.
    """
    keys = check_keys(quasi)
    if n < 1 or not 0 < share <= 1 or not 0 <= p <= 1:
        raise ParameterError(
            "a dominance rule is out of range",
            got=f"n={n}, share={share}, p={p}",
            allowed="n >= 1, 0 < share <= 1, 0 <= p <= 1",
        )
    frame = open_table(table, quasi=keys, magnitude=[magnitude])
    if not frame.collect_schema()[magnitude].is_numeric():
        raise RoleError(
            f"{magnitude!r} is not a magnitude",
            got=str(frame.collect_schema()[magnitude]),
            allowed="a column of numbers",
        )
    amount = as_key(magnitude, frame.collect_schema()[magnitude]).cast(nw.Float64).abs().fill_null(0.0)
    classes = count_classes(table, keys, amount=amount)
    assert classes.extra is not None  # noqa: S101 - asked for above
    top = _largest(frame, classes, amount, max(n, 2))
    totals = classes.extra["amount"].cast(pl.Float64).to_numpy()
    if not np.isfinite(totals).all():
        raise RoleError(f"{magnitude!r} has amounts without end", hint="a magnitude is a finite number, or missing")
    rest = np.maximum(0.0, totals - top[:, :2].sum(axis=1))
    return Dominance(magnitude, classes, n, share, p, totals, top[:, :n].sum(axis=1), rest, top[:, 0])


def _largest(frame: Any, classes: Classes, amount: nw.Expr, n: int) -> Floats:  # noqa: ANN401
    """The n largest amounts of each class (classes x n, zeros where there are fewer), ranked where the data lives."""
    names = [f"k{i}" for i in range(len(classes.keys))]
    chosen = select_keys(frame, classes.keys, None, amount.alias("x")).lazy()
    ranked = chosen.with_columns(nw.col("x").rank("min", descending=True).over(*names).alias("r")).filter(
        nw.col("r") <= n
    )
    few = collect(
        ranked.group_by(*names, "x").agg(nw.len().alias("n"))
    )  # equal amounts come as one row with their number
    few = few.with_columns(pl.Series("g", classes.number(few))).sort("g", "x", descending=[False, True])
    group, x = few["g"].to_numpy(), few["x"].to_numpy().astype(np.float64)
    repeats = np.minimum(few["n"].to_numpy().astype(np.int64), n)
    group, x = np.repeat(group, repeats), np.repeat(x, repeats)
    rank = np.arange(len(group)) - np.searchsorted(group, group)
    top = np.zeros((classes.n_classes, n))
    top[group[rank < n], rank[rank < n]] = x[rank < n]
    return top
