"""Hierarchies of values: which group each value is in, and which larger group that is in.

As ARX writes them, a row for each value: the value, its group, the group of that, and so on, from fine to coarse, with
a semicolon between and without a header (a header is recognised, and other separators are). Or as a tree in TOML, from
coarse to fine: ``north = ["Berg", "Moor"]``. A value is in one group of each level, and a group too: then what contains
what is never in doubt.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Rows
from unmask.errors import ParameterError, TableError
from unmask.shown import Shown
from unmask.tables.encode import as_text
from unmask.tables.formats import unreadable
from unmask.tables.intervals import has_intervals
from unmask.tables.periods import read_periods

TOP = "*"
SEPARATORS = ";\t,|"
TEXTS = {".csv", ".txt", ".tsv"}
HINT = "a row for each value: value;group;larger group;*  or a tree in TOML: north = ['Berg', 'Moor']"
Row = tuple[str, ...]


class Spread(NamedTuple):
    """Values as places in the order of the tree, in which every group is an unbroken run: its first and last place."""

    known: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class ValueHierarchy(Shown):
    """For each value itself and its groups, from fine to coarse; all values have as many."""

    rows: dict[str, Row] = field(repr=False)
    path: str | None = None

    @property
    def levels(self) -> int:
        """How many levels there are above the values."""
        return len(next(iter(self.rows.values()))) - 1

    def at(self, level: int) -> dict[str, str]:
        """The group of every value at a level; level 0 is the value itself."""
        if not 0 <= level <= self.levels:
            raise ParameterError("the hierarchy has no such level", got=str(level), allowed=f"1 to {self.levels}")
        return {value: row[level] for value, row in self.rows.items()}

    def contains(self, group: str, value: str) -> bool:
        """Whether a group contains a value (or a smaller group); everything contains itself."""
        if group == value:
            return True
        for row in self.rows.values():
            if value in row:
                return group in row[row.index(value) :]
        return False

    def write(self, column: pl.Series, level: int) -> pl.Series:
        """A column at a level; values that the hierarchy does not have are refused, without naming them."""
        words, text = self.at(level), as_text(column)
        _refuse_absent(column, sum(value not in words for value in text.drop_nulls().unique()))
        return text.replace(words)

    def raised(self, column: pl.Series, level: int) -> pl.Series:
        """A column in which every value or smaller group is its group of this level; larger groups stay."""
        self.at(level)
        book = {word: row[level] for row in self.rows.values() for word in row[: level + 1]}
        text, whole = as_text(column), {word for row in self.rows.values() for word in row}
        _refuse_absent(column, sum(word not in whole for word in text.drop_nulls().unique()))
        return text.replace(book)

    def covers(self, column: pl.Series) -> bool:
        """Whether it has every word of a column, as a value or as a group."""
        return set(as_text(column).drop_nulls().unique()) <= {word for row in self.rows.values() for word in row}

    def labels_in(self, released: pl.Series) -> set[str]:
        """The released words that are groups and no values: none where the release is not coarser."""
        groups = {group for row in self.rows.values() for group in row[1:]} - set(self.rows)
        return set(as_text(released).drop_nulls().unique()) & groups

    def as_released(self, original: pl.Series, released: pl.Series) -> pl.Series:
        """Values as the release writes them: the finest group of each that it has; those without one stay."""
        there = set(as_text(released).drop_nulls().unique())
        book = {value: next((group for group in row if group in there), value) for value, row in self.rows.items()}
        return as_text(original).replace(book)

    def is_mixed(self, released: pl.Series) -> bool:
        """Whether some value could stand under two released words: one person's town, another's region."""
        there = set(as_text(released).drop_nulls().unique())
        return any(len({group for group in row if group in there}) > 1 for row in self.rows.values())

    def spread(self, original: pl.Series, released: pl.Series) -> Spread:
        """Values as places and released words as runs of places; unknown words are missing."""
        ordered = sorted(self.rows.values(), key=lambda row: row[::-1])
        place = {row[0]: float(k) for k, row in enumerate(ordered)}
        runs: dict[str, tuple[float, float]] = {}
        for k, row in enumerate(ordered):
            for label in set(row):
                low, high = runs.get(label, (float(k), float(k)))
                runs[label] = min(low, k), max(high, k)
        nothing = (np.nan, np.nan)
        known = np.array([np.nan if v is None else place.get(v, np.nan) for v in as_text(original)], dtype=np.float64)
        ends = np.array([nothing if v is None else runs.get(v, nothing) for v in as_text(released)], dtype=np.float64)
        return Spread(known, ends.reshape(-1, 2)[:, 0].copy(), ends.reshape(-1, 2)[:, 1].copy())

    def to_csv(self) -> str:
        """The text of a file as ARX reads it."""
        file = io.StringIO()
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(self.rows.values())
        return file.getvalue()

    def to_toml(self) -> str:
        """The same as a tree."""
        return "\n".join(_branch(list(self.rows.values()), self.levels, ())) + "\n"


def _refuse_absent(column: pl.Series, absent: int) -> None:
    if absent:
        raise TableError(
            f"{absent} values of {column.name!r} are not in the hierarchy", hint="add a row for each of them"
        )


def read_hierarchy(source: Any, values: Container[str] = ()) -> ValueHierarchy:  # noqa: ANN401 - a path, a tree, a frame
    """Read a hierarchy from a file (CSV as ARX writes it, TOML, any table), a tree of mappings and lists, or a frame.

    ``values``: of the column that it is for; a first row that is one of them is no header.
    """
    if source is None:  # as a report has it
        raise TableError(
            "a hierarchy was given as a tree, which no report keeps", hint="write it to a file, and name it"
        )
    if isinstance(source, ValueHierarchy):
        return source
    if isinstance(source, Mapping):
        return _made(_of_tree(source), None)
    if isinstance(source, str | Path):
        return _of_file(Path(source), values)
    from unmask.tables.read import read_table  # noqa: PLC0415 - which reads what this file is read for

    return _made(_text_rows(read_table(source, name="hierarchy", as_written=True).rows()), None)


def read_hierarchies(given: Mapping[str, Any] | None, table: pl.DataFrame) -> dict[str, ValueHierarchy]:
    """Hierarchies by column; a column that the table does not have is refused."""
    from unmask.tables.roles import check_columns  # noqa: PLC0415 - which reads columns as this file writes them

    check_columns(given or (), table.columns, "hierarchies", "the original")
    return {name: read_hierarchy(one, set(as_text(table[name]).drop_nulls())) for name, one in (given or {}).items()}


def needed(trees: Mapping[str, ValueHierarchy], tables: tuple[pl.DataFrame, pl.DataFrame], truth: Rows) -> list[str]:
    """Columns whose released groups only the hierarchy explains: bands and periods are read as what they are.

    ``tables``: the original and the release; ``truth``: the released row of each person, -1 for none.
    """
    left, right = tables
    people = np.flatnonzero(truth >= 0)
    there = [name for name, tree in trees.items() if name in right.columns and tree.labels_in(right[name])]

    def read_anyway(known: pl.Series, published: pl.Series) -> bool:
        if known.dtype.is_numeric():
            return has_intervals(published)
        return known.dtype.is_temporal() and read_periods(known, published, (people, truth[people])) is not None

    return [name for name in there if not read_anyway(left[name], right[name])]


def _of_file(path: Path, values: Container[str]) -> ValueHierarchy:
    if not path.is_file():
        raise TableError(f"there is no file {path}", hint=HINT)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        try:
            return _made(_of_tree(tomllib.loads(path.read_text(encoding="utf-8"))), str(path))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise TableError(f"{path} is not a readable TOML file", hint=HINT) from error
    if suffix in TEXTS:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (UnicodeDecodeError, OSError) as error:
            raise unreadable(path) from error
        return _made(_without_header(_csv_rows(text), values), str(path))
    from unmask.tables.read import read_table  # noqa: PLC0415

    table = read_table(str(path), name="hierarchy", as_written=True)
    return _made(_without_header([tuple(table.columns), *_text_rows(table.rows())], values), str(path))


def _csv_rows(text: str) -> list[Row]:
    first = text.partition("\n")[0]
    separator = next((sign for sign in SEPARATORS if sign in first), ",")
    return [tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(text), delimiter=separator) if row]


def _text_rows(rows: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Rows of a table; a star in the last column was read as a missing cell."""
    texts = [tuple("" if cell is None else str(cell).strip() for cell in row) for row in rows]
    return [(*row[:-1], row[-1] or TOP) if row else row for row in texts]


