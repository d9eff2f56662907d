"""Coarser words for what a column says, and columns that go: nothing here is drawn by lot, and what is left is true.

Left out, replaced by pseudonyms, dates as months or years, ages in place of birth dates, the first characters of a
code, rare categories put together, and levels of a hierarchy [SDC]_ section 3.4.
"""

from __future__ import annotations

import datetime as dt
import hmac
import os
import secrets
from abc import abstractmethod
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import polars as pl

from unmask.errors import ParameterError, RoleError, TableError, check_name
from unmask.masking.base import Masking, as_polars, at_least, known
from unmask.tables import read_hierarchy

KEY, SHORTEST_KEY = "UNMASK_KEY", 16  # the environment's variable with the secret of pseudonyms, and its least length
PERIODS = ("week", "month", "quarter", "year", "decade")
LONGEST = 32  # characters of a pseudonym


class ColumnMasking(Masking):
    """A masking that writes whole columns anew, one by one: subclasses give `_masked`."""

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002 - nothing is drawn by lot
        """Write the columns anew; the others, and the order of rows, stay."""
        frame = as_polars(table)
        return frame.with_columns([self._masked(frame[name]).alias(name) for name in self._chosen(frame)])

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return known(frame, self.columns or ())

    @abstractmethod
    def _masked(self, column: pl.Series) -> pl.Series:
        """The column as it is published; missing stays missing."""


@dataclass(frozen=True)
class Drop(Masking):
    """Leave columns out."""

    columns: tuple[str, ...]
    family: ClassVar[str] = "drop"

    def _check(self) -> None:
        _named(self)

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002 - nothing is drawn by lot
        """Return the table without the columns."""
        frame = as_polars(table)
        return frame.drop(known(frame, self.columns))


@dataclass(frozen=True)
class Pseudonym(ColumnMasking):
    """Replace each value by a keyed hash of it (HMAC-SHA256): equal values stay equal, in all tables of one key.

    The key is the environment's UNMASK_KEY. Without one it is drawn for this run and kept nowhere: another run then
    gives other pseudonyms. Hashes without a key are no protection, since whoever has a list of names can hash them.
    """

    columns: tuple[str, ...]
    length: int = 16
    family: ClassVar[str] = "pseudonym"

    def _check(self) -> None:
        _named(self)
        at_least("length", self.length, 8)
        if self.length > LONGEST:
            raise ParameterError("length is out of range", got=repr(self.length), allowed=f"8 to {LONGEST}")

    def _masked(self, column: pl.Series) -> pl.Series:
        text = as_text(column)
        key = _key()
        words = {value: _hashed(key, value)[: self.length] for value in text.drop_nulls().unique()}
        if len(set(words.values())) < len(words):
            raise ParameterError(
                "two values would share a pseudonym", got=f"length={self.length}", hint="ask for a longer one"
            )
        return _translated(text, words)


