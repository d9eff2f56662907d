"""Coarser numbers [SDC]_ sections 3.4 and 3.5: multiples of a base, extremes at a threshold, intervals in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import ParameterError, check_name
from unmask.masking.base import Masking, ValueMasking, as_polars, at_least, chosen, generator, matrix, within

MOST = 100_000  # intervals per column: beyond that nothing is being recoded


@dataclass(frozen=True)
class Rounding(ValueMasking):
    """Round to multiples of `base`. `random` rounds up with the probability that keeps the mean; halves go to even."""

    base: float
    method: str = "nearest"
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "rounding"

    def _check(self) -> None:
        at_least("base", self.base, 0, strict=True)
        check_name(self.method, ("nearest", "random"), "method is unknown")

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        steps = values / self.base
        if self.method == "nearest":
            rounded: Floats = np.rint(steps) * self.base
            return rounded
        for j, name in enumerate(names):
            steps[:, j] = np.floor(steps[:, j] + generator(seed, name).random(len(values)))
        return steps * self.base


@dataclass(frozen=True)
class TopBottomCoding(ValueMasking):
    """Replace values above `top` by it and values below `bottom` by it; quantiles of each column, or plain values."""

    bottom: float | None = None
    top: float | None = None
    by: str = "quantile"
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "top_bottom"

    def _check(self) -> None:
        check_name(self.by, ("quantile", "value"), "by is unknown")
        if self.bottom is None and self.top is None:
            raise ParameterError("top_bottom needs a threshold", allowed="bottom, top or both, such as top=0.99")
        for name, value in (("bottom", self.bottom), ("top", self.top)):
            if value is not None and self.by == "quantile":
                within(name, value, 0, 1)
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise ParameterError("bottom is above top", got=f"{self.bottom} and {self.top}")

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:  # noqa: ARG002  (nothing random)
        masked = values.copy()
        for j in range(len(names)):
            present = ~np.isnan(values[:, j])
            if present.any():
                masked[present, j] = np.clip(values[present, j], *self._thresholds(values[present, j]))
        return masked

    def _thresholds(self, values: Floats) -> tuple[float, float]:
        """Return bottom and top in the column's unit; a quantile is a value that occurs."""
        given = (self.bottom, self.top)
        if self.by == "quantile":
            given = tuple(None if q is None else float(np.quantile(values, q, method="nearest")) for q in given)  # type: ignore[assignment]
        bottom, top = given
        return -np.inf if bottom is None else bottom, np.inf if top is None else top


@dataclass(frozen=True)
class Recoding(Masking):
    """Recode into intervals of equal `width` counted from `origin`, or between `breaks` (open at both ends).

    The result is text, which `Release` reads as intervals again.
    """

    width: float | None = None
    origin: float = 0
    breaks: tuple[float, ...] = ()
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "recoding"

    def _check(self) -> None:
        object.__setattr__(self, "breaks", tuple(self.breaks))
        if (self.width is None) == (not self.breaks):
            raise ParameterError(
                "recoding needs a width or breaks, not both", allowed="recoding(10), recoding(breaks=[18, 65])"
            )
        if self.width is not None:
            at_least("width", self.width, 0, strict=True)
        if any(b >= c for b, c in pairwise(self.breaks)):
            raise ParameterError("breaks must rise", got=str(self.breaks))

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002  (nothing random)
        """Replace the columns by intervals, as text."""
        masked = self.unrounded(table)
        return masked.with_columns(pl.col(name).cast(pl.String) for name in chosen(as_polars(table), self.columns))

    def unrounded(self, table: object, seed: int = 0) -> pl.DataFrame:  # noqa: ARG002
        """Replace the columns by intervals in order, so that they can still be ranked."""
        frame = as_polars(table)
        return frame.with_columns([self._recoded(frame, name) for name in chosen(frame, self.columns)])

    def _recoded(self, frame: pl.DataFrame, name: str) -> pl.Series:
        values = matrix(frame, (name,))[:, 0]
        present = ~np.isnan(values)
        edges = self._edges(values[present])
        labels = [f"[{_short(a)}, {_short(b)})" for a, b in pairwise(edges)]
        codes = np.searchsorted(edges, np.where(present, values, edges[0]), side="right") - 1
        places = pl.Series(codes, dtype=pl.Int64).set(pl.Series(~present), None)
        kind = pl.Enum(labels)
        return pl.Series(labels, dtype=kind).gather(places).alias(name)

    def _edges(self, values: Floats) -> Floats:
        """Return the borders of the intervals that are needed to hold the values."""
        if self.width is None:
            return np.array([-np.inf, *self.breaks, np.inf])
        if not values.size:
            return np.array([self.origin, self.origin + self.width])
        first, last = (int(np.floor((v - self.origin) / self.width)) for v in (values.min(), values.max()))
        if last - first >= MOST:
            raise ParameterError("width is too small", got=f"{last - first + 1} intervals", allowed=f"at most {MOST}")
        return self.origin + self.width * np.arange(first, last + 2, dtype=np.float64)


def _short(value: float) -> str:
    """Write a border without needless decimals."""
    return f"{value:.12g}"
