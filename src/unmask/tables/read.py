"""Read a table from a file or a frame into polars, and say clearly why when that cannot be done.

Nothing here logs or quotes a value of the data: messages name columns, row numbers and counts only.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import polars.selectors as cs

from unmask.errors import TableError
from unmask.tables.formats import FORMATS, RECORDS, TEXTS, format_of, unreadable
from unmask.tables.gaps import blank_named
from unmask.tables.records import read_records, read_workbook, sheet_of
from unmask.tables.text import read_text
from unmask.tables.whole import check_arrow, check_parquet, checked, is_stream

MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".", "*")
A_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, in days from 1970
LONG = tuple(getattr(pl, kind) for kind in ("UInt64", "Int128", "UInt128") if hasattr(pl, kind))  # UInt128 is new
STATISTICAL = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

MOST_BROUGHT = 5_000_000  # rows of a table on Spark that are attacked in memory


def read_table(  # noqa: PLR0913 - every way of reading has its options
    source: Any,  # noqa: ANN401 - a path or any frame that narwhals takes
    *,
    name: str = "table",
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = MISSING_MARKS,
    sheet: str | Sequence[str] | None = None,
    role: str | None = None,
    as_written: bool = False,
) -> pl.DataFrame:
    """Read ``source`` (a path, or any frame that narwhals takes) into a polars frame; the source is untouched.

    ``sheet``: of a workbook, "people" or "original=people"; ``role`` is the word before the "=", else ``name``.
    ``missing``: cells that mean missing, "99" in every column, "age=99" in one. ``as_written``: columns of text that
    can be read in two ways stay text.
    """
    codes = tuple(missing)
    if isinstance(source, str) and not source:
        raise TableError(f"{name}: no file is named", hint="give a path or a frame")
    if isinstance(source, (str, Path)):
        sheet = sheet_of(sheet, role or name)
        frame = _read_file(Path(source), separator, encoding, codes, sheet, as_written=as_written)
        name = f"{name} ({Path(source).name})"
    else:
        frame = _from_frame(source, name)
    _refuse_patterns(frame.columns, name)
    return _tidy(blank_named(frame, [code for code in codes if code not in MISSING_MARKS]), name)


def check_file(path: Path) -> None:
    """Refuse a file that is not there, holds nothing, or may not be read; before others are read, which takes time."""
    if not _exists(path):
        raise TableError(f"cannot read {path.name}: no file at {path}", hint="check the path and the folder")
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a table", allowed=FORMATS)
    if not path.is_file():
        raise TableError(
            f"{path} is not a plain file, but a pipe or a device",
            hint="write it to a file: tables are read more than once",
        )
    if not os.access(path, os.R_OK):
        raise TableError(f"cannot read {path}: no permission", hint="ask its owner")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty", hint="a table needs a header line and at least one row")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long for any file
        return False


def fingerprint(source: Any, frame: pl.DataFrame) -> str:  # noqa: ANN401 - a path or any frame
    """SHA-256 of the file's bytes, or of the frame's content in Arrow form."""
    if isinstance(source, (str, Path)):
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer)
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def _read_file(
    path: Path,
    separator: str | None,
    encoding: str | None,
    missing: tuple[str, ...],
    sheet: str | None,
    *,
    as_written: bool,
) -> pl.DataFrame:
    check_file(path)
    suffix = format_of(path)
    if suffix in TEXTS:
        return read_text(path, separator, encoding, missing, as_written=as_written)
    if suffix in RECORDS:
        return read_records(path, encoding, missing, as_written=as_written)
    if suffix == ".xlsx":
        return read_workbook(path, sheet, missing, as_written=as_written)
    return _read_binary(path, suffix)


def _read_binary(path: Path, suffix: str) -> pl.DataFrame:
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": _read_parquet,
        ".pq": _read_parquet,
        ".arrow": _read_arrow,
        ".feather": _read_arrow,
        ".ipc": _read_arrow,
        **dict.fromkeys(STATISTICAL, _read_statistical),
    }
    if suffix not in readers:
        raise TableError(
            f"cannot tell the format of {path.name}", got=f"suffix {suffix or '(none)'!r}", allowed=FORMATS
        )
    try:
        return readers[suffix](path)
    except TableError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a panic of polars is no Exception
        raise unreadable(path) from error


def _read_parquet(path: Path) -> pl.DataFrame:
    return checked(path, check_parquet, pl.read_parquet)


def _read_arrow(path: Path) -> pl.DataFrame:
    return checked(path, check_arrow, pl.read_ipc_stream if is_stream(path) else pl.read_ipc)


def _read_statistical(path: Path) -> pl.DataFrame:
    """Stata, SPSS, SAS. Value labels are applied: a labelled integer is a category, whatever its code."""
    import pyreadstat  # noqa: PLC0415 - heavy, and only needed here

    suffix = path.suffix.lower()
    read = getattr(pyreadstat, STATISTICAL[suffix])
    labels = {} if suffix == ".xpt" else {"apply_value_formats": True, "formats_as_category": False}
    about = read(str(path), metadataonly=True)[1]
    _check_rows(path, about.number_rows or 0, about.number_columns)
    frame, _ = read(str(path), output_format="polars", **labels)
    return pl.DataFrame(frame).with_columns(cs.string().replace("", None))


def _check_rows(path: Path, rows: int, columns: int) -> None:
    """Refuse a file that says it has more rows than fit: memory is taken for as many before any of them is read.

    A cell takes a byte at least, in SAS files a row; compressed by zlib a byte holds no more than 1,032 of them.
    """
    with path.open("rb") as file:
        zipped = file.read(4) == b"$FL3"
    cells = rows * (1 if path.suffix.lower() == ".sas7bdat" else columns)
    if cells > path.stat().st_size * (1032 if zipped else 1):
        raise TableError(
            f"{path.name} says that it has more rows than fit into a file of its size",
            got=f"{rows:,} rows",
            hint="the file is damaged: save it again",
        )


# --- frames ---------------------------------------------------------------------------------------------------------


def _from_frame(source: Any, name: str) -> pl.DataFrame:  # noqa: ANN401 - any frame
    try:
        frame = nw.from_native(source)
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"the {name} has columns with the same name", hint="rename one of each") from error
    except TypeError as error:
        raise TableError(
            f"the {name} is neither a path nor a frame", got=type(source).__name__, allowed=FORMATS
        ) from error
    if isinstance(frame, nw.LazyFrame):
        _refuse_what_is_large(frame, name)
        return pl.DataFrame(frame.collect(backend="polars").to_native())
    try:
        table = _with_levels(pl.DataFrame(frame.to_polars()), frame)
    except Exception:  # noqa: BLE001 - pandas object columns of mixed types: each library raises its own
        table = pl.DataFrame([_as_series(frame[column]) for column in frame.columns])
    odd = [
        name
        for name, kind in table.schema.items()
        if not _is_plain(kind) and not frame.schema[name].is_nested() and frame.schema[name] != nw.Binary
    ]
    return table.with_columns(_as_text(frame[name]) for name in odd)


def _refuse_what_is_large(frame: nw.LazyFrame[Any], name: str) -> None:
    """A table on many machines may be larger than this one: it is counted first."""
    if not frame.implementation.is_spark_like():
        return
    n = int(frame.select(nw.len()).collect(backend="polars").item())
    if n > MOST_BROUGHT:
        raise TableError(
            f"the {name} is too large to be brought here from Spark",
            got=f"{n:,} rows",
            allowed=f"up to {MOST_BROUGHT:,}",
            hint="unmask.assess_large(original, released, id=...) attacks it where it is",
        )


def _with_levels(table: pl.DataFrame, frame: nw.DataFrame[Any]) -> pl.DataFrame:
    """Keep the order of ordered categories (pandas): polars reads them as plain ones."""
    ordered = [name for name, kind in frame.schema.items() if kind == nw.Enum and table.schema[name] != pl.Enum]
    levels = {name: pl.Enum([str(level) for level in frame[name].cat.get_categories().to_list()]) for name in ordered}
    return table.with_columns(pl.col(name).cast(pl.String).cast(kind) for name, kind in levels.items())


def _as_series(column: Any) -> pl.Series:  # noqa: ANN401 - a narwhals series
    try:
        return pl.Series(column.name, column.to_polars())
    except Exception:  # noqa: BLE001 - mixed types: text keeps them all apart
        return _as_text(column)


def _as_text(column: Any) -> pl.Series:  # noqa: ANN401 - a narwhals series
    """Any cells as text: mixed types, and what has no plain form (pandas intervals, periods)."""
    texts = [None if value is None else str(value) for value in column.to_list()]
    return pl.Series(column.name, [None if text in {"nan", "NaN", "NaT", "<NA>", "None"} else text for text in texts])


def _is_plain(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or kind in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)


def _tidy(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Refuse what has no rows, no columns or nested cells; NaN becomes missing.

    Decimals and durations become floats, and whole numbers of more than 64 bits texts: equal or not, nothing else.
    """
    if frame.width == 0:
        raise TableError(f"the {name} has no columns")
    if frame.height == 0:
        raise TableError(f"the {name} has a header but no rows", hint="a table needs at least one row")
    nested = [column for column, kind in frame.schema.items() if not _is_plain(kind)]
    if nested:
        raise TableError(
            f"the {name} has nested or binary columns", got=", ".join(map(repr, nested)), hint="flatten or drop them"
        )
    _refuse_days(frame, name)
    if "" in frame.columns:  # R writes row names under an empty name
        frame = frame.rename({"": "unnamed"} if "unnamed" not in frame.columns else {"": "unnamed column"})
    texts = cs.string().replace(dict.fromkeys(MISSING_MARKS))  # files have lost them already, frames have not
    days = [_in_days(frame[name], kind) for name, kind in frame.schema.items() if isinstance(kind, pl.Duration)]
    long = [_as_digits(frame[name]) for name, kind in frame.schema.items() if kind in LONG]
    return frame.with_columns(cs.float().fill_nan(None), cs.decimal().cast(pl.Float64), texts, *days, *long)


