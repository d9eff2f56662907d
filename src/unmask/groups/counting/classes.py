"""Classes: the combinations of key values that occur, counted where the data lives.

One group-by, written in narwhals, runs on polars, pandas, DuckDB and Spark alike; only its result, one row for each
combination, comes into the process. Every measure of this room starts from it. Missing is a value of its own: two
records that both lack a value agree on it (docs/methods.md, section 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.arrays import Codes, Counts, Floats, Table
from unmask.errors import ParameterError, RoleError, TableError
from unmask.groups.counting.packing import PACKED, find_packing
from unmask.tables import check_columns

Frame = Any  # nw.DataFrame or nw.LazyFrame: narwhals' own generics say no more to mypy

N, WEIGHT = "n_records", "weight"  # names in the tables that come back


@dataclass(frozen=True, slots=True)
class Classes:
    """The combinations of key values that occur: one row each, with how many records (and how much weight) share it."""

    keys: tuple[str, ...]
    columns: pl.DataFrame  # the key values, one column for each key, in the order of ``keys``
    counts: Counts
    weights: Floats | None = None  # sum of the sampling weights
    extra: pl.DataFrame | None = None  # further aggregates, one column each
    _frame: Frame = field(default=None, repr=False, compare=False)

    @property
    def n_records(self) -> int:
        """n, the records counted."""
        return int(self.counts.sum())

    @property
    def n_classes(self) -> int:
        """G, the combinations that occur."""
        return len(self.counts)

    def codes(self, *, narrow: bool = False) -> Codes:
        """Small integers for the values, classes x keys; missing has a code of its own.

        ``narrow``: one byte each where no key has more than 256 values, a quarter of the memory.
        """
        few = narrow and all(column.n_unique() <= 256 for column in self.columns.iter_columns())
        codes: Any = np.empty((self.n_classes, self.columns.width), np.uint8 if few else np.int32, order="F")
        for k, column in enumerate(self.columns.iter_columns()):
            codes[:, k] = encode(column)
        return np.asarray(codes)

    def table(self, **values: NDArray[Any]) -> pl.DataFrame:
        """One row for each class: its key values, its number of records, and whatever is added."""
        counted = self.columns.with_columns(pl.Series(_free(N, self.keys), self.counts))
        return counted.with_columns(pl.Series(_free(name, self.keys), value) for name, value in values.items())

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give each record, in row order, the value of its class.

        Of a table that lives elsewhere the keys are brought here, in the order in which its engine hands them over.
        """
        return values[self.number(collect(select_keys(self._frame, self.keys)))]

    def number(self, keyed: pl.DataFrame) -> Counts:
        """Number of the class of each row of a frame whose keys are called k0, k1, ..., as by ``select_keys``."""
        names = [f"k{i}" for i in range(len(self.keys))]
        classes = self.columns.rename(dict(zip(self.keys, names, strict=True))).with_row_index("class")
        joined = keyed.select(names).join(classes, on=names, how="left", nulls_equal=True, maintain_order="left")
        return joined["class"].to_numpy().astype(np.int64)


def open_table(table: Table, *, name: str = "table", **roles: Iterable[str]) -> Frame:
    """Take any frame of narwhals and check that it has the columns of each role; nothing is read yet."""
    try:
        frame = nw.from_native(table)
    except TypeError as error:
        raise TableError(
            f"the {name} is not a frame", got=type(table).__name__, allowed="any frame that narwhals takes"
        ) from error
    known = frame.collect_schema().names()
    for role, columns in roles.items():
        check_columns(columns, known, role, f"the {name}")
    return frame


def check_keys(quasi: Iterable[str]) -> tuple[str, ...]:
    """Names of the quasi-identifiers, each once; refuse none, and names that an engine takes for many."""
    keys = (quasi,) if isinstance(quasi, str) else tuple(dict.fromkeys(quasi))
    if not keys:
        raise RoleError("no quasi-identifiers given", hint="name at least one column in quasi=")
    for name in keys:
        if (name.startswith("^") and name.endswith("$")) or name == "*":
            raise RoleError(
                f"column {name!r} cannot be grouped by: polars reads its name as a pattern", hint="rename it"
            )
    return keys


