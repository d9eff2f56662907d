"""What the intruder may derive from an original column: orders, parts of dates, parts of texts.

A number feature is a value for each person that a released number or label may be a function of. A text feature is a
text for each person that a released text may be equal to, or a renaming of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SPLIT = re.compile(r"[\s\-_/.,;:@|]+")
LONGEST_PREFIX = 8
DATE_TEXTS = (
    "%Y", "%Y-%m", "%m", "%d", "%B", "%b", "%A", "%a", "%G-W%V", "%Y-W%W", "%V", "%y", "%m/%Y", "%m-%Y", "%Y%m",
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y%m%d", "%d-%m-%Y", "%b %Y", "%B %Y", "%d %b %Y",
    "%m-%d", "%d.%m.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Feature:
    """A number for each person, NaN where there is none."""

    column: str
    words: str  # how it is told: "`born`", "the year of `born`"
    values: Floats


@dataclass(frozen=True, slots=True)
class TextFeature:
    """A text for each person, as a code (-1: none) into its different texts."""

    column: str
    words: str
    texts: tuple[str, ...]
    code: Ints


def number_features(column: Column) -> list[Feature]:
    """Everything that orders the people by this column."""
    name = f"`{column.name}`"
    found = []
    if np.isfinite(column.number).any():
        found.append(Feature(column.name, name, column.number))
    if column.kind == "date":
        found += [
            Feature(column.name, f"the {part} of {name}", values) for part, values in date_parts(column.number).items()
        ]
    if column.kind == "text" and len(column.words) > 1:
        found.append(
            Feature(column.name, f"the alphabetical order of {name}", np.where(column.missing, np.nan, column.code))
        )
    return [feature for feature in found if np.unique(feature.values[np.isfinite(feature.values)]).size > 1]


def date_parts(days: Floats) -> dict[str, Floats]:
    """Parts of dates as numbers."""
    there = np.isfinite(days)
    day = np.where(there, np.floor(days), 0).astype("datetime64[D]")
    month = day.astype("datetime64[M]").astype(np.int64)
    parts = {
        "year": month // 12 + 1970,
        "month": month,
        "quarter": month // 3,
        "week": (day.astype(np.int64) + 3) // 7,
        "decade": (month // 12 + 1970) // 10 * 10,
        "month of the year": month % 12 + 1,
        "weekday": (day.astype(np.int64) + 3) % 7,
        "day of the month": (day - day.astype("datetime64[M]")).astype(np.int64) + 1,
    }
    return {part: np.where(there, values, np.nan) for part, values in parts.items()}


def text_features(column: Column) -> list[TextFeature]:
    """Everything that a text may have been cut or rewritten to."""
    name = f"`{column.name}`"
    made = [_make(column, name, lambda word: word)]
    if column.kind == "date":
        made += [_dated(column, form) for form in DATE_TEXTS]
        made += [
            _dated_by(column, f"the quarter of {name}", lambda y, m: f"{y}-Q{(m - 1) // 3 + 1}"),
            _dated_by(column, f"the quarter of {name}", lambda y, m: f"Q{(m - 1) // 3 + 1} {y}"),
            _dated_by(column, f"the quarter of {name}", lambda y, m: f"{y}Q{(m - 1) // 3 + 1}"),
            _dated_by(column, f"the decade of {name}", lambda y, _: f"{y // 10 * 10}s"),
            _dated_by(column, f"the decade of {name}", lambda y, _: f"{y // 10 * 10}"),
        ]
        return made
    if column.kind == "number" and any("." in word for word in column.words):
        return made  # parts of amounts are no codes
    longest = max((len(word) for word in column.words), default=0)
    cuts = range(1, min(LONGEST_PREFIX, longest - 1) + 1)
    if len(column.words) > 2:
        made += [_make(column, f"the first {k} of {name}", _slice(None, k)) for k in cuts]
        made += [_make(column, f"the last {k} of {name}", _slice(-k, None)) for k in cuts]
        made += [_make(column, f"part {part + 1} of {name}", partial(_part, part=part)) for part in range(3)]
        made.append(_make(column, f"the last part of {name}", partial(_part, part=-1)))
    return made


def _slice(first: int | None, last: int | None) -> Callable[[str], str]:
    return lambda word: word[first:last]


def _part(word: str, part: int) -> str:
    pieces = SPLIT.split(word)
    return pieces[part] if -len(pieces) <= part < len(pieces) else ""


def _make(column: Column, words: str, change: Callable[[str], str]) -> TextFeature:
    return _coded(column.name, words, [change(word) for word in column.words], column.code)


def _dated(column: Column, form: str) -> TextFeature:
    days, inverse = _different_days(column)
    texts = [day.strftime(form) for day in days.astype("datetime64[D]").astype(object)]
    return _coded(column.name, f"`{column.name}` written as {form}", texts, inverse)


def _dated_by(column: Column, words: str, change: Callable[[int, int], str]) -> TextFeature:
    days, inverse = _different_days(column)
    return _coded(
        column.name,
        words,
        [change(day.year, day.month) for day in days.astype("datetime64[D]").astype(object)],
        inverse,
    )


def _different_days(column: Column) -> tuple[Floats, Ints]:
    there = np.isfinite(column.number)
    days, place = np.unique(np.floor(column.number[there]), return_inverse=True)
    code = np.full(len(column), -1)
    code[there] = place
    return days, code


def _coded(name: str, words: str, texts: list[str], code: Ints) -> TextFeature:
    """Merge equal texts; an empty text is none."""
    different = tuple(sorted(set(texts) - {""}))
    place = {text: k for k, text in enumerate(different)}
    lookup = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int64)
    return TextFeature(name, words, different, lookup[code])
