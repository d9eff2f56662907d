"""Values move between records: with near ranks, in pairs, at random; all, or within strata [SDC]_ section 3.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.errors import ParameterError, former_percent
from unmask.masking.base import MovingMasking, encoded, known, refuse_names, within


@dataclass(frozen=True, kw_only=True)
class RankSwap(MovingMasking):
    """Swap each value with one at most a `share` of n ranks away (rounded down: no swap where that is below 1).

    Going up in the order, every value not yet swapped trades with one drawn from the unswapped ones of the window above
    it; equal values are ranked at random. The field writes the share as a percent, p: so it is given by its name.
    """

    share: float
    columns: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
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


@dataclass(frozen=True)
class Swap(MovingMasking):
    """Draw a `share` of the records in pairs and let each pair exchange its values of the columns, together."""

    share: float
    columns: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
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
    within: tuple[str, ...] = ()
    family: ClassVar[str] = "shuffle"

    def _check(self) -> None:
        if not isinstance(self.together, bool):  # columns without their name would be taken for it
            raise ParameterError(
                "together is yes or no", got=str(self.together), allowed="True, False",
                hint="name the columns: shuffle(columns=[income])",
            )  # fmt: skip

    def _chosen(self, frame: pl.DataFrame) -> tuple[str, ...]:
        return _any_columns(frame, self.columns)

    def _task(self, name: str) -> str:
        return "shuffle" if self.together else name

    def _rows(self, column: pl.Series, rng: np.random.Generator) -> Rows:
        return rng.permutation(column.len())


def _any_columns(frame: pl.DataFrame, columns: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the named columns, of any type, or every numeric one."""
    if columns is None:
        return tuple(name for name, kind in frame.schema.items() if kind.is_numeric())
    refuse_names(frame, known(frame, columns), "swapping")
    return columns
