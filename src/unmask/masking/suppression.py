"""Left out: chosen cells become missing [SDC]_ section 3.4, or only some records are released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, check_seed, generator, known, within


@dataclass(frozen=True)
class Suppression(Masking):
    """Make the given cells missing, each a pair of row (counted from 0) and column."""

    cells: tuple[tuple[int, str], ...]
    family: ClassVar[str] = "suppression"

    def _check(self) -> None:
        pairs: Sequence[object] = tuple(self.cells)
        for cell in pairs:
            if not isinstance(cell, tuple | list) or len(cell) != 2 or not isinstance(cell[0], int) or cell[0] < 0:
                raise ParameterError("a cell is not a row and a column", got=repr(cell), allowed="such as (0, age)")
        object.__setattr__(self, "cells", tuple((row, name) for row, name in self.cells))

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002  (nothing random)
        """Empty the cells."""
        frame = as_polars(table)
        rows: dict[str, list[int]] = {name: [] for name in known(frame, [name for _, name in self.cells])}
        for row, name in self.cells:
            if row >= frame.height:
                raise ParameterError("no such row to suppress", got=str(row), allowed=f"0 to {frame.height - 1}")
            rows[name].append(row)
        places = pl.int_range(frame.height, eager=True)
        return frame.with_columns(
            [
                frame.select(pl.when(~places.is_in(hit)).then(pl.col(name)).alias(name)).to_series()
                for name, hit in rows.items()
            ]
        )


@dataclass(frozen=True)
class Sampling(Masking):
    """Release a simple random sample of a `fraction` of the records (rounded; at least one), in their order."""

    fraction: float
    family: ClassVar[str] = "sampling"
    keeps_people: ClassVar[bool] = False

    def _check(self) -> None:
        within("fraction", self.fraction, 0, 1)

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Keep the sampled rows."""
        frame = as_polars(table)
        return frame[self.rows(frame.height, seed)]

    def rows(self, n: int, seed: int = 0) -> Rows:
        """Return the rows that a table of n records keeps: which released record came from where."""
        size = min(n, max(1, round(self.fraction * n)))
        return np.sort(generator(check_seed(seed), "sampling").choice(n, size, replace=False))
