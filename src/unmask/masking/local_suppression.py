"""Local suppression: blank as few cells as possible, until everybody looks like k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, at_least, known
from unmask.masking.cells import Lots, Units, blank_cells


@dataclass(frozen=True)
class LocalSuppression(Masking):
    """Blank cells of the `columns` (default: all) of who has fewer than `k` - 1 look-alikes, as few as possible.

    Missing is a value of its own: blanked records look alike where they are blanked alike. Of equal records it does not
    matter which is blanked; the first ones in the table are.
    """

    k: int
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "local_suppression"

    def _check(self) -> None:
        at_least("k", self.k, 2)

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002  (nothing random)
        """Blank the cells."""
        frame = as_polars(table)
        names = known(frame, self.columns) if self.columns is not None else tuple(frame.columns)
        if frame.height < self.k:
            raise ParameterError("fewer records than k", got=f"{frame.height} records", allowed=f"k={self.k}")
        if not names:
            return frame
        number, units = _units(frame.select(names))
        lots, _ = blank_cells(units, self.k)
        blank = _spread(number, lots)
        gone = [pl.Series(blank[:, j]) for j in range(len(names))]
        return frame.with_columns(frame[name].set(gone[j], None) for j, name in enumerate(names))


def _units(keys: pl.DataFrame) -> tuple[np.ndarray, Units]:
    """The class of each row, and the classes in the order of their values."""
    plain = [_coded(column) for column in keys]
    rows, number, count = np.unique(np.stack(plain, axis=1), axis=0, return_inverse=True, return_counts=True)
    gap = np.array([column.null_count() == 0 for column in keys]) + rows.max(axis=0)
    return number.ravel(), Units(rows, np.zeros(len(rows), np.int64), count, gap.astype(np.int32))


def _coded(column: pl.Series) -> np.ndarray:
    """Ranks of the values; missing, and what is no number, comes last."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    ranks = (column if column.dtype.is_numeric() else column.cast(pl.String)).rank("dense")
    last = ranks.max()
    return ranks.fill_null((last if isinstance(last, int) else 0) + 1).to_numpy().astype(np.int32)


def _spread(number: np.ndarray, lots: Lots) -> np.ndarray:
    """Which cells of each row go: the rows of a class take its lots in turn."""
    order = np.argsort(number, kind="stable")
    by_class = np.argsort(lots.of, kind="stable")
    blank = np.empty((len(number), lots.blank.shape[1]), dtype=bool)
    blank[order] = np.repeat(lots.blank[by_class], lots.count[by_class], axis=0)
    return blank
