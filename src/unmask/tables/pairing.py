"""Which row of the release was made from which row of the original."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.errors import RepeatedIdError, TableError
from unmask.tables.encode import as_text

SYNTHETIC = (
    "the release is taken as synthetic: no row was made from one person, and attacks that need pairs are left out"
)
IN_ORDER = (
    "The rows stand in the order of the original, which names people as well to whoever has them in that order: "
    "shuffle them"
)
FEWEST_IN_ORDER = 20  # people: fewer may stand in order by chance, or in everybody's
MANY = "unmask assess --many-rows, or unmask.Persons and unmask.assess_persons"


def pair(
    original: pl.DataFrame, released: pl.DataFrame, column: str | None, *, synthetic: bool
) -> tuple[Rows, list[str]]:
    """Return the row of the release for each row of the original (-1: none), and what is worth knowing about it.

    By the id in ``column``, or by the order of the rows. A synthetic row belongs to nobody: an id in it says nothing.
    """
    if synthetic:
        return np.full(original.height, -1, dtype=np.int64), [SYNTHETIC]
    if column is None:
        return _by_order(original, released), []
    left, right = _ids(original, column, "original"), _ids(released, column, "release")
    if left.dtype != right.dtype:
        left, right = as_text(left), as_text(right)
    rows = pl.DataFrame({"id": right}).with_row_index("row")
    found = pl.DataFrame({"id": left}).join(rows, on="id", how="left", maintain_order="left")["row"]
    truth = found.cast(pl.Int64).fill_null(-1).to_numpy().copy()
    only = f"id column {column!r} only pairs the two tables; take it out of what you publish, it names everybody"
    told = f"{only}. {IN_ORDER}" if _in_order(truth, released.drop(column)) else only
    return truth, [told, *_unpaired(truth, released.height, column)]


def _in_order(truth: Rows, released: pl.DataFrame) -> bool:
    """Whether released rows stand in the order of the original, and not in one that their own values tell."""
    there = truth[truth >= 0]
    if len(there) < FEWEST_IN_ORDER or not (np.diff(there) > 0).all():
        return False
    columns = [column for column in released.get_columns() if not column.dtype.is_nested()]
    return not any(_told_by(column) for column in columns)


def _told_by(column: pl.Series) -> bool:
    return (column.is_sorted() or column.is_sorted(descending=True)) and column.n_unique() == len(column)


def _by_order(original: pl.DataFrame, released: pl.DataFrame) -> Rows:
    if original.height != released.height:
        raise TableError(
            "the tables have different numbers of rows, so the order cannot say which belong together",
            got=f"{original.height} rows in the original, {released.height} in the release",
            hint="name the column that both tables share in id=",
        )
    return np.arange(original.height, dtype=np.int64)


def _ids(table: pl.DataFrame, name: str, where: str) -> pl.Series:
    column = table[name]
    if column.null_count():
        raise TableError(
            f"id column {name!r} has {column.null_count()} missing values in the {where}",
            hint="fill or drop those rows",
        )
    if column.n_unique() < len(column):
        again = int((~column.is_first_distinct()).arg_true()[0])
        first = int((column == column[again]).arg_true()[0])
        error = RepeatedIdError(
            f"id column {name!r} repeats in the {where}",
            got=f"{len(column)} rows, {column.n_unique()} different ids; "
            f"rows {first + 1} and {again + 1} have the same",
            hint=f"an id must say which single row it is; where people have many rows each: {MANY}",
        )
        if where == "original":  # an id that repeats in the release alone is a mistake, or has to be said
            error.rows, error.people = len(column), column.n_unique()
            error.share = column.filter(column.is_duplicated()).n_unique() / error.people
        raise error
    return column


def _unpaired(truth: Rows, released: int, column: str) -> list[str]:
    notes, absent, extra = [], int((truth < 0).sum()), released - int((truth >= 0).sum())
    if absent == len(truth):
        raise TableError(f"no id of {column!r} is in both tables", hint="is it the same column, written the same way?")
    if absent:
        notes.append(
            f"{absent} of {len(truth)} original records have no row in the release: they cannot be found there"
        )
    if extra:
        notes.append(f"{extra} rows of the release belong to no original record")
    return notes


def same_names(original: pl.DataFrame, released: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Give released columns the names of the original where they differ only in case or blanks, and say so."""
    plain: dict[str, list[str]] = {}
    for name in original.columns:
        plain.setdefault(name.strip().casefold(), []).append(name)
    taken = set(original.columns) & set(released.columns)
    renamed: dict[str, str] = {}
    for name in released.columns:
        same = plain.get(name.strip().casefold(), [])
        if name not in taken and len(same) == 1 and same[0] not in taken and same[0] not in renamed.values():
            renamed[name] = same[0]
    notes = [f"column {new!r} is {old!r} in the release: taken for the same" for old, new in renamed.items()]
    return released.rename(renamed), notes


def for_reading(rows: Rows) -> Rows:
    """Return the same rows, which nobody can change by them; an array that was given stays the giver's to change."""
    shown = rows.view()
    shown.flags.writeable = False
    return shown
