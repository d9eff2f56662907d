"""Write files whole or not at all, readable by their owner only; tables in the format that their suffix says."""

from __future__ import annotations

import errno
import fcntl
import glob
import io
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from unmask.errors import ParameterError, TableError
from unmask.inert import without_formulas
from unmask.tables.formats import RECORDS, TEXTS, format_of, packed
from unmask.tables.text import read_cells

TABLES = (
    ".csv",
    ".tsv",
    ".parquet",
    ".arrow",
    ".xlsx",
    *RECORDS,
)  # what tables are written as; text also as .gz or .zst

PART = ".part"  # how the name of a file ends that is not whole yet
MOST_ROWS, MOST_COLUMNS = 2**20 - 1, 2**14  # of a sheet, below the row of names


def write_findings(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table that tells about data: in text formats no cell is a formula, whatever a column is called."""
    write_table(without_formulas(table) if format_of(path) in TEXTS else table, path)


def write_table(
    table: pl.DataFrame,
    path: str | Path,
    *,
    source: str | Path | None = None,
    kept: Collection[str] = (),
    reading: Mapping[str, Any] | None = None,
) -> None:
    """Write a table in the format that the suffix of the path says; it is data, and its cells are kept as they are.

    ``source``: the file that it was read from, by these options of ``reading``. If both are text, cells of the columns
    that are ``kept`` are written as they stand there (1.250,00 and 31.12.2026), unless they are blank now.
    """
    separator = ","
    if source is not None and {format_of(source), format_of(path)} <= set(TEXTS):
        table, separator = _as_in(Path(source), table, kept, reading or {})
    check_suffix(Path(path))
    form, buffer = format_of(path), io.BytesIO()
    if form == ".parquet":
        table.write_parquet(buffer)
    elif form == ".arrow":
        table.write_ipc(buffer)
    elif form == ".xlsx":
        _write_workbook(table, buffer)
    elif form == ".json":
        table.write_json(buffer)
    elif form in RECORDS:
        table.write_ndjson(buffer)
    else:
        table.write_csv(buffer, separator="\t" if form == ".tsv" else separator)
    write_atomically(path, packed(buffer.getvalue(), Path(path)))


def _as_in(
    source: Path, table: pl.DataFrame, kept: Collection[str], reading: Mapping[str, Any]
) -> tuple[pl.DataFrame, str]:
    """The table with the cells of its source where it has some, and what separates them there."""
    cells, separator = read_cells(source, reading.get("separator"), reading.get("encoding"))
    same = [name for name in kept if name in table.columns and name in cells.columns]
    if cells.height == table.height:
        table = table.with_columns(cells[name].set(table[name].is_null(), None).alias(name) for name in same)
    return table, separator


def _write_workbook(table: pl.DataFrame, buffer: io.BytesIO) -> None:
    """Write one sheet; text stays text, whatever it looks like, and the same table gives the same bytes."""
    import xlsxwriter  # noqa: PLC0415 - only needed here

    if table.height > MOST_ROWS or table.width > MOST_COLUMNS:
        raise TableError(
            "the table is too large for a sheet", got=f"{table.height:,} rows, {table.width:,} columns",
            allowed=f"{MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns", hint="write another format, such as .parquet",
        )  # fmt: skip
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
    with xlsxwriter.Workbook(buffer, plain) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        table.write_excel(book)


def check_suffix(target: Path, allowed: tuple[str, ...] = TABLES) -> None:
    """Refuse a file whose name does not say which of these formats it is to have."""
    if format_of(target) not in allowed:
        packing = "; text also as .gz or .zst" if set(allowed) & {*TEXTS, *RECORDS} else ""
        raise ParameterError(
            f"cannot write to {target.name}", got=f"suffix {target.suffix!r}", allowed=", ".join(allowed) + packing
        )


def write_atomically(path: str | Path, content: str | bytes | Callable[[Path], object]) -> None:
    """Write ``content`` (or let it write to a path) beside the target, then put it in place in one step; mode 0600."""
    if path == "":
        raise TableError("no file is named to write to", hint="give the name of a file")
    target = Path(path)
    check_writable(target)
    part: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=_beside(target), suffix=PART, dir=target.parent)  # 0600
        part = Path(name)
        with os.fdopen(handle, "wb") as file:
            with suppress(OSError):  # not on every disk
                fcntl.flock(handle, fcntl.LOCK_EX)  # it is somebody's: see `remove_parts`
            if callable(content):
                content(part)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(handle)  # some disks say only now that they are full
            part.replace(target)
    except OSError as error:
        raise _cannot_write(target, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _beside(target: Path) -> str:
    return f".{target.name[:100]}."


def _cannot_write(target: Path, error: OSError) -> TableError:
    hint = {errno.ENOSPC: "make room on the disk", errno.EMFILE: "allow more open files (ulimit -n)"}
    given = hint.get(error.errno or 0, "choose another place")
    return TableError(f"cannot write {target}", got=error.strerror or type(error).__name__, hint=given)


def remove_parts(target: Path) -> None:
    """Remove what runs have left that were killed while they wrote this file; one that still writes holds a lock."""
    for part in target.parent.glob(f"{glob.escape(_beside(target))}*{PART}"):
        with suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def check_writable(target: Path) -> None:
    """Refuse a target that cannot be written, before any long work: a file beside it is made and gone again."""
    try:
        _refuse_bad_place(target)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _cannot_write(target, error) from error


def _refuse_bad_place(target: Path) -> None:
    if target.is_dir():
        raise TableError(f"cannot write {target}: it is a folder", hint="give the name of a file")
    if target.exists() and not target.is_file():
        raise TableError(f"cannot write {target}: it is not a plain file", hint="give the name of a file")
    if not target.parent.is_dir():
        raise TableError(f"cannot write {target}: there is no folder {target.parent}", hint="make the folder first")
    if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise TableError(f"cannot write {target}: no permission", hint="choose another place")


def check_target(target: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written, or whose name does not end as it should; "table" stands for its formats."""
    if suffixes:
        check_suffix(target, TABLES if suffixes == ("table",) else suffixes)
    check_writable(target)
    remove_parts(target)
