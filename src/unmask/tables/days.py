"""Days written as text, in several ways in one column: 2020-03-01, 01.03.2020, 3/1/2020, 1 March 2020, 20200301.

Whether 01/02/2020 is in January or February is told by the column (a 13th month settles it), else by the other file.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from numpy.typing import NDArray

from unmask.tables.months import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    import numpy as np

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

CERTAIN = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%B-%Y", "%b %d %Y",
    "%B %d %Y", "%d.%m.%y", "%d-%b-%y", "%d %b %y", "%Y%m%d",
)  # fmt: skip
ORDERS = {
    "day first": ("%d/%m/%Y", "%d-%m-%Y", "%d/%m/%y", "%d-%m-%y"),
    "month first": ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m-%d-%y"),
}
EARLIEST, LATEST = dt.date(1800, 1, 1), dt.date(2199, 12, 31)
NEWEST_SHORT = 2030  # the last year that two digits stand for: 31 is 1931
PROBES = 200  # texts that are tried first
TIME = r"[ t](\d{1,2}:\d\d(?::\d\d)?)(?:\.\d+)?\s?(?:z|[+-]00:?00)?"
FEWEST_DIGITS = 10  # different numbers of eight digits that must all be days


class Days(NamedTuple):
    """One way to read a column as days or times."""

    column: pl.Series
    words: str
    sure: bool


def day_readings(column: pl.Series, missing: frozenset[str]) -> list[Days]:
    """Ways to read a column as days, the likeliest first; none where some cell is no day."""
    if column.dtype.is_integer():
        return _digits(column)
    raw = column.cast(pl.String)
    texts = raw.drop_nulls().unique().sort()
    tidy = _tidied(texts)
    kept = ~tidy.is_in(list(missing))
    texts, tidy = texts.filter(kept), tidy.filter(kept)
    if not len(texts) or not bool(tidy.str.contains(r"\d.*[-/. ]?.*\d\d").all()):
        return []
    if bool(tidy.str.contains(r"^\d+$").all()):
        return _digits(raw.cast(pl.Int64, strict=False)) if bool(tidy.str.contains(r"^\d{8}$").all()) else []
    time = tidy.str.extract(rf"{TIME}$", 1)
    day = tidy.str.replace(rf"{TIME}$", "")
    probe = day.gather_every(max(1, len(day) // PROBES))
    tried = {order: (*CERTAIN, *forms) for order, forms in ORDERS.items()}
    tried = {order: forms for order, forms in tried.items() if _by_forms(probe, forms) is not None}
    found = [(order, read) for order, forms in tried.items() if (read := _by_forms(day, forms)) is not None]
    if len(found) == 2 and found[0][1].equals(found[1][1]):
        found = found[:1]
    several = bool(day.str.replace_all(r"[a-zäéû]+", "a").str.replace_all(r"\d+", "1").n_unique() > 1)
    said = "dates in several forms" if several else "dates as text"
    told = len(found) > 1 or (bool(found) and _orders(day))
    return [
        Days(_spread(raw, texts, read, time), f"{said}, {order}" if told else said, len(found) == 1)
        for order, read in found
    ]


def read_days(column: pl.Series) -> pl.Series | None:
    """A column of texts as days, in the likeliest way; None where it holds something else."""
    found = day_readings(column, frozenset())
    return found[0].column if found else None


def _tidied(texts: pl.Series) -> pl.Series:
    plainly = texts.str.to_lowercase().str.replace_all(r"[,\s]+", " ").str.strip_chars(" ")
    plainly = plainly.str.replace_all(r"(\d)(?:\.|st|nd|rd|th|er) ", "$1 ").str.replace_all("[年月]", "-")
    plainly = plainly.str.strip_suffix("日")
    if not bool(plainly.str.contains("[a-z]").any()):
        return plainly
    plainly = plainly.str.replace(rf"^(?:{WEEKDAYS})\.? (?:den |the |le |el )?", "").str.replace_all(
        r" (?:del?|of) ", " "
    )
    named = {f"{a}{theirs}{b}": f"{a}{ours}{b}" for theirs, ours in MONTHS.items() for a, b in ("  ", "--")}
    return plainly.str.replace_many(named)


def _orders(day: pl.Series) -> bool:
    return bool(day.str.contains(r"^\d{1,2}[-/]\d{1,2}[-/]\d{2,4}$").any())


def _by_forms(day: pl.Series, forms: Sequence[str]) -> pl.Series | None:
    """Each text by the first form that fits; None where one is left, or out of range."""
    read = pl.Series(day.name, [None] * len(day), dtype=pl.Date)
    for form in forms:
        short = form.endswith("%y")
        fits = day.str.contains(r"^\d{1,2}[-/. ](?:\d{1,2}|[a-z]+)[-/. ]\d\d$") == short
        at = day.set(~fits, None).str.to_date(form, strict=False)
        read = read.zip_with(read.is_not_null(), _full_year(at) if short else at)
        if not read.null_count():
            break
    return None if read.null_count() or not bool(read.is_between(EARLIEST, LATEST).all()) else read


def _full_year(days: pl.Series) -> pl.Series:
    """Years of two digits, none after the newest."""
    late = days.dt.year() > NEWEST_SHORT
    return days.zip_with(~late.fill_null(value=False), days.dt.offset_by("-100y"))


def _spread(raw: pl.Series, texts: pl.Series, read: pl.Series, time: pl.Series) -> pl.Series:
    """Days of all cells; times too, where there are any but midnight."""
    if time.null_count() == len(time) or bool(time.drop_nulls().str.contains(r"^[0:]+$").all()):
        return raw.replace_strict(texts, read, default=None, return_dtype=pl.Date)
    parts = time.fill_null("00:00").str.split(":")
    seconds = sum(
        parts.list.get(place, null_on_oob=True).cast(pl.Int64).fill_null(0) * weight
        for place, weight in enumerate((3600, 60, 1))
    )
    moments = (read.cast(pl.Datetime("us")).to_physical() + seconds * 1_000_000).cast(pl.Datetime("us"))
    return raw.replace_strict(texts, moments, default=None, return_dtype=pl.Datetime("us"))


def _digits(column: pl.Series) -> list[Days]:
    """Numbers of eight digits that are all days, of which chance makes one in 27."""
    numbers = column.drop_nulls().unique().cast(pl.Int64)  # an eight-bit column cannot be held against a day
    if len(numbers) < FEWEST_DIGITS or not bool(numbers.is_between(1900_01_01, 2100_12_31).all()):
        return []
    days = column.cast(pl.String).str.to_date("%Y%m%d", strict=False)
    return [Days(days, "dates of eight digits", True)] if days.null_count() == column.null_count() else []  # noqa: FBT003


def nearer_days(left: Sequence[pl.Series], right: Sequence[pl.Series], pairs: Pairs) -> tuple[int, int, bool]:
    """Which two readings lie nearest to each other, and whether one is nearer than all others; else the first."""
    gaps = {(i, j): _apart(a, b, pairs) for i, a in enumerate(left) for j, b in enumerate(right)}
    best = min(gaps, key=lambda place: (gaps[place], place))
    others = [gap for place, gap in gaps.items() if place != best]
    return *best, bool(not others or min(others) > gaps[best])


def _apart(a: pl.Series, b: pl.Series, pairs: Pairs) -> float:
    """Mean days between paired dates; without pairs, the share of dates that the other column does not have."""
    a, b = a.cast(pl.Date), b.cast(pl.Date)
    if len(pairs[0]):
        days = (a.gather(pairs[0]).to_physical() - b.gather(pairs[1]).to_physical()).abs().drop_nulls()
        return float(days.cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]
    own = b.drop_nulls()
    return 1.0 - float(own.is_in(a.drop_nulls().unique().implode()).mean() or 0.0) if len(own) else 0.0  # type: ignore[arg-type]
