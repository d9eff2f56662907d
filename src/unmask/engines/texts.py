"""What the cells of text files are: whole numbers, numbers, days, true and false, or text. One decision for all tables.

A text file has no types. If each file were read by itself, a column could be numbers in one and text in the other for
the sake of a single word, or 01/02/2020 a day of January here and of February there. So the cells of every table are
counted by what they can be, and a column is read in the way that fits all of them; else it is text in all. A leading
zero makes a code, as in memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from unmask.engines.dialect import Dialect
from unmask.engines.sources import MARKS, Source
from unmask.errors import TableError

WHOLE = " *[+-]?(?:0|[1-9][0-9]{0,17}) *"
WIDE = " *[+-]?[1-9][0-9]{0,36} *"
NUMBER = " *[+-]?(?:(?:[0-9]+[.][0-9]*|[.][0-9]+|0|[1-9][0-9]{0,36})(?:[eE][+-]?[0-9]+)?|[iI]nf(?:inity)?) *"
SHORT = "([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]"  # before a year
CLOCK = "(?:[ T]([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?) ?(?:[zZ]|[+-]00:?00)?)? *"
CENTURIES = {"20": "([0-2][0-9]|30)", "19": "(3[1-9]|[4-9][0-9])"}  # of years in two digits: as memory has it
DAYS = {  # how a day is written, and which of its parts are year, month and day
    "year first": ("([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})" + CLOCK, "{1}-{2}-{3} {4}"),
    "day first": (SHORT + "([0-9]{4})" + CLOCK, "{3}-{2}-{1} {4}"),
    "month first": (SHORT.replace(".", "") + "([0-9]{4})" + CLOCK, "{3}-{1}-{2} {4}"),
}
NUMBERS = ("whole", "wide", "number")
TYPED = {"whole": NUMBERS, "wide": NUMBERS, "number": NUMBERS, "yes": ("yes",), "day": ("days",), "time": ("days",)}


FOUND = ("whole", "wide", "number", "yes", "year first", "either order", "day first", "month first", "other", "timed")
FITTING = {
    "whole": {"whole"},
    "wide": {"whole", "wide"},
    "number": {"whole", "wide", "number"},
    "yes": {"yes"},
}
ORDERS = {
    "year first": {"year first"},
    "day first": {"either order", "day first"},
    "month first": {"either order", "month first"},
}
AT_ONCE = 10  # columns of a query: each takes memory


class Cells(NamedTuple):
    """What the cells of a column are: some of `FOUND`, nothing where all are missing; ``timed``: some have a time."""

    there: frozenset[str] = frozenset()
    timed: bool = False

    @classmethod
    def of(cls, bits: int) -> Cells:
        """By the places in `FOUND`."""
        found = {kind for place, kind in enumerate(FOUND) if bits >> place & 1}
        return cls(frozenset(found - {"timed"}), "timed" in found)

    @property
    def orders(self) -> list[str]:
        """In which orders all cells are days; all of them where there is no cell."""
        return [order for order, kinds in ORDERS.items() if self.there <= kinds]

    @property
    def kinds(self) -> set[str]:
        """What all cells can be read as."""
        return {kind for kind, kinds in FITTING.items() if self.there <= kinds} | ({"days"} if self.orders else set())


@dataclass(slots=True)
class Texts:
    """Tables of which some are text files, and how their columns are read; what is assumed, as warnings."""

    duck: Any  # an engine
    sources: tuple[Source, ...]
    cells: list[dict[str, Cells]] = field(default_factory=list)  # of each table; of none that has types
    warnings: dict[str, str] = field(default_factory=dict)  # by the column

    @property
    def dialect(self) -> Dialect:
        """How the engine writes SQL."""
        found: Dialect = self.duck.dialect
        return found

    def of(self, name: str) -> dict[int, Cells]:
        """The cells of a column in the tables that are texts, by the place of the table."""
        return {at: cells[name] for at, cells in enumerate(self.cells) if name in cells}

    def read(self, name: str) -> dict[int, str]:
        """How one column is read in each table that is text, as SQL."""
        cells = self.of(name)
        others = enumerate(self.sources)
        typed = {at: _known(source, name) for at, source in others if name in source.types and at not in cells}
        kind = _kind(cells.values(), typed.values())
        if kind == "days":
            return self._days(name, cells, typed)
        if kind == "text" and "text" not in typed.values():
            self._tell_text(name, cells)
        if kind == "text":
            return {}  # as it stands
        return {at: _as(kind, self._cell(name), self.dialect) for at in cells}

    def _tell_text(self, name: str, cells: Mapping[int, Cells]) -> None:
        """Some tables hold numbers or days alone, and lose their order since another does not."""
        plain = [self.sources[at].where for at, one in cells.items() if one.kinds and one.there]
        if plain and len(plain) < len(cells):
            words = "holds numbers or dates alone, another table does not: compared as text"
            self.warnings[name] = f"column {name!r}: {' and '.join(plain)} {words}"

    def _days(self, name: str, cells: Mapping[int, Cells], typed: Mapping[int, str]) -> dict[int, str]:
        """Each table in its own order; where that cannot be told, in that of the other."""
        sure = {one.orders[0] for one in cells.values() if one.there and len(one.orders) == 1} - {"year first"}
        found = {}
        for at, one in cells.items():
            order = one.orders[0] if len(one.orders) == 1 else min(sure) if len(sure) == 1 else ""
            form = "TIMESTAMP" if one.timed else "DATE"
            found[at] = self._day(name, order or self._nearer(name, at, [*cells, *typed]), form)
        return found

    def _nearer(self, name: str, at: int, others: Sequence[int]) -> str:
        """Day or month first: by which more of the days stand in a table that has one order; else day first, told."""
        orders = ("day first", "month first")
        shared = [self._shared(name, at, order, others) for order in orders]
        if shared[0] == shared[1] and self.of(name)[at].there:
            self.warnings[name] = f"column {name!r}: day and month cannot be told apart; day first is assumed"
        return orders[shared[1] > shared[0]]

    def _shared(self, name: str, at: int, order: str, others: Iterable[int]) -> int:
        """How many days of a table, in some order, stand in the tables whose days are certain."""
        number = 0
        for other in others:
            cells = self.of(name).get(other)
            if other == at or (cells is not None and cells.orders != ["year first"]):
                continue
            written = self.dialect.name(name)
            days = f"CAST({written} AS DATE)" if cells is None else self._day(name, "year first", "DATE")
            known = f"SELECT {days} FROM {self.sources[other].query} WHERE {written} IS NOT NULL"
            mine = self._day(name, order, "DATE")
            number += self.duck.row(f"SELECT count(*) FROM {self.sources[at].query} WHERE {mine} IN ({known})")[0]
        return number

    def _cell(self, name: str) -> str:
        written = self.dialect.name(name)
        return f"CASE WHEN {written} IN ({MARKS}) THEN NULL ELSE {written} END"

    def _day(self, name: str, order: str, form: str) -> str:
        return _day(self._cell(name), order, form, self.dialect)


def _known(source: Source, name: str) -> str:
    """The kind of a column that has a type; text for what cannot be compared, which is told where it is a key."""
    try:
        return source.kind(name)
    except TableError:
        return "text"


def _kind(cells: Iterable[Cells], typed: Iterable[str]) -> str:
    """What a column is in all tables: numbers of the widest form, days, true and false; else text."""
    allowed = [set(TYPED.get(one, ())) for one in typed]
    full = [one for one in cells if one.there]
    if not full and not allowed:
        return "text"
    fitting = set.intersection(*(one.kinds for one in full), *allowed) if full or allowed else set()
    return next((kind for kind in (*NUMBERS, "yes", "days") if kind in fitting), "text")


def _as(kind: str, cell: str, dialect: Dialect) -> str:
    """A cell as it is read."""
    kinds = {"whole": "BIGINT", "wide": dialect.wide_text, "number": "DOUBLE"}
    if kind == "yes":
        return f"lower({cell}) = 'true'"
    return f"CAST(trim({cell}) AS {kinds[kind]})"


def _day(cell: str, order: str, form: str, dialect: Dialect) -> str:
    """A cell as a day or a time, missing where it is none."""
    pattern, template = DAYS[order]
    for century, years in CENTURIES.items():
        cell = dialect.rewritten(cell, f"({_BARE}){years}{CLOCK}", f"{{1}}{century}{{2}} {{3}}")
    return (
        f"TRY_CAST(trim({dialect.rewritten(cell, pattern, template)}) AS {dialect.clock if form != 'DATE' else form})"
    )


# --- what cells are ---------------------------------------------------------------------------------------------------


def cells_of(duck: Any, source: Source, names: Sequence[str]) -> dict[str, Cells]:  # noqa: ANN401 - an engine
    """What the cells of some columns are."""
    found = {}
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        bits = ", ".join(f"bit_or({_bits(duck.dialect.name(name), duck.dialect)})" for name in some)
        row = duck.row(f"SELECT {bits} FROM {source.query}")
        found.update({name: Cells.of(int(one or 0)) for name, one in zip(some, row, strict=True)})
    return found


def _bits(written: str, dialect: Dialect) -> str:
    """What a cell is, as bits by the places in `FOUND`; missing where it is."""
    day, month = (_fits_day(written, order, dialect) for order in ("day first", "month first"))
    tests = {
        f"{written} IS NULL OR {written} IN ({MARKS})": "",
        dialect.fits(written, WHOLE): "whole",
        dialect.fits(written, WIDE): "wide",
        dialect.fits(written, NUMBER): "number",
        f"lower({written}) IN ('true', 'false')": "yes",
        _fits_day(written, "year first", dialect): "year first",
        f"NOT ({dialect.fits(written, _SHORT_DAY)})": "other",
        f"({day}) AND ({month})": "either order",
        day: "day first",
        month: "month first",
    }
    timed = 1 << FOUND.index("timed")
    cases = [f"WHEN {test} THEN {1 << FOUND.index(kind) if kind else 'NULL'}" for test, kind in tests.items()]
    what = f"CASE {' '.join(cases)} ELSE {1 << FOUND.index('other')} END"
    return f"{what} | CASE WHEN {written} LIKE '%:%' THEN {timed} ELSE 0 END"


_BARE = SHORT.replace("(", "").replace(")", "")
_SHORT_DAY = SHORT + "(?:[0-9]{4}|[0-9]{2})" + CLOCK


def _fits_day(written: str, order: str, dialect: Dialect) -> str:
    """Whether a cell is a day in some order, that a calendar has."""
    first = f"{dialect.fits(written, DAYS[order][0])} AND " if order == "year first" else ""
    return f"{first}{_day(written, order, 'TIMESTAMP', dialect)} IS NOT NULL"


# --- all tables -------------------------------------------------------------------------------------------------------


def read_alike(duck: Any, sources: tuple[Source, ...], needed: Container[str]) -> tuple[Source, ...]:  # noqa: ANN401
    """Give the columns of text files that are ``needed``, and that several tables have, types that fit all tables."""
    if not any(source.raw for source in sources):
        return sources
    every = [name for source in sources for name in source.types]
    shared = [[name for name in source.types if every.count(name) > 1 and name in needed] for source in sources]
    cells = []
    for source, names in zip(sources, shared, strict=True):
        with source.named():
            cells.append(cells_of(duck, source, names) if source.raw else {})
    texts = Texts(duck, sources, cells)
    ways = {name: texts.read(name) for name in dict.fromkeys(name for one in cells for name in one)}
    return tuple(
        _typed(duck, source, {name: way[at] for name, way in ways.items() if at in way}, texts.warnings)
        if source.raw
        else source
        for at, source in enumerate(sources)
    )


def _typed(duck: Any, source: Source, ways: Mapping[str, str], warnings: Mapping[str, str]) -> Source:  # noqa: ANN401
    """A table of texts with types."""
    name = duck.dialect.name
    columns = [f"{ways.get(column, name(column))} AS {name(column)}" for column in source.types]
    query = f"(SELECT {', '.join(columns)} FROM {source.query}) AS typed"
    return replace(source, query=query, types=duck.described(f"SELECT * FROM {query}"), warnings=warnings)