def _without_header(rows: list[Row], values: Container[str]) -> list[Row]:
    """Leave the first row out where it names columns: none of its groups is anybody else's, and it is no value."""
    if len(rows) < 2 or rows[0][:1] == () or rows[0][0] in values:
        return rows
    again = any(cell in {row[k] for row in rows[1:] if len(row) > k} for k, cell in enumerate(rows[0]) if k)
    return rows if again else rows[1:]


def _of_tree(tree: Mapping[str, Any]) -> list[Row]:
    """Rows of a tree from coarse to fine; with several roots, all of them are in one more group."""
    rows = [(*row, group) for group, part in tree.items() for row in _leaves(part)]
    roots = {row[-1] for row in rows}
    return rows if len(roots) == 1 else [(*row, TOP) for row in rows]


def _leaves(part: Any) -> list[Row]:  # noqa: ANN401 - a branch of a TOML file
    if isinstance(part, Mapping):
        return [(*row, str(group)) for group, inner in part.items() for row in _leaves(inner)]
    if isinstance(part, list | tuple) and not any(isinstance(value, list | dict) for value in part):
        return [(str(value),) for value in part]
    raise TableError("a tree has groups of groups, or lists of values", got=type(part).__name__, hint=HINT)


def _made(rows: list[Row], path: str | None) -> ValueHierarchy:
    """Check that every value and every group is in one group of the next level; rows are named, values are not."""
    where = "the hierarchy" if path is None else Path(path).name
    if not rows:
        raise TableError(f"{where} has no rows", hint=HINT)
    width = len(rows[0])
    seen: dict[tuple[int, str], tuple[int, Row]] = {}
    for number, row in enumerate(rows, start=1):
        if len(row) != width or width < 2:
            told = f"row {number} has {len(row) - 1} levels, the first has {width - 1}"
            raise TableError(f"rows of {where} have different numbers of levels, or none", got=told, hint=HINT)
        if "" in row:
            raise TableError(f"a cell of {where} is empty", got=f"row {number}, level {row.index('')}", hint=HINT)
        for level in range(width - 1):
            before = seen.setdefault((level, row[level]), (number, row))
            if before[1][level + 1 :] != row[level + 1 :]:
                what = "a value" if level == 0 else f"a group of level {level}"
                raise TableError(
                    f"{what} of {where} is in two groups", got=f"rows {before[0]} and {number}", hint="one of both"
                )
    _check_words(rows, where)
    return ValueHierarchy({row[0]: row for row in rows}, path)


def _check_words(rows: list[Row], where: str) -> None:
    """Refuse a word for two groups of different levels that do not contain each other: a release could mean either."""
    highest: dict[str, int] = {}
    for row in rows:
        for level, word in enumerate(row):
            highest[word] = max(level, highest.get(word, 0))
    for number, row in enumerate(rows, start=1):
        if any(row[highest[word]] != word for word in row):
            raise TableError(
                f"{where} has one word for two groups that do not contain each other", got=f"row {number}",
                hint="give one of them another name",
            )  # fmt: skip


def _branch(rows: list[Row], level: int, above: Row) -> list[str]:
    """Lines of the TOML file for rows that share the groups above this level."""
    groups = list(dict.fromkeys(row[level] for row in rows))
    inside = {group: [row for row in rows if row[level] == group] for group in groups}
    if level > 1:
        return [line for group in groups for line in _branch(inside[group], level - 1, (*above, group))]
    head = [f"[{'.'.join(map(_quoted, above))}]"] if above else []
    return [*head, *(f"{_quoted(g)} = [{', '.join(_quoted(row[0]) for row in inside[g])}]" for g in groups)]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
