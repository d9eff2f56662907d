"""Hierarchies that suggest themselves: dates, postcodes, numbers, codes of diseases. A beginning, to be edited.

Dates: month, quarter, year, decade. Codes of one length or with a known form: one character less at each level. Codes
of diseases (ICD-10): three characters, the chapter. Numbers: bands of 1, 5, 10, 50 .. units.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import TableError, check_name
from unmask.tables.encode import as_text
from unmask.tables.hierarchy import TOP, Row, ValueHierarchy

Form = Literal["dates", "codes", "diseases", "numbers"]
FORMS: tuple[Form, ...] = ("dates", "diseases", "codes", "numbers")
DISEASE = re.compile(r"^[A-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?$")
CODE = re.compile(r"^[0-9A-Za-z][0-9A-Za-z -]{2,9}$")
MOSTLY = 0.9  # of the different values that must have the form
CHAPTERS = (
    "A00-B99", "C00-D49", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99",
    "K00-K93", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99",
    "V01-Y98", "Z00-Z99",
)  # fmt: skip
FINEST, COARSEST = 50, 2  # bands of the first level of numbers at most, and of the last one at least, about
UNKNOWN = "other"


def suggest_hierarchy(column: pl.Series, form: str | None = None) -> ValueHierarchy:
    """Suggest groups for the values of a column, and groups of these.

    ``form``: dates, diseases, codes or numbers; None: what the values look like. Refused where they look like none.
    """
    found = form or form_of_values(column)
    if found is None:
        raise TableError(
            f"no hierarchy suggests itself for {column.name!r}", got="neither dates, codes nor numbers",
            hint="write one: a row for each value, value;group;larger group;*",
        )  # fmt: skip
    check_name(found, FORMS, "no hierarchy of this form can be suggested")
    present = column.drop_nulls().unique()
    if not present.len():
        raise TableError(f"column {column.name!r} is empty")
    rows = {"dates": _dates, "diseases": _diseases, "codes": _codes, "numbers": _numbers}[found](present)
    return ValueHierarchy({row[0]: row for row in sorted(rows, key=lambda row: row[::-1])})


def form_of_values(column: pl.Series) -> Form | None:
    """What the values of a column look like; None where nothing suggests itself."""
    if column.dtype in (pl.Date, pl.Datetime):
        return "dates"
    texts = as_text(column).drop_nulls().unique()
    if not texts.len():
        return None
    if column.dtype == pl.String:
        for form, like in (("dates", _is_day), ("diseases", DISEASE.match), ("codes", CODE.match)):
            fits = sum(bool(like(text)) for text in texts) >= MOSTLY * len(texts)
            if fits and (form != "codes" or _has_digits(texts)):
                return form  # type: ignore[return-value]  # one of the three
    if column.dtype.is_integer() and re.search(r"(?i)(post|zip|plz)", column.name):
        return "codes"
    return "numbers" if column.dtype.is_numeric() else None


def _has_digits(texts: pl.Series) -> bool:
    """Codes have digits; words of the same letters have not."""
    return bool(texts.str.contains(r"\d").mean() >= MOSTLY)  # type: ignore[operator]


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _dates(column: pl.Series) -> list[Row]:
    days = column if column.dtype in (pl.Date, pl.Datetime) else column.str.to_date("%Y-%m-%d", strict=False)
    rows = []
    for word, day in zip(as_text(column), days, strict=True):
        if day is None:
            rows.append((word, *[UNKNOWN] * 4, TOP))
            continue
        quarter = f"{day.year}-Q{(day.month - 1) // 3 + 1}"
        rows.append((word, f"{day:%Y-%m}", quarter, f"{day.year}", f"{day.year // 10 * 10}s", TOP))
    return rows


def _codes(column: pl.Series) -> list[Row]:
    """One character less at each level; shorter codes are themselves until they are reached."""
    words = as_text(column).to_list()
    longest = max(map(len, words))
    cuts = range(longest - 1, 0, -1)
    return [(word, *(word[:cut] + TOP * (len(word) - cut) for cut in cuts), TOP * longest) for word in words]


def _diseases(column: pl.Series) -> list[Row]:
    return [(word, word[:3] if DISEASE.match(word) else UNKNOWN, _chapter(word), TOP) for word in as_text(column)]


def _chapter(code: str) -> str:
    if not DISEASE.match(code):
        return UNKNOWN
    return next((chapter for chapter in CHAPTERS if chapter[:3] <= code[:3] <= chapter[4:]), UNKNOWN)


def _numbers(column: pl.Series) -> list[Row]:
    values = column.cast(pl.Float64).to_numpy()
    whole = column.dtype.is_integer()
    widths = _widths(values, whole=whole)
    return [(word, *(_band(value, width, whole=whole) for width in widths), TOP)
            for word, value in zip(as_text(column), values, strict=True)]  # fmt: skip


def _widths(values: Floats, *, whole: bool) -> list[float]:
    """Widths of bands, 1 and 5 times powers of ten: each is made of whole ones of the one before."""
    reach = float(np.ptp(values)) or 1.0
    tens = np.floor(np.log10(reach)) - 2
    grid = [unit * 10.0**e for e in np.arange(tens, tens + 4) for unit in (1, 5)]
    useful = [w for w in grid if reach / FINEST <= w <= reach / COARSEST and not (whole and w <= 1)]
    return useful or [max(grid[-1], 2.0)]


def _band(value: float, width: float, *, whole: bool) -> str:
    low = float(np.floor(value / width + 1e-9) * width)
    if whole:
        return f"{low:.0f}-{low + width - 1:.0f}" if low >= 0 else f"[{low:.0f}, {low + width:.0f})"
    digits = max(0, int(np.ceil(-np.log10(width) + 1e-9)))
    return f"[{low:.{digits}f}, {low + width:.{digits}f})"
