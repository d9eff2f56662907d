"""A fix list: what to change so that every record has a crowd of k (with l confidential values), cheapest first.

Two means, weighed in cells: blank single cells (``suppression``), or coarsen a whole attribute (``coarsening``).
Greedily, the coarsening that saves the most cells in all is taken as long as one does; the cells that still have to go
follow. The plan says how far it can be from the least number of cells (``bound``). Applied to the table it meets k and
l: the test suite does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Counts, Ints
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.groups.counting import Frame, check_keys, count_classes, encode, open_table, select_keys
from unmask.masking import Lots, Units, blank_cells, suppress
from unmask.shown import Shown

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


MAX_COARSENINGS = 5


@dataclass(frozen=True, slots=True)
class Fix(Shown):
    """What to do to reach k and l.

    ``suppressed``: key values (after coarsening), a flag for each key to blank, and in how many records of the class.
    """

    keys: tuple[str, ...]
    confidential: str | None
    k: int
    l: int  # noqa: E741 - the letter of the model
    n_records: int
    n_failing: int  # records that violate before
    coarsened: tuple[Coarsen, ...]
    suppressed: pl.DataFrame
    n_cells: int
    least: int  # cells that any suppression of the coarsened table must blank

    @property
    def bound(self) -> float:
        """Suppression blanks at most this many times the least possible number of cells."""
        return self.n_cells / self.least if self.least else (1.0 if not self.n_cells else float("inf"))

    @property
    def fewest(self) -> bool:
        """Whether it is proven that no suppression of the (coarsened) table blanks fewer cells."""
        return self.n_cells == self.least

    @property
    def cost(self) -> float:
        """Cells blanked, and the information of coarsened attributes in cells."""
        return self.n_cells + sum(step.cost for step in self.coarsened)

    @property
    def words(self) -> str:
        """The plan in one or two sentences, without values of the data."""
        means = [step.words for step in sorted(self.coarsened, key=lambda step: step.cost)]
        means += [f"blank {self.n_cells:,} cells"] if self.n_cells else []
        goal = f"groups of {self.k}" + (f" with {self.l} values of {self.confidential}" if self.l > 1 else "")
        if not means:
            return f"Nothing has to change for {goal}."
        bound = ""
        if self.n_cells:
            few = "There is no way to blank fewer" if self.fewest else f"At least {self.least:,} must be blanked"
            bound = f" {few}{' after that' if self.coarsened else ''}."
        return f"For {goal}, {self.n_failing:,} of {self.n_records:,} records need a change: {', '.join(means)}.{bound}"

    def apply(self, table: Any) -> Any:  # noqa: ANN401 - a frame in process; the same kind comes back
        """Carry the plan out on the table it was made for, a frame in process; rows stay in place."""
        frame, data, flags = self._flagged(table)
        gaps = {key: data[key].set(flags[key], None) for key in self.keys}
        fixed = data.with_columns(gaps.values())
        return (
            fixed
            if frame.implementation.is_polars()
            else nw.from_dict(fixed.to_dict(), backend=frame.implementation).to_native()
        )

    def cells(self, table: Any) -> pl.DataFrame:  # noqa: ANN401 - a frame in process
        """List the cells to blank: row number (from 0) and attribute, in row order."""
        _, _, flags = self._flagged(table)
        long = (
            flags.with_row_index("row")
            .unpivot(index="row", variable_name="attribute", value_name="blank")
            .filter("blank")
        )
        return long.select(pl.col("row").cast(pl.Int64), "attribute").sort("row", maintain_order=True)

    def steps(self, table: Any) -> pl.DataFrame:  # noqa: ANN401 - a frame in process
        """The fix list as a table: action, attribute, row (none for a whole attribute), width; cheapest means first.

        Rows are numbered from 1, as in the report and in ``--records``.
        """
        by_cost = sorted(self.coarsened, key=lambda step: step.cost)
        whole = [
            ("leave out" if step.width is None else "coarsen", step.attribute, None, step.width) for step in by_cost
        ]
        cells = [("suppress", attribute, row + 1, None) for row, attribute in self.cells(table).iter_rows()]
        cells_first = self.n_cells <= sum(step.cost for step in self.coarsened)
        schema = {"action": pl.String, "attribute": pl.String, "row": pl.Int64, "width": pl.Float64}
        return pl.DataFrame([*cells, *whole] if cells_first else [*whole, *cells], schema=schema, orient="row")

    def _flagged(self, table: Any) -> tuple[Frame, pl.DataFrame, pl.DataFrame]:  # noqa: ANN401
        """The coarsened table, and for each key whether each record's cell is to be blanked."""
        frame = open_table(table, quasi=self.keys)
        if not isinstance(frame, nw.DataFrame):
            raise EngineError(
                "a plan is carried out on a table in process", got=type(table).__name__, hint="collect the table first"
            )
        data = _coarse(pl.DataFrame(frame.to_polars()), self.coarsened)
        on = [f"value {i}" for i in range(len(self.keys))]
        renamed = (
            select_keys(nw.from_native(data), self.keys).to_native().rename(dict(zip(_numbered(self), on, strict=True)))
        )
        rules = self.suppressed.rename(dict(zip(self.keys, on, strict=True)))
        rules = rules.with_columns(last=pl.col("records").cum_sum().over(on))
        blank = [f"blank {i}" for i in range(len(self.keys))]
        rows = renamed.with_row_index("row").with_columns(place=pl.int_range(pl.len()).over(on))
        hit = rows.join(rules, on=on, nulls_equal=True, maintain_order="left_right").filter(
            pl.col("place") < pl.col("last")
        )
        hit = hit.filter(pl.col("place") >= pl.col("last") - pl.col("records")).select("row", *blank)
        joined = rows.join(hit, on="row", how="left", maintain_order="left").select(
            pl.col(blank).fill_null(value=False)
        )
        return frame, data, joined.rename(dict(zip(blank, self.keys, strict=True)))


