"""DuckDB, which this file alone knows: a private database that is gone afterwards, with its memory bounded.

Nothing is fetched: extensions are neither installed nor loaded by themselves. What does not fit in memory is written to
a folder that only its owner can read, and that is removed at the end, whatever happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from unmask.arrays import Ints
from unmask.engines.dialect import DUCKDB
from unmask.errors import EngineError, ParameterError, TableError, UnmaskError
from unmask.folders import private_folder

UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
GROUPED = 100_000  # rows that are read at a time
LEAST = 200e6  # bytes: with less not even small tables are joined
FOR_QUERIES = 0.5  # share of the memory that DuckDB may take; the rest is for arrays and the program itself


def bytes_of(memory: str | float) -> float:
    """Read "3GB", or a number of bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]B)\s*", str(memory), re.IGNORECASE)
    size = float(found[1]) * UNITS[found[2].upper()] if found else memory
    if isinstance(size, str | bool) or not size >= LEAST:
        raise ParameterError(
            "the memory is not usable", got=str(memory), allowed=f"from {LEAST / 1e6:.0f}MB, such as 3GB"
        )
    return float(size)


class UnreadError(TableError):
    """DuckDB cannot read a table; which one is known where it is read."""


class Duck:
    """A connection: queries in, arrays out. Errors of the engine are ours, without words that may quote a value."""

    dialect = DUCKDB
    name = package = "duckdb"
    together = 1  # sets that are grouped by one query: each takes memory

    def __init__(self, connection: Any, folder: Path, module: Any) -> None:  # noqa: ANN401 - no types here
        self._connection, self.folder, self._module = connection, folder, module

    def run(self, query: str) -> Any:  # noqa: ANN401 - a result of DuckDB
        """Run a query."""
        with self._ours():
            return self._connection.execute(query)

    def _ours(self) -> AbstractContextManager[None]:
        """Turn errors of the engine into ours."""
        return _ours(self._module)

    def row(self, query: str) -> tuple[Any, ...]:
        """The one row of a result."""
        found = self.run(query).fetchall()  # all: a result that is not read to its end holds the connection
        return tuple(found[0])

    def columns(self, query: str) -> dict[str, Ints]:
        """A small result of whole numbers, one array for each column; missing is 0."""
        found = self.run(query)
        names, rows = [entry[0] for entry in found.description], found.fetchall()
        whole = np.array([[value or 0 for value in row] for row in rows], dtype=np.int64).reshape(-1, len(names))
        return {name: np.ascontiguousarray(whole[:, k]) for k, name in enumerate(names)}

    def parts(self, query: str, rows: int) -> Iterator[Any]:
        """A large result, as Arrow batches of so many rows."""
        with self._ours():
            yield from self._connection.sql(query).to_arrow_reader(rows)

    def over_parts(self, query: str, work: Any, rows: int) -> Iterator[Any]:  # noqa: ANN401 - a search
        """What some work makes of a large result, so many rows at a time."""
        for batch in self.parts(query, rows):
            if batch.num_rows:
                yield work(batch)

    def row_number(self, _table: str) -> str:
        """A whole number from 0 that no other row of the table (``p``) has."""
        return "row_number() OVER () - 1"

    def table(self, query: str) -> Any:  # noqa: ANN401 - an Arrow table
        """A small result, as an Arrow table."""
        with self._ours():
            return self._connection.sql(query).to_arrow_table()

    def keep(self, table: str, query: str) -> None:
        """Make a table of a result."""
        self.run(f"CREATE OR REPLACE TABLE {table} AS {query}")

    def keep_groups(self, table: str, query: str, work: Any) -> None:  # noqa: ANN401 - what is done with a group
        """Make a table of what some work makes of each group (``block``) of a result, one after the other."""
        pa = import_module("pyarrow")
        form = _schema(pa, work.fields)
        made = [form.empty_table()]
        made += [pa.table(work(group), schema=form) for group in self._groups(query, pa)]
        self.send(table, pa.concat_tables(made))

    def _groups(self, query: str, pa: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow, tables
        held = None
        for batch in self.parts(f"{query} ORDER BY block", GROUPED):
            part = pa.table(batch) if held is None else pa.concat_tables([held, pa.table(batch)])
            ends = [*(np.flatnonzero(np.diff(part.column("block").to_numpy())) + 1).tolist(), part.num_rows]
            for start, end in pairwise([0, *ends[:-1]]):
                yield part.slice(start, end - start)
            held = part.slice(ends[-2] if len(ends) > 1 else 0)
        if held is not None and held.num_rows:
            yield held

    def send(self, table: str, columns: Any) -> None:  # noqa: ANN401 - columns by name, or an Arrow table
        """Make a table of columns that are here."""
        found = import_module("pyarrow").table(columns)
        with self._ours():
            self._connection.register("sent", found)
            self.keep(table, "SELECT * FROM sent")
            self._connection.unregister("sent")

    def hold(self, table: str, query: str) -> None:
        """Make a table of a result that is asked more than once."""
        self.keep(table, query)

    def drop(self, *tables: str) -> None:
        """Remove tables."""
        for table in tables:
            self.run(f"DROP TABLE IF EXISTS {table}")

    def described(self, query: str) -> dict[str, str]:
        """Names and types of the columns of a query."""
        return {str(row[0]): str(row[1]) for row in self.run(f"DESCRIBE {query}").fetchall()}


@contextmanager
def _ours(module: Any) -> Iterator[None]:  # noqa: ANN401 - DuckDB
    """Turn errors of DuckDB into ours."""
    try:
        yield
    except module.OutOfMemoryException as error:
        raise EngineError(
            "DuckDB needs more memory than it may take",
            hint="give more (--memory), name fewer columns (--quasi), or free space for its temporary files",
        ) from error
    except module.Error as error:
        raise _refused(error) from error
    except RuntimeError as error:  # how DuckDB answers Ctrl-C
        raise (KeyboardInterrupt if "interrupted" in str(error) else error) from error


def _schema(pa: Any, fields: str) -> Any:  # noqa: ANN401 - pyarrow
    """Names and types, as work writes them."""
    kinds = {"bigint": pa.int64(), "double": pa.float64()}
    return pa.schema([(name, kinds[kind]) for name, kind in (field.split() for field in fields.split(", "))])


def _refused(error: Exception) -> UnmaskError:
    """What DuckDB could not do, by the kind of its error: its words may quote a cell."""
    kind = type(error).__name__
    if kind in {"IOException", "InvalidInputException", "ConversionException"}:
        return UnreadError(
            f"DuckDB cannot read a table ({kind})", hint="is it whole, of one form in all parts, and is the disk free?"
        )
    return EngineError(f"DuckDB could not answer ({kind})")


def load_duckdb() -> Any:  # noqa: ANN401 - a module without types
    """Import DuckDB, or say how it is had."""
    try:
        return import_module("duckdb")
    except ModuleNotFoundError:
        raise EngineError("the engine duckdb is not installed", hint="pip install 'unmask[large]'") from None


@contextmanager
def open_duck(*, memory: str | float = "3GB", threads: int = 1) -> Iterator[Duck]:
    """Open a private database for as long as this lasts."""
    size, module = bytes_of(memory), load_duckdb()
    if threads < 1:
        raise ParameterError("threads is a number from 1", got=str(threads))
    with private_folder() as folder:
        with _ours(module):
            connection = module.connect(
                str(folder / "work.duckdb"),
                config={
                    "memory_limit": f"{int(FOR_QUERIES * size / 1e6)}MB",
                    "threads": threads,
                    "temp_directory": str(folder / "spilled"),
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                    "preserve_insertion_order": False,
                },
            )
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
        try:
            yield Duck(connection, folder, module)
        finally:
            connection.close()
