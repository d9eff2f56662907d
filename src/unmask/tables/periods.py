"""Dates published as periods: days in any writing, weeks, months, quarters, half-years, years, decades; and as ages.

A period is read as its first and last day, so that a known date is in it or not: ``2020-W07``, ``March 2020``,
``Q3 2020``, ``1985``, ``1980s``, ``198x``, ``1980-1989``; years that are all multiples of ten may be decades; dates
that all stand on the first, the last or another fixed day of a month, quarter or year are those. Ages, and bands of
ages, are recognised where on one day nearly all paired people are of the age that is published for them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.tables.intervals import bounds, parse_interval
from unmask.tables.months import MONTHS

Floats = NDArray[np.float64]
Days = tuple[dt.date, dt.date]
Form = tuple[Callable[[str], Days | None], str]  # how a text is read, and the word for such periods
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%d %b %Y", "%d %B %Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
)  # fmt: skip
MONTH_FORMATS = (
    "%Y-%m",
    "%Y/%m",
    "%m/%Y",
    "%m.%Y",
    "%m-%Y",
    "%b %Y",
    "%B %Y",
    "%b-%Y",
    "%b-%y",
    "%b %y",
    "%B-%Y",
    "%B-%y",
    "%B %y",
    "%Y%m",
    "%m/%y",
    "%m.%y",
    "%m-%y",
)
DENSE = ("%Y%j", "%Y-%j", "%d%m%y", "%y%m%d", "%m%d%y", "%d%m%Y", "%m%d%Y")  # digits may be anything else as well
ROMAN = dict(zip("i ii iii iv v vi vii viii ix x xi xii".split(), map(str, range(1, 13)), strict=True))  # noqa: SIM905
YEAR = r"(?P<y>(?:18|19|20|21)\d\d)"
NUMBERED = {  # how periods of a year are marked, before or after it, and numbered
    "week": r"(?:W|KW|S|week)\s?(?P<k>0?[1-9]|[1-4]\d|5[0-3])",
    "quarter": r"(?:(?:[QTK]|quarter)\s?(?P<k>[1-4])|(?P<b>[1-4])[QT])",
    "half-year": r"(?:H|S|HJ|half)\s?(?P<k>[12])",
}
NUMBERS = {  # words for such periods, as they stand before or behind their number
    "quarter": "quarters?|quartal|trimestre|trim|kwartaal|kwartał|kvartal|kvartaal|четверть|квартал|四半期|季度",
    "half": "half-?year|half|semester|halbjahr|semestre|halfjaar|półrocze|halvår|полугодие",
    "week": "calendar week|kalenderwoche|week|woche|semaine|sem|semana|settimana|vecka|uge|uke|tydzień|неделя|週",
}
BEFORE = re.compile(rf"^(?:before|prior to|until|vor|bis|avant|antes de|prima del|voor|före|przed|<)\s?{YEAR}$")
SINCE = re.compile(rf"^(?:since|from|after|seit|ab|nach|depuis|après|desde|dal|vanaf|från|od|>=?|≥)\s?{YEAR}$")
FISCAL = re.compile(rf"^(?:fy\s?)?{YEAR}[-/](?P<next>\d{{2}}|\d{{4}})$")
DECADE = re.compile(r"^(?P<y>(?:18|19|20|21)\d)(?:0\s?'?s|0er|[xX*?])$")
STEPS = (1, 5, 10, 20, 25, 50, 100)  # years that coarser years are multiples of, the finest first
EARLIEST, LATEST = 1800, 2200
OLDEST = 130
HOLDS = 0.95  # share of paired people for whom an age must be right on one day
FEWEST = 10  # people who can show it
PROBES = 200  # texts on which forms are tried first
YEAR_LENGTHS = (0.0, 365.25, 365.0)  # 0: by birthdays


class Periods(NamedTuple):
    """What is known and what is published, in the same unit; a word for the unit."""

    known: Floats
    low: Floats
    high: Floats
    word: str


def read_periods(known: pl.Series, released: pl.Series, pairs: Pairs) -> Periods | None:
    """Known dates and the periods that were published; None where the release cannot be read so.

    ``pairs``: rows of both columns that belong together.
    """
    days = _days(known)
    if released.dtype.is_temporal():
        return _truncated(known, days, released, pairs) if released.dtype in (pl.Date, pl.Datetime) else None
    days = np.floor(days)
    texts = released.cast(pl.String).str.strip_chars().str.replace(r"^(\d{4})\.0+$", "$1")
    read = _written(days, texts, pairs)
    if read is not None:
        return Periods(days, *read)
    return _counted(days, released, pairs) or _ages(known, released, pairs)


def _days(column: pl.Series) -> Floats:
    """Days since 1970 with the time of day as their fraction."""
    moments = column.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / 86_400e6
    return moments.fill_null(np.nan).to_numpy().astype(np.float64)


def _spread(texts: pl.Series, spans: dict[str, Days]) -> tuple[Floats, Floats]:
    """First and last day of each cell; NaN where it is missing or no period."""
    zero = dt.date(1970, 1, 1)
    ends = []
    for place in (0, 1):
        book = {text: float((span[place] - zero).days) for text, span in spans.items()}
        ends.append(texts.replace_strict(book, default=None, return_dtype=pl.Float64).fill_null(np.nan).to_numpy())
    return ends[0].astype(np.float64), ends[1].astype(np.float64)


# --- texts -----------------------------------------------------------------------------------------------------------


def _year_forms(words: list[str]) -> list[Form]:
    """Years; and coarser ones where all are multiples of ten or so."""
    if not all(re.fullmatch(YEAR, word) for word in words):
        return []
    steps = [s for s in STEPS if all(int(word) % s == 0 for word in words)]
    return [
        (partial(_from_year, step=step), {1: "year", 10: "decade"}.get(step, f"span of {step} years")) for step in steps
    ]


def _from_year(text: str, step: int) -> Days:
    return _whole_years(int(text), int(text) + step - 1)


def _whole_years(first: int, last: int) -> Days:
    return dt.date(first, 1, 1), dt.date(last, 12, 31)


def _written(days: Floats, texts: pl.Series, pairs: Pairs) -> tuple[Floats, Floats, str] | None:
    """First and last days by the form that holds most paired dates; what it cannot read, by the next best."""
    words = texts.drop_nulls().unique().sort().to_list()
    tidy = {text: _tidied(text) for text in words}
    forms: list[Form] = _year_forms(words)
    if not forms:
        latest = _latest(days)
        forms = [*((_form(f, latest), "day") for f in FORMATS), *((_form(f, latest), "month") for f in MONTH_FORMATS)]
        forms += [*((partial(_numbered, word=word, latest=latest), word) for word in NUMBERED)]
        forms += [(_bare_quarter, "quarter")]
        forms += [(partial(_fiscal, month=month), "year") for month in range(1, 13)] + [(_long, "period")]
    probe = words[:: max(1, len(words) // PROBES)]
    forms = [(form, word) for form, word in forms if any(form(tidy[text]) is not None for text in probe)]
    read = [({text: span for text in words if (span := form(tidy[text])) is not None}, word) for form, word in forms]
    read.sort(key=lambda entry: -_held(days, texts, entry[0], pairs))  # stable: of equal ones the plainest
    spans: dict[str, Days] = {}
    for entry, _ in read:
        spans = entry | spans  # other forms fill up what the better ones leave
    if not spans or len(spans) < HOLDS * len(words):
        return _dense(days, texts, tidy, pairs)
    return *_spread(texts, spans), read[0][1]


def _dense(days: Floats, texts: pl.Series, tidy: dict[str, str], pairs: Pairs) -> tuple[Floats, Floats, str] | None:
    """Days of digits alone, 170361 or 2016123, where they are the known days of nearly all paired people."""
    for form in DENSE:
        read, width = (
            _form(form, _latest(days)),
            8 if "%m%d%Y" in form or "%d%m%Y" in form else 6,
        )  # as a number 01 is 1
        spans = {text: span for text, tidied in tidy.items() if (span := read(tidied.zfill(width))) is not None}
        if len(spans) >= HOLDS * len(tidy) and len(pairs[0]) >= FEWEST and _held(days, texts, spans, pairs) >= HOLDS:
            return *_spread(texts, spans), "day"
    return None


def _held(days: Floats, texts: pl.Series, spans: dict[str, Days], pairs: Pairs) -> float:
    """Share of the paired people whose date lies in their published period; how many texts are read breaks ties."""
    low, high = _spread(texts, spans)
    known = days[pairs[0]]
    inside = (known >= low[pairs[1]]) & (known <= high[pairs[1]])
    return (float(inside.mean()) if inside.size else 0.0) + 1e-6 * len(spans) / max(1, len(texts))


def _latest(days: Floats) -> dt.date:
    """The last known day: a year of two digits is the latest one before it."""
    there = days[np.isfinite(days)]
    return dt.date(1970, 1, 1) + dt.timedelta(days=int(there.max(initial=0.0)))


def _form(form: str, latest: dt.date) -> Callable[[str], Days | None]:
    def read(text: str) -> Days | None:
        try:
            day = dt.datetime.strptime(text, form).date()  # noqa: DTZ007 - a day has no zone
            if "%y" in form and day.year > latest.year:
                day = day.replace(year=day.year - 100)
        except ValueError:
            return None
        if not EARLIEST <= day.year <= LATEST:
            return None
        return (day, day) if "%d" in form or "%j" in form else (day, _month_end(day.year, day.month))

    return read


def _month_end(year: int, month: int) -> dt.date:
    return dt.date(year + month // 12, month % 12 + 1, 1) - dt.timedelta(days=1)


def _tidied(text: str) -> str:
    """English names of months, and Q, H or W before the number of a quarter, half-year or week."""
    text = re.sub(r"[,\s]+", " ", text.casefold()).strip()
    text = re.sub(r"(\d)年(\d)", r"\1-\2", text).removesuffix("月")
    if re.fullmatch(r"[\d\W]*|[a-z]?\d[\d\W]*[a-z]?\d*", text):
        return text
    text = re.sub(r"\b(?:de|del|of|des|den|r\.)\s(?=\d)", "", text)
    text = re.sub(r"(?:^|(?<=\d[./ -]))[ivx]+(?=[./ -]\d{2,4}$)", lambda match: ROMAN.get(match[0], match[0]), text)
    for word, names in NUMBERS.items():
        text = re.sub(
            rf"(?<!\d)(\d\d?)(?:\.|st|nd|rd|th|er|re|e|è|eme|ème|º|°|ª|-?й)?\s?(?:{names})\b", rf"{word[0]}\1", text
        )
        text = re.sub(rf"(?:\b|(?<=\d))(?:{names})\.?\s?(\d\d?)(?!\d)", rf"{word[0]}\1", text)
    return re.sub(r"[^\W\d_]+\.?", lambda match: MONTHS.get(match[0].rstrip("."), match[0]), text)


def _bare_quarter(text: str) -> Days | None:
    """2020/3 or III/2020, where no month is meant."""
    found = re.fullmatch(rf"{YEAR}[-/ .](?P<k>[1-4])", text) or re.fullmatch(rf"(?P<k>[1-4])[-/ .]{YEAR}", text)
    return _span("quarter", int(found["y"]), int(found["k"])) if found else None


def _fiscal(text: str, month: int) -> Days | None:
    """2019/20: a year from the first of some month on."""
    found = FISCAL.match(text)
    if found is None or (int(found["y"]) + 1) % 10 ** len(found["next"]) != int(found["next"]):
        return None
    year = int(found["y"])
    return dt.date(year, month, 1), dt.date(year + 1, month, 1) - dt.timedelta(days=1)


def _numbered(text: str, word: str, latest: dt.date) -> Days | None:
    marks = NUMBERED[word]
    for form in (rf"{YEAR}[-/ ]?{marks}", rf"{marks}[-/ ]?{YEAR}", rf"{marks}[-/ ']?(?P<y>\d\d)"):
        if found := re.fullmatch(form, text, re.IGNORECASE):
            year, parts = int(found["y"]), found.groupdict()
            year = year if year > 99 else latest.year - (latest.year - year) % 100
            return _span(word, year, int(parts["k"] or parts["b"]))
    return None


def _span(word: str, year: int, k: int) -> Days | None:
    if word == "week":
        try:
            monday = dt.date.fromisocalendar(year, k, 1)
        except ValueError:
            return None
        return monday, monday + dt.timedelta(days=6)
    months = 3 if word == "quarter" else 6
    return dt.date(year, months * (k - 1) + 1, 1), _month_end(year, months * k)


def _long(text: str) -> Days | None:
    """Decades, and spans of years."""
    if found := DECADE.match(text):
        return _whole_years(10 * int(found["y"]), 10 * int(found["y"]) + 9)
    if found := BEFORE.match(text):
        return _whole_years(EARLIEST, int(found["y"]) - (not text.startswith(("until", "bis"))))
    if found := SINCE.match(text):
        return _whole_years(int(found["y"]) + (text.startswith(("after", "nach", "après")) or text[:2] == "> "), LATEST)
    span = parse_interval(text)
    if span is None or not any(EARLIEST <= end <= LATEST for end in span):
        return None
    span = max(span[0], EARLIEST), min(span[1], LATEST)
    return _whole_years(int(np.ceil(span[0])), int(np.floor(span[1])))


# --- dates that stand for longer periods -----------------------------------------------------------------------------


def _truncated(known: pl.Series, days: Floats, released: pl.Series, pairs: Pairs) -> Periods | None:
    """Released dates that all stand on one day of a month, quarter, year or decade, where the known ones do not."""
    whole = released.cast(pl.Datetime("us"))
    there = whole.drop_nulls()
    date = there.dt.date()
    if not len(there) or bool((there != date.cast(pl.Datetime("us"))).any()):
        return None  # with a time of day: no period
    unit = _unit(date)
    if unit is None or unit == _unit(known.drop_nulls().cast(pl.Date)):
        return None if bool((np.floor(days) == days)[~np.isnan(days)].all()) else _by_day(days, released)
    every, word = unit
    if word == "week":
        return _weeks(np.floor(days), _days(whole), pairs)
    begins = whole.dt.truncate(every)
    low, high = _days(begins), _days(begins.dt.offset_by(every)) - 1.0
    return Periods(np.floor(days), low, high, word)


def _weeks(days: Floats, published: Floats, pairs: Pairs) -> Periods:
    """Weeks from the Monday before the published day on, or from another day that holds more of the paired days."""
    monday = float((np.nanmin(published) + 3) % 7)  # 1970 began on a Thursday
    known, own = days[pairs[0]], published[pairs[1]]
    shifts = sorted(range(7), key=lambda shift: shift != monday)
    inside = [int(((known >= own - shift) & (known < own - shift + 7)).sum()) for shift in shifts]
    low = published - shifts[int(np.argmax(inside))]
    return Periods(days, low, low + 6.0, "week")


def _by_day(days: Floats, released: pl.Series) -> Periods:
    own = _days(released)
    return Periods(np.floor(days), own, own, "day")


def _unit(date: pl.Series) -> tuple[str, str] | None:
    """The longest period of which every date stands on the same day, first or last; None: days as they are."""
    if date.n_unique() < 2:
        return None
    after = date + dt.timedelta(days=1)
    for day in (date, after):  # the day after the last of a period is the first of one
        if day.dt.day().n_unique() > 1:
            continue
        months, years = day.dt.month(), day.dt.year()
        if months.n_unique() == 1:
            return ("10y", "decade") if bool((years % 10 == 0).all()) else ("1y", "year")
        return ("1q", "quarter") if (months % 3).n_unique() == 1 else ("1mo", "month")
    return ("1w", "week") if date.dt.weekday().n_unique() == 1 and date.n_unique() > 7 else None


def _counted(days: Floats, released: pl.Series, pairs: Pairs) -> Periods | None:
    """Days, seconds or milliseconds since some day, the same for nearly all: as spreadsheets and computers count."""
    if not released.dtype.is_numeric() or len(pairs[0]) < FEWEST:
        return None
    numbers = released.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
    for unit in (1.0, 86_400.0, 86_400e3):
        own = np.floor(numbers / unit)
        apart = (own[pairs[1]] - days[pairs[0]])[~np.isnan(own[pairs[1]]) & ~np.isnan(days[pairs[0]])]
        zero = float(np.median(apart)) if apart.size >= FEWEST else np.nan
        if apart.size and (apart == zero).mean() >= HOLDS and np.unique(own[~np.isnan(own)]).size >= FEWEST:
            return Periods(days, own - zero, own - zero, "counted day")
    return None


# --- ages ------------------------------------------------------------------------------------------------------------


def _ages(known: pl.Series, released: pl.Series, pairs: Pairs) -> Periods | None:
    """Ages or bands of ages on the day that is right for nearly all paired people."""
    if released.dtype.is_numeric():
        low = released.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
        high = low
    else:
        low, high = bounds(released)
    ends = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    if not ends.size or ends.min() < 0 or ends.max() > OLDEST or np.isnan(low).mean() > 0.5:
        return None
    birth = known.cast(pl.Date)
    born = birth.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
    best: tuple[float, Floats] | None = None
    for length in YEAR_LENGTHS:
        first = _birthday(born[pairs[0]], np.floor(low[pairs[1]]), length)
        last = _birthday(born[pairs[0]], np.floor(high[pairs[1]]) + 1.0, length)
        share, day = _common_day(first, last)
        if best is None or share > best[0]:
            best = share, _age(born, day, length)
    return None if best is None or best[0] < HOLDS else Periods(best[1], low, high, "age")


def _birthday(born: Floats, age: Floats, length: float) -> Floats:
    """The day on which people reach an age; infinite for the end of an open band, NaN where one is missing."""
    if length:
        return born + age * length
    there = np.isfinite(born) & np.isfinite(age)
    day = np.where(there, born, 0.0).astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    later = (month + 12 * np.where(there, age, 0.0).astype(np.int64)).astype("datetime64[D]") + (day - month)
    reached = later.astype(np.float64)
    return np.where(there, reached, np.where(np.isnan(born) | np.isnan(age), np.nan, age))


def _age(born: Floats, day: float, length: float) -> Floats:
    """Whole years on a day."""
    if length:
        return np.floor((day - born) / length)
    guess = np.floor((day - born) / 365.2425)
    fits = [_birthday(born, guess + shift, 0.0) <= day for shift in (-1.0, 0.0, 1.0)]
    return np.asarray(np.where(np.isnan(born), np.nan, guess - 2.0 + np.sum(fits, axis=0)))


def _common_day(first: Floats, last: Floats) -> tuple[float, float]:
    """The day that lies in most of the spans [first, last), and in what share of them."""
    there = ~np.isnan(first) & ~np.isnan(last)
    n = int(there.sum())
    if n < FEWEST:
        return 0.0, 0.0
    starts, ends = np.sort(np.ceil(first[there])), np.sort(np.ceil(last[there]))
    at = np.unique(starts)
    inside = np.searchsorted(starts, at, "right") - np.searchsorted(ends, at, "right")
    day = float(at[int(np.argmax(inside))])
    return float(inside.max()) / n, day
