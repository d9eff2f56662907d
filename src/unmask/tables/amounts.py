"""Columns of numbers and intervals in any writing: the decimal mark, the unit, and what can be read in two ways.

`readings` tells how a column of texts can be read, the likeliest way first; `nearest_pair` chooses by the other file.
Work is done once for each different text, and numbers are read by polars: a hundred thousand amounts take a second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.tables.intervals import parse_interval
from unmask.tables.numerals import ABOUT, NO_CENTS, UNITS, frame_of, plain, tidy, written

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

OTHER = {".": ",", ",": "."}
NUMBERS = r"\d[\d.,]*\d|\d|[.,]\d+"
EITHER = r"^[1-9]\d{0,2}[.,]\d{3}$"  # 1.234: a thousand or a decimal
BODY = r"^([^\d]*?)(\d[\d.,' ]*\d|\d|[.,]\d+)([^\d]*)$"
BODIES = {
    decimal: rf"^(?:\d{{1,3}}(?:\{group}\d{{3}})+|\d{{1,2}}(?:\{group}\d\d)+\{group}\d{{3}}"
    rf"|\d{{1,3}}(?:[ ']\d{{3}})+|\d+)?(?:\{decimal}\d+)?$"
    for decimal, group in OTHER.items()
}
PLENTY = 45  # numbers with a mark: among as many thousands one would end in 0 (0.9^45 < 0.01)
PROBES = 300  # texts that are tried first
MOSTLY = 0.5  # share of them that must be readable
REGISTER = 7  # digits from which grouped numbers of one length are those of a register or a phone
FAR = 0.5  # one reading is nearer to the other file by more than this, in powers of ten


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the different texts of a column."""

    book: pl.DataFrame  # text; number, or interval as plain text; both null where it is neither
    unit: str
    words: str  # how it is written
    sure: bool = True  # whether the column by itself tells this from other readings

    @property
    def whole_numbers_only(self) -> bool:
        """Whether there is no interval."""
        return self.book["interval"].null_count() == self.book.height

    def scaled(self, factor: float, unit: str, words: str) -> Reading:
        """The same in another unit."""
        number = (pl.col("number") * factor).round_sig_figs(15)
        spans = [_times(text, factor) for text in self.book["interval"]]
        book = self.book.with_columns(number, pl.Series("interval", spans, dtype=pl.String))
        return replace(self, book=book, unit=unit, words=words)

    def apply(self, column: pl.Series) -> pl.Series:
        """The column as numbers, or as plain texts of intervals."""
        there = pl.DataFrame({"text": column.cast(pl.String)}).join(
            self.book, on="text", how="left", maintain_order="left"
        )
        if not self.whole_numbers_only:
            plainly = self.book["number"].map_elements(written, return_dtype=pl.String)
            texts = self.book.select("text", pl.coalesce("interval", plainly, "text").alias("plain"))
            return column.cast(pl.String).replace_strict(texts["text"], texts["plain"], default=None).alias(column.name)
        number = there["number"]
        present = number.drop_nulls()
        whole = bool(((present == present.round()) & (present.abs() < 2.0**53)).all())
        return (number.cast(pl.Int64) if whole else number).alias(column.name)

    def middles(self, column: pl.Series) -> Floats:
        """A number for each cell: itself, or the middle or finite end of its interval."""
        ends = [_middle(text) for text in self.book["interval"]]
        middle = self.book.select("text", pl.coalesce("number", pl.Series("m", ends, dtype=pl.Float64)).alias("m"))
        there = column.cast(pl.String).replace_strict(
            middle["text"], middle["m"], default=None, return_dtype=pl.Float64
        )
        return there.fill_null(np.nan).to_numpy().astype(np.float64)


def _ends(text: str | None) -> tuple[float, float] | None:
    return None if text is None else parse_interval(text)


def _middle(text: str | None) -> float | None:
    ends = [end for end in _ends(text) or () if np.isfinite(end)]
    return float(np.mean(ends)) if ends else None


def _times(text: str | None, factor: float) -> str | None:
    """An interval in another unit: every number of its text."""
    if text is None:
        return None
    number = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
    return number.sub(lambda match: written(float(f"{float(match[0]) * factor:.15g}")), text)


# --- one column ------------------------------------------------------------------------------------------------------