def _numbered(fix: Fix) -> list[str]:
    return [f"k{i}" for i in range(len(fix.keys))]


def fix_list(
    table: Any,  # noqa: ANN401 - any frame that narwhals takes
    *,
    quasi: Iterable[str],
    k: int,
    confidential: str | None = None,
    l: int = 1,  # noqa: E741 - the letter of the model
    coarsen: bool = True,
) -> Fix:
    """Plan what to coarsen and which cells to blank so that the table is k-anonymous (and distinct l-diverse).

    ``confidential`` is needed for l > 1. ``coarsen=False`` only blanks cells.
    """
    keys = check_keys(quasi)
    _check(table, keys, confidential, k, l)
    valued = confidential if l > 1 else None  # one value is in every group
    pairs = count_classes(table, keys if valued is None else (*keys, valued))
    wanted = _Wanted(pairs.columns, pairs.counts, keys, valued, k, l)
    steps = _coarsen(wanted) if coarsen else ()
    columns = _coarse(pairs.columns, steps)
    lots, least = blank_cells(_units(columns, pairs.counts, keys, valued), k, l)
    failing = int(wanted.failing(wanted.units({})))
    rules = _rules(columns.select(keys), lots)
    return Fix(keys, confidential, k, l, pairs.n_records, failing, steps, rules, lots.cells, least)


def _rules(keys: pl.DataFrame, lots: Lots) -> pl.DataFrame:
    """The lots that lose cells, by the values of their class; pairs of a class with other confidential values agree."""
    flags = [pl.Series(f"blank {i}", lots.blank[:, i]) for i in range(keys.width)]
    listed = (
        keys[lots.of].with_columns(*flags, pl.Series("records", lots.count)).filter(pl.Series(lots.blank.any(axis=1)))
    )
    by = [name for name in listed.columns if name != "records"]
    return listed.group_by(by, maintain_order=True).agg(pl.col("records").sum())


class _Wanted(NamedTuple):
    """The classes of a table and what is asked of them."""

    columns: pl.DataFrame
    counts: Ints
    keys: tuple[str, ...]
    confidential: str | None
    k: int
    l: int  # noqa: E741 - the letter of the model

    def units(self, steps: dict[str, Coarsen]) -> Units:
        """Codes of all pairs after the steps."""
        return _units(_coarse(self.columns, tuple(steps.values())), self.counts, self.keys, self.confidential)

    def failing(self, units: Units) -> float:
        """Records that violate k or l."""
        return float(self.counts[units.failing(self.k, self.l)].sum())


def _coarsen(wanted: _Wanted) -> tuple[Coarsen, ...]:
    """Take the coarsening that lowers the cost in cells the most, while one does.

    Candidates are ranked by the records that they leave violating, at the cells that a violating record costs now; the
    best one is then carried out for real and kept when the cost falls.
    """
    steps: dict[str, Coarsen] = {}
    now = wanted.units(steps)
    cells = suppress(now, wanted.k, wanted.l).cells(now.codes)
    options = [step for key in wanted.keys for step in candidates(wanted.columns[key], wanted.counts)]
    for _ in range(MAX_COARSENINGS):
        failing = wanted.failing(now)
        if not failing or not options:
            break
        guesses = [_guess(wanted, {**steps, step.attribute: step}, cells / failing) for step in options]
        best = options[int(np.argmin(guesses))]
        tried = {**steps, best.attribute: best}
        trial = wanted.units(tried)
        fewer = suppress(trial, wanted.k, wanted.l).cells(trial.codes)
        if _cost(tried) + fewer >= _cost(steps) + cells:
            break
        steps, now, cells = tried, trial, fewer
    return tuple(steps.values())


def _guess(wanted: _Wanted, steps: dict[str, Coarsen], each: float) -> float:
    return _cost(steps) + each * wanted.failing(wanted.units(steps))


def _cost(steps: dict[str, Coarsen]) -> float:
    return sum(step.cost for step in steps.values())


def _coarse(data: pl.DataFrame, steps: tuple[Coarsen, ...]) -> pl.DataFrame:
    return data.with_columns(step.apply(data[step.attribute]) for step in steps)


def _units(columns: pl.DataFrame, counts: Ints, keys: tuple[str, ...], confidential: str | None) -> Units:
    """Codes of all pairs. A key's missing code is its last one, or the next when nothing is missing."""
    codes = np.stack([encode(columns[key]) for key in keys], axis=1)
    full = np.array([columns[key].null_count() == 0 for key in keys])
    gap = (codes.max(axis=0) + full).astype(np.int32)
    value = np.zeros(len(codes), np.int64) if confidential is None else encode(columns[confidential]).astype(np.int64)
    return Units(codes, value, counts, gap)


def _check(table: Any, keys: tuple[str, ...], confidential: str | None, k: int, l: int) -> None:  # noqa: ANN401, E741
    open_table(table, quasi=keys, confidential=[confidential] if confidential is not None else [])
    if k < 1 or l < 1:
        raise ParameterError("k and l count people and values", got=f"k={k}, l={l}", allowed="1 or more")
    if l > 1 and confidential is None:
        raise RoleError("l-diversity needs a confidential attribute", got=f"l={l}", hint="name it in confidential=")
    if confidential is not None and confidential in keys:
        raise RoleError("a column is both known and confidential", got=repr(confidential))
