"""Sampling: only some records are released, so that an intruder cannot be sure a person is among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unmask.arrays import Rows
from unmask.masking.base import Masking, as_polars, check_seed, generator, within

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Sampling(Masking):
    """Release a simple random sample of a `fraction` of the records (rounded; at least one), in their order."""

    fraction: float
    family: ClassVar[str] = "sampling"

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
