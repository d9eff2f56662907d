"""What the intruder may derive from an original column: orders, parts of dates, parts of texts.

A number feature is a value for each person that a released number or label may be a function of. A text feature is a
text for each person that a released text may be equal to, or a renaming of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel import normal_forms
from unmask.linkage.channel.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

ITEM = "item "
LISTED = re.compile(r"\s*[;,|/+\n]\s*")  # between the items of a list
SEVERAL = 0.2  # share of the cells that hold several items, if they are lists
FEWEST_CELLS, MOST_ITEMS = 3, 60
SPLIT = re.compile(r"[\s\-_/.,;:@|]+")
LONGEST_PREFIX = 8
ROMAN = "Roman numeral"
THEN = ", "  # between the steps of a form: "part 2, Soundex"
QUARTERS = ("{y}-Q{q}", "Q{q} {y}", "{y}Q{q}", "Q{q}/{y}")
DECADES = ("{d}s", "{d}")
DATE_TEXTS = (
    "%Y", "%Y-%m", "%m", "%d", "%B", "%b", "%A", "%a", "%G-W%V", "%Y-W%W", "%V", "%y", "%m/%Y", "%m-%Y", "%Y%m",
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y%m%d", "%d-%m-%Y", "%b %Y", "%B %Y", "%d %b %Y",
    "%m-%d", "%d.%m.", "%d.%m.%y", "%m/%d/%y", "%y-%m-%d", "%d%m%Y", "%m%d%Y", "%d%m%y", "%y%m%d", "%d %B", "%d %B %Y",
    "%B %d", "%j", "%Y-%j", "%Y%j",
)  # fmt: skip
CLOCK_TEXTS = ("%H:%M:%S", "%H:%M", "%H", "%Y-%m-%d %H", "%Y-%m-%d %H:%M", "%I %p", "%I:%M %p")


@dataclass(frozen=True, slots=True)
class Feature:
    """A number for each person, NaN where there is none."""

    column: str
    words: str  # how it is told: "`born`", "the year of `born`"
    values: Floats


@dataclass(frozen=True, slots=True)
class Spelling:
    """Names a text that can be made of any material: one column, or two written together, in a way; maybe signed."""

    columns: tuple[int, ...]
    form: str = ""  # as it is, "first 3", "%Y-%m", ...
    joint: str = ""  # between two columns
    sign: tuple[str, int, bool, int] | None = None  # function, writing, whether its end is kept, length


@dataclass(frozen=True, slots=True)
class TextFeature:
    """A text for each person, as a code (-1: none) into its different texts."""

    words: str
    texts: tuple[str, ...]
    code: Ints


def number_features(column: Column) -> dict[str, Feature]:
    """Everything that orders the people by this column."""
    name = f"`{column.name}`"
    found = {}
    if np.isfinite(column.number).any():
        found[""] = Feature(column.name, name, column.number)
    if column.kind == "date":
        parts = date_parts(column.number)
        found |= {part: Feature(column.name, f"the {part} of {name}", values) for part, values in parts.items()}
    if column.kind == "text" and len(column.words) > 1:
        order = np.where(column.missing, np.nan, column.code)
        found["order"] = Feature(column.name, f"the alphabetical order of {name}", order)
        found |= {f"{ITEM}{item}": item_feature(column, item) for item in items(column)}
    return found


def items(column: Column) -> tuple[str, ...]:
    """The items of a column of lists, such as "asthma; gout": those that several cells have, if they are not many."""
    if column.kind != "text":
        return ()
    lists = [_listed(word) for word in column.words]
    cells = np.bincount(column.code[column.code >= 0], minlength=len(lists))
    if len(lists) < 2 or cells[[len(held) > 1 for held in lists]].sum() < SEVERAL * cells.sum():
        return ()
    often: Counter[str] = Counter()
    for held, count in zip(lists, cells.tolist(), strict=True):
        often.update(dict.fromkeys(held, count))
    usual = sorted(item for item, count in often.items() if count >= FEWEST_CELLS)
    return tuple(usual) if 1 < len(often) <= MOST_ITEMS else ()


@lru_cache(maxsize=100_000)  # asked for each item
def _listed(word: str) -> frozenset[str]:
    return frozenset(item for item in LISTED.split(word.strip().strip("[](){}")) if item)


def has_item(column: Column, item: str) -> Floats:
    """1 where a list holds the item, 0 where it does not, NaN where there is no list."""
    held = np.array([float(item in _listed(word)) for word in column.words] + [np.nan])
    return np.asarray(held[column.code])


def item_feature(column: Column, item: str) -> Feature:
    """Whether a person's list holds an item."""
    return Feature(column.name, f"an item of `{column.name}`", has_item(column, item))


