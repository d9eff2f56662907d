"""Both files in plain writing, before anything is compared: numbers as numbers, days as days, the same words.

Each column is read as a whole, with the other file beside it where it can be read in two ways. What was understood is
kept in words for `unmask check`; what is assumed is told as a warning. A column stays as it is where one file cannot be
read so: the attack that learns how a release was made may still find what it is.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.tables.amounts import Reading, nearest_pair, readings
from unmask.tables.days import Days, day_readings, nearer_days
from unmask.tables.digits import as_numbers
from unmask.tables.equal import loses
from unmask.tables.gaps import MISSING_WORDS, missing_codes
from unmask.tables.intervals import parse_interval
from unmask.tables.numerals import UNITS
from unmask.tables.periods import read_periods
from unmask.tables.roles import check_columns
from unmask.tables.words import same_words, without_words_around

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

TEXTS = (pl.String, pl.Categorical)
FEWEST_TICKED = 5  # people for each answer, on average, from whom it shows that an empty cell is one
EMPTY = "(empty)"
NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Written:
    """How a column was written in the two files ("": plainly), and how it was read, in words."""

    original: str = ""
    released: str = ""
    rules: tuple[str, ...] = ()


@dataclass(slots=True)
class Understood:
    """Tables in plain writing; how columns were written; what is assumed, as warnings."""

    tables: dict[str, pl.DataFrame]
    written: dict[str, Written] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    codes: dict[str, list[float]] = field(default_factory=dict)  # numbers that stand for missing

    def put(self, table: str, column: pl.Series, words: str = "") -> None:
        """Exchange a column, and say how it was written."""
        self.tables[table] = self.tables[table].with_columns(column)
        if words:
            before = self.written.get(column.name, Written())
            changed = replace(before, original=words) if table == "original" else replace(before, released=words)
            self.written[column.name] = changed

    def rule(self, name: str, words: str, *, warn: bool = False) -> None:
        """Say how one gets from one writing to the other; with ``warn``, at the head of the report too."""
        before = self.written.get(name, Written())
        self.written[name] = replace(before, rules=(*before.rules, words))
        if warn:
            self.warnings.append(f"column {name!r}: {words}")


def understand(
    tables: Mapping[str, pl.DataFrame | None],
    truth: NDArray[np.int64],
    aside: Container[str | None],
    missing: Iterable[str] | None,
) -> Understood:
    """Read every column of the original, the release, and tables of other people.

    ``truth``: row of the release for each row of the original, -1 for none; ``aside``: columns that stay as they are;
    ``missing``: codes as the user named them, "age=99" for a column.
    """
    found = Understood({name: table for name, table in tables.items() if table is not None})
    original, released = found.tables["original"], found.tables["released"]
    told = {entry.partition("=")[0] for entry in missing or () if "=" in entry}
    check_columns(
        sorted(told), [name for table in found.tables.values() for name in table.columns], "missing", "the tables"
    )
    paired = np.flatnonzero(truth >= 0)
    pairs = paired, truth[paired]
    for name in original.columns:
        if name in aside:
            continue
        if name in released.columns:
            _unless_lost(found, name, pairs)
            if name not in told:
                _codes(found, name, pairs)
        else:
            _alone(found, name)
        for table in ("control", "population"):
            if table in found.tables and name in found.tables[table].columns:
                _follow(found, name, table)
    return found


def _unless_lost(found: Understood, name: str, pairs: Pairs) -> None:
    """Read a column that both files have, unless what is equal as it is written then differs."""
    tables, warnings = dict(found.tables), list(found.warnings)
    _shared(found, name, pairs)
    before, after = ((one["original"][name], one["released"][name]) for one in (tables, found.tables))
    if loses(before, after, pairs):
        found.tables, found.warnings = tables, warnings
        found.written.pop(name, None)
        found.rule(name, "compared as it is written: the same values would no longer be the same if they were read")


def _shared(found: Understood, name: str, pairs: Pairs) -> None:
    """A column that both files have: dates, numbers, or the same words."""
    original, released = found.tables["original"][name], found.tables["released"][name]
    if original.dtype.is_temporal() and released.dtype.is_temporal():
        return
    if original.dtype.is_float() and released.dtype.is_numeric():
        return
    if _dates(found, original, released, pairs) or _numbers(found, original, released, pairs):
        return
    if _digits(found, original, released, pairs):
        return
    same = same_words(original, released)
    if same is not None:
        found.put("original", same.original)
        found.put("released", same.released)
        found.rule(name, same.words)
    elif not _in_periods(original, released, pairs) and _bare(found, original, released):
        _shared(found, name, pairs)
        return
    _suppressed(found, name)
    _ticked(found, name, pairs)


def _in_periods(original: pl.Series, released: pl.Series, pairs: Pairs) -> bool:
    return original.dtype in (pl.Date, pl.Datetime) and read_periods(original, released, pairs) is not None


def _bare(found: Understood, original: pl.Series, released: pl.Series) -> bool:
    """Take away words that stand around every value of one file and not of the other; whether there were any."""
    for table, own, other in (("original", original, released), ("released", released, original)):
        if own.dtype not in TEXTS or _readings(own):
            continue  # words that are units or marks stay beside their numbers
        bare = without_words_around(own, other)
        if bare is not None:
            found.put(table, bare[0], "the same words around every value")
            if bare[1] is not None:
                found.put("released" if table == "original" else "original", bare[1])
            return True
    return False


# --- dates -----------------------------------------------------------------------------------------------------------


def _dates(found: Understood, original: pl.Series, released: pl.Series, pairs: Pairs) -> bool:
    """Read dates that are written as text or digits; whether there were any."""
    known, published = _days(original), _days(released)
    if not known or (original.dtype.is_temporal() and not published):
        return bool(known) and _bands_of_ages(found, original, released, pairs)
    if published:
        left, right, clear = nearer_days([each.column for each in known], [each.column for each in published], pairs)
    elif released.dtype in TEXTS or released.dtype.is_numeric():
        held = [_held(each.column, released, pairs) for each in known]
        if max(held) < 0:
            return False
        left, right, clear = held.index(max(held)), -1, held.count(max(held)) == 1
    else:
        return False
    _say_dates(found, original.name, known[left], "original")
    if right >= 0:
        _say_dates(found, original.name, published[right], "released")
        if known[left].words != published[right].words:
            found.rule(original.name, "both files are read as days")
    if not clear and not (known[left].sure and (right < 0 or published[right].sure)):
        order = (known[left].words or published[right].words).rpartition(", ")[2]
        found.rule(original.name, f"day and month cannot be told apart; {order} is assumed", warn=True)
    return True


def _bands_of_ages(found: Understood, original: pl.Series, released: pl.Series, pairs: Pairs) -> bool:
    """Bands of ages in words beside birth dates: written plainly, where they hold people who could not be read else."""
    if released.dtype not in TEXTS or read_periods(original, released, pairs) is not None:
        return False
    for reading in _readings(released):
        plain = reading.apply(released)
        if read_periods(original, plain, pairs) is not None:
            found.put("released", plain, reading.words)
            return True
    return False


def _held(column: pl.Series, released: pl.Series, pairs: Pairs) -> float:
    """Share of paired people whose day is in the period, or age, that was published; -1 where there is none."""
    found = read_periods(column, released, pairs)
    if found is None:
        return -1.0
    known, low, high = found.known[pairs[0]], found.low[pairs[1]], found.high[pairs[1]]
    return float(np.mean((known >= low) & (known <= high))) if known.size else 0.0


def _days(column: pl.Series) -> list[Days]:
    """Readings as days: the column itself where it holds days already."""
    if column.dtype in (pl.Date, pl.Datetime):
        return [Days(column, "", sure=True)]
    readable = column.dtype in TEXTS or column.dtype.is_integer()
    return day_readings(column, MISSING_WORDS) if readable else []


def _say_dates(found: Understood, name: str, reading: Days, table: str) -> None:
    if reading.words:
        found.put(table, reading.column.alias(name), reading.words)


# --- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(found: Understood, original: pl.Series, released: pl.Series, pairs: Pairs) -> bool:
    """Read numbers and intervals with marks, units and words; whether there were any."""
    known, published = _readings(original), _readings(released)
    if not (known or published):
        return False
    known, published = known or _as_they_are(original), published or _as_they_are(released)
    if not known or not published:
        return False  # one file holds something else: the channel sees both as they are
    known, published = _same_units(known, published)
    middles = [each.middles(original) for each in known], [each.middles(released) for each in published]
    left, right, clear = nearest_pair(*middles, pairs)
    chosen = known[left], published[right]
    for reading, table, column in zip(chosen, ("original", "released"), (original, released), strict=True):
        if reading.words:
            found.put(table, reading.apply(column), reading.words)
        elif column.dtype in TEXTS:
            found.put(table, reading.apply(column))
    _say_numbers(found, original.name, chosen, clear=clear)
    return True


def _digits(found: Understood, original: pl.Series, released: pl.Series, pairs: Pairs) -> bool:
    """Read digits that a frame holds as text, as a text file has them: numbers, unless they are codes."""
    if original.dtype not in TEXTS and released.dtype not in TEXTS:
        return False
    plain = as_numbers(original, released, pairs)
    for table, column in zip(("original", "released"), plain or (), strict=False):
        found.put(table, column)
    if plain is not None:
        found.rule(original.name, "digits as text, read as numbers as in a text file (else say so in kinds)")
    return plain is not None


def _readings(column: pl.Series) -> list[Reading]:
    return readings(column, MISSING_WORDS) if column.dtype in TEXTS else []


def _as_they_are(column: pl.Series) -> list[Reading]:
    """Plain numbers or intervals: one reading without words."""
    texts = column.cast(pl.String).drop_nulls().unique()
    if not column.dtype.is_numeric() and (
        column.dtype not in TEXTS or bool(texts.str.contains(r"^0\d").any()) or column.dtype == pl.Boolean
    ):
        return []
    number = texts.cast(pl.Float64, strict=False)
    book = pl.DataFrame({"text": texts, "number": number, "interval": pl.Series([None] * len(texts), dtype=pl.String)})
    if number.null_count():
        read = zip(texts, number, strict=True)
        spans = [text if value is None and parse_interval(text) is not None else None for text, value in read]
        book = book.with_columns(pl.Series("interval", spans, dtype=pl.String))
        if book.filter(pl.col("number").is_null() & pl.col("interval").is_null()).height:
            return []
    return [Reading(book, "", "")]


def _same_units(known: list[Reading], published: list[Reading]) -> tuple[list[Reading], list[Reading]]:
    """The release in the unit of the original; a percent sign on one side only may mean 12 or 0.12."""
    left, right = known[0].unit, published[0].unit
    if left != right and left in UNITS and right in UNITS and UNITS[left][0] == UNITS[right][0]:
        factor = UNITS[right][1] / UNITS[left][1]
        return known, [each.scaled(factor, left, each.words) for each in published]
    if left and not right:
        known = [*known, *_other_units(known)]
    if right and not left:
        published = [*published, *_other_units(published)]
    return known, published


def _other_units(readings: list[Reading]) -> list[Reading]:
    """The same in units that differ by powers of ten, for a file that names none: 72 may be 72 kg or 72,000 g."""
    unit = readings[0].unit
    if unit in {"%", "‰"}:
        return [each.scaled(0.01 * UNITS[unit][1], "", each.words) for each in readings]
    factors = [UNITS[unit][1] / size for measure, size in UNITS.values() if unit in UNITS and measure == UNITS[unit][0]]
    tens = [factor for factor in factors if factor != 1.0 and abs(np.log10(factor) - round(np.log10(factor))) < 1e-9]
    return [each.scaled(factor, "", each.words) for each in readings for factor in tens]


def _say_numbers(found: Understood, name: str, chosen: tuple[Reading, Reading], *, clear: bool) -> None:
    if not clear and not all(reading.sure for reading in chosen):
        how = next(reading.words for reading in chosen if not reading.sure)
        told = "as thousands" if "thousands" in how else "as decimals"
        found.rule(name, f"marks before three digits may be thousands or decimals; they are read {told}", warn=True)
    units = [reading.unit for reading in chosen]
    if all(units) and units[0] != units[1]:
        found.rule(name, f"{units[0]} in the original, {units[1]} in the release: compared as plain numbers", warn=True)
    elif chosen[0].words != chosen[1].words:
        found.rule(name, "both files are read as plain numbers")


# --- missing ---------------------------------------------------------------------------------------------------------


def _suppressed(found: Understood, name: str) -> None:
    """A word for missing that one file has, and the other file empty cells in its place."""
    columns = {table: found.tables[table][name] for table in ("original", "released")}
    if not all(column.dtype in TEXTS for column in columns.values()):
        return
    words = {
        table: {text for text in column.cast(pl.String).drop_nulls().unique() if text.strip().lower() in MISSING_WORDS}
        for table, column in columns.items()
    }
    for table, other in (("original", "released"), ("released", "original")):
        only = words[table] - words[other]
        if only and columns[other].null_count() and not columns[table].null_count():
            found.put(table, columns[table].cast(pl.String).replace(dict.fromkeys(only)))
            found.rule(
                name, f"a word for missing in the {table if table == 'original' else 'release'} is an empty cell"
            )


def _ticked(found: Understood, name: str, pairs: Pairs) -> None:
    """One word and empty cells in the release, where the original has an answer: an empty cell is the other answer."""
    original, released = (found.tables[table][name] for table in ("original", "released"))
    if released.dtype not in TEXTS or released.n_unique() != 2 or not released.null_count() or original.null_count():
        return
    known, ticked = original.cast(pl.String)[pairs[0]], released.is_not_null()[pairs[1]]
    yes, no = set(known.filter(ticked)), set(known.filter(~ticked))
    if yes and no and not yes & no and known.len() >= FEWEST_TICKED * len(yes | no):
        found.put("released", released.cast(pl.String).fill_null(EMPTY))
        found.rule(name, "an empty cell is an answer: nobody of those who have one is without the word")


def _codes(found: Understood, name: str, pairs: Pairs) -> None:
    """Empty numbers that stand for missing by their shape, and say so."""
    columns = [found.tables[table][name] for table in ("original", "released")]
    if not all(column.dtype.is_numeric() for column in columns):
        return
    codes = missing_codes(columns[0], columns[1], pairs)
    if not codes:
        return
    for table, column in zip(("original", "released"), columns, strict=True):
        found.put(table, _without(column, codes))
    found.codes[name] = codes
    which = "nines beyond all other numbers are" if codes[-1] > 0 else "negative codes among other numbers are"
    named = f"if they are not, say --missing {name}= (or name the codes: --missing {name}=CODE)"
    found.rule(name, f"{which} taken for missing, since many cells have them; {named}", warn=True)


def _without(column: pl.Series, codes: list[float]) -> pl.Series:
    return column.set(column.cast(pl.Float64).is_in(codes).fill_null(value=False), None)


# --- one file --------------------------------------------------------------------------------------------------------


def _alone(found: Understood, name: str) -> None:
    """A column that only the original has: read where there is one way."""
    column = found.tables["original"][name]
    days = _days(column) if column.dtype in TEXTS else []
    numbers = [] if days else _readings(column)
    if len(days) == 1:
        _say_dates(found, name, days[0], "original")
    elif len(numbers) == 1:
        found.put("original", numbers[0].apply(column), numbers[0].words)


def _follow(found: Understood, name: str, table: str) -> None:
    """A table of other people, written like the original before it was understood."""
    column, model = found.tables[table][name], found.tables["original"][name]
    if column.dtype.is_numeric() and name in found.codes:
        found.put(table, _without(column, found.codes[name]))
    if column.dtype not in TEXTS and not column.dtype.is_integer():
        return
    if model.dtype in (pl.Date, pl.Datetime):
        days = _days(column)
        if days:
            at, _, _ = nearer_days([each.column for each in days], [model], (NOBODY, NOBODY))
            found.put(table, days[at].column.alias(name))
        return
    if column.dtype in TEXTS and (model.dtype.is_numeric() or name in found.written):
        ways = _readings(column) or _as_they_are(column)
        ours = _as_they_are(model)
        if ways and ours:
            at, _, _ = nearest_pair([w.middles(column) for w in ways], [ours[0].middles(model)], (NOBODY, NOBODY))
            found.put(table, ways[at].apply(column))
        return
    same = same_words(model, column)
    if same is not None:
        found.put(table, same.released)
