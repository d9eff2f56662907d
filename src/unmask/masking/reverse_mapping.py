"""Reverse mapping: after any masking, each released value becomes the original value of the same rank.

Algorithm 1 of [MAXKNOW]_ keeps every marginal exactly. What it leaves open: equal masked values are ranked in random
order (seeded). Missing values stay where the masking has them; with more or fewer of them than the original, rank j of
n_y present values takes the original value at rank (j - 1/2) n_x / n_y. A column without an order is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking.base import Masking, as_polars, check_seed, generator, is_ordered, known


@dataclass(frozen=True)
class ReverseMapped(Masking):
    """Mask with `masking`, then give every ordered column (or the named ones) its original values back, by rank."""

    masking: Masking
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "reverse_map"

    def _check(self) -> None:
        if not isinstance(self.masking, Masking):
            raise ParameterError(
                "reverse_map needs a masking to follow",
                got=repr(self.masking),
                allowed='such as "reverse_map(noise(0.5))"',
            )

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Return a release whose columns hold exactly the original values, in another order."""
        original = as_polars(table)
        masked = self.masking.unrounded(original, check_seed(seed))
        if masked.height != original.height:
            raise TableError(
                f"reverse_map cannot follow {self.masking.family}",
                got=f"{masked.height} rows out of {original.height}",
                allowed="a masking that keeps every row",
            )
        return masked.with_columns(
            [
                reverse_mapped(original[name], masked[name], generator(seed, f"reverse_map {name}"))
                for name in self._mapped(original, masked)
            ]
        )

    def _mapped(self, original: pl.DataFrame, masked: pl.DataFrame) -> tuple[str, ...]:
        """Return the columns with an order on both sides; a named one without is refused."""
        if self.columns is not None:
            for name in known(original, self.columns):
                if name not in masked.columns or not _comparable(original[name], masked[name]):
                    raise RoleError(
                        f"column {name!r} has no order to map back by",
                        allowed="numbers, dates, or an Enum whose categories are in order",
                    )
            return self.columns
        return tuple(n for n in original.columns if n in masked.columns and _comparable(original[n], masked[n]))


def reverse_mapped(original: pl.Series, masked: pl.Series, rng: np.random.Generator) -> pl.Series:
    """Algorithm 1 for one attribute."""
    held = original.drop_nulls()
    if original.dtype.is_float():
        held = held.drop_nans()
    values = held.sort()
    ranks = ordinal_ranks(masked, rng)
    n_values, n_ranks = values.len(), int((ranks >= 0).sum())
    if n_values == 0 or n_ranks == 0:
        return pl.Series(original.name, [None] * masked.len(), dtype=original.dtype)
    if n_values != n_ranks:
        ranks = np.where(ranks >= 0, np.floor((ranks + 0.5) * n_values / n_ranks).astype(np.int64), -1)
    places = pl.Series(ranks, dtype=pl.Int64)
    return values.gather(places.set(places < 0, None)).alias(original.name)


def ordinal_ranks(column: pl.Series, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return ranks 0..n-1 of the present values, equal ones in random order, and -1 where missing."""
    physical = column if column.dtype.is_numeric() else column.to_physical()
    missing = physical.is_null()
    if physical.dtype.is_float():
        missing = missing | physical.is_nan().fill_null(value=False)
    present = rng.permutation(np.flatnonzero(~missing.to_numpy()))
    order = physical.gather(present).to_numpy().argsort(kind="stable")
    ranks = np.full(column.len(), -1, np.int64)
    ranks[present[order]] = np.arange(present.size)
    return ranks


def _comparable(original: pl.Series, masked: pl.Series) -> bool:
    return is_ordered(original.dtype) and is_ordered(masked.dtype)
