"""After any masking: values that could be true. Bounds, decimals, sums and households as in the original.

A negative age, a bmi with nine decimals, a total that is not the sum of its parts or two rents of one household tell
that a masking was used, and help to undo it. Bounds and decimals are those of whole columns, never of one person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import ParameterError, RoleError, TableError, check_name
from unmask.masking.base import Masking, as_polars, check_seed, encoded
from unmask.masking.edges import kept_within

MOST_DECIMALS = 6  # numbers with more are as precise as a computer writes them
RELATION = re.compile(r"^\s*(?P<sum>[^=]+?)\s*=\s*(?P<parts>.+?)\s*$")
SIGNS = frozenset("+-=")  # a name with one of them cannot be part of a relation
MOST_SUMMED, FEWEST_ROWS = 40, 20  # columns among which sums are looked for; rows that must agree
CLOSE = 1e-6  # of the column's size: sums that differ by less are equal


@dataclass(frozen=True)
class Consistent(Masking):
    """Mask with `masking`, then keep bounds and decimals, `relations` such as "total = a + b", and households alike.

    Numbers that are never negative in the original are not in the release, none is beyond an edge at which people stand
    densely (adults from 18, marks from 1 to 7), and none has more decimals. What is the same for all members of every
    household is so again: the value of its first member stands for all.
    """

    masking: Masking
    relations: tuple[str, ...] = ()
    household: str | None = None
    bounds: bool = True
    decimals: bool = True
    family: ClassVar[str] = "consistent"

    def _check(self) -> None:
        if not isinstance(self.masking, Masking):
            raise ParameterError("consistent needs a masking to follow", allowed='such as "consistent(noise(0.5))"')
        given: Any = self.relations
        stated = (given,) if isinstance(given, str) else tuple(given)
        object.__setattr__(self, "relations", stated)
        for relation in stated:
            _parts(relation)
        if not self.masking.keeps_people and (self.household or stated):
            raise ParameterError(f"{self.masking.family} makes other people, who have no relations to keep")

    @property
    def keeps_people(self) -> bool:  # type: ignore[override]
        """Whether the masking does."""
        return self.masking.keeps_people

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Mask, then put right what cannot be true."""
        original = as_polars(table)
        for relation in self.relations:
            _check_relation(original, relation)
        groups = _households(original, self.household)
        masked = self.masking.apply(original, check_seed(seed))
        if groups is not None:
            masked = masked.with_columns(_alike(original, masked, groups, self.household))
        masked = masked.with_columns(
            [_as_before(original[name], masked[name], bounds=self.bounds, decimals=self.decimals)
             for name in masked.columns if name in original.columns]
        )  # fmt: skip
        for relation in self.relations:
            masked = _summed(original, masked, relation)
        return masked


def find_sums(table: pl.DataFrame) -> tuple[str, ...]:
    """Columns that are the sum of two others in every row, as relations: "total = wages + interest"."""
    numbers = {name: encoded(table[name]) for name in table.columns if table.schema[name].is_numeric()}
    numbers = {name: values for name, values in numbers.items() if not SIGNS & set(name) and np.ptp(values) > 0}
    if len(numbers) > MOST_SUMMED or table.height < FEWEST_ROWS:
        return ()
    some = np.linspace(0, table.height - 1, FEWEST_ROWS).astype(int)
    found = list[str]()
    for one, other in combinations(numbers, 2):
        for whole in numbers:
            for rows in (some, slice(None)):  # a few rows rule out nearly all
                left = numbers[whole][rows]
                if not np.allclose(left, numbers[one][rows] + numbers[other][rows], rtol=0, atol=CLOSE * _size(left)):
                    break
            else:
                found.append(f"{whole} = {one} + {other}")
    return tuple(found)


def lost_sums(table: pl.DataFrame, release: pl.DataFrame) -> tuple[str, ...]:
    """Those of them that the release, which has the same columns, no longer keeps."""
    there = table.select(name for name in table.columns if release.schema.get(name, pl.String()).is_numeric())
    return tuple(relation for relation in find_sums(there) if _wrong(release, relation))


def decimals_of(column: pl.Series) -> int:
    """The most decimals of a column of numbers, 0 to 6; 15 where they are as precise as a computer writes them."""
    if not column.dtype.is_float():
        return 0
    values = column.drop_nulls().drop_nans().to_numpy()
    for digits in range(MOST_DECIMALS + 1):
        if np.allclose(values, values.round(digits), rtol=1e-12, atol=0):
            return digits
    return 15


