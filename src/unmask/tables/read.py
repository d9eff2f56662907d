"""Read a table from a file or a frame into polars, and say clearly why when that cannot be done.

Nothing here logs or quotes a value of the data: messages name columns, row numbers and counts only.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import polars.selectors as cs

from unmask.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable

csv.field_size_limit(2**31 - 1)  # long free texts are data too
MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".", "*")
SEPARATORS = (",", ";", "\t", "|")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
STATISTICAL = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
FORMATS = "CSV/TSV, Parquet, Arrow/Feather, Stata .dta, SPSS .sav, SAS .sas7bdat or .xpt, or a frame"


def read_table(
    source: Any,  # noqa: ANN401 - a path or any frame that narwhals takes
    *,
    name: str = "table",
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = MISSING_MARKS,
) -> pl.DataFrame:
    """Read ``source`` (a path, or any frame that narwhals takes) into a polars frame; the source is untouched."""
    if isinstance(source, str) and not source:
        raise TableError(f"{name}: no file is named", hint="give a path or a frame")
    if isinstance(source, (str, Path)):
        frame = _read_file(Path(source), separator=separator, encoding=encoding, missing=missing)
        name = f"{name} ({Path(source).name})"
    else:
        frame = _from_frame(source, name)
    return _tidy(frame, name)


def check_file(path: Path) -> None:
    """Refuse a file that is not there, holds nothing, or may not be read; before others are read, which takes time."""
    if not path.exists():
        raise TableError(f"cannot read {path.name}: no file at {path}", hint="check the path and the folder")
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a table", allowed=FORMATS)
    if not os.access(path, os.R_OK):
        raise TableError(f"cannot read {path}: no permission", hint="ask its owner")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty", hint="a table needs a header line and at least one row")


def fingerprint(source: Any, frame: pl.DataFrame) -> str:  # noqa: ANN401 - a path or any frame
    """SHA-256 of the file's bytes, or of the frame's content in Arrow form."""
    if isinstance(source, (str, Path)):
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer)
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def _read_file(path: Path, *, separator: str | None, encoding: str | None, missing: tuple[str, ...]) -> pl.DataFrame:
    check_file(path)
    suffix = path.suffix.lower()
    if suffix in TEXT_SUFFIXES:
        return _read_text(path, separator, encoding, missing)
    return _read_binary(path, suffix)


def _read_binary(path: Path, suffix: str) -> pl.DataFrame:
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": pl.read_parquet,
        ".pq": pl.read_parquet,
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
    except Exception as error:
        raise TableError(
            f"{path.name} is not a readable {suffix} file",
            got=type(error).__name__,
            hint="is the suffix right, the file whole?",
        ) from error


def _read_arrow(path: Path) -> pl.DataFrame:
    with path.open("rb") as file:
        is_file_format = file.read(6) == b"ARROW1"
    return pl.read_ipc(path) if is_file_format else pl.read_ipc_stream(path)


def _read_statistical(path: Path) -> pl.DataFrame:
    """Stata, SPSS, SAS. Value labels are applied: a labelled integer is a category, whatever its code."""
    import pyreadstat  # noqa: PLC0415 - heavy, and only needed here

    suffix = path.suffix.lower()
    labels = {} if suffix == ".xpt" else {"apply_value_formats": True, "formats_as_category": False}
    frame, _ = getattr(pyreadstat, STATISTICAL[suffix])(str(path), output_format="polars", **labels)
    return pl.DataFrame(frame).with_columns(cs.string().replace("", None))


# --- text -----------------------------------------------------------------------------------------------------------


def _read_text(path: Path, separator: str | None, encoding: str | None, missing: tuple[str, ...]) -> pl.DataFrame:
    text = _plain_lines(_decode(path.read_bytes(), path, encoding))
    if not text.strip():
        raise TableError(f"{path.name} is empty", hint="a table needs a header line and at least one row")
    separator = separator or _find_separator(text)
    header = next(csv.reader(io.StringIO(text), delimiter=separator))
    _refuse_repeated(header, path.name)
    _refuse_data_as_header(header, path.name)
    _refuse_ragged(text, separator, len(header), path.name)
    raw = text.encode()
    try:
        frame = pl.read_csv(
            raw,
            separator=separator,
            infer_schema_length=None,
            try_parse_dates=True,
            null_values=list(missing),
            schema_overrides=_leading_zeros(raw, separator, missing),
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(
            f"{path.name} cannot be read as text with separator {separator!r}",
            got=type(error).__name__,
            hint="give the separator and the encoding",
        ) from error
    frame.columns = header
    return _decimal_commas(frame) if separator == ";" else frame


def _decode(raw: bytes, path: Path, encoding: str | None) -> str:
    """Decode by the given encoding, a byte-order mark, UTF-8, then Windows-1252, in this order."""
    if encoding is None and raw[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        encoding = "utf-16"
    if encoding is None and b"\0" in raw:
        raise TableError(f"{path.name} is not text: it holds zero bytes", allowed=FORMATS, hint="is it another format?")
    for candidate in [encoding] if encoding else ["utf-8-sig", "cp1252", "latin-1"]:
        try:
            return raw.decode(candidate)
        except UnicodeDecodeError:
            continue
        except LookupError as error:
            raise TableError(
                f"unknown encoding {candidate!r}", allowed="a name that Python knows, such as utf-8 or latin-1"
            ) from error
    raise TableError(f"{path.name} is not text in encoding {encoding}", hint="leave the encoding out to have it found")


def _find_separator(text: str) -> str:
    """Take the separator that splits the first lines into the most columns, the same number on each."""
    lines = text[:65536].splitlines()
    sample = lines[:50]

    def columns(separator: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(sample, delimiter=separator) if row]
        return (len(set(widths)) == 1, widths[0]) if widths else (False, 0)

    scores = {separator: columns(separator) for separator in SEPARATORS}
    wide = {separator: score for separator, score in scores.items() if score[1] > 1}
    return max(wide or scores, key=lambda separator: scores[separator])


def _plain_lines(text: str) -> str:
    """One kind of line end, no blank lines before or after, and none between where no cell can hold one."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return text if '"' in text else re.sub(r"\n(?:[ \t]*\n)+", "\n", text)


