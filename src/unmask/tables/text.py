"""Read tables that are written as text: encoding, separator, numbers, dates, codes with leading zeros."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from unmask.errors import TableError
from unmask.tables.formats import FORMATS, unpacked

csv.field_size_limit(2**31 - 1)  # long free texts are data too
SEPARATORS = (",", ";", "\t", "|")


AS_WRITTEN = (  # cells that can be read in two ways: 1.234 a thousand or a decimal, 01/02/2020 a day in which month
    r"^[+-]?(?:[1-9][0-9]{0,2}\.[0-9]{3}|[0-9]{1,3})$",
    r"^[0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4}(?:[ T][0-9]{1,2}:.*)?$",
)


def read_text(
    path: Path, separator: str | None, encoding: str | None, missing: tuple[str, ...], *, as_written: bool = False
) -> pl.DataFrame:
    """Read a text file; what is not given is found by itself.

    ``as_written``: columns that can be read in two ways stay text, for somebody who sees the other file.
    """
    whole, text, separator = _opened(path, separator, encoding)
    header = next(csv.reader(io.StringIO(text), delimiter=separator))
    refuse_no_name(whole, header, path.name)
    refuse_repeated(header, path.name)
    refuse_data_as_header(header, path.name)
    _refuse_ragged(text, separator, len(header), path.name)
    try:
        frame = _typed(text.encode(), separator, missing, as_written=as_written)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(
            f"{path.name} cannot be read as text with separator {separator!r}",
            hint="give the separator and the encoding",
        ) from error
    frame.columns = header
    return _decimal_commas(frame) if separator == ";" and not as_written else frame


def read_cells(path: Path, separator: str | None, encoding: str | None) -> tuple[pl.DataFrame, str]:
    """The cells of a text file as they are written, and what separates them: nothing is read as a number or a day."""
    _, text, separator = _opened(path, separator, encoding)
    frame = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    frame.columns = next(csv.reader(io.StringIO(text), delimiter=separator))
    return frame, separator


def _opened(path: Path, separator: str | None, encoding: str | None) -> tuple[str, str, str]:
    """The text of a file as it is and with plain lines, and what separates its cells."""
    whole = decode(unpacked(path), path, encoding)
    text = _plain_lines(whole)
    if not text.strip():
        raise TableError(f"{path.name} is empty", hint="a table needs a header line and at least one row")
    return whole, text, separator or find_separator(text)


def _typed(raw: bytes, separator: str, missing: tuple[str, ...], *, as_written: bool) -> pl.DataFrame:
    """Find numbers, dates and truth values in text."""
    return pl.read_csv(
        raw,
        separator=separator,
        infer_schema_length=None,
        try_parse_dates=True,
        null_values=list(missing),
        schema_overrides=_kept_as_text(raw, separator, missing, as_written=as_written),
    )


def decode(raw: bytes, path: Path, encoding: str | None = None) -> str:
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


def find_separator(text: str) -> str:
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


def refuse_no_name(whole: str, header: list[str], name: str) -> None:
    """Refuse one column under a blank line: that line may be its name, and the next one somebody's value."""
    if len(header) == 1 and whole[:1] in {"\n", "\r"}:
        raise TableError(
            f"the first line of {name} is blank, and it has one column",
            hint="write the column's name into the first line",
        )


def refuse_data_as_header(header: list[str], name: str) -> None:
    """Refuse a file whose first line holds only numbers: taken as names, data would be printed in every message."""
    if all(re.fullmatch(r"\s*[+-]?\d+(?:\.\d+)?\s*", cell) for cell in header):
        raise TableError(f"the first line of {name} holds numbers, not names of columns", hint="add a header line")


def refuse_repeated(header: list[str], name: str) -> None:
    """Refuse two columns of one name."""
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


def _kept_as_text(raw: bytes, separator: str, missing: tuple[str, ...], *, as_written: bool) -> dict[str, Any]:
    """Columns with cells such as 01067 stay text: as numbers they would lose the zero, and two codes might be one.

    So do those with whole numbers of so many digits that no type holds them.
    """
    two_ways = rb"|[1-9]\.[0-9]{3}(?![0-9])|[0-9][-/][0-9]{1,2}[-/][0-9]" if as_written else b""
    if not re.search(rb"(?:^|[,;\t|\n\"])0[0-9]|[0-9]{39}" + two_ways, raw):
        return {}
    texts = pl.read_csv(raw, separator=separator, infer_schema=False, null_values=list(missing))
    cell = cs.string().str
    kept = [
        texts.select(cell.contains(r"^0[0-9]").any() & ~cell.contains(r"[^0-9]").any()).row(0),
        texts.select(cell.contains(r"^\s*[+-]?[0-9]{39,}\s*$").any()).row(0),
    ]
    if as_written:
        marked = cell.contains(r"[./-]").any()
        kept += [texts.select(cell.contains(form).all() & marked).row(0) for form in AS_WRITTEN]
    return {name: pl.String for name, *found in zip(texts.columns, *kept, strict=True) if any(found)}


def _decimal_commas(frame: pl.DataFrame) -> pl.DataFrame:
    """``3,14`` in a semicolon file is a number, when the whole column looks like that."""
    for column in frame.select(cs.string()).get_columns():
        text = column.drop_nulls()
        if len(text) and bool(text.str.contains(r"^[+-]?\d+(,\d+)?$").all()):
            number = column.str.replace(",", ".", literal=True).cast(pl.Float64)
            frame = frame.with_columns(number.alias(column.name))
    return frame


def as_in_text(frame: pl.DataFrame, missing: tuple[str, ...], *, as_written: bool = False) -> pl.DataFrame:
    """Read texts as a text file has them: dates, and numbers beside marks for missing ones."""
    texts = frame.select(cs.string())
    if not texts.width:
        return frame
    read = _typed(texts.write_csv().encode(), ",", missing, as_written=as_written)
    marked = texts.select(pl.all().is_in(missing).any()).row(0)
    found = [
        read[:, place].alias(name)
        for place, name in enumerate(texts.columns)
        if read.dtypes[place].is_temporal() or (marked[place] and read.dtypes[place].is_numeric())
    ]
    return frame.with_columns(found)
