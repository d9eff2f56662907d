"""Columns of two files that say the same in other words: a birth date in one, an age in the other."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.tables import read_days

AGE = re.compile(r"(^|[^a-z])(age|alter|edad|leeftijd)s?([^a-z]|$)", re.IGNORECASE)
BIRTH = re.compile(r"birth|born|dob|geburt|naissance|nacimiento", re.IGNORECASE)
YEARS, AGES = (1880, 2030), (0, 125)


def relate(original: pl.DataFrame, released: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Put an age in the place of a birth date or year where the other file has ages; say so in words."""
    told: list[str] = []
    for left in [name for name in original.columns if name not in released.columns]:
        for right in [name for name in released.columns if name not in original.columns]:
            made = _as_ages(original[left], released[right])
            if made is not None:
                original = original.drop(left).with_columns(made.alias(right))
                told.append(f"`{left}` as the age that `{right}` tells")
                break
            made = _as_ages(released[right], original[left])
            if made is not None:
                released = released.drop(right).with_columns(made.alias(left))
                told.append(f"`{right}` as the age that `{left}` tells")
                break
    return original, released, told


def _as_ages(births: pl.Series, ages: pl.Series) -> pl.Series | None:
    """Ages of people by their births, in the year in which they are most like the ages; None for other columns."""
    years = _years(births)
    if years is None or not AGE.search(ages.name) or not _whole_within(ages, AGES):
        return None
    wanted = ages.drop_nulls().to_numpy().astype(np.float64)
    born = years.drop_nulls().to_numpy().astype(np.float64)
    middle = round(float(np.median(wanted) + np.median(born)))
    year = max(range(middle - 12, middle + 13), key=lambda one: _overlap(one - born, wanted))
    return (year - years).cast(pl.Int64)


def _years(births: pl.Series) -> pl.Series | None:
    """Years of birth, where a column holds dates of birth or years."""
    if not BIRTH.search(births.name):
        return None
    days = read_days(births) if births.dtype == pl.String else births
    if days is not None and days.dtype.is_temporal():
        return days.dt.year()
    return births.cast(pl.Int64) if _whole_within(births, YEARS) else None


def _whole_within(column: pl.Series, ends: tuple[int, int]) -> bool:
    there = column.drop_nulls()
    if not column.dtype.is_numeric() or not len(there):
        return False
    return bool(((there == there.round(0)) & there.is_between(*ends)).all())


def _overlap(one: Floats, two: Floats) -> float:
    """How much two distributions of whole numbers have in common."""
    bins = np.arange(-1, 130)
    shares = [np.histogram(side, bins=bins)[0] / max(1, side.size) for side in (one, two)]
    return float(np.minimum(*shares).sum())
