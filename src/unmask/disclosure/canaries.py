"""Two tables that differ in one person, as far as a person can differ: the worst case that an audit tries [JAGIELSKI]_.

Differential privacy is promised for every table and every person, so that the auditor chooses both. The canary has the
ends of every column, and beyond them where nothing bounds it; few other people stand beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unmask.errors import ParameterError, RoleError, TableError

TIMES = 1.0  # ranges of a column that a canary stands beyond it


class Worlds(NamedTuple):
    """The table with the canary and the one without it."""

    inside: pl.DataFrame
    outside: pl.DataFrame
    one: dict[str, Any]  # the canary's values
    other: dict[str, Any]  # of the row in its place; where it is taken away, of an ordinary person
    row: int  # where the canary, and what is in its place, stand


def make_worlds(
    table: pl.DataFrame,
    columns: Collection[str],
    *,
    replaced: bool,
    bounds: Mapping[str, tuple[float, float]],
    given: pl.DataFrame | None = None,
) -> Worlds:
    """Put the canary into the table, and another row in its place (or none).

    Parameters
    ----------
    table
        The people beside it.
    columns
        Those that are claimed to be private; in the others both rows are as an ordinary person's.
    replaced
        Whether another row stands in its place; otherwise it is taken away.
    bounds
        Least and largest value of columns that are cut there.
    given
        The canary, and the row in its place, as a table of two rows (or one); None: the worst that is seen.

    """
    table = table.with_columns(pl.col(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int8, pl.Int16, pl.Int32)
                               .cast(pl.Int64))  # fmt: skip
    ends = {name: _ends(table[name], bounds.get(name)) for name in table.columns}
    one, other = ({name: both[k if name in columns else 1] for name, both in ends.items()} for k in (0, 1))
    if given is not None:
        one, other = _given(table, given, (one, other), replaced=replaced)
    rows = [_row(table, values) for values in (one, other)]
    outside = pl.concat([table, rows[1]]) if replaced else table
    return Worlds(pl.concat([table, rows[0]]), outside, one, other, table.height)


def _ends(column: pl.Series, bound: tuple[float, float] | None) -> tuple[Any, Any]:
    """The values of a column that are furthest apart: of categories, the rarest and the commonest."""
    present = column.drop_nulls()
    if not present.len():
        return None, None
    if column.dtype.is_numeric():
        values = present.cast(pl.Float64).to_numpy()
        low, high = bound or _beyond(values[np.isfinite(values)])
        return (int(np.floor(low)), int(np.ceil(high))) if column.dtype.is_integer() else (float(low), float(high))
    if column.dtype.is_temporal() or column.dtype == pl.Boolean:
        return present.min(), present.max()
    counts = sorted(present.cast(pl.String).alias("").value_counts().rows(), key=lambda row: (row[1], row[0]))
    return counts[0][0], counts[-1][0]


def _beyond(values: np.ndarray) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    width = TIMES * (high - low) or max(1.0, abs(low))
    return low - width, high + width


def _given(
    table: pl.DataFrame, given: pl.DataFrame, worst: tuple[dict[str, Any], dict[str, Any]], *, replaced: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    wanted = 2 if replaced else 1
    if given.height != wanted:
        raise TableError(
            "the canary is a table of two rows: the person, and who is in their place"
            if replaced else "the canary is a table of one row",
            got=f"{given.height} rows",
        )  # fmt: skip
    unknown = [name for name in given.columns if name not in table.columns]
    if unknown:
        raise RoleError(f"the canary has a column {unknown[0]!r}, which the table has not")
    rows = given.rows(named=True)
    return {**worst[0], **rows[0]}, {**worst[1], **(rows[1] if replaced else {})}


def _row(table: pl.DataFrame, values: Mapping[str, Any]) -> pl.DataFrame:
    try:
        return pl.DataFrame([
            pl.Series(name, [values[name]]).cast(kind) for name, kind in table.schema.items()
        ])  # fmt: skip
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise ParameterError("the canary does not fit the columns of the table") from error
