"""Swapping and shuffling: values move between records without regard to rank [SDC]_ section 3.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unmask.arrays import Rows
from unmask.masking.base import MovingMasking, known, within

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Swap(MovingMasking):
    """Draw a `share` of the records in pairs and let each pair exchange its values of the columns, together."""

    share: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "swap"

    def _check(self) -> None:
        within("share", self.share, 0, 1)

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return _any_columns(frame, self.columns)

    def _task(self, name: str) -> str:  # noqa: ARG002  (whole records trade: one stream for all columns)
        return "swap"

    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        rows = np.arange(column.len())
        pairs = int(self.share * column.len() / 2 + 1e-9)
        drawn = rng.choice(column.len(), 2 * pairs, replace=False)
        rows[drawn[:pairs]], rows[drawn[pairs:]] = drawn[pairs:], drawn[:pairs]
        return rows


@dataclass(frozen=True)
class Shuffle(MovingMasking):
    """Permute each column at random: marginals stay, every relation goes. `together` moves the columns as one."""

    together: bool = False
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "shuffle"

    def _check(self) -> None:
        """Accept anything: there is nothing to get wrong."""

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return _any_columns(frame, self.columns)

    def _task(self, name: str) -> str:
        return "shuffle" if self.together else name

    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        return rng.permutation(column.len())


def _any_columns(frame: pl.DataFrame, columns: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the named columns, of any type, or every numeric one."""
    if columns is not None:
        return known(frame, columns)
    return tuple(name for name, kind in frame.schema.items() if kind.is_numeric())
