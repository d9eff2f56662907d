"""Global recoding: numbers become intervals such as "[30, 40)", in order [SDC]_ section 3.4."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, at_least, chosen, matrix

MOST = 100_000  # intervals per column: beyond that nothing is being recoded


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
