"""A table drawn from a noisy histogram: differentially private as a whole, with people of no table in it [DWORK]_.

The cells are stated, not read from the data: every combination of bands and categories has a count, most of them 0, and
each gets geometric noise. New rows are drawn from what is above 0, as many as the noisy counts add up to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError, TableError
from unmask.masking.base import as_polars, at_least, check_seed, encoded, known
from unmask.masking.generalising import as_text
from unmask.masking.private import REMOVED, Claim, Private, refuse_gaps
from unmask.masking.secret import two_sided_geometric, uniforms

MOST_CELLS = 1_000_000
HINT = "dp_histogram(1, [(age, 0, 100, 10), (sex, [f, m])]): least, largest and number of bands, or all categories"


class Axis(NamedTuple):
    """One column: its bands by their edges, or its categories."""

    name: str
    edges: Floats | None
    words: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of bands or categories."""
        return len(self.words) if self.edges is None else len(self.edges) - 1

    def places(self, column: pl.Series) -> Ints:
        """The band or category of each row."""
        if self.edges is not None:
            refuse_gaps(column)
            self.spans(column)
            at = np.searchsorted(self.edges, encoded(column), "right") - 1
            return np.asarray(np.clip(at, 0, self.size - 1))
        book = {word: k for k, word in enumerate(self.words)}
        at = np.array([book.get(word, -1) for word in as_text(column)], dtype=np.int64)
        if (at < 0).any():
            raise TableError(
                f"column {self.name!r} has cells that are none of the stated categories",
                got=f"{int((at < 0).sum()):,} cells", hint="state every category that may occur; fill missing cells",
            )  # fmt: skip
        return at

    def values(self, column: pl.Series, places: Ints, lots: Floats) -> pl.Series:
        """A value for each place: the category, or a number by lot within the band."""
        if self.edges is None:
            return pl.Series(self.name, [self.words[k] for k in places], dtype=pl.String).cast(column.dtype)
        low, high = self.spans(column)
        if column.dtype.is_integer():
            drawn = low[places] + np.floor(lots * (high - low + 1)[places])
            return pl.Series(self.name, drawn).cast(pl.Int64)
        return pl.Series(self.name, low[places] + lots * (high - low)[places])

    def spans(self, column: pl.Series) -> tuple[Floats, Floats]:
        """Least and largest number of each band; of whole numbers, those within."""
        edges = np.asarray(self.edges)
        if not column.dtype.is_integer():
            return edges[:-1], edges[1:]
        low, high = np.ceil(edges[:-1]), np.ceil(edges[1:]) - 1
        high[-1] = np.floor(edges[-1])
        if (low > high).any():
            raise ParameterError(f"bands of {self.name!r} hold no whole number", hint="ask for fewer bands")
        return low, high


@dataclass(frozen=True)
class PrivateHistogram(Private):
    """Draw new rows from a histogram with geometric noise: epsilon for the presence of a person.

    ``cells``: for each column that is published its least and largest value and the number of bands, or its
    categories; all other columns are left out. ``rows``: how many are drawn; 0: as many as the noisy counts add up to.
    """

    epsilon: float
    cells: tuple[Any, ...]
    rows: int = 0
    family: ClassVar[str] = "dp_histogram"
    keeps_people: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Cells name the columns: there is no other list of them."""
        self._check()

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns that are published."""
        return tuple(str(cell[0]) for cell in self.cells)

    @property
    def claim(self) -> Claim:
        """The whole table: one person more or less moves one count by one."""
        return Claim(self.epsilon, 0.0, self.columns, REMOVED)

    def _check(self) -> None:
        at_least("epsilon", self.epsilon, 0, strict=True)
        at_least("rows", self.rows, 0)
        given: Any = self.cells
        listed = (given,) if given and isinstance(given[0], str) else tuple(given or ())
        axes = [_axis(one) for one in listed]
        if not axes or len({axis.name for axis in axes}) < len(axes):
            raise ParameterError("cells are missing, or name a column twice", hint=HINT)
        object.__setattr__(self, "cells", listed)
        number = int(np.prod([float(axis.size) for axis in axes]))
        if number > MOST_CELLS:
            raise ParameterError(
                "the histogram has too many cells", got=f"{number:,}", allowed=f"up to {MOST_CELLS:,}",
                hint="fewer columns, or wider bands: in cells that are nearly all empty noise is all there is",
            )  # fmt: skip

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Count, add noise, and draw new rows."""
        frame, seed = as_polars(table), check_seed(seed)
        known(frame, self.columns)
        axes = [_axis(cell) for cell in self.cells]
        counts = self.noisy(frame, axes, seed)
        weights = np.maximum(counts, 0).astype(np.float64)
        weights = weights if weights.any() else np.ones_like(weights)
        n = self.rows or max(0, int(counts.sum()))
        total = np.cumsum(weights)
        drawn = np.searchsorted(total, uniforms(seed, "dp_histogram rows", n) * total[-1], "right")
        places = np.unravel_index(np.minimum(drawn, counts.size - 1), [axis.size for axis in axes])
        return pl.DataFrame([
            axis.values(frame[axis.name], place, uniforms(seed, f"dp_histogram value {axis.name}", n))
            for axis, place in zip(axes, places, strict=True)
        ])  # fmt: skip

    def noisy(self, frame: pl.DataFrame, axes: list[Axis], seed: int) -> Ints:
        """The count of every cell, with noise."""
        sizes = [axis.size for axis in axes]
        flat = np.ravel_multi_index([axis.places(frame[axis.name]) for axis in axes], sizes)
        counts = np.bincount(flat, minlength=int(np.prod(sizes)))
        noise = two_sided_geometric(seed, "dp_histogram counts", counts.size, 1 / self.epsilon)
        return np.asarray(counts + noise)


def _axis(given: Any) -> Axis:  # noqa: ANN401 - whatever was written
    listed = isinstance(given, tuple | list) and len(given) in {2, 4} and isinstance(given[0], str)
    if listed and len(given) == 2 and isinstance(given[1], tuple | list) and given[1]:
        words = tuple(str(word) for word in given[1])
        if len(set(words)) == len(words):
            return Axis(given[0], None, words)
    numbers = listed and len(given) == 4 and not any(isinstance(part, bool | str) for part in given[1:])
    if numbers and np.isfinite(given[1:]).all() and given[1] < given[2] and given[3] >= 1 and given[3] == int(given[3]):
        low, high, bands = given[1:]
        return Axis(given[0], low + (high - low) * np.arange(int(bands) + 1) / int(bands), ())
    raise ParameterError("a column of a histogram is stated by its bands or by its categories", hint=HINT)
