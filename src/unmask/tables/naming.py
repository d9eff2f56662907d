"""What a column looks like that names people, or narrows them down: by its shape and by its name, told without a value.

What names a person by itself: a name, an e-mail address, a phone number, an account or social-security number, an
address, free text. What narrows people down: an exact date, a full postcode, a key of many values.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from unmask.shares import percent
from unmask.tables.days import read_days
from unmask.tables.encode import as_text
from unmask.tables.shapes import (
    DIGIT_POSTCODE,
    NUMBER,
    POSTCODE,
    SHAPES,
    is_address,
    is_full_name,
    is_name,
    may_be_name,
    named,
    of_people,
)

LOOKED_AT = 2000  # different values of a column
MOSTLY = 0.8  # share of values that must have the shape
HUNDRED = 130
KEY = 0.98  # of different values, for a key
OFTEN = 0.5  # of different values among all, for a column that tells people apart
MANY_NAMES = 20  # different full names, from which on a column called "customer" holds no kinds of them
LONG_NUMBER = 9  # digits from which on numbers of one length are no amounts
LONG_TEXT = 40  # characters on average, of free text
WORDS_OF_TEXT = 4


def recognise(column: pl.Series) -> tuple[str, str, bool] | None:
    """Tell what a column looks like, why, and whether that names a person; None for anything else."""
    values = column.drop_nulls()
    if not len(values):
        return None
    if column.dtype.is_temporal():
        return _exact_dates(values)
    texts = as_text(values).str.strip_chars()
    looked = texts.unique().sort().head(LOOKED_AT)
    distinct = texts.n_unique() / len(texts)
    hint = named(column.name)
    if of_people(column.name) and len(looked) >= MANY_NAMES and _share(is_full_name, looked) >= MOSTLY:
        hint = "a name"
    for what, fits, needs_name in SHAPES:
        share = sum(map(fits, looked)) / len(looked)
        if share >= MOSTLY and (hint == what if needs_name else True):
            why = "by its name and shape" if hint == what else f"{percent(share)} of its values have the shape"
            return what, why, True
    if column.dtype == pl.String and (days := read_days(column)) is not None:
        return _exact_dates(days.drop_nulls())
    if column.dtype == pl.String or column.dtype.is_integer():
        return _by_text(looked, distinct, len(texts), hint)
    return None


def _by_text(looked: pl.Series, distinct: float, rows: int, hint: str | None) -> tuple[str, str, bool] | None:
    """Names, addresses, free text and keys: less sure, so that most people must have their own."""
    apart = rows >= 20 and distinct > OFTEN
    names = _share(is_name, looked)
    if hint == "a name" and _share(may_be_name, looked) >= MOSTLY:
        return "a name", "by its name and shape", True
    if _share(is_address, looked) >= MOSTLY:
        return "an address", "a street and a number", True
    length = float(looked.str.len_chars().mean() or 0)  # type: ignore[arg-type]
    if apart and length >= LONG_TEXT and _share(_is_sentence, looked) >= MOSTLY:
        return "free text", f"{percent(distinct)} different texts of {length:.0f} characters on average", True
    if apart and names >= MOSTLY and any(" " in text for text in looked):
        return "a name", f"{percent(distinct)} different texts of one to four capitalised words", True
    return _narrowing(looked, distinct, rows, hint)


def _narrowing(looked: pl.Series, distinct: float, rows: int, hint: str | None) -> tuple[str, str, bool] | None:
    """Full postcodes, and keys that everybody, or nearly everybody, has a value of their own of."""
    if looked.str.contains(POSTCODE.pattern).mean() >= MOSTLY:  # type: ignore[operator]
        return "a full postcode", "by its shape", False
    if hint == "a postcode" and looked.str.contains(DIGIT_POSTCODE.pattern).mean() >= MOSTLY:  # type: ignore[operator]
        return "a full postcode", "by its name and shape", False
    numbers = any(map(NUMBER.match, looked.head(50)))
    if rows >= 20 and distinct > KEY and (hint == "a key" or not numbers or _numbered(looked, rows)):
        own = "every record has its own value" if distinct == 1 else f"{percent(distinct)} of its values are different"
        return "a key", own, False
    return None


def _share(fits: Callable[[str], bool], texts: pl.Series) -> float:
    return sum(map(fits, texts)) / len(texts)


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= WORDS_OF_TEXT


def _numbered(looked: pl.Series, rows: int) -> bool:
    """Whether records are numbered one after the other (a hundred may be ages), or by long numbers of one length."""
    if bool(looked.str.contains(rf"^\d{{{LONG_NUMBER},}}$").all()) and looked.str.len_chars().n_unique() == 1:
        return True
    numbers = looked.cast(pl.Int64, strict=False)
    if numbers.null_count() or not HUNDRED < rows <= LOOKED_AT:
        return False
    return int(numbers.max()) - int(numbers.min()) == rows - 1  # type: ignore[arg-type]


def _exact_dates(values: pl.Series) -> tuple[str, str, bool] | None:
    """Days that tell people apart: not the first of a month or a year."""
    if values.dtype in (pl.Time, pl.Duration):
        return None
    days = values.cast(pl.Date)
    if (days.dt.day() == 1).mean() > MOSTLY or days.n_unique() < 100:  # type: ignore[operator]
        return None
    return "an exact date", f"{days.n_unique()} different days", False