def readings(column: pl.Series, missing: frozenset[str]) -> list[Reading]:
    """Ways to read a column of texts as numbers or intervals, the likeliest first; none where that cannot be done.

    Plain digits stay what they are: they may be codes. ``missing``: texts that mean missing, in small letters.
    """
    raw = column.cast(pl.String).drop_nulls().unique().sort()
    table = pl.DataFrame({"text": raw, "tidy": _tidied(raw)}).filter(~pl.col("tidy").is_in(list(missing)))
    texts, rewritten = table["tidy"], bool(table["text"].str.contains(f"(?i){ABOUT}|{NO_CENTS}").any())
    if len(texts) and float(texts.str.contains(r"^\d").mean() or 0.0) >= MOSTLY:  # type: ignore[arg-type]
        short = texts.str.replace(r"^u ?(\d{1,3})$", "<$1").str.replace(r"^(?:ü|ue) ?(\d{1,3})$", ">$1")
        rewritten |= bool((short != texts).any())  # U30 beside 31; not where all are codes
        texts, table = short, table.with_columns(short.alias("tidy"))
    if not len(texts) or not _worth_reading(texts, rewritten=rewritten or len(texts) < len(raw)):
        return []
    numbers = texts.str.extract_all(NUMBERS).explode().drop_nulls()
    numbers = numbers.filter(~numbers.str.contains(r"^0[.,]000$"))  # zero either way
    marks = _decimal_marks(numbers)
    proportional = not bool(numbers.str.contains(r"^\d+$").any())  # then both readings differ by a factor only
    found = [_reading(table, decimal, sure=len(marks) == 1 or proportional) for decimal in marks]
    return [reading for reading in found if reading is not None]


def _tidied(texts: pl.Series) -> pl.Series:
    """`numerals.tidy`, by polars where no bracket asks for more."""
    plainly = texts.str.replace_all(r"[\u00a0\u202f\u2009\u2007\s]+", " ").str.to_lowercase().str.strip_chars(" ")
    plainly = plainly.str.replace_all("\u2212", "-").str.replace_all("[\u2019\u00b4]", "'")
    plainly = plainly.str.replace(ABOUT, "$1").str.replace_all(NO_CENTS, "$1$2")
    brackets = texts.str.contains(r"[\[\]]")
    return plainly.zip_with(~brackets, texts.map_elements(tidy, return_dtype=pl.String)) if brackets.any() else plainly