def _as_before(original: pl.Series, masked: pl.Series, *, bounds: bool, decimals: bool) -> pl.Series:
    """Numbers within the original's bounds and with its decimals; other columns as they are."""
    if not (original.dtype.is_numeric() and masked.dtype.is_numeric()):
        return masked
    values, before = encoded(masked), encoded(original)
    changed = values
    if decimals and masked.dtype.is_float():
        changed = changed.round(decimals_of(original))
    if bounds:
        changed = kept_within(changed, before, decimals_of(original))
    whole = decimals and masked.dtype.is_float() and original.dtype.is_integer()
    kind = pl.Int64() if whole else masked.dtype
    if kind == masked.dtype and np.array_equal(changed, values, equal_nan=True):
        return masked
    return pl.Series(masked.name, changed + 0.0).fill_nan(None).cast(kind, strict=False)


def _parts(relation: str) -> tuple[str, list[tuple[float, str]]]:
    """The name on the left, and the signed names on the right."""
    found = RELATION.match(relation) if isinstance(relation, str) else None
    terms = [] if found is None else re.findall(r"([+-]?)\s*([^+-]+)", found["parts"])
    if found is None or len(terms) < 1 or "=" in found["parts"]:
        raise ParameterError("this is no relation", got=repr(relation), allowed='such as "total = wages + interest"')
    return found["sum"], [(-1.0 if sign == "-" else 1.0, name.strip()) for sign, name in terms]


def _computed(table: pl.DataFrame, relation: str) -> tuple[Floats, Floats]:
    """Both sides of a relation."""
    whole, terms = _parts(relation)
    for name in (whole, *(name for _, name in terms)):
        check_name(name, table.columns, f"no column is called {name!r}", RoleError)
        if not table.schema[name].is_numeric():
            raise RoleError(f"column {name!r} of a relation holds no numbers", got=str(table.schema[name]))
    right: Floats = np.sum([sign * encoded(table[name]) for sign, name in terms], axis=0)
    return encoded(table[whole]), right


def _check_relation(table: pl.DataFrame, relation: str) -> None:
    wrong = _wrong(table, relation)
    if wrong:
        raise TableError(
            f"{relation!r} does not hold in the original", got=f"{wrong:,} of {table.height:,} rows differ"
        )


def _wrong(table: pl.DataFrame, relation: str) -> int:
    """Rows in which a relation does not hold."""
    left, right = _computed(table, relation)
    return int((np.abs(left - right) > CLOSE * _size(left)).sum())


def _size(values: Floats) -> float:
    return max(float(np.nanmax(np.abs(values), initial=0.0)), 1.0)


def _summed(original: pl.DataFrame, masked: pl.DataFrame, relation: str) -> pl.DataFrame:
    """Compute the left side from the released parts; missing where one of them is."""
    whole, terms = _parts(relation)
    gone = [name for name in (whole, *(name for _, name in terms)) if name not in masked.columns]
    if gone:
        raise RoleError(f"column {gone[0]!r} of a relation is not released", hint="leave the relation out")
    _, right = _computed(masked, relation)
    made = pl.Series(whole, right.round(max(decimals_of(original[name]) for _, name in terms))).fill_nan(None)
    return masked.with_columns(made.cast(original.schema[whole], strict=False))


def _households(table: pl.DataFrame, household: str | None) -> pl.Series | None:
    """The first row of the household that each row belongs to; missing: a household of its own."""
    if household is None:
        return None
    check_name(household, table.columns, f"no column is called {household!r}", RoleError)
    rows = pl.select(pl.int_range(table.height)).to_series()
    first = table.select(pl.col(household), rows.alias("row")).select(pl.col("row").first().over(household)).to_series()
    return pl.select(pl.when(table[household].is_null()).then(rows).otherwise(first)).to_series()


def _alike(original: pl.DataFrame, masked: pl.DataFrame, first: pl.Series, household: str | None) -> list[pl.Series]:
    """Columns that are the same for all members of every household, with the first member's released value."""
    if masked.height != original.height:
        raise TableError("households can be kept only where every row is", got=f"{masked.height:,} rows")
    names = [name for name in masked.columns if name in original.columns and name != household]
    same = [name for name in names if original[name].eq_missing(original[name].gather(first)).all()]
    return [masked[name].gather(first) for name in same]
