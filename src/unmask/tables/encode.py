"""The one door from frames to arrays: floats and integer codes, one codebook for both tables, missing values marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from unmask.arrays import Codes, Floats, Ints
from unmask.errors import ParameterError, TableError
from unmask.tables.intervals import bounds, has_intervals
from unmask.tables.periods import read_periods
from unmask.tables.recode import into_bands, into_intervals, into_merged, into_prefixes, into_ranges
from unmask.tables.rounded import read_rounding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unmask.tables.periods import Periods
    from unmask.tables.release import Release


FEW_WORDS = 0.2  # share of cells that may be words in a column of numbers: they are taken as missing, and told
LARGEST_WHOLE = 2.0**53  # whole numbers beyond it are not told apart as floats
CELLS = 2**17  # of a table that are written together: they stay in the cache
WHOLE_AS_FLOAT = r"^([+-]?\d+)\.0+$"
RankMethod = Literal["ordinal", "average", "dense"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """One table as arrays: ``numeric`` with NaN for missing, ``codes`` with -1 for missing."""

    numeric: Floats  # (n, p)
    codes: Codes  # (n, q)

    def __len__(self) -> int:
        return int(self.numeric.shape[0])

    def take(self, rows: Ints) -> Encoded:
        """Return some rows."""
        return Encoded(np.ascontiguousarray(self.numeric[rows]), np.ascontiguousarray(self.codes[rows]))


@dataclass(frozen=True, slots=True)
class Spans:
    """Exact numbers of the original and the intervals of the release, which may overlap: a number may be in several."""

    values: Floats
    low: Floats
    high: Floats
    rule: str = ""  # how numbers that the release does not write as intervals stand for them


@dataclass(frozen=True, slots=True)
class Encoding:
    """Both tables on one codebook, the original written in the release's schema where that is coarser."""

    original: Encoded
    released: Encoded
    numeric_names: tuple[str, ...]
    code_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    spans: dict[str, Spans] = field(default_factory=dict)  # attributes published rounded, or as intervals that overlap
    foreign: tuple[str, ...] = ()  # categories of which no value occurs in the other table

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes, numbers first."""
        return self.numeric_names + self.code_names

    def only(self, names: Iterable[str]) -> Encoding:
        """Return the same encoding with some of the attributes: what if the intruder knew only these?"""
        chosen = set(names)
        numeric = [i for i, name in enumerate(self.numeric_names) if name in chosen]
        codes = [i for i, name in enumerate(self.code_names) if name in chosen]

        def cut(side: Encoded) -> Encoded:
            return Encoded(np.ascontiguousarray(side.numeric[:, numeric]), np.ascontiguousarray(side.codes[:, codes]))

        kept = tuple(self.numeric_names[i] for i in numeric), tuple(self.code_names[i] for i in codes)
        spans = {name: span for name, span in self.spans.items() if name in chosen}
        foreign = tuple(name for name in self.foreign if name in chosen)
        return Encoding(cut(self.original), cut(self.released), *kept, self.notes, spans, foreign)

    def columns(self, name: str) -> tuple[Floats, Floats]:
        """One attribute of both tables as numbers, codes too; NaN is missing."""
        if name in self.numeric_names:
            k = self.numeric_names.index(name)
            return self.original.numeric[:, k], self.released.numeric[:, k]
        k = self.code_names.index(name)
        sides = (self.original.codes[:, k], self.released.codes[:, k])
        left, right = (np.where(side < 0, np.nan, side.astype(np.float64)) for side in sides)
        return left, right

    def without(self, name: str) -> Encoding:
        """Return the same encoding without one attribute: what if the intruder did not know it?"""
        return self.only(other for other in self.names if other != name)


def encode(release: Release, columns: Iterable[str] | None = None) -> Encoding:
    """Turn the chosen columns (default: what the intruder knows) of both tables into arrays."""
    names = release.quasi if columns is None else columns
    return assemble([encode_column(release, name) for name in names], release.original.height, release.released.height)


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """One column of both tables on one codebook: numbers (NaN missing) or codes (-1 missing)."""

    name: str
    original: Floats | Codes
    released: Floats | Codes
    numeric: bool
    notes: tuple[str, ...]
    span: Spans | None = None

    @property
    def foreign(self) -> bool:
        """Whether it is a category of which no value occurs in the other table."""
        left, right = self.original, self.released
        return not self.numeric and not np.intersect1d(left[left >= 0], right[right >= 0]).size


def encode_column(release: Release, name: str) -> EncodedColumn:
    """Turn one column of both tables into numbers or codes; what the others hold makes no difference."""
    notes: list[str] = []
    if release.kind(name) == "categorical" and _has_groups(release, name):
        return _in_hierarchy(release, name)
    found = _periods(release, name) if _holds_dates(release, name) else None
    if found is not None:
        return _in_periods(found, name)
    if release.columns[name].is_number and not _has_unknown_levels(release, name) and not _unread(release, name):
        left, right, span = _numbers(release, name, notes)
        return EncodedColumn(name, left, right, numeric=True, notes=tuple(notes), span=span)
    return EncodedColumn(name, *_categories(release, name, notes), numeric=False, notes=tuple(notes))


def assemble(columns: Iterable[EncodedColumn], original: int, released: int) -> Encoding:
    """Put columns side by side, numbers first; ``original`` and ``released`` are the numbers of rows."""
    every = tuple(columns)
    numeric, coded = ([column for column in every if column.numeric is kind] for kind in (True, False))
    foreign = tuple(column.name for column in coded if column.foreign)
    notes = [note for column in every for note in column.notes]
    notes += [
        f"{name!r}: no value of the release occurs in the original, so they cannot be compared; is it coded otherwise?"
        for name in foreign
    ]
    sides = [
        Encoded(
            _stack([getattr(column, side) for column in numeric], rows, np.float64),
            _stack([getattr(column, side) for column in coded], rows, np.int32),
        )
        for side, rows in (("original", original), ("released", released))
    ]
    spans = {column.name: column.span for column in numeric if column.span is not None}
    names = tuple(column.name for column in numeric), tuple(column.name for column in coded)
    return Encoding(sides[0], sides[1], *names, tuple(notes), spans, foreign)


def _stack(columns: list[Any], rows: int, dtype: type) -> Any:  # noqa: ANN401 - floats or codes, as dtype says
    """Columns side by side, as many rows at a time as stay in the cache."""
    table: Any = np.empty((rows, len(columns)), dtype=dtype)
    step = max(64, CELLS // max(1, len(columns)))
    for first in range(0, rows, step):
        for k, column in enumerate(columns):
            table[first : first + step, k] = column[first : first + step]
    return table


def _numbers(release: Release, name: str, notes: list[str]) -> tuple[Floats, Floats, Spans | None]:
    original, released = release.original[name], release.released[name]
    if release.kind(name) == "ordinal":
        return *_levels(original, released), None
    left = to_floats(original, name)
    if not has_intervals(released):
        right = to_floats(released, name)
        unread = int(np.isnan(left).sum() - original.null_count() + np.isnan(right).sum() - released.null_count())
        if unread:
            notes.append(f"{name!r}: {unread} cells are words among numbers: taken as missing")
        return left, right, _rounded(release, left, right)
    notes.append(
        f"{name!r}: the release has intervals in place of numbers; the intruder knows which one a number is in"
    )
    low, high = bounds(released)
    unread = int((np.isnan(low) & ~released.is_null().to_numpy()).sum())
    if unread:
        notes.append(f"{name!r}: {unread} cells of the release are neither numbers nor intervals: taken as suppressed")
    inside, published = into_intervals(left, low, high)
    span = Spans(left, low, high) if (inside.hits > 1).any() else None
    return inside.recoded, published, span


def _rounded(release: Release, left: Floats, right: Floats) -> Spans | None:
    """The intervals that released numbers stand for, where these are rounded or cut off."""
    rows = release.paired_rows
    found = read_rounding(left[rows], right[release.truth[rows]], right)
    return None if found is None else Spans(left, found.low, found.high, found.words)


def _in_periods(found: Periods, name: str) -> EncodedColumn:
    """Dates as the periods that the release has of them."""
    note = f"{name!r}: the release has {found.word}s in place of dates; the intruder knows which one a date is in"
    known, low, high = found.known, found.low, found.high
    if np.array_equal(low, high, equal_nan=True):  # single days, or ages
        return EncodedColumn(name, known, low, numeric=True, notes=(note,))
    inside, published = into_intervals(known, low, high)
    span = Spans(known, low, high) if (inside.hits > 1).any() else None
    return EncodedColumn(name, inside.recoded, published, numeric=True, notes=(note,), span=span)


def _has_groups(release: Release, name: str) -> bool:
    """Whether the release has groups of a given hierarchy in place of the column's values."""
    return name in release.hierarchies and bool(release.hierarchies[name].labels_in(release.released[name]))


