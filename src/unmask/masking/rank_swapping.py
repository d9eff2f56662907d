"""Rank swapping: values trade places with values of about the same rank [SDC]_ section 3.2.

Each attribute is sorted; going up, every value not yet swapped trades with one drawn uniformly from the unswapped
values at most p % of n ranks above it. Marginals are kept exactly. Equal values are ranked in a random order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unmask.masking.base import MovingMasking, encoded, within

if TYPE_CHECKING:
    import polars as pl

    from unmask.masking.base import Rows


@dataclass(frozen=True)
class RankSwap(MovingMasking):
    """Swap each value with one at most `p` percent of n ranks away (rounded down: no swap where that is below 1)."""

    p: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "rank_swap"

    def _check(self) -> None:
        within("p", self.p, 0, 100)

    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        from unmask.kernels.masking import swap_ranks  # noqa: PLC0415  (numba is imported when first needed)

        values = encoded(column)
        rows = np.arange(len(values))
        shuffled = rng.permutation(np.flatnonzero(~np.isnan(values)))
        ordered = shuffled[np.argsort(values[shuffled], kind="stable")]
        window = int(np.floor(self.p * ordered.size / 100 + 1e-9))
        rows[ordered] = ordered[swap_ranks(ordered.size, window, rng.random(ordered.size))]
        return rows