def _refuse_data_as_header(header: list[str], name: str) -> None:
    """Refuse a file whose first line holds only numbers: taken as names, data would be printed in every message."""
    if all(re.fullmatch(r"\s*[+-]?\d+(?:\.\d+)?\s*", cell) for cell in header):
        raise TableError(f"the first line of {name} holds numbers, not names of columns", hint="add a header line")


def _refuse_repeated(header: list[str], name: str) -> None:
    repeated = (
        sorted({column for column in header if header.count(column) > 1}) if len(set(header)) < len(header) else []
    )
    if repeated:
        raise TableError(
            f"{name} has columns with the same name", got=", ".join(map(repr, repeated)), hint="rename one of each"
        )


def _refuse_ragged(text: str, separator: str, width: int, name: str) -> None:
    """Refuse rows with fewer or more fields than the header. Without quotes separators are counted in one pass."""
    if width == 1:
        return
    if '"' not in text:
        raw = np.frombuffer(text.encode("utf-8") + b"\n", dtype=np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        counts = np.diff(np.concatenate([[0], np.searchsorted(np.flatnonzero(raw == ord(separator)), ends)]))
        lengths = np.diff(np.concatenate([[-1], ends])) - 1
        blank = (lengths == 0) | ((lengths == 1) & (raw[ends - 1] == ord("\r")))
        bad = np.flatnonzero((counts != width - 1) & ~blank)
        found = (int(bad[0]) + 1, int(counts[bad[0]]) + 1) if bad.size else None
    else:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        found = next(((rows.line_num, len(row)) for row in rows if row and len(row) != width), None)
    if found:
        raise TableError(
            f"line {found[0]} of {name} has {found[1]} fields, the header has {width}",
            hint="quote cells that hold the separator, or give the separator",
        )


def _leading_zeros(raw: bytes, separator: str, missing: tuple[str, ...]) -> dict[str, Any]:
    """Columns with cells such as 01067 stay text: as numbers they would lose the zero, and two codes might be one."""
    if not re.search(rb"(?:^|[,;\t|\n\"])0[0-9]", raw):
        return {}
    texts = pl.read_csv(raw, separator=separator, infer_schema=False, null_values=list(missing))
    digits = cs.string().str.contains(r"^0[0-9]").any() & ~cs.string().str.contains(r"[^0-9]").any()
    found = texts.select(digits).row(0)
    return {name: pl.String for name, kept in zip(texts.columns, found, strict=True) if kept}


def _decimal_commas(frame: pl.DataFrame) -> pl.DataFrame:
    """``3,14`` in a semicolon file is a number, when the whole column looks like that."""
    for column in frame.select(cs.string()).get_columns():
        text = column.drop_nulls()
        if len(text) and bool(text.str.contains(r"^[+-]?\d+(,\d+)?$").all()):
            number = column.str.replace(",", ".", literal=True).cast(pl.Float64)
            frame = frame.with_columns(number.alias(column.name))
    return frame


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
    """Refuse what has no rows, no columns or nested cells; NaN becomes missing, decimals become floats."""
    if frame.width == 0:
        raise TableError(f"the {name} has no columns")
    if frame.height == 0:
        raise TableError(f"the {name} has a header but no rows", hint="a table needs at least one row")
    nested = [column for column, kind in frame.schema.items() if not _is_plain(kind)]
    if nested:
        raise TableError(
            f"the {name} has nested or binary columns", got=", ".join(map(repr, nested)), hint="flatten or drop them"
        )
    if "" in frame.columns:  # R writes row names under an empty name
        frame = frame.rename({"": "unnamed"} if "unnamed" not in frame.columns else {"": "unnamed column"})
    texts = cs.string().replace(dict.fromkeys(MISSING_MARKS))  # files have lost them already, frames have not
    return frame.with_columns(cs.float().fill_nan(None), cs.decimal().cast(pl.Float64), texts)
