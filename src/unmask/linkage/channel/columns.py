"""Reading cells: what a column says, however it is written.

A column is read as numbers, dates, intervals or words. ``€ 1.234,50``, ``1,234.5``, ``4.0`` and ``12 %`` are numbers;
a date may be written in many formats, more than one in a column; ``10,000-19,999``, ``[30, 40)``, ``under 5`` and
``65+`` are intervals; ``48°08'N`` and ``14:35`` are numbers of two units. Only the different texts are read,
so long columns cost little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = Sequence[str]

MANY_WORDS = 50_000
MOSTLY = 0.9  # share of the different texts that must be read alike
NUMBER = r"\d(?:[\d.,' \u00a0\u202f_]*\d)?(?:[eE][+-]?\d+)?"
SIGNED = re.compile(
    r"^(?P<before>[A-Za-z]{0,4}[€$£¥]?\s*)(?P<sign>[-+\u2212(]?)\s*(?P<mark>[€$£¥]?)\s*"
    rf"(?P<digits>{NUMBER}|\.\d+)\)?\s*(?P<after>%|[€$£¥]|[A-Za-z]{{0,6}}[.²³]?)$"
)
PARTS = re.compile(NUMBER)
PREFIXED = re.compile(r"^0(?:x[\da-f]{1,15}|o[0-7]{1,17}|b[01]{1,52})$", re.IGNORECASE)  # in base 16, 8 or 2
GROUPED = re.compile(r"^\d{1,3}(?P<mark>[.,'_ \u00a0\u202f])\d{3}(?:(?P=mark)\d{3})*$")
BELOW = re.compile(r"(<|≤|under|below|less|up to|bis|unter|max|-inf|young|moins)", re.IGNORECASE)
ABOVE = re.compile(r"(>|≥|\+|over|above|more|from|older|ab |über|min|inf|and up|plus)", re.IGNORECASE)
DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d", "%d %b %Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%Y%m%d",
)  # fmt: skip
TIMES = (
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ",
)  # fmt: skip
MONTHS = ("%Y-%m", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y", "%Y/%m")
EARLIEST, LATEST = -62_000.0, 84_000.0  # 1800 to 2200: beyond them numbers only look like dates
STEPS_OF_TEN = range(9, -10, -1)
PARTS_OF_ONE = (12, 24, 60, 1440, 3600, 86400)  # inches, hours, minutes and seconds of a degree, an hour or a day
RADIXES = (7, 8, 12, 14, 16, 20, 24, 30, 60, 100, 1000)
SIXTIES = {"°", "º", ":", "h", "deg"}
MARK = r"[^\W\d_]{1,8}\.?|[°º:]|['\u2032\u2019]{1,2}|[\"\u2033\u201d]"
COMPOUND = re.compile(
    rf"^(?P<before>[NSEWnsew+\-\u2212]?)\s*(\d+)\s*(?P<one>{MARK})\s*(\d+(?:[.,]\d+)?)\s*(?P<two>{MARK})?"
    rf"(?:\s*(\d+(?:[.,]\d+)?)\s*(?P<three>{MARK})?)?\s*(?P<after>[NSEW]?)$"
)
BETWEEN = {"to", "bis", "and", "und", "until", "a", "e", "et", "or", "od", "oder", "up", "n", "s", "w"}  # no units


class Words(Sequence[str]):
    """Very many different texts, which take less than half of the room of a tuple."""

    __slots__ = ("_held",)

    def __init__(self, held: pl.Series) -> None:
        self._held = held

    def __len__(self) -> int:
        return self._held.len()

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._held[place].to_list() if isinstance(place, slice) else str(self._held[int(place)])

    def __iter__(self) -> Iterator[str]:
        for part in self._held.to_frame().iter_slices(MANY_WORDS):
            yield from part.to_series().to_list()

    def take(self, places: Ints) -> Texts:
        """Some of them, in this order."""
        return held(self._held.gather(places))


def held(texts: pl.Series) -> Texts:
    """Texts, in the form that suits their number."""
    return Words(texts.rechunk()) if texts.len() > MANY_WORDS else tuple(texts.to_list())


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file. Words are its different texts in lexicographic order; a code is a place in them."""

    name: str
    kind: str  # "number", "date", "interval" or "text": the best reading
    words: Texts
    code: Ints  # -1: missing
    number: Floats  # NaN where the cell is no number; days for dates, the middle of intervals
    low: Floats | None  # ends of intervals; the low end belongs to it, the high end does not
    high: Floats | None
    step: float  # numbers are whole multiples of it; a tiny one where they are not

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are empty."""
        return self.code < 0

    def __len__(self) -> int:
        return len(self.code)

    def take(self, rows: Ints) -> Column:
        """Some of the rows, in this order; words are those that occur."""
        code = self.code[rows]
        used = np.zeros(len(self.words) + 1, dtype=bool)
        used[code] = True
        used[-1] = False
        places = np.flatnonzero(used)
        fresh = np.full(len(self.words) + 1, -1)
        fresh[places] = np.arange(places.size)
        words = self.words if places.size == len(self.words) else _some(self.words, places)
        ends = (None, None) if self.low is None or self.high is None else (self.low[rows], self.high[rows])
        return replace(self, words=words, code=fresh[code], number=self.number[rows], low=ends[0], high=ends[1])


def _some(words: Texts, places: Ints) -> Texts:
    return words.take(places) if isinstance(words, Words) else tuple(words[k] for k in places.tolist())


def read_column(series: pl.Series) -> Column:
    """Read a column in the way that fits most of its different texts."""
    texts = _as_text(series)
    different = texts.drop_nulls().unique().sort()
    words = held(different)
    code = texts.cast(pl.Enum(different)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    code = np.ascontiguousarray(code, dtype=np.int64)
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        number = series.cast(pl.Float64).fill_nan(None).to_numpy().astype(np.float64)
        return Column(series.name, "number", words, code, number, None, None, resolution(number))
    kind, values, low, high = _read_words(series, words)
    number = _spread(values, code)
    step = resolution(number)
    if low is None or high is None:
        return Column(series.name, kind, words, code, number, None, None, step)
    return Column(series.name, kind, words, code, number, _spread(low, code), _spread(high, code), step)


def _spread(values: Floats, code: Ints) -> Floats:
    return np.append(values, np.nan)[code]


def _as_text(series: pl.Series) -> pl.Series:
    """Cells as texts; numbers without needless zeros, blanks as missing."""
    if series.dtype == pl.Boolean:
        series = series.cast(pl.Int64)
    if series.dtype.is_float():
        whole = series.fill_nan(None)
        distinct = whole.drop_nulls().unique()
        words = pl.Series([f"{value + 0.0:.12g}" for value in distinct.to_list()], dtype=pl.String)  # -0 is 0
        return whole.replace_strict(distinct, words, default=None, return_dtype=pl.String)
    texts = series.cast(pl.String).str.strip_chars()
    return texts.set(texts == "", None)


def _read_words(series: pl.Series, words: Texts) -> tuple[str, Floats, Floats | None, Floats | None]:
    nothing = np.full(len(words), np.nan)
    if not words:
        return "text", nothing, None, None
    days = read_dates(words)
    if series.dtype.is_temporal() or np.isfinite(days).mean() >= MOSTLY:
        return "date", days, None, None
    based = all(map(PREFIXED.match, words))
    numbers = np.array([float(int(word, 0)) for word in words]) if based else read_numbers(words)
    if np.isfinite(numbers).mean() >= 0.5:
        return "number", numbers, None, None
    numbers = read_compounds(words)
    if np.isfinite(numbers).mean() >= MOSTLY:
        return "number", numbers, None, None
    low, high = read_intervals(words)
    if np.isfinite(low + high).mean() >= 0.5 or (~np.isnan(low)).mean() >= MOSTLY:
        return "interval", _middle(low, high), low, _closed(low, high)
    return "text", nothing, None, None


# --- dates -----------------------------------------------------------------------------------------------------------


def read_dates(words: Texts) -> Floats:
    """Days since 1970 for texts that are dates; formats are tried from the one that fits most."""
    texts = pl.Series(list(words), dtype=pl.String)
    likely = texts.str.contains(r"\d") & texts.str.contains(r"[-/.: ]|^\d{8}$")
    if likely.mean() < MOSTLY:  # type: ignore[operator]
        return np.full(len(words), np.nan)
    probe = texts.gather_every(max(1, len(words) // 200))
    found: list[tuple[float, str]] = []
    for form in (*DATES, *TIMES, *MONTHS):
        share = float(np.isfinite(_in_range(_days(probe, form))).mean())
        if share > 0.02:
            found.append((share, form))
    days, short = np.full(len(words), np.nan), np.zeros(len(words), dtype=bool)
    for _, form in sorted(found, key=lambda pair: -pair[0]):
        fresh = np.isnan(days)
        days = np.where(fresh, _in_range(_days(texts, form)), days)
        short |= fresh & ("%y" in form)
    if short.any() and np.isfinite(days[~short]).any():  # a year of two digits is no later than those of four
        days = np.where(short & (days > np.nanmax(days[~short])), _century_before(days), days)
    return days


def _in_range(days: Floats) -> Floats:
    return np.where((days > EARLIEST) & (days < LATEST), days, np.nan)


def _century_before(days: Floats) -> Floats:
    """The same day and month a hundred years before."""
    day = np.where(np.isfinite(days), days, 0.0).astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    earlier = (month - 1200).astype("datetime64[D]") + (day - month.astype("datetime64[D]"))
    return np.where(np.isfinite(days), earlier.astype(np.float64), np.nan)


def _days(texts: pl.Series, form: str) -> Floats:
    if form in MONTHS:
        texts, form = "01 " + texts, "%d " + form
    kind: type[pl.Date] | pl.Datetime = pl.Datetime("us") if "%H" in form else pl.Date
    parsed = texts.str.strptime(kind, form, strict=False)
    if "%H" in form:
        return (parsed.dt.timestamp("us").cast(pl.Float64) / 86_400e6).to_numpy().astype(np.float64)
    return parsed.to_physical().cast(pl.Float64).to_numpy().astype(np.float64)


# --- numbers ---------------------------------------------------------------------------------------------------------


def read_numbers(words: Texts) -> Floats:
    """Numbers in whatever writing: separators of thousands, decimal commas, currencies, per cent, units."""
    matches = [SIGNED.match(word) for word in words]
    marks = {(m["before"] + m["mark"]).strip() for m in matches if m}
    if len(marks - {""}) > 2:  # A1, B7: codes, not numbers
        matches = [m if m and not (m["before"] + m["mark"]).strip() else None for m in matches]
    comma = decimal_comma([m["digits"] for m in matches if m])
    values = np.full(len(words), np.nan)
    for place, match in enumerate(matches):
        if match:
            values[place] = to_number(match["digits"], comma=comma)
            if match["sign"] in {"-", "\u2212", "("}:
                values[place] *= -1
    return values


def read_compounds(words: Texts) -> Floats:
    """Numbers in two or three units: 48°08'N, 14:35:02, 5'11", 3 y 4 m; how many make one, the largest tell."""
    found = {k: match for k, word in enumerate(words) if (match := COMPOUND.match(word))}
    marks = {(m["one"], m["two"], m["three"]) for m in found.values()}
    if not marks or len(marks) > 4 or any(one.casefold() in BETWEEN for one, _, _ in marks):
        return np.full(len(words), np.nan)
    places = list(found)
    parts = np.array([[_part(match[group]) for group in (2, 4, 6)] for match in found.values()])
    sixty = all(one in SIXTIES for one, _, _ in marks)
    radix = [60 if sixty else _radix(float(part.max())) for part in (parts[:, 1], parts[:, 2])]
    turned = [bool({m["before"].upper(), m["after"]} & {"S", "W", "-", "\u2212"}) for m in found.values()]
    values = np.full(len(words), np.nan)
    values[places] = parts[:, 0] + (parts[:, 1] + parts[:, 2] / radix[1]) / radix[0]
    values[places] *= np.where(turned, -1.0, 1.0)
    return values


