"""What is given as a table: a file, a folder or a pattern of files, a relation of DuckDB, or a frame.

Types of columns are read from the engine and named in five words: whole, number, text, day, time and yes. A column is
compared as it stands: text as text, numbers as numbers. Nothing is read twice, and nothing into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from unmask.engines import sql
from unmask.engines.dialect import Dialect
from unmask.engines.duck import Duck
from unmask.engines.files import (
    check_headers,
    files_of,
    fingerprint_of,
    header_of,
    is_text,
    naming,
    read_by_duckdb,
    refuse_twice,
)
from unmask.errors import RoleError, TableError
from unmask.tables import MISSING_MARKS, check_columns

WHOLE = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}
WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
MARKS = ", ".join(sql.text(mark) for mark in MISSING_MARKS)


@dataclass(frozen=True, slots=True)
class Source:
    """A table that queries can read: the query, its columns with their types, and the files, if it is of files."""

    query: str
    types: dict[str, str]
    files: tuple[Path, ...]
    where: str  # the original, the release
    given: str | Path | None = None
    duck: Duck | None = None
    raw: bool = False  # of text files, with all cells as texts
    warnings: Mapping[str, str] = field(default_factory=dict)  # what is assumed of columns of text files

    def kind(self, column: str) -> str:
        """Whole, wide, number, text, day, time or yes."""
        kind = self.types[column].split("(")[0].split(" ")[0]
        if kind in WHOLE | WIDE:
            return "wide" if kind in WIDE else "whole"
        words = {"FLOAT": "number", "REAL": "number", "DOUBLE": "number", "DECIMAL": "number", "BOOLEAN": "yes"}
        words |= {"VARCHAR": "text", "ENUM": "text", "UUID": "text", "DATE": "day"}
        found = "time" if kind.startswith("TIMESTAMP") else words.get(kind)
        if found is None or self.types[column].endswith("]"):
            raise TableError(
                f"column {column!r} of {self.where} is of a type that cannot be compared here",
                got=self.types[column].split("(")[0],
                allowed="numbers, text, dates, true and false",
                hint="leave it out (ignored), or write it in another way",
            )
        return found

    @property
    def sha256(self) -> str | None:
        """Fingerprint of all files and their places; None for what is no file."""
        return fingerprint_of(self.files, self.given)

    def named(self) -> AbstractContextManager[None]:
        """Say in errors which file it was that could not be read."""
        return nullcontext() if self.duck is None or not self.files else naming(self.duck, self.files, self.where)


def open_source(duck: Duck, given: Any, where: str, view: str) -> Source:  # noqa: ANN401 - a path, relation or frame
    """Let queries read what is given; a relation or frame is written to the private folder first."""
    if not isinstance(given, str | Path):
        target = _written(duck, given, where, view)
        refuse_twice(header_of(duck, target), where)
        query = read_by_duckdb(duck, (target,))
        return Source(query, duck.described(f"SELECT * FROM {query}"), (), where)
    files = files_of(given, where)
    with naming(duck, files, where):
        check_headers(duck, files, where)
        query = read_by_duckdb(duck, files)
        types = duck.described(f"SELECT * FROM {query}")
    return Source(query, types, files, where, given, duck, raw=is_text(files[0]))


def _written(duck: Duck, given: Any, where: str, view: str) -> Path:  # noqa: ANN401 - a relation or frame
    """Write what is no file to a file of ours: a relation belongs to a connection of its own."""
    target = duck.folder / f"{view}.parquet"
    if hasattr(given, "write_parquet") and hasattr(given, "query"):  # a relation
        given.write_parquet(str(target))
        return target
    try:
        frame = nw.from_native(given)
    except TypeError as error:
        raise TableError(
            f"{where} is neither a path nor a table",
            got=type(given).__name__,
            allowed="a file, folder, pattern or frame",
        ) from error
    (frame.sink_parquet if isinstance(frame, nw.LazyFrame) else frame.write_parquet)(target)
    return target


def shared_columns(
    original: Source, released: Source, taken: Iterable[str], quasi: Iterable[str] | None
) -> tuple[str, ...]:
    """The keys: those that are named, or all columns of both tables that have no other role."""
    if quasi is None:
        known = tuple(name for name in original.types if name in released.types and name not in {*taken})
    else:
        known = tuple(dict.fromkeys((quasi,) if isinstance(quasi, str) else quasi))
        for source in (original, released):
            check_columns(known, source.types, "quasi", source.where)
    if not known:
        raise RoleError("no quasi-identifiers given", hint="name at least one column of both tables in quasi=")
    twice = [name for name in known if name in {*taken}]
    if twice:
        raise RoleError("a column has two roles", got=", ".join(map(repr, twice)), hint="take it out of one")
    return known


def as_id(source: Source, id_: str, dialect: Dialect) -> str:
    """Whole numbers as such, also where they are written as 1.0; all else as text: 1, 1.0 and "1" are one id."""
    written, kind = dialect.name(id_), source.kind(id_)
    if kind == "whole":
        return f"CAST({written} AS BIGINT)"
    text = f"CAST({written} AS {dialect.text})"
    if kind != "number":
        return f"CASE WHEN {text} IN ({MARKS}) THEN NULL ELSE {text} END"
    number = f"CAST({written} AS DOUBLE)"
    whole = f"{number} = floor({number}) AND abs({number}) < {2**53}"
    return f"CASE WHEN {whole} THEN CAST(CAST({written} AS BIGINT) AS {dialect.text}) ELSE {text} END"


def as_value(source: Source, column: str, kinds: tuple[str, str], dialect: Dialect) -> str:
    """A key as it is compared: NaN and marks of missing are missing, -0.0 is 0.0, and both tables have one type."""
    written = dialect.name(column)
    if set(kinds) <= {"whole"}:
        return f"CAST({written} AS BIGINT)"
    if set(kinds) <= {"whole", "wide"}:
        return f"CAST({written} AS {dialect.wide})"
    if set(kinds) <= {"whole", "wide", "number"}:
        number = f"CAST({written} AS DOUBLE)"
        # not isnan(): DuckDB answers it from the statistics of Parquet files, which leave NaN out
        unsigned = f"CASE WHEN {number} = 0 THEN CAST(0 AS DOUBLE) ELSE {number} END"
        return f"CASE WHEN {number} - {number} = 0 THEN {unsigned} END"
    if kinds == ("text", "text"):
        text = f"CAST({written} AS {dialect.text})"
        return f"CASE WHEN {text} IN ({MARKS}) THEN NULL ELSE {text} END"
    plain = {("day", "day"): "DATE", ("yes", "yes"): "BOOLEAN"}
    if kinds in plain:
        return f"CAST({written} AS {plain[kinds]})"
    if set(kinds) <= {"day", "time"}:
        return dialect.moment(written, source.types[column])
    raise RoleError(
        f"column {column!r} is of different kinds in the two tables",
        got=f"{kinds[0]} in the original, {kinds[1]} in the release",
        hint="this engine compares values as they stand: write it the same way in both, or leave it out (ignored)",
    )


def as_number(source: Source, column: str, kinds: tuple[str, str], dialect: Dialect) -> str:
    """The same as a number, in days for dates."""
    value = as_value(source, column, kinds, dialect)
    if kinds == ("day", "day"):
        return f"CAST({dialect.days_of_date(value)} AS DOUBLE)"
    if set(kinds) <= {"day", "time"}:
        return dialect.days(value)
    return f"CAST({value} AS DOUBLE)"
