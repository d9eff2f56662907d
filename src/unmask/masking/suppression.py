"""Local suppression: chosen cells become missing [SDC]_ section 3.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, known

if TYPE_CHECKING:
    from collections.abc import Sequence


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