def _worth_reading(texts: pl.Series, *, rewritten: bool) -> bool:
    """Whether some texts are more than plain numbers or plain intervals, and most of a few can be read.

    ``rewritten``: there were words, for missing or "about", without which plain numbers would be no text.
    """
    if bool(texts.str.contains(r"^0\d+$").any()):
        return False
    if bool(texts.str.contains(r"^[+-]?\d+(?:\.\d+)?$").all()) and not bool(texts.str.contains(EITHER).any()):
        return rewritten or bool(texts.str.contains(".", literal=True).any())
    probe = texts.gather_every(max(1, len(texts) // PROBES))
    if all(parse_interval(text) is not None for text in probe) and not bool(texts.str.contains(r"[.,]\d{3}").any()):
        return rewritten or not all(parse_interval(text) is not None for text in texts)
    readable = sum(any(plain(text, decimal) is not None for decimal in OTHER) for text in probe)
    return readable >= MOSTLY * len(probe) and not _is_register(texts)


def _is_register(texts: pl.Series) -> bool:
    """Grouped digits that are all of one length: phone and register numbers are no amounts."""
    digits = texts.str.replace_all(r"\D", "").str.len_chars()
    grouped = texts.str.contains(r"^\d{1,3}(?: \d{3})+$").all()
    return bool(grouped and digits.n_unique() == 1 and (digits >= REGISTER).all() and len(texts) > 1)


def _decimal_marks(numbers: pl.Series) -> list[str]:
    """Decimal marks that all numbers of a column allow, the likeliest first; none where they contradict each other."""
    proofs = [
        mark
        for mark in OTHER
        if bool(
            (
                numbers.str.contains(rf"\{OTHER[mark]}.*\{mark}\d*$")  # 1,234.5
                | numbers.str.contains(rf"^[^{OTHER[mark]}]*\{OTHER[mark]}[^.,]*\{OTHER[mark]}")  # 1,234,567
                | (numbers.str.contains(rf"^\d*\{mark}\d+$") & ~numbers.str.contains(EITHER))  # 1234.5, 0.123
            ).any()
        )
    ]
    if proofs:
        return proofs if len(proofs) == 1 else []
    open_ = numbers.filter(numbers.str.contains(EITHER))
    if not len(open_):
        return ["."]
    mark = "." if "." in open_[0] else ","
    if open_.str.contains(rf"\{mark}").all():
        return _by_column(mark, open_, numbers.filter(~numbers.str.contains("[.,]")))
    return []


def _by_column(mark: str, tokens: pl.Series, bare: pl.Series) -> list[str]:
    """Three digits behind the mark, always: thousands or decimals, by the other numbers of the column.

    A number of four digits without a mark shows that thousands are not marked. Decimals are written in full ("1.250")
    or without ending zeros ("1.25"); written in full, no number would be without a mark.
    """
    if bool((bare.str.len_chars() > 3).any()):
        return [mark]
    if len(bare) and bool(tokens.str.ends_with("0").any()):
        return [OTHER[mark]]
    if len(bare) and tokens.n_unique() >= PLENTY:
        return [mark]
    return [".", ","]


def _reading(table: pl.DataFrame, decimal: str, *, sure: bool) -> Reading | None:
    """Read every text with one decimal mark."""
    book = _singles(table, decimal)
    rest = book.filter(pl.col("number").is_null())["text", "tidy"]
    spans = [plain(text, decimal) for text in rest["tidy"]]
    intervals = pl.DataFrame(
        {
            "text": rest["text"],
            "interval": pl.Series([None if span is None else span.text for span in spans], dtype=pl.String),
            "of": pl.Series([None if span is None else span.unit for span in spans], dtype=pl.String),
        }
    )
    book = book.join(intervals, on="text", how="left").with_columns(pl.coalesce("unit", "of").alias("unit"))
    book = _in_context(book.drop("of"))
    bad = book.filter(pl.col("number").is_null() & pl.col("interval").is_null())
    bands = book["interval"].null_count() < book.height
    if bad.height > (MOSTLY * book.height if bands else 0):  # words beside bands are suppressed cells, and are told
        return None
    return _one_unit(book, decimal, sure=sure)


def _singles(table: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Texts of one number, read by polars; what stands around it, once for each different surrounding."""
    parts = table.with_columns(
        pl.col("tidy").str.extract(BODY, 1).alias("before"),
        pl.col("tidy").str.extract(BODY, 2).alias("body"),
        pl.col("tidy").str.extract(BODY, 3).alias("after"),
    )
    around = parts.select("before", "after").drop_nulls().unique()
    frames = [frame_of(f"{before}1{after}") for before, after in around.iter_rows()]
    single = [frame is not None and frame.write == "{0}" for frame in frames]
    around = around.with_columns(
        pl.Series(
            "factor",
            [f.signs[0] * f.scales[0] if ok and f else None for f, ok in zip(frames, single, strict=True)],
            dtype=pl.Float64,
        ),
        pl.Series(
            "unit", [f.unit if ok and f else None for f, ok in zip(frames, single, strict=True)], dtype=pl.String
        ),
    )
    parts = parts.join(around, on=["before", "after"], how="left", maintain_order="left")
    body = pl.when(pl.col("body").str.contains(BODIES[decimal])).then(
        pl.col("body").str.replace_all(rf"[ '\{OTHER[decimal]}]", "")
    )
    value = body.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False) * pl.col("factor")
    return parts.select("text", "tidy", value.alias("number"), "unit")


def _in_context(book: pl.DataFrame) -> pl.DataFrame:
    """Beside bands, "65-" is open, and "over 65" begins at 65 where a band ends at 64."""
    spans = [_ends(text) for text in book["interval"]]
    if not any(span is not None and span[0] < span[1] for span in spans):
        alone = pl.Series([None if span is None else span[0] for span in spans], dtype=pl.Float64)
        return book.with_columns(
            pl.coalesce("number", alone).alias("number"), pl.lit(None, pl.String).alias("interval")
        )
    tops = {span[1] for span in spans if span is not None}
    tops |= {float(f"{top:.12g}") for top in tops if np.isfinite(top)}
    texts = list(book["interval"])
    for place, (tidied, text, number) in enumerate(book.select("tidy", "interval", "number").iter_rows()):
        if number is not None and number < 0 and tidied.endswith("-"):
            texts[place] = f">={written(-number)}"
        elif text is not None and text.startswith(">") and text[1] != "=" and not tidied.startswith(">"):
            start = float(text[1:])
            texts[place] = f">={text[1:]}" if start - 1 in tops else text
    changed = pl.Series("interval", texts, dtype=pl.String)
    return book.with_columns(changed, pl.when(changed.is_null()).then(pl.col("number")).alias("number"))


def _one_unit(book: pl.DataFrame, decimal: str, *, sure: bool) -> Reading | None:
    """All numbers in one unit; None where units cannot be made one."""
    units = [unit for unit in book["unit"].drop_nulls().unique().sort() if unit]
    main = ""
    if units:
        main = str(book.filter(pl.col("unit").is_in(units))["unit"].mode().sort()[0])
        measures = {UNITS[unit][0] if unit in UNITS else unit for unit in units}
        if len(measures) > 1:
            return None
    marked = bool(book["tidy"].str.contains(rf"\d[{OTHER[decimal]} ']\d{{3}}").any())
    words = _words(book, decimal, units, marked=marked)
    reading = Reading(book.select("text", "number", "interval"), main, words, sure=sure)
    others = [unit for unit in units if unit != main]
    for unit in others:
        part = replace(reading, book=reading.book.filter(book["unit"].fill_null("") == unit))
        part = part.scaled(UNITS[unit][1] / UNITS[main][1], main, words)
        reading = replace(reading, book=reading.book.update(part.book, on="text"))
    return _shares_without_sign(reading, book) if main == "%" else reading


def _shares_without_sign(reading: Reading, book: pl.DataFrame) -> Reading:
    """0.12 beside 12 % is 12 %, where all numbers without a sign are shares."""
    bare = book["unit"].fill_null("") == ""
    shares, signed = book.filter(bare)["number"].drop_nulls(), book.filter(~bare)["number"].drop_nulls()
    if not len(shares) or not bool((shares.abs() <= 1).all()) or not bool((signed.abs() > 1).any()):
        return reading
    part = replace(reading, book=reading.book.filter(bare)).scaled(100.0, "%", reading.words)
    return replace(reading, book=reading.book.update(part.book, on="text"))


def _words(book: pl.DataFrame, decimal: str, units: list[str], *, marked: bool) -> str:
    """How the column is written, without a value."""
    said = ["intervals" if book["interval"].null_count() < book.height else "numbers"]
    if units:
        said.append(f"in {' and '.join(units)}")
    if marked:
        said.append("with marked thousands")
    if bool(book["tidy"].str.contains(rf"\{decimal}\d").any()) and decimal == ",":
        said.append("with a decimal comma")
    if bool(book["tidy"].str.contains(r"^\(.*\)$|\d-$").any()) and said[0] == "numbers":
        said.append("with negative ones in parentheses or a minus behind")
    return " ".join(said)


# --- two files -------------------------------------------------------------------------------------------------------


def nearest_pair(left: Sequence[Floats], right: Sequence[Floats], pairs: Pairs) -> tuple[int, int, bool]:
    """Which two readings lie nearest to each other, and whether that is clear; of equal ones the first.

    Compared are the sizes of paired values in powers of ten, or of all values where there are no pairs.
    """
    told = _differ(left)[pairs[0]] | _differ(right)[pairs[1]]  # cells that all readings agree on tell nothing
    pairs = (pairs[0][told], pairs[1][told]) if told.any() else pairs
    gaps = {(i, j): _gap(a, b, pairs) for i, a in enumerate(left) for j, b in enumerate(right)}
    best = min(gaps, key=lambda place: (round(gaps[place], 6), place))
    others = [gap for place, gap in gaps.items() if place != best]
    return *best, bool(not others or min(others) > gaps[best] + FAR)


def _differ(readings: Sequence[Floats]) -> NDArray[np.bool_]:
    """Cells that are not the same in all readings."""
    return np.asarray(np.any([each != readings[0] for each in readings], axis=0) & ~np.isnan(readings[0]))


def _gap(a: Floats, b: Floats, pairs: Pairs) -> float:
    """Median difference of two columns in powers of ten."""
    if len(pairs[0]):
        a, b = a[pairs[0]], b[pairs[1]]
        used = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
        if used.any():
            return float(np.median(np.abs(np.log10(np.abs(a[used])) - np.log10(np.abs(b[used])))))
    sizes = [np.abs(x[np.isfinite(x) & (x != 0)]) for x in (a, b)]
    if not all(size.size for size in sizes):
        return 0.0
    return abs(float(np.median(np.log10(sizes[0])) - np.median(np.log10(sizes[1]))))
