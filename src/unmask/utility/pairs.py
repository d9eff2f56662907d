"""Two tables side by side: the columns that both have, as numbers or as categories on one codebook."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import RoleError, TableError, check_name
from unmask.tables import read_table


def read_pair(original: object, released: object) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read both tables (paths or frames); both must have rows."""
    tables = read_table(original, name="original"), read_table(released, name="release")
    for name, table in zip(("original", "release"), tables, strict=True):
        if table.height == 0:
            raise TableError(f"the {name} has no rows")
    return tables


def numeric_names(original: pl.DataFrame, released: pl.DataFrame, columns: Iterable[str] | None) -> tuple[str, ...]:
    """Return the columns that are numbers in both tables, or the named ones once they are."""
    there = {name for name, kind in released.schema.items() if kind.is_numeric()}
    numbers = [name for name, kind in original.schema.items() if kind.is_numeric() and name in there]
    names = tuple(numbers if columns is None else columns)
    for name in names:
        check_name(name, numbers, f"column {name!r} is not numeric in both tables", RoleError)
    if not names:
        raise RoleError("no column is numeric in both tables", hint="moments need numbers; marginals take any column")
    return names


def numbers(table: pl.DataFrame, names: tuple[str, ...]) -> Floats:
    """Return the columns as float64, NaN where missing."""
    return np.column_stack([table[n].cast(pl.Float64).fill_null(float("nan")).to_numpy() for n in names])


def present(column: Floats) -> Floats:
    """Return the values that are there."""
    return column[~np.isnan(column)]
