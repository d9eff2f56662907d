"""Read one sheet of a workbook (.xlsx), or records in JSON. Rows stay where they are: people may be paired by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from unmask.errors import ParameterError, TableError, UnmaskError, did_you_mean
from unmask.tables.formats import unpacked, unreadable
from unmask.tables.text import as_in_text, decode, refuse_data_as_header, refuse_repeated

ROLES = ("original", "released", "control", "population", "second")


def sheet_of(given: str | Sequence[str] | None, role: str) -> str | None:
    """The sheet that is meant for a table: "people" for every workbook, "original=people" for one of the tables."""
    entries = [given] if isinstance(given, str) else list(given or ())
    parts = [entry.partition("=") for entry in entries]
    own = [name for table, _, name in parts if name and table in ROLES and table == role]
    all_ = [entry for entry, (table, _, name) in zip(entries, parts, strict=True) if not (name and table in ROLES)]
    if len(own) > 1 or len(all_) > 1:
        raise ParameterError(
            "two sheets are given for one table", allowed=f"one for all, or {ROLES[0]}=NAME with the table's role first"
        )
    return next(iter((*own, *all_)), None)


def read_workbook(path: Path, sheet: str | None, missing: tuple[str, ...], *, as_written: bool = False) -> pl.DataFrame:
    """Read a sheet of a workbook: the one that is named, or the only one."""
    try:
        header, frame = _read_sheet(path, sheet)
    except UnmaskError:
        raise
    except Exception as error:
        raise unreadable(path) from error
    refuse_repeated(header, path.name)
    refuse_data_as_header(header, path.name)
    frame.columns = header
    return as_in_text(frame, missing, as_written=as_written)


def _read_sheet(path: Path, wanted: str | None) -> tuple[list[str], pl.DataFrame]:
    """Names in the first row of a sheet, and the rows below; the only sheet where none is named."""
    import fastexcel  # noqa: PLC0415 - only needed here

    book = fastexcel.read_excel(path)
    name = _chosen(book.sheet_names, wanted, path.name)
    frame = pl.read_excel(
        path, sheet_name=name, infer_schema_length=None, drop_empty_rows=False, drop_empty_cols=False,
        raise_if_empty=False,
    )  # fmt: skip
    if frame.width == 0:
        raise TableError(f"sheet {name!r} of {path.name} is empty", hint="a table needs a header and at least one row")
    first = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
    header = ["" if cell is None else str(cell) for cell in first]
    kept = [place for place, cell in enumerate(header) if cell or frame[:, place].null_count() < frame.height]
    return [header[place] for place in kept], _without_end(frame[:, kept])


def _without_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out empty rows below the last one that holds anything."""
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null()).alias("any"))["any"].arg_true()
    return frame.head(int(filled[-1]) + 1 if len(filled) else 0)


def _chosen(names: list[str], wanted: str | None, book: str) -> str:
    allowed = ", ".join(map(repr, names))
    if wanted is None and len(names) != 1:
        raise TableError(f"{book} has {len(names)} sheets", allowed=allowed, hint="say which one: --sheet, or sheet=")
    if wanted is not None and wanted not in names:
        raise TableError(f"{book} has no sheet {wanted!r}", allowed=allowed, hint=did_you_mean(wanted, names))
    return names[0] if wanted is None else wanted


def read_records(
    path: Path, encoding: str | None, missing: tuple[str, ...], *, as_written: bool = False
) -> pl.DataFrame:
    """JSON: a list of records, or one record on each line."""
    text = decode(unpacked(path), path, encoding).strip()
    if text in {"", "[]"}:
        raise TableError(f"{path.name} is empty", hint="a table needs at least one record")
    read = pl.read_json if text.startswith("[") else pl.read_ndjson
    try:
        refuse_repeated(_first_names(text), path.name)
        frame = read(text.encode(), infer_schema_length=None)
    except (ValueError, pl.exceptions.PolarsError) as error:
        if isinstance(error, UnmaskError):
            raise
        raise TableError(
            f"{path.name} is not a table in JSON",
            allowed='a list of records, [{"age": 31}, ...], or one record on each line',
        ) from error
    return as_in_text(frame, missing, as_written=as_written)


def _first_names(text: str) -> list[str]:
    """Names in the first record, each time they stand there: readers keep one of several without a word."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: [name for name, _ in pairs])
    names, _ = decoder.raw_decode(text.removeprefix("[").lstrip())
    return names if isinstance(names, list) else []
