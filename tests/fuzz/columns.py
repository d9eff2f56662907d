"""Columns with what breaks things, and names that do: each is made from a `random.Random` and a number of rows.

Cells that a message must never show carry a canary: `WORD` in texts, `DIGITS` in numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import polars as pl

WORD = "zqxvk"
DIGITS = "9173046"
NAMES = (
    "largest", "size", "^.*$", "count", "literal", "len", "n", "row", "rows", "id", "risk", "text", "value", "values",
    "tidy", "number", "a", "b", "x", "y", "w", "v", "fine", "coarse", "to_original", "to_release", "original",
    "released", "contribution", "same", "records", "place", "label", "interval", "before", "after", "word", "unit",
    "side", "level", "least", "last", "kind", "days", "tie", "share", "person", "take", "low", "high", "key", "kept",
    "group", "gap", "g", "factor", "code", "class", "area", "any", "all", "told", "second", "change", "p", "index",
    "weight", "household", "truth", "element", "field_0", "column_0", "__index__", "__weight", "*", "^a", "^$", "$",
    ".*", " ", "  a", "a ", "unnamed", "unnamed column", "_duplicated_0", "a_duplicated_0", "a_right", "=1+1",
    "+cmd|' /C calc'!A0", "@SUM(A1)", "<b>bold</b>", "\x1b[31mred", "a,b", 'a"b', "a'b", "a;b", "a\tb", "a=b",
    "a:b", "a/b", "../a", "{a}", "{{a}}", "%s", "%(a)s", "\\", "a\\nb", "\u202eabc", "é", "e\u0301", "名前", "İ", "ß",
    "0", "1", "-1", "1.5", "None", "nan", "NULL", "True", "NA", "name", "e-mail", "birth date", "age", "income",
    "postcode", "sex", "lon", "lat", "date", "Largest", "SIZE", "n" * 300, "[x]", "[/red]", "[bold]", "x.y", "x y",
)  # fmt: skip
Maker = Callable[[random.Random, int], pl.Series]


def drawn(rng: random.Random, n: int, cells: list[object], *, missing: float = 0.15) -> list[object]:
    """n cells out of some, a few of them missing."""
    share = rng.choice([0.0, 0.0, missing, 0.9])
    return [None if rng.random() < share else rng.choice(cells) for _ in range(n)]


def _codes(rng: random.Random, n: int) -> pl.Series:
    return pl.Series(drawn(rng, n, list(range(rng.choice([1, 2, 5])))), dtype=rng.choice([pl.Int8, pl.Int64]))


def _whole(rng: random.Random, n: int) -> pl.Series:
    cells = [*range(-3, 90), int(DIGITS), 0, 99, 999]
    return pl.Series(drawn(rng, n, list(cells)), dtype=pl.Int64)


def _beyond(rng: random.Random, n: int) -> pl.Series:
    """Whole numbers around 2^53, 2^63 and beyond, as numbers where polars has them and as digits."""
    edges = [2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0, 1]
    if rng.random() < 0.3:
        return pl.Series(drawn(rng, n, [2**63, 2**64 - 1, 0, 2**53 + 1, int(DIGITS)]), dtype=pl.UInt64)
    if rng.random() < 0.3:
        return pl.Series(drawn(rng, n, [2**100, -(2**100), 2**63, 0, 7]), dtype=pl.Int128)
    if rng.random() < 0.4:
        return pl.Series(drawn(rng, n, [str(2**64), str(10**40), "7", f"{DIGITS}{DIGITS}{DIGITS}"]), dtype=pl.String)
    return pl.Series(drawn(rng, n, list(edges)), dtype=pl.Int64)


def _floats(rng: random.Random, n: int) -> pl.Series:
    plain = [round(rng.gauss(40, 12), 3) for _ in range(n + 1)]
    odd = [float("nan"), -0.0, 0.0, 1e308, -1e308, 1e-320, 5e-324, float(f"{DIGITS}.5"), 1e17]
    infinite = [float("inf"), float("-inf")] if rng.random() < 0.05 else []
    cells = plain if rng.random() < 0.5 else [*rng.sample(odd, 4), *plain[:5], *infinite]
    return pl.Series(drawn(rng, n, list(cells)), dtype=rng.choice([pl.Float64, pl.Float64, pl.Float32]))


def _decimals(rng: random.Random, n: int) -> pl.Series:
    cells = [Decimal(k) / 100 for k in range(-300, 900, 7)] + [Decimal(DIGITS) / 1000]
    return pl.Series(drawn(rng, n, list(cells)), dtype=pl.Decimal(20, 4))


def _odd_numerals(rng: random.Random, n: int) -> pl.Series:
    cells = (
        "1e400", "-1e400", "NaN", "nan", "inf", "-inf", "-0", "0x1F", "1_000", "1,5", "1.234,56", "1,234.56", "٣",
        "½", "1e-400", "+7", "0007", "1e5", "(12)", "12 %", "€ 7", "7 kg", ">65", "<5", "10-20", "[10,20)", "20+",
        "1/2", "Infinity", "1d3", ".5", "5.", "--1", "1 000", "1'000", f"{DIGITS}", f"{DIGITS}.25", "²", "1\u00a0000",
    )  # fmt: skip
    chosen = rng.sample(cells, rng.randint(1, 12))
    return pl.Series(drawn(rng, n, list(chosen)), dtype=pl.String)


def _words(rng: random.Random, n: int) -> pl.Series:
    cells = [f"{WORD}{k}" for k in range(rng.choice([1, 2, 4, 40]))]
    kind = rng.choice([pl.String, pl.String, pl.Categorical])
    return pl.Series(drawn(rng, n, list(cells)), dtype=kind)


def _texts(rng: random.Random, n: int) -> pl.Series:
    cells = (
        "", " ", "\t", "a\nb", "a\r\nb", '"', '""', "'", ",", ";", "\x00", "a\x00b", "\ufeff", "\x1b[31m", "=1+1",
        f"=HYPERLINK({WORD})", f"@{WORD}", f"+{WORD}", f"-{WORD}", "<script>", "\u202e", "🦄",
        "e\u0301", "é", "ß", "SS",
        "İ", "i̇", "名前", "x" * 5000, "NA", "null", "None", ".", "*", "^.*$", "(", "[", "\\", "%s",
        "{0}", "true", "yes",
        "m", "f", f"{WORD}@mail.org", "10-19", "20-29", "1990s", "Q1 1990", "other",
        f"{WORD} Meyer", "\ud7ff", "\uffff",
    )  # fmt: skip
    chosen = rng.sample(cells, rng.randint(1, 14))
    return pl.Series(drawn(rng, n, list(chosen)), dtype=pl.String)


def _enum(rng: random.Random, n: int) -> pl.Series:
    levels = [f"{WORD} low", "mid", "", "high"]
    return pl.Series(drawn(rng, n, [*levels]), dtype=pl.Enum(levels))


def _dates(rng: random.Random, n: int) -> pl.Series:
    edges = [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(2000, 2, 29), date(1582, 10, 10)]
    plain = [date(1935, 1, 1) + timedelta(rng.randrange(25000)) for _ in range(n + 1)]
    cells: list[object] = [*plain, *(edges if rng.random() < 0.5 else [])]
    return pl.Series(drawn(rng, n, cells), dtype=pl.Date)


def _times(rng: random.Random, n: int) -> pl.Series:
    zone = rng.choice([None, UTC, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/St_Johns")])
    unit = rng.choice(["ms", "us"])
    edges = [datetime(1, 1, 2, tzinfo=zone), datetime(9999, 12, 30, 23, 59, 59, tzinfo=zone)]
    plain = [datetime(1990, 1, 1, tzinfo=zone) + timedelta(minutes=rng.randrange(9_000_000)) for _ in range(n + 1)]
    cells: list[object] = [*plain, *(edges if rng.random() < 0.3 else [])]
    name = None if zone is None else str(zone)
    return pl.Series(drawn(rng, n, cells)).cast(pl.Datetime(unit, name))


def _clock(rng: random.Random, n: int) -> pl.Series:
    return pl.Series(drawn(rng, n, [time(0), time(23, 59, 59, 999999), time(12, 30)]), dtype=pl.Time)


def _durations(rng: random.Random, n: int) -> pl.Series:
    cells = [timedelta(0), timedelta(days=-1), timedelta(days=106_000), timedelta(microseconds=1)]
    return pl.Series(drawn(rng, n, [*cells]), dtype=pl.Duration(rng.choice(["us", "ms"])))


def _dates_as_text(rng: random.Random, n: int) -> pl.Series:
    cells = (
        "0001-01-01", "9999-12-31", "2020-02-30", "1990-05-17", "17.05.1990", "05/17/1990", "1990-05-17T10:00:00Z",
        "1990-05-17T10:00:00+05:45", "1990-05-17 10:00", "May 1990", "1990-Q2", "1990", "17 mai 1990", "19900517",
        "0000-00-00", "10000-01-01", "1990-W20", "33000", "1990-05", "1985-1990", "31/12/99", "01/02/03",
    )  # fmt: skip
    chosen = rng.sample(cells, rng.randint(1, 8))
    return pl.Series(drawn(rng, n, list(chosen)), dtype=pl.String)


def _logical(rng: random.Random, n: int) -> pl.Series:
    return pl.Series(drawn(rng, n, [True, False]), dtype=pl.Boolean)


def _nothing(rng: random.Random, n: int) -> pl.Series:
    return pl.Series([None] * n, dtype=rng.choice([pl.Null, pl.String, pl.Float64]))


def _own(rng: random.Random, n: int) -> pl.Series:
    """Another value for everybody."""
    ways: list[Callable[[int], object]] = [
        lambda k: f"{WORD}{k}",
        lambda k: k,
        lambda k: k + 0.25,
        lambda k: f"user{k}@mail.org",
        lambda k: f"{k:064x}",
        lambda k: 10**15 + k,
    ]
    way = rng.choice(ways)
    return pl.Series([way(k) for k in rng.sample(range(10 * n + 10), n)], strict=False)


def _nested(rng: random.Random, n: int) -> pl.Series:
    ways: list[Callable[[], pl.Series]] = [
        lambda: pl.Series([[1, 2]] * n, dtype=pl.List(pl.Int64)),
        lambda: pl.Series([{"a": WORD}] * n, dtype=pl.Struct({"a": pl.String})),
        lambda: pl.Series([WORD.encode()] * n, dtype=pl.Binary),
        lambda: pl.Series([[1.0, 2.0]] * n, dtype=pl.Array(pl.Float64, 2)),
        lambda: pl.Series([[]] * n, dtype=pl.List(pl.String)),
    ]
    return rng.choice(ways)()


COLUMNS: dict[str, Maker] = {
    "codes": _codes, "whole": _whole, "beyond": _beyond, "floats": _floats, "decimals": _decimals, "words": _words,
    "odd numerals": _odd_numerals, "texts": _texts, "enum": _enum, "dates": _dates, "times": _times, "clock": _clock,
    "durations": _durations, "dates as text": _dates_as_text, "logical": _logical, "nothing": _nothing, "own": _own,
}  # fmt: skip
REFUSED: dict[str, Maker] = {"nested": _nested}


def column(rng: random.Random, n: int, *, nested: float = 0.005) -> pl.Series:
    """One column of any kind."""
    if rng.random() < nested:
        return REFUSED["nested"](rng, n)
    return COLUMNS[rng.choice(list(COLUMNS))](rng, n)


def names(rng: random.Random, n: int) -> list[str]:
    """n different names, most of them bad ones."""
    bad = rng.sample(NAMES, min(n, len(NAMES)))
    plain = [f"c{k}" for k in range(n)]
    share = rng.choice([0.0, 0.5, 1.0])
    chosen = [bad[k] if k < len(bad) and rng.random() < share else plain[k] for k in range(n)]
    return list(dict.fromkeys([*chosen, *plain]))[:n]
