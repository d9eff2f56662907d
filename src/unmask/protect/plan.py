"""A fix list: what to change so that every record has a crowd of k (with l confidential values), cheapest first.

Two means, weighed in cells: blank single cells (``suppression``), or coarsen a whole attribute (``coarsening``). The
coarsenings that save the most cells in all are taken; the cells that still have to go follow. The plan says how far it
can be from the least number of cells (``bound``). Applied to the table it meets k and l: the test suite does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl

from unmask.errors import EngineError, ParameterError, RoleError, check_name
from unmask.groups.counting import Frame, check_keys, count_classes, open_table, select_keys
from unmask.masking import Lots, blank_cells
from unmask.protect.coarsening import Coarsen, Wanted, as_units, coarse, coarsenings
from unmask.shown import Shown
from unmask.tables import ValueHierarchy, read_hierarchy


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
            if (blanked := int(self.suppressed["records"].sum())) > self.n_failing:
                bound += f" They are cells of {blanked:,} records: others lose some too, so that nobody stands out."
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

        Where a hierarchy was used, its level too.

        Rows are numbered from 1, as in the report and in ``--records``.
        """
        by_cost = sorted(self.coarsened, key=lambda step: step.cost)
        whole = [
            ("leave out" if step.leaves_out else "coarsen", step.attribute, None, step.width, step.level)
            for step in by_cost
        ]
        cells = [("suppress", attribute, row + 1, None, None) for row, attribute in self.cells(table).iter_rows()]
        cells_first = self.n_cells <= sum(step.cost for step in self.coarsened)
        schema = {"action": pl.String, "attribute": pl.String, "row": pl.Int64, "width": pl.Float64, "level": pl.Int64}
        made = pl.DataFrame([*cells, *whole] if cells_first else [*whole, *cells], schema=schema, orient="row")
        return made if any(step.level is not None for step in self.coarsened) else made.drop("level")

    def _flagged(self, table: Any) -> tuple[Frame, pl.DataFrame, pl.DataFrame]:  # noqa: ANN401
        """The coarsened table, and for each key whether each record's cell is to be blanked."""
        frame = open_table(table, quasi=self.keys)
        if not isinstance(frame, nw.DataFrame):
            raise EngineError(
                "a plan is carried out on a table in process", got=type(table).__name__, hint="collect the table first"
            )
        data = coarse(pl.DataFrame(frame.to_polars()), self.coarsened)
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


def fix_list(  # noqa: PLR0913 - what is known, wanted and allowed
    table: Any,  # noqa: ANN401 - any frame that narwhals takes
    *,
    quasi: Iterable[str],
    k: int,
    confidential: str | None = None,
    l: int = 1,  # noqa: E741 - the letter of the model
    coarsen: bool = True,
    hierarchies: Mapping[str, Any] | None = None,
) -> Fix:
    """Plan what to coarsen and which cells to blank so that the table is k-anonymous (and distinct l-diverse).

    ``confidential`` is needed for l > 1. ``coarsen=False`` only blanks cells. ``hierarchies``: groups of a column's
    values, as ``Release`` takes them: it may be written at one of their levels.
    """
    keys = check_keys(quasi)
    _check(table, keys, confidential, k, l)
    valued = confidential if l > 1 else None  # one value is in every group
    pairs = count_classes(table, keys if valued is None else (*keys, valued))
    trees = _trees(hierarchies or {}, pairs.columns, keys)
    wanted = Wanted(pairs.columns, pairs.counts, keys, valued, k, l, trees)
    steps = coarsenings(wanted) if coarsen else ()
    columns = coarse(pairs.columns, steps)
    lots, least = blank_cells(as_units(columns, pairs.counts, keys, valued), k, l)
    failing = int(wanted.failing({}))
    rules = _rules(columns.select(keys), lots)
    return Fix(keys, confidential, k, l, pairs.n_records, failing, steps, rules, lots.cells, least)


def _trees(given: Mapping[str, Any], columns: pl.DataFrame, keys: tuple[str, ...]) -> dict[str, ValueHierarchy]:
    """Hierarchies of known columns, each of which has all values of its column."""
    for name in given:
        check_name(name, keys, f"{name!r} has a hierarchy, but is not known", RoleError)
    found = {name: read_hierarchy(one, set(columns[name].cast(pl.String).drop_nulls())) for name, one in given.items()}
    for name, tree in found.items():
        tree.raised(columns[name], tree.levels)
    return found


def _rules(keys: pl.DataFrame, lots: Lots) -> pl.DataFrame:
    """The lots that lose cells, by the values of their class; pairs of a class with other confidential values agree."""
    flags = [pl.Series(f"blank {i}", lots.blank[:, i]) for i in range(keys.width)]
    listed = (
        keys[lots.of].with_columns(*flags, pl.Series("records", lots.count)).filter(pl.Series(lots.blank.any(axis=1)))
    )
    by = [name for name in listed.columns if name != "records"]
    return listed.group_by(by, maintain_order=True).agg(pl.col("records").sum())


def _check(table: Any, keys: tuple[str, ...], confidential: str | None, k: int, l: int) -> None:  # noqa: ANN401, E741
    open_table(table, quasi=keys, confidential=[confidential] if confidential is not None else [])
    if k < 1 or l < 1:
        raise ParameterError("k and l count people and values", got=f"k={k}, l={l}", allowed="1 or more")
    if l > 1 and confidential is None:
        raise RoleError("l-diversity needs a confidential attribute", got=f"l={l}", hint="name it in confidential=")
    if confidential is not None and confidential in keys:
        raise RoleError("a column is both known and confidential", got=repr(confidential))