def _in_hierarchy(release: Release, name: str) -> EncodedColumn:
    """Values as the groups that the release has of them; where it mixes levels, as runs of places in the tree."""
    tree, sides = release.hierarchies[name], (release.original[name], release.released[name])
    note = f"{name!r}: the release has groups of the given hierarchy in place of values"
    if not tree.is_mixed(sides[1]):
        codes = _codes(tree.as_released(*sides), as_text(sides[1]))
        return EncodedColumn(name, *codes, numeric=False, notes=(note,))
    found = tree.spread(*sides)
    inside, published = into_intervals(found.known, found.low, found.high)
    return EncodedColumn(
        name, inside.recoded, published, numeric=True, notes=(f"{note}, of several levels",), span=Spans(*found)
    )


def _periods(release: Release, name: str) -> Periods | None:
    """Known dates beside released periods, or ages; None where both are dates, or the release cannot be read so."""
    pairs = release.paired_rows, release.truth[release.paired_rows]
    return read_periods(release.original[name], release.released[name], pairs)


def _unread(release: Release, name: str) -> bool:
    """Whether dates were published in a way that is neither dates nor known periods: then they are categories."""
    return _holds_dates(release, name) and not release.released[name].dtype.is_temporal()


def _holds_dates(release: Release, name: str) -> bool:
    return release.kind(name) == "date" and release.original[name].dtype in (pl.Date, pl.Datetime)


