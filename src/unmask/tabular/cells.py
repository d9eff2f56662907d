"""Published tables as what they are to an intruder: sums over inner cells, some of them withheld or rounded.

Every dimension (sex, region, age ..) is cut into its finest parts over all tables; where bands of one table cut across
those of another (15-19 beside 15-18), at every end that occurs. An inner cell is one part of each dimension. A
published cell is the sum of the inner cells that it covers; a total, or a dimension that a table does not have, covers
all parts. What is published of a cell is an interval: a number, all that rounds to it, or everything if it is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from unmask.arrays import Counts, Flags, Floats
from unmask.errors import ParameterError, TableError
from unmask.tables import bounds as ends_of
from unmask.tables import has_intervals

VALUES = ("count", "counts", "n", "freq", "frequency", "people", "persons", "value", "amount", "total")
TOTALS = ("total", "all", "sum", "overall", "both", "insgesamt", "gesamt", "ensemble", "totale", "totaal", "celkem")
MOST_INNER = 50_000  # inner cells: beyond that no bound can be proven in sensible time
Parts = tuple[tuple[int, ...], ...]  # of each dimension, the parts that a cell covers


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables are written. ``rounding``: every number is a multiple of it, to the nearest or either way."""

    value: str | None = None
    totals: tuple[str, ...] = ()  # besides those that are known
    rounding: float = 0.0
    random_rounding: bool = False
    amounts: bool = False
    unlisted: str = "empty"
    groups: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)  # dimension: label: its parts
    text: Mapping[str, Any] = field(default_factory=dict)  # separator, encoding, sheet of the files


