"""Which columns to make coarser before cells are blanked, so that both together cost least.

A column of numbers is written in steps of 1, 2 or 5 times a power of ten, one with a hierarchy at one of its levels; or
it is left out. Where there are few combinations
all of them are looked at: in the order of what each costs at least (the coarsening, and the cells that any suppression
must then blank), until the next one costs at least as much as the best. Where there are many, greedily.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Counts, Ints
from unmask.groups.counting import encode
from unmask.masking import Units, blank_cells, suppress
from unmask.tables import ValueHierarchy

WIDTHS = (1.0, 2.0, 5.0)  # times powers of ten: what people round to
STEPS = 8  # widths tried for each attribute
MAX_COARSENINGS = 5  # that the greedy search takes
COMBINATIONS, CLASSES = 300, 400_000  # for which all are looked at: of columns, and times classes of records


@dataclass(frozen=True, slots=True)
class Coarsen:
    """One attribute, written in intervals of ``width``, at a ``level`` of a hierarchy, or left out (neither)."""

    attribute: str
    width: float | None
    cost: float  # in cells
    level: int | None = None
    tree: ValueHierarchy | None = field(default=None, repr=False)

    @property
    def leaves_out(self) -> bool:
        """Whether nothing of the attribute is left."""
        return self.width is None and self.level is None

    def apply(self, column: pl.Series) -> pl.Series:
        """Lower ends of the intervals (the same type), groups of the hierarchy, or nothing at all."""
        if self.tree is not None and self.level is not None:
            return self.tree.raised(column, self.level).alias(column.name)
        if self.width is None:
            return pl.Series(column.name, [None], dtype=column.dtype).extend_constant(None, len(column) - 1)
        steps = (column.cast(pl.Float64) / self.width + 1e-9).floor()  # 0.58 is 29 steps of 0.02, not 28.999...
        digits = max(0, int(np.ceil(-np.log10(self.width))))
        return (steps * self.width).round(digits).cast(column.dtype)

    @property
    def words(self) -> str:
        """What to do, for a person."""
        if self.level is not None:
            return f"write {self.attribute} at level {self.level} of its hierarchy"
        return "leave out " + self.attribute if self.width is None else self._steps

    @property
    def _steps(self) -> str:
        return f"write {self.attribute} in steps of {self.width:g}"


Steps = dict[str, Coarsen]


def candidates(column: pl.Series, counts: Counts, tree: ValueHierarchy | None = None) -> list[Coarsen]:
    """The coarsenings of one key that lose something, from fine to coarse."""
    fine = entropy(column, counts)
    if fine == 0:
        return []
    n = float(counts.sum())
    steps = [Coarsen(column.name, width, 0.0) for width in _widths(column)] if tree is None else []
    if tree is not None:
        steps = [Coarsen(column.name, None, 0.0, level, tree) for level in range(1, tree.levels + 1)]
    steps = [*steps, Coarsen(column.name, None, n)]
    costed = [replace(s, cost=n * (1 - entropy(s.apply(column), counts) / fine)) for s in steps]
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


class Wanted(NamedTuple):
    """The classes of a table and what is asked of them."""

    columns: pl.DataFrame
    counts: Ints
    keys: tuple[str, ...]
    confidential: str | None
    k: int
    l: int  # noqa: E741 - the letter of the model
    trees: Mapping[str, ValueHierarchy] = {}

    def units(self, steps: Steps) -> Units | None:
        """Codes of all pairs after the steps, without columns that are left out; None where every column is."""
        keys = tuple(key for key in self.keys if key not in steps or not steps[key].leaves_out)
        if not keys:
            return None
        return as_units(coarse(self.columns, tuple(steps.values())), self.counts, keys, self.confidential)

    def failing(self, steps: Steps) -> float:
        """Records that violate k or l after the steps."""
        units = self.units(steps)
        return 0.0 if units is None else float(self.counts[units.failing(self.k, self.l)].sum())

    def started(self, steps: Steps) -> float:
        """What the steps cost in cells, with those that a greedy suppression then blanks."""
        units = self.units(steps)
        return _cost(steps) + (0 if units is None else suppress(units, self.k, self.l).cells(units.codes))

    def blanked(self, steps: Steps) -> float:
        """What the steps cost in cells, with those that are then blanked."""
        units = self.units(steps)
        return _cost(steps) + (0 if units is None else blank_cells(units, self.k, self.l)[0].cells)

    def at_least(self, steps: Steps) -> float:
        """What the steps cost in cells whatever is then blanked."""
        units = self.units(steps)
        return _cost(steps) + (0 if units is None else units.least(self.k, self.l))


def coarsenings(wanted: Wanted) -> tuple[Coarsen, ...]:
    """What to make coarser: the best of all combinations where they are few, else what a greedy search finds."""
    options = {key: candidates(wanted.columns[key], wanted.counts, wanted.trees.get(key)) for key in wanted.keys}
    if not any(options.values()) or not wanted.failing({}):
        return ()
    found = _greedy(wanted, [step for steps in options.values() for step in steps])
    many = math.prod(1 + len(steps) for steps in options.values())
    if many <= COMBINATIONS and many * len(wanted.counts) <= CLASSES:
        found = _best(wanted, options, found)
    return tuple(found.values())


def _best(wanted: Wanted, options: dict[str, list[Coarsen]], found: Steps) -> Steps:
    """The combination that costs least, over all; ``found`` where none costs less."""
    chosen = product(*([None, *steps] for steps in options.values()))
    every = [{step.attribute: step for step in steps if step is not None} for steps in chosen]
    least, price = [wanted.at_least(steps) for steps in every], wanted.blanked(found)
    for place in np.argsort(least, kind="stable"):
        if least[place] >= price:
            break
        now = wanted.blanked(every[place])
        if now < price:
            found, price = every[place], now
    return found


def _greedy(wanted: Wanted, options: list[Coarsen]) -> Steps:
    """Take the coarsening that lowers the cost in cells the most, while one does.

    Candidates are ranked by the records that they leave violating, at the cells that a violating record costs now; the
    best one is then carried out for real and kept when the cost falls.
    """
    steps: Steps = {}
    price = wanted.started(steps)
    for _ in range(MAX_COARSENINGS):
        failing = wanted.failing(steps)
        if not failing:
            break
        each = (price - _cost(steps)) / failing
        tries = [{**steps, step.attribute: step} for step in options]
        tried = tries[int(np.argmin([_cost(one) + each * wanted.failing(one) for one in tries]))]
        now = wanted.started(tried)
        if now >= price:
            break
        steps, price = tried, now
    return steps


def _cost(steps: Steps) -> float:
    return sum(step.cost for step in steps.values())


def coarse(data: pl.DataFrame, steps: tuple[Coarsen, ...]) -> pl.DataFrame:
    """The table with the steps carried out."""
    return data.with_columns(step.apply(data[step.attribute]) for step in steps)


def as_units(columns: pl.DataFrame, counts: Ints, keys: tuple[str, ...], confidential: str | None) -> Units:
    """Codes of all pairs. A key's missing code is its last one, or the next when nothing is missing."""
    codes = np.stack([encode(columns[key]) for key in keys], axis=1)
    full = np.array([columns[key].null_count() == 0 for key in keys])
    gap = (codes.max(axis=0) + full).astype(np.int32)
    value = np.zeros(len(codes), np.int64) if confidential is None else encode(columns[confidential]).astype(np.int64)
    return Units(codes, value, counts, gap)