def _part(digits: str | None) -> float:
    return float((digits or "0").replace(",", "."))


def _radix(largest: float) -> int:
    return next((radix for radix in RADIXES if radix > largest), RADIXES[-1])


def decimal_comma(digits: list[str]) -> bool:
    """Whether a comma begins the decimals: told by the column as a whole."""
    for text in digits:
        comma, dot = text.rfind(","), text.rfind(".")
        if comma >= 0 and dot >= 0:
            return comma > dot
        if text.count(".") > 1:
            return True
    with_comma = [text for text in digits if "," in text]
    return bool(with_comma) and not all(GROUPED.match(text) for text in with_comma)


def to_number(digits: str, *, comma: bool) -> float:
    """One number, knowing what a comma means."""
    text = re.sub(r"[' _\u00a0\u202f]", "", digits)
    text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")  # 1e999


def resolution(values: Floats) -> float:
    """The largest power of ten that all values are whole multiples of, else a part of one such as a sixtieth.

    A billionth of their range if there is none.
    """
    there = np.unique(values[np.isfinite(values)])
    if there.size < 2:
        return 1.0
    size, reach = np.abs(there).max(), float(there[-1] - there[0])
    few = there[:: max(1, there.size // 2000)]
    for power in STEPS_OF_TEN:
        step = 10.0**power
        if step > reach:
            continue
        if step < size * 1e-12:
            break
        if np.all(np.abs(few / step - np.round(few / step)) < 1e-6 + 1e-13 * size / step):
            return step
    for parts in PARTS_OF_ONE:
        if np.all(np.abs(few * parts - np.round(few * parts)) < 1e-6 + 1e-13 * size * parts):
            return 1.0 / parts
    return reach * 1e-9


# --- intervals -------------------------------------------------------------------------------------------------------


def read_intervals(words: Texts) -> tuple[Floats, Floats]:
    """Low and high ends; NaN where a text is no interval."""
    found = [_numbers_in(word) for word in words]
    comma = decimal_comma([digits for parts in found for digits in parts])
    low, high = np.full(len(words), np.nan), np.full(len(words), np.nan)
    for place, (word, parts) in enumerate(zip(words, found, strict=True)):
        values = [to_number(part, comma=comma) for part in parts]
        if len(values) == 2 and values[0] <= values[1]:
            low[place], high[place] = values
        elif len(values) == 1 and BELOW.search(word):
            low[place], high[place] = -np.inf, values[0]
        elif len(values) == 1 and ABOVE.search(word):
            low[place], high[place] = values[0], np.inf
    return low, high


def _numbers_in(word: str) -> list[str]:
    parts = PARTS.findall(
        re.sub(r"(?<=\d)\s*[-\u2013\u2014]\s*(?=\d)", " ; ", re.sub(r"(?<=\d)[,;]\s+(?=\d)", " ; ", word))
    )
    return [piece for part in parts for piece in _split_pair(part)]


def _split_pair(part: str) -> list[str]:
    """Split two numbers that stand beside each other with only a blank between them."""
    pieces = part.split(" ")
    return [part] if len(pieces) == 1 or all(len(piece) == 3 for piece in pieces[1:]) else pieces


def _middle(low: Floats, high: Floats) -> Floats:
    middle = (low + high) / 2
    return np.where(np.isneginf(low), high, np.where(np.isposinf(high), low, middle))


def _closed(low: Floats, high: Floats) -> Floats:
    """Let an interval reach up to where the next begins, if that is near; else its high end belongs to it.

    Ranges that overlap, such as those of groups of people, do not follow each other: both ends belong to each.
    """
    starts = np.unique(low[np.isfinite(low)])
    if not starts.size or _overlap(low, high):
        return np.nextafter(high, np.inf)
    following = np.searchsorted(starts, high, "left")
    nearest = starts[np.minimum(following, starts.size - 1)]
    width = np.where(np.isfinite(low), high - low, np.inf)
    touches = (
        (following < starts.size)
        & (nearest >= high)
        & (nearest - high <= np.maximum(1.0, 0.05 * width))
        & (nearest > low)
    )
    return np.where(touches, nearest, np.nextafter(high, np.inf))


def _overlap(low: Floats, high: Floats) -> bool:
    """Whether one of the different intervals begins before the one before it ends."""
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    there = ~np.isnan(low)
    return bool((low[there][1:] < high[there][:-1]).any())
