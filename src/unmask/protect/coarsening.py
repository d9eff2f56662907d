"""Coarsening: write a number to fewer digits, or leave a column out, and what that costs.

A step replaces a number by the lower end of its interval of a given width, or every value by missing. Its cost is in
cells, so that it can be weighed against suppression: n times the share of the attribute's information that goes, 1 -
H(coarse)/H(fine), H the entropy of its values in the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.arrays import Counts

WIDTHS = (1.0, 2.0, 5.0)  # times powers of ten: what people round to
STEPS = 8  # widths tried for each attribute


@dataclass(frozen=True, slots=True)
class Coarsen:
    """One attribute, written in intervals of ``width``, or left out when it is None."""

    attribute: str
    width: float | None
    cost: float  # in cells

    def apply(self, column: pl.Series) -> pl.Series:
        """Lower ends of the intervals (the same type), or nothing at all."""
        if self.width is None:
            return pl.Series(column.name, [None], dtype=column.dtype).extend_constant(None, len(column) - 1)
        steps = (column.cast(pl.Float64) / self.width + 1e-9).floor()  # 0.58 is 29 steps of 0.02, not 28.999...
        digits = max(0, int(np.ceil(-np.log10(self.width))))
        return (steps * self.width).round(digits).cast(column.dtype)

    @property
    def words(self) -> str:
        """What to do, for a person."""
        return (
            f"leave out {self.attribute}"
            if self.width is None
            else f"write {self.attribute} in steps of {self.width:g}"
        )


def candidates(column: pl.Series, counts: Counts) -> list[Coarsen]:
    """The coarsenings of one key that lose something, from fine to coarse."""
    fine = entropy(column, counts)
    if fine == 0:
        return []
    n = float(counts.sum())
    steps = [Coarsen(column.name, width, 0.0) for width in _widths(column)] + [Coarsen(column.name, None, n)]
    costed = [Coarsen(s.attribute, s.width, n * (1 - entropy(s.apply(column), counts) / fine)) for s in steps]
    return [step for step in costed if step.cost > 1e-9]


def entropy(column: pl.Series, counts: Counts) -> float:
    """Entropy of the values, each class weighing its records."""
    frame = pl.DataFrame([column.alias("v"), pl.Series("n", counts)])
    share = frame.group_by("v").agg(pl.col("n").sum())["n"].to_numpy() / counts.sum()
    return float(max(0.0, -(share * np.log(share)).sum()))


def _widths(column: pl.Series) -> list[float]:
    if not column.dtype.is_numeric() or column.null_count() == len(column):
        return []
    values = np.unique(column.drop_nulls().cast(pl.Float64).to_numpy())
    if len(values) < 3:
        return []
    reach, step = values[-1] - values[0], float(np.diff(values).min())
    tens = np.floor(np.log10(step))
    grid = [unit * 10.0**e for e in np.arange(tens, np.ceil(np.log10(reach)) + 1) for unit in WIDTHS]
    useful = [width for width in grid if step < width < reach and (width >= 1 or not column.dtype.is_integer())]
    return useful[-STEPS:]