def count_classes(
    table: Table, quasi: Iterable[str], *, weight: str | None = None, name: str = "table", **aggregates: nw.Expr
) -> Classes:
    """Group ``table`` by its quasi-identifiers where it lives, and bring the counts here."""
    keys = check_keys(quasi)
    frame = open_table(table, name=name, quasi=keys, weight=[weight] if weight is not None else [])
    selected = select_keys(frame, keys, weight, *(expression.alias(label) for label, expression in aggregates.items()))
    names = [f"k{i}" for i in range(len(keys))]
    packing = find_packing(selected, names)
    if packing is not None:
        selected = packing.pack(selected)
    sums = [nw.col("w").sum(), nw.col("w").min().alias("least"), nw.col("gap").sum()] if weight is not None else []
    groups = selected.lazy().group_by(names if packing is None else PACKED)
    totals = [nw.len().alias("n"), *sums, *(nw.col(label).sum() for label in aggregates)]
    # counts only: sums of parts in another order would differ in the last bit
    counted = collect(groups.agg(*totals), streamed=packing is not None and len(totals) == 1)
    del selected, groups
    if counted.height == 0:
        raise TableError(f"the {name} has no rows", hint="a table needs at least one row")
    # the same order whatever engine counted
    counted = counted.sort(names, nulls_last=True) if packing is None else packing.unpack(counted.sort(PACKED))
    weights = _weights(counted, weight) if weight is not None else None
    columns = counted.select(names).rename(dict(zip(names, keys, strict=True)))
    counts = counted["n"].cast(pl.Int64).to_numpy()
    return Classes(keys, columns, counts, weights, counted.select(list(aggregates)), frame)


def collect(frame: Frame, *, streamed: bool = False) -> pl.DataFrame:
    """Bring a (small) frame of any engine into polars; ``streamed``: a polars query, with half the memory."""
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend="polars", **({"engine": "streaming"} if streamed else {}))
    return pl.DataFrame(frame.to_polars())


def encode(column: pl.Series) -> Codes:
    """Dense codes 0, 1, ... in the order of the values; missing comes last, as a value of its own."""
    ranks = column.rank("dense")
    last = ranks.max()
    missing = int(last) + 1 if isinstance(last, int) else 1
    return (ranks.fill_null(missing).cast(pl.Int32) - 1).to_numpy()


def select_keys(frame: Frame, keys: Sequence[str], weight: str | None = None, *more: nw.Expr) -> Frame:
    """Take the keys as k0, k1, ..., the weight as w (with its gaps): no name of the table can clash with ours."""
    schema = frame.collect_schema()
    chosen = [as_key(frame, key, schema[key]).alias(f"k{i}") for i, key in enumerate(keys)]
    if weight is not None:
        if not schema[weight].is_numeric():
            raise RoleError(f"the sampling weight {weight!r} is not a column of numbers", got=str(schema[weight]))
        number = nw.col(weight).cast(nw.Float64)
        chosen += [number.alias("w"), number.is_null().cast(nw.Int64).alias("gap")]
    return frame.select(*chosen, *more)


def as_key(frame: Frame, key: str, kind: Any) -> nw.Expr:  # noqa: ANN401 - a narwhals type
    """NaN is missing, -0.0 is 0.0; categories are compared as text, since each engine orders them its own way."""
    if kind.is_float():
        column = nw.col(key)
        number = ~column.is_nan()
        if frame.implementation.is_duckdb():  # its isnan() trusts statistics of Parquet files, which leave NaN out
            number = (column - column == 0) | (column.abs() == inf)
        return nw.when(number).then(column + 0.0)
    if kind in {nw.Categorical, nw.Enum}:
        return nw.col(key).cast(nw.String)
    return nw.col(key)


def _weights(counted: pl.DataFrame, name: str) -> Floats:
    sums = counted["w"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    least, gaps = counted["least"].cast(pl.Float64).fill_null(np.nan).to_numpy(), int(counted["gap"].sum())
    refuse_weights(name, gaps, int((~np.isfinite(sums) | ~(least > 0)).sum()))
    return sums


def refuse_weights(name: str, gaps: int, wrong: int) -> None:
    """Every record stands for somebody: no weight is missing, zero, negative or without end."""
    if gaps or wrong:
        raise RoleError(
            f"the sampling weight {name!r} must be a positive number on every record",
            got=f"{gaps} missing, and {wrong} classes with a weight that is not positive",
            hint="a weight is the number of people that a record stands for",
        )


def check_people(population: Any, n_records: int) -> None:  # noqa: ANN401 - whatever was given
    """N is a number of people, at least as many as the table has records."""
    number = isinstance(population, Real) and not isinstance(population, bool)
    people = float(population) if number else nan
    if not n_records <= people < inf:
        what = "smaller than the table" if people < n_records else "not a number of people"
        raise ParameterError(
            f"the population is {what}",
            got=f"{population} people, {n_records} records" if number else type(population).__name__,
            allowed="N >= n",
        )


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