def to_floats(column: pl.Series, name: str) -> Floats:
    """Numbers, dates (days since 1970), times and durations (days), booleans, and numbers written as text."""
    kind = column.dtype
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return _text_numbers(column, name)
    if kind == pl.Date:
        column = column.to_physical()
    elif kind.is_temporal():
        unit = {"ns": 1e9, "us": 1e6, "ms": 1e3}[getattr(kind, "time_unit", None) or "ns"]
        column = column.to_physical().cast(pl.Float64) / (86400.0 * unit)
    numbers = column.cast(pl.Float64)
    if numbers.null_count():  # a plan is made to fill gaps, which takes longer than a column of many tables
        numbers = numbers.fill_null(np.nan)
    return numbers.to_numpy().astype(np.float64)


def _text_numbers(column: pl.Series, name: str) -> Floats:
    low, high = bounds(column)
    unread = np.isnan(low) & ~column.is_null().to_numpy()
    if unread.mean() > FEW_WORDS:
        raise TableError(
            f"column {name!r} is numeric in one table and holds text in the other",
            got=f"{int(unread.sum())} cells that are neither numbers nor intervals, "
            f"the first in row {int(np.flatnonzero(unread)[0]) + 1}",
            hint=f"clean the column, or read it as categories (kinds {name}=categorical)",
        )
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    anything = np.isinf(low) & np.isinf(high) & (low != high)  # open at both ends: it says nothing
    return np.asarray(np.where(anything, np.nan, low) + np.where(anything, np.nan, high)) / 2


def _order_of_levels(original: pl.Series, released: pl.Series) -> list[str]:
    """The declared order, or the sorted values of both tables (as numbers, where they are)."""
    if original.dtype == pl.Enum:
        return [str(level) for level in original.dtype.categories]  # type: ignore[attr-defined]
    both = pl.concat([as_text(original).drop_nulls(), as_text(released).drop_nulls()]).unique()
    if original.dtype.is_numeric() and both.cast(pl.Float64, strict=False).null_count() == 0:
        return both.gather(both.cast(pl.Float64).arg_sort()).to_list()
    return sorted(both)


