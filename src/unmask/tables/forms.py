"""How a column is written, in a few words and without a value."""

from __future__ import annotations

import polars as pl

from unmask.shares import percent
from unmask.tables.intervals import has_intervals, interval_share


def form_of(column: pl.Series, words: str = "") -> str:
    """How a column is written, in a few words and without a value.

    ``words``: how it was written, where it had to be read before it could be compared.
    """
    present = column.drop_nulls()
    if not len(present):
        return "empty"
    gaps = f", {percent(column.null_count() / len(column))} missing" if column.null_count() else ""
    return f"{f'{words}, {present.n_unique():,} different' if words else _form(present)}{gaps}"


def _form(column: pl.Series) -> str:  # noqa: PLR0911 - one per form
    kind, many = column.dtype, f"{column.n_unique():,} different"
    if kind == pl.Boolean:
        return "true or false"
    if kind.is_temporal():
        return f"{'dates' if kind == pl.Date else 'times'}, {many}"
    if kind.is_integer():
        return f"whole numbers, {many}"
    if kind.is_numeric():
        return f"numbers, {many}"
    if has_intervals(column):
        return f"intervals, {many}"
    if interval_share(column) == 1.0:
        return f"digits as text, {many}"
    return f"text, {many}"