WITHIN: dict[str, str] = {
    "score": "the score of {x} within {g}",
    "gap": "the gap of {x} to the mean within {g}",
    "ratio": "the ratio of {x} to the mean within {g}",
    "rank": "the rank of {x} within {g}",
    "largest": "the largest {x} of those with the same {g}",
    "smallest": "the smallest {x} of those with the same {g}",
    "total": "the total {x} of those with the same {g}",
}
SIZE = "size"  # how many people have the same


def within(column: Column, group: Column, form: str, by_value: Callable[[], Places] | None = None) -> Feature:
    """A number as it stands among the people who have the same in another column, or what these have together.

    ``by_value``: the people in the order of the number, where that is at hand.
    """
    if form == SIZE:
        count = np.bincount(group.code + 1)[group.code + 1].astype(float)
        return Feature(group.name, f"the number of people with the same `{group.name}`", count)
    if form in {"largest", "smallest", "total"}:
        return _together(column, group, form)
    values, code = column.number, group.code + 1
    there = np.isfinite(values)
    words = WITHIN[form].format(x=f"`{column.name}`", g=f"`{group.name}`")
    if form == "rank":
        order = ascending(values) if by_value is None else by_value()
        short = code.astype(np.min_scalar_type(int(code.max(initial=0))))  # numbers of two bytes are sorted at once
        order = order[np.argsort(short[order], kind="stable")]
        sizes = np.bincount(code)
        rank = np.empty(values.size)
        rank[order] = np.arange(values.size) - (np.cumsum(sizes) - sizes)[code[order]]
        return Feature(column.name, words, np.where(there, rank + 1, np.nan))
    count = np.maximum(np.bincount(code[there], minlength=code.max() + 1), 1)
    mean = (np.bincount(code[there], weights=values[there], minlength=count.size) / count)[code]
    gap = values - mean
    if form == "score":
        spread = np.sqrt(np.bincount(code[there], weights=gap[there] ** 2, minlength=count.size) / count)[code]
        gap = gap / np.where(spread > 0, spread, 1.0)
    return Feature(column.name, words, values / np.where(mean == 0, np.nan, mean) if form == "ratio" else gap)


def ascending(values: Floats) -> Places:
    """Places of numbers from the smallest to the largest, in half the room; missing ones last."""
    return np.argsort(values, kind="stable").astype(np.int32)


def _together(column: Column, group: Column, form: str) -> Feature:
    values, code = column.number, group.code + 1
    there, start = np.isfinite(values), {"largest": -np.inf, "smallest": np.inf, "total": 0.0}[form]
    whole = np.full(int(code.max()) + 1, start)
    combine = {"largest": np.maximum, "smallest": np.minimum, "total": np.add}[form]
    combine.at(whole, code[there], values[there])
    words = WITHIN[form].format(x=f"`{column.name}`", g=f"`{group.name}`")
    return Feature(column.name, words, np.where(np.isfinite(whole), whole, np.nan)[code])


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
        "day of the year": (day - day.astype("datetime64[Y]")).astype(np.int64) + 1,
        "weekday": (day.astype(np.int64) + 3) % 7,
        "day of the month": (day - day.astype("datetime64[M]")).astype(np.int64) + 1,
        "time of day": np.where(there, (days - np.floor(days)) * 24, 0.0),
        "hour": np.where(there, np.floor((days - np.floor(days)) * 24 + 1e-7), 0.0),
    }
    return {part: np.where(there, values, np.nan) for part, values in parts.items()}