def _refuse_days(frame: pl.DataFrame, name: str) -> None:
    """Refuse days that no calendar has, as damaged files hold them: polars stops the whole program at such a day."""
    for column in frame.select(cs.date(), cs.datetime()).get_columns():
        kind = column.dtype
        a_day = A_DAY[kind.time_unit] if isinstance(kind, pl.Datetime) else 1.0
        days = column.to_physical().cast(pl.Float64) / a_day
        if bool((~days.is_between(FIRST_DAY - 1, LAST_DAY + 2)).any()):  # a zone may move them by a day
            what = f"column {column.name!r} of the {name} has days outside the years 1 to 9999"
            raise TableError(what, hint="is the file whole? blank them, or write them as text")


def _as_digits(column: pl.Series) -> pl.Series:
    """Whole numbers, as text where some do not fit into 64 bits with a sign."""
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == column.null_count() else column.cast(pl.String)


def _in_days(column: pl.Series, kind: pl.Duration) -> pl.Series:
    """A duration as a number of days: it is an amount, not a point in time."""
    return column.to_physical().cast(pl.Float64) / A_DAY[kind.time_unit]


def _refuse_patterns(columns: Sequence[str], name: str) -> None:
    """Refuse names that polars takes for several columns at once: what was asked of one would be told of others."""
    wrong = [column for column in columns if column == "*" or (column.startswith("^") and column.endswith("$"))]
    if wrong:
        raise TableError(
            f"the {name} has columns whose names read as a pattern for other names",
            got=", ".join(map(repr, wrong)),
            hint="rename them",
        )


def read_all(given: Mapping[str, Any], reading: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """Read every table that is given, by its role; return these as they were given, and as they were read."""
    tables = {role: table for role, table in given.items() if table is not None and not isinstance(table, Real)}
    names = {role: "release" if role == "released" else role.replace("earlier", "earlier release") for role in tables}
    options = {"as_written": True, **reading}
    return tables, {role: read_table(tables[role], name=names[role], role=role, **options) for role in tables}