def _has_unknown_levels(release: Release, name: str) -> bool:
    """Whether an ordered attribute was published under levels that its order does not know: then it is a category."""
    if release.kind(name) != "ordinal":
        return False
    known = set(_order_of_levels(release.original[name], release.released[name]))
    return not set(as_text(release.released[name]).drop_nulls()) <= known


def _levels(original: pl.Series, released: pl.Series) -> tuple[Floats, Floats]:
    """Ordered levels as positions 0, 1, ..."""
    book = {level: float(position) for position, level in enumerate(_order_of_levels(original, released))}

    def positions(column: pl.Series) -> Floats:
        return np.array([np.nan if level is None else book[level] for level in as_text(column)])

    return positions(original), positions(released)


def _categories(release: Release, name: str, notes: list[str]) -> tuple[Codes, Codes]:
    original, released = as_text(release.original[name]), as_text(release.released[name])
    pairs = original[release.paired_rows], released[release.truth[release.paired_rows]]
    coarse = into_prefixes(original, *pairs)
    cut = coarse is not None
    if coarse is None:
        coarse = into_merged(original, *pairs)
    if coarse is None:
        coarse = into_ranges(original, released)
    if coarse is None and _in_words(release, name, original, released):
        known = to_floats(release.original[name], name)
        coarse = into_bands(known, known[release.paired_rows], pairs[1])
    if coarse is not None:
        before, after = original.drop_nulls().n_unique(), coarse.drop_nulls().n_unique()
        words = f"coarser categories ({before} became {after})" if cut or after < before else "other words for them"
        notes.append(f"{name!r}: the release has {words}; the intruder knows the coding")
        original = coarse
    return _codes(original, released)


def _codes(original: pl.Series, released: pl.Series) -> tuple[Codes, Codes]:
    """Categories of both sides on one codebook."""
    book = (
        pl.concat([original.drop_nulls(), released.drop_nulls()]).unique().sort()
    )  # sorted: codes must not depend on row order
    order = pl.DataFrame({"level": book}).with_row_index("code")

    def codes(column: pl.Series) -> Codes:
        found = pl.DataFrame({"level": column}).join(order, on="level", how="left", maintain_order="left")["code"]
        return found.cast(pl.Int32).fill_null(-1).to_numpy().astype(np.int32)

    return codes(original), codes(released)


def _in_words(release: Release, name: str, original: pl.Series, released: pl.Series) -> bool:
    """Whether numbers or days stand beside words that are none of them."""
    kind = release.original[name].dtype
    numbers = kind.is_numeric() or kind.is_temporal()
    return numbers and not set(released.drop_nulls().unique()) & set(original.drop_nulls().unique())


def as_text(column: pl.Series) -> pl.Series:
    """A category as text, so that 1, 1.0 and "1" are one category on both sides, whatever else a side holds."""
    text = column.cast(pl.String)
    if column.dtype.is_float():
        whole = (column == column.round()) & (column.abs() < LARGEST_WHOLE)
        return column.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole.fill_null(False), text)  # noqa: FBT003
    return text.str.replace(WHOLE_AS_FLOAT, "$1") if column.dtype == pl.String else text


# --- statistics that must not depend on the order of rows ------------------------------------------------------------


def rank(column: Floats, method: RankMethod = "ordinal", *, order: Ints | None = None, seed: int = 0) -> Floats:
    """Ranks 1..n of a column; missing stays NaN.

    ``ordinal`` gives equal values different ranks by a seeded shuffle over ``order`` (canonical order of the rows);
    ``average`` gives them their mean rank; ``dense`` counts different values.
    """
    if method not in {"ordinal", "average", "dense"}:
        raise ParameterError(f"no rank method {method!r}", allowed="ordinal, average, dense")
    ranks = np.full(column.shape, np.nan)
    present = ~np.isnan(column)
    values = column[present]
    if method == "ordinal":
        base = np.arange(column.size) if order is None else order
        lot = np.empty(column.size, dtype=np.int64)
        lot[base] = np.random.default_rng(seed).permutation(column.size)
        position = np.lexsort((lot[present], values))
        inverse = np.empty(values.size)
        inverse[position] = np.arange(1, values.size + 1)
        ranks[present] = inverse
        return ranks
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks[present] = (index + 1) if method == "dense" else (ends - (counts - 1) / 2)[index]
    return ranks
