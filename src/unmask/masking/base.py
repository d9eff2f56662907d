"""What every masking shares: a frozen description of itself, and the way into and out of a table's columns.

A masking never touches the caller's frame. Row order and other columns are kept; a missing value stays missing and
takes no part in any statistic.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar
from zlib import crc32

import narwhals as nw
import numpy as np
import polars as pl

from unmask.arrays import Floats, Rows
from unmask.errors import ParameterError, RoleError, TableError, check_name
from unmask.masking.spelling import quoted, written
from unmask.tables import infer_kind, recognise

FEW_ROWS, NAMES = 20, 0.9  # text of more rows, of which more than this share is different, names people
CODE = re.compile(r"(?i)(^|[^a-z])((post|postal|zip)[ _-]?code|zip|plz|postal)([^a-z]|$)|[ _-]code$")
FEW_CODES, SPREAD = 20, 3  # codes: so many different ones at most, within so many times their number
ROW = "row of the table"
MASKINGS: dict[str, type[Masking]] = {}  # by the name that `parse_masking` reads


class Masking(ABC):
    """A way to protect a table. Subclasses are frozen dataclasses; two with equal fields are the same masking."""

    family: ClassVar[str]
    keeps_people: ClassVar[bool] = True  # whether row i of the release was made from row i of the original
    __dataclass_fields__: ClassVar[dict[str, Any]]
    columns: tuple[str, ...] | None

    def __init_subclass__(cls) -> None:
        """Register every masking that has a name."""
        if "family" in vars(cls):
            MASKINGS[cls.family] = cls

    def __post_init__(self) -> None:
        """Take a list of columns for a tuple, then check the parameters."""
        for name in ("columns", "within"):
            given = getattr(self, name, None)
            if given is not None:
                object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        self._check()

    @abstractmethod
    def _check(self) -> None:
        """Raise ParameterError where a parameter makes no sense."""

    @abstractmethod
    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Return the masked table; the same table and seed give the same answer to the last bit."""

    def unrounded(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Return the masked table before values are made readable: what reverse mapping ranks."""
        return self.apply(table, seed)

    @classmethod
    def former(cls, arguments: list[Any], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Turn parameters as they were written up to the last version into today's."""
        return arguments, options

    def __str__(self) -> str:
        """Write the masking as `parse_masking` reads it: required parameters by position, the others by name."""
        shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.default is MISSING and not field.kw_only:
                shown.append(written(value))
            elif value != field.default:
                shown.append(f"{field.name}={written(value)}")
        return f"{self.family}({', '.join(shown)})"


@dataclass(frozen=True)
class Chain(Masking):
    """Apply each masking to what the one before it made; the i-th (from 0) draws with seed + i."""

    maskings: tuple[Masking, ...]
    family: ClassVar[str] = "chain"

    @property
    def keeps_people(self) -> bool:  # type: ignore[override]
        """Whether every one of them does."""
        return all(masking.keeps_people for masking in self.maskings)

    def _check(self) -> None:
        object.__setattr__(self, "maskings", tuple(self.maskings))
        if not self.maskings or not all(isinstance(masking, Masking) for masking in self.maskings):
            raise ParameterError("chain needs maskings", allowed='such as "chain([noise(0.5), pram(0.1)])"')

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Apply them in turn."""
        frame = as_polars(table)
        for number, masking in enumerate(self.maskings):
            frame = masking.apply(frame, check_seed(seed) + number)
        return frame

    def unrounded(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Apply them in turn and leave the last one's fractions."""
        frame = as_polars(table)
        for number, masking in enumerate(self.maskings):
            frame = masking.unrounded(frame, check_seed(seed) + number)
        return frame


class ValueMasking(Masking):
    """A masking that computes new numbers: subclasses give `_mask`, from a matrix to a matrix of the same shape."""

    integers_stay: ClassVar[bool] = True  # round what was made of an integer column back to integers

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Mask the columns; integer columns come back as integers."""
        return self._run(table, seed, readable=self.integers_stay)

    def unrounded(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Mask the columns and leave the fractions."""
        return self._run(table, seed, readable=False)

    def _run(self, table: object, seed: int, *, readable: bool) -> pl.DataFrame:
        frame = as_polars(table)
        names = chosen(frame, self.columns)
        masked = self._mask(matrix(frame, names), names, check_seed(seed))
        new = [decoded(masked[:, j], frame[name], readable=readable) for j, name in enumerate(names)]
        return frame.with_columns(new)

    @abstractmethod
    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        """Mask a matrix in which NaN is missing."""


class MovingMasking(Masking):
    """A masking that only moves values between rows: subclasses say which row each value comes from.

    ``within``: values move between rows that agree in these columns, which stay as they are.
    """

    within: tuple[str, ...]

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Move values; each column keeps its type and, to the last bit, its values."""
        frame = as_polars(table)
        names, strata = self._chosen(frame), _strata(frame, self.within)
        both = [name for name in names if name in self.within]
        if both and self.columns is not None:
            raise RoleError(f"column {both[0]!r} cannot be moved and say who moves", hint="name it in one of both")
        return frame.with_columns(
            [frame[name].gather(self._moved(frame[name], strata, seed)) for name in names if name not in both]
        )

    def _moved(self, column: pl.Series, strata: list[Rows], seed: int) -> Rows:
        """The row that each value comes from, stratum by stratum with one stream of randomness."""
        rng, rows = generator(check_seed(seed), self._task(column.name)), np.arange(column.len())
        for stratum in strata:
            rows[stratum] = stratum[self._rows(column.gather(stratum), rng)]
        return rows

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return chosen(frame, self.columns)

    def _task(self, name: str) -> str:
        """Name the stream of randomness of a column: one per column unless a masking moves whole records."""
        return name

    @abstractmethod
    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        """Return, for each row, the row its value comes from."""


def as_polars(table: object) -> pl.DataFrame:
    """Take any frame that narwhals takes; lazy ones are collected."""
    try:
        frame: Any = nw.from_native(table)
    except TypeError as error:
        raise TableError(
            "cannot mask this object", got=type(table).__name__, allowed="a pandas, polars or pyarrow table, ..."
        ) from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    result: pl.DataFrame = frame.to_polars()
    return result


def generator(seed: int, task: str) -> np.random.Generator:
    """Return the random stream of one task; a column's stream does not depend on which others are masked."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(crc32(task.encode()),)))


def check_seed(seed: int) -> int:
    """Refuse seeds that NumPy would refuse less clearly."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("seed is not usable", got=repr(seed), allowed="an integer, 0 or more")
    return int(seed)


def chosen(frame: pl.DataFrame, columns: Iterable[str] | None) -> tuple[str, ...]:
    """Return the columns to mask: those named, or all of amounts. Codes, dates and ordered categories must be named."""
    if columns is None:
        return tuple(name for name in frame.columns if is_amount(frame[name]))
    names = known(frame, columns)
    refuse_names(frame, names, "this masking")
    for name in names:
        if not is_ordered(frame.schema[name]):
            raise RoleError(
                f"column {name!r} has no order and cannot be masked as numbers",
                got=str(frame.schema[name]).split("(")[0],
                allowed="numbers, dates, or an Enum whose categories are in order",
                hint="pram masks categories without an order",
            )
    return names


def is_amount(column: pl.Series) -> bool:
    """Say whether a column holds amounts: numbers, but no codes.

    Codes are whole numbers of which a few stand for many rows each, next to each other: multiples of 1000 are amounts
    that were rounded.
    """
    if not column.dtype.is_numeric() or (column.dtype.is_float() and column.is_infinite().any()):
        return column.dtype.is_numeric()  # infinite ones are refused by who masks them
    if is_code(column):
        return False
    if infer_kind(column, None)[0] == "numeric":
        return True
    values = encoded(column.drop_nulls())
    distinct = np.unique(values).size
    return distinct == 0 or (distinct <= FEW_CODES and float(np.ptp(values)) + 1 > SPREAD * distinct)


def is_code(column: pl.Series) -> bool:
    """Say whether whole numbers are codes by the name of their column, such as "post code": they are no amounts."""
    return column.dtype.is_integer() and CODE.search(column.name) is not None


def refuse_names(frame: pl.DataFrame, names: Iterable[str], family: str) -> None:
    """Refuse columns of names and free text: moved to others or drawn anew, they would be published all the same."""
    for name in names:
        if names_people(frame[name]):
            raise RoleError(
                f"column {name!r} holds names or free text, which {family} does not protect",
                hint=f"leave it out, drop([{quoted(name)}]), or replace it, pseudonym([{quoted(name)}])",
            )


def names_people(column: pl.Series) -> bool:
    """Say whether a column is text that is different for nearly everybody, or looks like names, addresses, free text.

    The latter also where values repeat: visits of one person, two people of one name.
    """
    rows = column.len() - column.null_count()
    if column.dtype != pl.String or rows <= FEW_ROWS:
        return False
    if column.drop_nulls().n_unique() > NAMES * rows:
        return True
    seen = recognise(column)
    return seen is not None and seen[2]


def _strata(frame: pl.DataFrame, within: tuple[str, ...]) -> list[Rows]:
    """Rows of each stratum, in the order of their labels; all rows without any."""
    if not within:
        return [np.arange(frame.height)]
    keys = frame.select(known(frame, within)).with_row_index(ROW)
    return [np.array(rows, dtype=np.int64) for rows in keys.group_by(within).agg(ROW).sort(within)[ROW]]


def known(frame: pl.DataFrame, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns as a tuple once every one is in the frame."""
    names = tuple(columns)
    for name in names:
        check_name(name, frame.columns, f"no column is called {name!r}", RoleError)
    return names


def is_ordered(kind: pl.DataType) -> bool:
    """Say whether values of this type have an order that means something."""
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Enum)


