"""Rank swapping: values trade places with values of about the same rank [SDC]_ section 3.2.

Each attribute is sorted; going up, every value not yet swapped trades with one drawn uniformly from the unswapped
values at most a share of n ranks above it. Marginals are kept exactly. Equal values are ranked in a random order.

The field writes this share as a percent, p. A bare number would not say which it is: the share is given by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unmask.arrays import Rows
from unmask.errors import former_percent
from unmask.masking.base import MovingMasking, encoded, within

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class RankSwap(MovingMasking):
    """Swap each value with one at most a `share` of n ranks away (rounded down: no swap where that is below 1)."""

    share: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "rank_swap"

    def _check(self) -> None:
        within("share", self.share, 0, 1)

    @classmethod
    def former(cls, arguments: list[Any], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Read rank_swap(5), which is 5 percent, until version 0.3."""
        placed = dict(zip(("p", "columns"), arguments, strict=False))
        given = {**placed, **options}
        twice = len(given) < len(arguments) + len(options) or "share" in options
        if twice or not isinstance(given.get("p"), int | float):
            return arguments, options
        return [], {"share": former_percent("p of rank_swap", given.pop("p"), "share"), **given}

    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        from unmask.kernels.masking import swap_ranks  # noqa: PLC0415  (numba is imported when first needed)

        values = encoded(column)
        rows = np.arange(len(values))
        shuffled = rng.permutation(np.flatnonzero(~np.isnan(values)))
        ordered = shuffled[np.argsort(values[shuffled], kind="stable")]
        window = int(np.floor(self.share * ordered.size + 1e-9))
        rows[ordered] = ordered[swap_ranks(ordered.size, window, rng.random(ordered.size))]
        return rows