@dataclass(frozen=True, slots=True)
class Cells:
    """Published cells over the inner cells of all tables; ``low`` and ``high`` are what is published of each."""

    dimensions: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]  # names of the finest parts of each dimension
    table: Counts  # which table a cell is of, from 0
    row: Counts  # its row there, from 1; 0 where it is not listed
    low: Floats
    high: Floats
    finest: Flags  # no total among its labels
    covers: sparse.csr_matrix = field(repr=False)  # cells x inner cells, 0 or 1
    of_table: tuple[tuple[str, ...], ...]  # dimensions of each table
    whole: bool  # counts: inner cells are whole numbers
    ends: Mapping[str, Floats] = field(default_factory=dict, repr=False)  # where parts are bands: their lower ends

    @property
    def withheld(self) -> Flags:
        """Cells that are named but not told."""
        return np.asarray((self.row > 0) & np.isinf(self.high))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of parts of each dimension."""
        return tuple(len(names) for names in self.parts)

    def without(self, cells: Flags) -> Cells:
        """The same without some of the cells."""
        kept = {name: getattr(self, name)[~cells] for name in ("table", "row", "low", "high", "finest", "covers")}
        rest = {name: getattr(self, name) for name in ("dimensions", "parts", "of_table", "whole", "ends")}
        return Cells(**kept, **rest)


def read_cells(tables: Sequence[pl.DataFrame], reading: Reading | None = None) -> Cells:
    """Put tables with one row a cell together: the columns are dimensions but one, which is the value."""
    how = reading or Reading()
    if not tables:
        raise TableError("no table is given", hint="one row a cell: its labels, and its count or amount")
    if how.unlisted not in {"empty", "withheld"}:
        raise ParameterError("unknown word for cells that are not listed", got=how.unlisted, allowed="empty, withheld")
    split = [_split(table, how, number) for number, table in enumerate(tables, start=1)]
    dimensions = tuple(dict.fromkeys(name for labels, _ in split for name in labels.columns))
    parts, ends, covered = _parts(dimensions, [labels for labels, _ in split], how)
    if prod(len(names) for names in parts) > MOST_INNER:
        raise TableError(
            "the tables have too many inner cells together", got=f"{prod(len(names) for names in parts):,}",
            allowed=f"at most {MOST_INNER:,}", hint="assess fewer tables or coarser dimensions at a time",
        )  # fmt: skip
    listed = [_listed(number, split[number], dimensions, covered, how) for number in range(len(tables))]
    rows = [row for found in listed for row in found]
    shape = tuple(len(names) for names in parts)
    values = [text for _, numbers in split for text in numbers]
    return Cells(
        dimensions,
        parts,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2][0] for row in rows], dtype=np.float64),
        np.array([row[2][1] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=bool),
        cover([row[4] for row in rows], shape),
        tuple(tuple(labels.columns) for labels, _ in split),
        whole=not how.amounts and bool((np.mod(_numbers(values), 1) == 0).all()),
        ends=ends,
    )


def cover(cells: Iterable[Parts], shape: tuple[int, ...]) -> sparse.csr_matrix:
    """Write cells, given by the parts that they cover, as rows of 0 and 1 over the inner cells."""
    indices, starts = [], [0]
    for parts in cells:
        inner = np.ravel_multi_index(np.ix_(*parts), shape).ravel() if shape else np.zeros(1, dtype=np.int64)
        indices.append(inner)
        starts.append(starts[-1] + inner.size)
    together = np.concatenate(indices) if indices else np.zeros(0, dtype=np.int64)
    return sparse.csr_matrix(
        (np.ones(together.size), together, np.array(starts)), shape=(len(starts) - 1, prod(shape) if shape else 1)
    )


def _split(table: pl.DataFrame, how: Reading, number: int) -> tuple[pl.DataFrame, pl.Series]:
    """Labels and values of one table, as text."""
    known = {name.lower(): name for name in table.columns}
    value = how.value or next((known[name] for name in VALUES if name in known), None)
    if value is None:
        numeric = [name for name in table.columns if table[name].dtype.is_numeric()]
        value = numeric[-1] if numeric else None
    if value is None or value not in table.columns:
        raise TableError(
            f"table {number}: no column of counts or amounts", got=how.value or ", ".join(table.columns),
            hint="name it with --value",
        )  # fmt: skip
    labels = table.drop(value).select(pl.all().cast(pl.String).str.strip_chars())
    if not table.height:
        raise TableError(f"table {number} has no rows")
    return labels, table[value].cast(pl.String).str.strip_chars()


def _parts(
    dimensions: tuple[str, ...], tables: list[pl.DataFrame], how: Reading
) -> tuple[tuple[tuple[str, ...], ...], dict[str, Floats], dict[str, dict[str, tuple[int, ...]]]]:
    """The finest parts of each dimension, the ends of bands, and the parts that each label covers."""
    names, ends, covered = [], {}, {}
    totals = {name.lower() for name in (*TOTALS, *how.totals)}
    for dimension in dimensions:
        seen = [labels[dimension].drop_nulls().unique() for labels in tables if dimension in labels.columns]
        labels = sorted({text for column in seen for text in column if text.lower() not in totals and text})
        grouped = how.groups.get(dimension, {})
        if has_intervals(pl.Series(labels, dtype=pl.String)):
            cuts, covered[dimension] = _bands(labels)
            ends[dimension] = cuts
            names.append(tuple(_band_name(cuts, i) for i in range(cuts.size - 1)))
            continue
        leaves = sorted({leaf for text in labels for leaf in grouped.get(text, {text})})
        place = {leaf: i for i, leaf in enumerate(leaves)}
        covered[dimension] = {text: tuple(sorted(place[leaf] for leaf in grouped.get(text, {text}))) for text in labels}
        names.append(tuple(leaves) or ("(all)",))
    return tuple(names), ends, covered


def _bands(labels: list[str]) -> tuple[Floats, dict[str, tuple[int, ...]]]:
    """Cut a dimension of bands at every end of one; a band covers the pieces within it, other labels one of their own.

    Bands of whole numbers reach up to the next whole number, so that 15-18 and 19 meet.
    """
    low, high = ends_of(pl.Series(labels, dtype=pl.String))
    whole = low[np.isfinite(low)] == np.rint(low[np.isfinite(low)])
    step = 1.0 if bool(whole.all()) else 0.0
    above = np.where(np.isfinite(high), np.floor(high) + step if step else np.nextafter(high, inf), inf)
    known = ~np.isnan(low)
    cuts = np.unique(np.concatenate([low[known], above[known]]))
    covered = {}
    for text, start, stop in zip(labels, low, above, strict=True):
        if np.isnan(start):
            raise TableError(
                "a label of a dimension of bands is neither a band nor a total",
                hint="name it with --total, or leave it out",
            )
        covered[text] = tuple(range(int(np.searchsorted(cuts, start)), int(np.searchsorted(cuts, stop))))
    return cuts, covered


def _band_name(cuts: Floats, i: int) -> str:
    low, high = cuts[i], cuts[i + 1]
    if np.isinf(high):
        return f"{low:g}+"
    if np.isinf(low):
        return f"under {high:g}"
    return f"{low:g}" if high - low == 1 else f"{low:g} to under {high:g}"


def _listed(
    number: int,
    split: tuple[pl.DataFrame, pl.Series],
    dimensions: tuple[str, ...],
    covered: dict[str, dict[str, tuple[int, ...]]],
    how: Reading,
) -> list[tuple[int, int, tuple[float, float], bool, Parts]]:
    """The rows of a table, and its combinations that are not listed: empty, or withheld."""
    labels, values = split
    everything = {
        name: tuple(sorted({i for parts in covered[name].values() for i in parts})) or (0,) for name in dimensions
    }
    zeros = any(text is not None and _number(text) == 0 for text in values)
    rows: list[tuple[int, int, tuple[float, float], bool, Parts]] = []
    seen: dict[Parts, tuple[float, float]] = {}
    for row, told in enumerate(zip(*[labels[name] for name in labels.columns], values, strict=True), start=1):
        texts, value = dict(zip(labels.columns, told[:-1], strict=True)), told[-1]
        parts = tuple(covered[name].get(texts.get(name) or "", everything[name]) for name in dimensions)
        finest = all(texts[name] in covered[name] for name in labels.columns)
        told_of = _told(value, number, row, how, zeros=zeros)
        if parts in seen and seen[parts] != told_of:
            raise TableError(f"table {number + 1} tells the same cell twice, and differently", got=f"row {row}")
        if parts not in seen:
            rows.append((number, row, told_of, finest, parts))
        seen[parts] = told_of
    present = {row[4] for row in rows if row[3]}
    if present and how.unlisted == "empty":
        options = [sorted({cell[i] for cell in present}) if name in labels.columns else [everything[name]]
                   for i, name in enumerate(dimensions)]  # fmt: skip
        rows += [(number, 0, (0.0, 0.0), True, cell) for cell in product(*options) if cell not in present]
    return rows


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return float("nan")


def _numbers(values: Iterable[str | None]) -> Floats:
    """All numbers among the values."""
    found = np.array([_number(text) for text in values if text is not None], dtype=np.float64)
    return found[np.isfinite(found)]


def _told(text: str | None, table: int, row: int, how: Reading, *, zeros: bool) -> tuple[float, float]:
    """What is published of a cell: an interval that holds the true number.

    ``<5`` leaves 1 to 4 where the table prints zeros as such, else 0 to 4.
    """
    if text is None:
        return 0.0, inf
    value = _number(text)
    if np.isnan(value):
        if text[:1] in "<≤" and not np.isnan(most := _number(text.lstrip("<≤= "))):
            below = most if how.amounts or text[:1] == "≤" or text[:2] == "<=" else most - 1
            return (1.0 if zeros and not how.amounts else 0.0), below
        return 0.0, inf
    if value < 0 or np.isinf(value):
        raise TableError(
            f"table {table + 1}: a {'negative' if value < 0 else 'infinite'} number", got=f"row {row}",
            hint="counts and amounts are 0 or more; leave a withheld cell empty",
        )  # fmt: skip
    return _rounded(value, how)


def _rounded(value: float, how: Reading) -> tuple[float, float]:
    """All numbers that may stand behind a rounded one."""
    base = how.rounding
    if base <= 0:
        return value, value
    if how.amounts:
        width = base if how.random_rounding else base / 2
        return max(0.0, value - width), value + width
    width = np.ceil(base) - 1 if how.random_rounding else np.floor(base / 2)
    return max(0.0, value - width), value + width