def matrix(frame: pl.DataFrame, names: tuple[str, ...]) -> Floats:
    """Return the columns as float64, NaN where missing; infinite values are refused."""
    values = np.empty((frame.height, len(names)))
    for j, name in enumerate(names):
        values[:, j] = encoded(frame[name])
        wild = np.flatnonzero(np.isinf(values[:, j]))
        if wild.size:
            raise TableError(f"column {name!r} has an infinite value", got=f"row {wild[0]}", hint="make it missing")
    return values


def encoded(column: pl.Series) -> Floats:
    """Return one column as numbers: dates as counts, ordered categories as positions, null as NaN."""
    physical = column if column.dtype.is_numeric() else column.to_physical()
    return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def decoded(values: Floats, column: pl.Series, *, readable: bool = True) -> pl.Series:
    """Return numbers as a column again; `readable` rounds those that were made of an integer column."""
    kind = column.dtype
    made = pl.Series(column.name, np.array(values, dtype=np.float64)).fill_nan(None)
    if isinstance(kind, pl.Enum):
        codes = made.round().clip(0, max(len(kind.categories) - 1, 0)).cast(pl.UInt32)
        return pl.Series(column.name, [None if c is None else kind.categories[c] for c in codes], dtype=kind)
    if kind.is_temporal():
        return made.round().cast(pl.Int64).cast(column.to_physical().dtype).cast(kind)
    if kind.is_integer() and readable:
        whole = made.round().cast(pl.Int64)
        fits = whole.cast(kind, strict=False)
        return fits if fits.null_count() == whole.null_count() else whole
    if column.dtype.is_float() and column.is_nan().any():
        nan = column.is_nan().fill_null(value=False)
        made = pl.select(pl.when(nan).then(float("nan")).otherwise(made)).to_series().alias(column.name)
    return made.cast(kind) if kind.is_float() else made


def column_sd(values: Floats) -> Floats:
    """Return each attribute's standard deviation (n - 1), 0 where fewer than two values are present."""
    sd = np.zeros(values.shape[1])
    for j in range(values.shape[1]):
        present = values[~np.isnan(values[:, j]), j]
        sd[j] = present.std(ddof=1) if present.size > 1 else 0.0
    return sd


def at_least(name: str, value: float, least: float, *, strict: bool = False) -> None:
    """Refuse a number that is not finite or too small."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < least or (strict and value == least):
        bound = f"more than {least:g}" if strict else f"{least:g} or more"
        raise ParameterError(f"{name} is out of range", got=repr(value), allowed=f"a number, {bound}")


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside [low, high]."""
    at_least(name, value, low)
    if value > high:
        raise ParameterError(f"{name} is out of range", got=repr(value), allowed=f"a number from {low:g} to {high:g}")