@dataclass(frozen=True)
class Dates(ColumnMasking):
    """Write dates as the week, month, quarter, year or decade that they are in; every column of dates, or some."""

    period: str
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "dates"

    def _check(self) -> None:
        check_name(self.period, PERIODS, "period is unknown")

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return _dated(frame, self.columns)

    def _masked(self, column: pl.Series) -> pl.Series:
        year, month = column.dt.year(), column.dt.month()
        if self.period == "month":
            return column.dt.strftime("%Y-%m")
        if self.period == "week":
            return column.dt.strftime("%G-W%V")
        if self.period == "quarter":
            return pl.select(pl.format("{}-Q{}", year, (month - 1) // 3 + 1)).to_series()
        return (
            year.cast(pl.String) if self.period == "year" else pl.select(pl.format("{}s", year // 10 * 10)).to_series()
        )


@dataclass(frozen=True)
class Age(ColumnMasking):
    """Write dates of birth as the age on a day, in completed years."""

    on: str
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "age"

    def _check(self) -> None:
        _day(self.on)

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return _dated(frame, self.columns)

    def _masked(self, column: pl.Series) -> pl.Series:
        day = _day(self.on)
        before = column.dt.month().cast(pl.Int32) * 100 + column.dt.day() > day.month * 100 + day.day
        age = day.year - column.dt.year() - before.cast(pl.Int32)
        if (age < 0).any():
            raise TableError(f"column {column.name!r} has dates after {self.on}", hint="give a later day in on=")
        return age


@dataclass(frozen=True)
class Prefix(ColumnMasking):
    """Keep the first characters of a code, such as a postcode; `pad` stands for each of the others."""

    keep: int
    columns: tuple[str, ...]
    pad: str = ""
    family: ClassVar[str] = "prefix"

    def _check(self) -> None:
        _named(self)
        at_least("keep", self.keep, 1)
        if len(self.pad) > 1:
            raise ParameterError("pad is one character, or none", got=repr(self.pad))

    def _masked(self, column: pl.Series) -> pl.Series:
        text = as_text(column)
        longest = text.str.len_chars().max()
        if isinstance(longest, int) and self.keep >= longest:
            raise ParameterError(
                f"no value of {column.name!r} is longer than that", got=str(self.keep), allowed=f"1 to {longest - 1}"
            )
        words = {
            value: value[: self.keep] + self.pad * (len(value) - self.keep) for value in text.drop_nulls().unique()
        }
        return _translated(text, words)


@dataclass(frozen=True)
class Rare(ColumnMasking):
    """Put categories of fewer than `k` rows together as `other`, with the next ones while these are still too few."""

    k: int
    columns: tuple[str, ...]
    other: str = "other"
    family: ClassVar[str] = "rare"

    def _check(self) -> None:
        _named(self)
        at_least("k", self.k, 2)

    def _masked(self, column: pl.Series) -> pl.Series:
        text = as_text(column)
        counted = sorted(text.drop_nulls().alias("").value_counts().rows(), key=lambda row: (row[1], row[0]))
        merged, together = list[str](), 0
        for value, count in counted:
            if count >= self.k and (not merged or together >= self.k):
                break
            merged.append(value)
            together += count
        return _translated(text, dict.fromkeys(merged, self.other))


@dataclass(frozen=True)
class Groups(ColumnMasking):
    """Write the name of a group in place of each of its categories; `other` for those of no group, or as they are.

    ``groups``: pairs of a name and its categories, as in "groups([(north, [Berg, Moor]), (south, [See])],
    columns=[town])".
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    columns: tuple[str, ...]
    other: str | None = None
    family: ClassVar[str] = "groups"

    def _check(self) -> None:
        _named(self)
        given: tuple[Any, ...] = tuple(self.groups)
        pairs = [group for group in given if isinstance(group, tuple | list) and len(group) == 2]
        if not pairs or len(pairs) < len(given) or any(isinstance(members, str) for _, members in pairs):
            raise ParameterError(
                "groups are pairs of a name and its categories",
                allowed="groups([(north, [Berg, Moor])], columns=[town])",
            )
        stated = tuple((str(name), tuple(str(value) for value in members)) for name, members in pairs)
        object.__setattr__(self, "groups", stated)
        every = [value for _, members in stated for value in members]
        if len(set(every)) < len(every):
            raise ParameterError("a category is in two groups", hint="each belongs to one")

    def _masked(self, column: pl.Series) -> pl.Series:
        text, words = as_text(column), {value: name for name, members in self.groups for value in members}
        found = set(text.drop_nulls().unique())
        absent = sum(value not in found for value in words)
        if absent:
            raise TableError(
                f"{absent} categories of the groups are not in {column.name!r}", hint="check their spelling"
            )
        if self.other is not None:
            words |= dict.fromkeys(found - set(words), self.other)
        return _translated(text, words)


@dataclass(frozen=True)
class Hierarchy(ColumnMasking):
    """Write a level of a hierarchy in place of each value.

    The file has a row for each value, the value first and then its groups, from fine to coarse, as ARX writes them, or
    is a tree in TOML; `level` 1 is the first group.
    """

    file: str
    columns: tuple[str, ...]
    level: int = 1
    family: ClassVar[str] = "hierarchy"

    def _check(self) -> None:
        _named(self)
        at_least("level", self.level, 1)

    def _masked(self, column: pl.Series) -> pl.Series:
        known_as = set(as_text(column).drop_nulls())
        return read_hierarchy(self.file, known_as).write(column, self.level)


def as_text(column: pl.Series) -> pl.Series:
    """A column as text; whole numbers that a program wrote as 4.0 are 4."""
    if column.dtype.is_float():
        whole = column.drop_nulls().drop_nans()
        if (whole == whole.round()).all():
            column = column.fill_nan(None).cast(pl.Int64)
    return column.cast(pl.String)


def _translated(text: pl.Series, words: Mapping[str, str]) -> pl.Series:
    return text.replace(dict(words)) if words else text


def _named(masking: Masking) -> None:
    if not masking.columns:
        raise ParameterError(f"{masking.family} needs columns", allowed=f"such as {masking.family}(columns=[name])")


def _dated(frame: pl.DataFrame, columns: tuple[str, ...] | None) -> tuple[str, ...]:
    kinds = (pl.Date, pl.Datetime)
    if columns is None:
        return tuple(name for name, kind in frame.schema.items() if kind in kinds)
    for name in known(frame, columns):
        if frame.schema[name] not in kinds:
            raise RoleError(
                f"column {name!r} has no dates", got=str(frame.schema[name]), hint="write them as 2026-11-30"
            )
    return columns


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except (TypeError, ValueError):
        raise ParameterError("this is no day", got=repr(text), allowed="such as '2026-11-30'") from None


@cache
def _drawn_key() -> bytes:
    return secrets.token_bytes(32)


def _key() -> bytes:
    given = os.environ.get(KEY, "").encode()
    if given and len(given) < SHORTEST_KEY:
        raise ParameterError(
            f"the key in {KEY} is too short",
            got=f"{len(given)} characters",
            allowed=f"from {SHORTEST_KEY}",
            hint="draw one with: openssl rand -hex 32",
        )
    return given or _drawn_key()


def _hashed(key: bytes, value: str) -> str:
    return b32encode(hmac.digest(key, value.encode(), "sha256")).decode().lower()
