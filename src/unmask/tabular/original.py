"""The people behind published tables: are the tables theirs, in which cell is each, and who dominates an amount?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy import sparse

from unmask.arrays import Counts, Flags, Floats
from unmask.errors import TableError
from unmask.tables import to_floats
from unmask.tabular.cells import VALUES, Cells

SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Truth:
    """Which inner cell each person is in; of amounts, which published cells the second largest can open."""

    inner: Counts = field(repr=False)
    estimable: Flags = field(repr=False)  # published cells whose largest contribution is known to within p
    n_cells: int  # published cells with somebody in them


def compare(cells: Cells, original: pl.DataFrame, p: float, value: str | None) -> Truth:
    """Find everybody's cell, and refuse tables that are not of these people."""
    missing = [name for name in cells.dimensions if name not in original.columns]
    if missing:
        raise TableError(
            "the original lacks dimensions of the tables", got=", ".join(missing), allowed=", ".join(original.columns)
        )
    places = [_places(cells, name, original[name]) for name in cells.dimensions]
    inner = np.ravel_multi_index(places, cells.shape) if places else np.zeros(original.height, dtype=np.int64)
    amounts = np.ones(original.height) if cells.whole else _amounts(original, value)
    belongs = _membership(cells, np.asarray(inner, dtype=np.int64))
    totals = belongs @ amounts
    wrong = (totals < cells.low - SLACK * (1 + cells.low)) | (totals > cells.high + SLACK * (1 + totals))
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise TableError(
            f"{int(wrong.sum()):,} published cells do not agree with the original",
            got=f"the first is in table {cells.table[first] + 1}, row {cells.row[first] or 'not listed'}",
            hint="are the tables of these people, and rounded (--rounding)?",
        )
    first_two = _largest_two(belongs, amounts)
    rest = totals - first_two.sum(axis=1)
    told = np.isfinite(cells.high) & (cells.row > 0) & (totals > 0)
    estimable = told & (rest < p * first_two[:, 0])
    return Truth(np.asarray(inner, dtype=np.int64), np.asarray(estimable & (not cells.whole)), int(told.sum()))


def _places(cells: Cells, name: str, column: pl.Series) -> Counts:
    """The part of a dimension that each person is in."""
    axis = cells.dimensions.index(name)
    if name in cells.ends:
        numbers = to_floats(column, name)
        place = np.searchsorted(cells.ends[name], numbers, side="right") - 1
        outside = np.isnan(numbers) | (place < 0) | (place >= len(cells.parts[axis]))
    else:
        book = {text: i for i, text in enumerate(cells.parts[axis])}
        place = np.array([book.get(text, -1) for text in column.cast(pl.String).str.strip_chars().fill_null("")])
        outside = place < 0
    if outside.any():
        raise TableError(
            f"{int(outside.sum()):,} people of the original are in no part of {name!r}",
            hint="labels must be those of the tables; give --groups for labels that stand for several",
        )
    return place.astype(np.int64)


def _amounts(original: pl.DataFrame, value: str | None) -> Floats:
    known = {name.lower(): name for name in original.columns}
    name = value if value in original.columns else next((known[word] for word in VALUES if word in known), None)
    if name is None:
        raise TableError(
            "the original has no column of amounts", got=value or "none named", hint="name it with --value"
        )
    return np.nan_to_num(to_floats(original[name], name))


def _membership(cells: Cells, inner: Counts) -> sparse.csr_matrix:
    """Published cells x people."""
    people = sparse.csr_matrix(
        (np.ones(inner.size), (inner, np.arange(inner.size))), shape=(cells.covers.shape[1], inner.size)
    )
    return sparse.csr_matrix(cells.covers @ people)


def _largest_two(belongs: sparse.csr_matrix, amounts: Floats) -> Floats:
    """The two largest contributions to each cell."""
    first_two = np.zeros((belongs.shape[0], 2))
    for i in range(belongs.shape[0]):
        within = np.sort(amounts[belongs.indices[belongs.indptr[i] : belongs.indptr[i + 1]]])[::-1][:2]
        first_two[i, : within.size] = within
    return first_two