def spellings(column: Column) -> list[str]:
    """Everything that a text may have been cut or rewritten to."""
    if column.kind == "date":
        return ["", *DATE_TEXTS, *QUARTERS, *DECADES, *(CLOCK_TEXTS if has_times(column) else ())]
    if column.kind == "number" and any("." in word for word in column.words):
        return [""]  # parts of amounts are no codes
    longest = max((len(word) for word in column.words), default=0)
    if len(column.words) < 3 or longest < 2:
        return [""]
    cuts = range(1, min(LONGEST_PREFIX, longest - 1) + 1)
    parts = [f"part {k}" for k in (1, 2, 3, -1)]
    found = ["", *(f"first {k}" for k in cuts), *(f"last {k}" for k in cuts), *parts]
    if column.kind != "text":
        return [*found, ROMAN]
    several = sum(bool(SPLIT.search(word)) for word in column.words) > 0.5 * len(column.words)
    of = ["", "part 1, ", "part 2, ", "part -1, "] if several else [""]
    return [*found, *(part + form for form in normal_forms.FORMS for part in of)]


def spell(column: Column, form: str) -> TextFeature:
    """Write a column in one way."""
    name = f"`{column.name}`"
    if "%" in form or form in {*QUARTERS, *DECADES}:
        unit = "s" if form in CLOCK_TEXTS else "D"
        days, inverse = _different_days(column, 86_400 if unit == "s" else 1)
        texts = [_date_text(day, form) for day in days.astype(f"datetime64[{unit}]").astype(object)]
        return coded(f"{name} written as {form}" if "%" in form else f"the {_period(form)} of {name}", texts, inverse)
    texts, words = list(column.words), name
    for step in form.split(THEN) if form else []:
        change = FORMS[step] if step in FORMS else partial(_cut, form=step)
        texts = [change(text) for text in texts]
        words = words if step in SILENT else f"the {TOLD.get(step, step)} of {words}"
    return coded(words, texts, column.code)


def _period(form: str) -> str:
    return "quarter" if form in QUARTERS else "decade"


def _date_text(day: Any, form: str) -> str:  # noqa: ANN401 - a date
    if "%" in form:
        return str(day.strftime(form))
    return form.format(y=day.year, q=(day.month - 1) // 3 + 1, d=day.year // 10 * 10)


def _cut(word: str, form: str) -> str:
    kind, number = form.split(" ")
    k = int(number)
    if kind == "part":
        pieces = SPLIT.split(word)
        place = k - 1 if k > 0 else k
        return pieces[place] if -len(pieces) <= place < len(pieces) else ""
    return word[:k] if kind == "first" else word[-k:]


def _with_point(text: str) -> str:
    return text if "." in text else text + ".0"


def _with_cents(text: str) -> str:
    try:
        return f"{float(text):.2f}"
    except ValueError:
        return text


FORMS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "point": _with_point,
    "cents": _with_cents,
    "tight": normal_forms.tight,
    "unaccented": normal_forms.unaccented,
    "shape": normal_forms.shape,
    ROMAN: normal_forms.roman,
    **normal_forms.FORMS,
}
SILENT = {"lower", "upper", "point", "cents", "tight", "unaccented"}  # the same text for whoever reads it
TOLD = {
    "part 1": "first word",
    "part 2": "second word",
    "part 3": "third word",
    "part -1": "last word",
    "shape": "lengths of words and signs",
}


def has_times(column: Column) -> bool:
    """Whether dates come with a time of day."""
    return bool((column.number[np.isfinite(column.number)] % 1 > 0).any())


def _different_days(column: Column, parts: int) -> tuple[Floats, Ints]:
    there = np.isfinite(column.number)
    days, place = np.unique(np.floor(column.number[there] * parts + 1e-4 * (parts > 1)), return_inverse=True)
    code = np.full(len(column), -1)
    code[there] = place
    return days, code


def coded(words: str, texts: list[str], code: Ints) -> TextFeature:
    """Merge equal texts; an empty text is none."""
    different = tuple(sorted(set(texts) - {""}))
    place = {text: k for k, text in enumerate(different)}
    lookup = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int64)
    return TextFeature(words, different, lookup[code])
