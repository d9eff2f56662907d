"""PRAM, the post-randomisation method: categories change at random by a known transition matrix [PRAM]_."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.masking.base import Masking, as_polars, check_seed, generator, known, names_people, refuse_names, within


@dataclass(frozen=True)
class Pram(Masking):
    """Redraw each category with probability `p`.

    By default a redrawn value goes to each *other* category of the column with the same probability, so that a share
    p of the values changes. With `invariant`, it is drawn from the column's own frequencies: the expected frequencies
    are then those of the original (pi P = pi), and a share p (1 - sum pi^2) changes.
    """

    p: float
    invariant: bool = False
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "pram"

    def _check(self) -> None:
        within("p", self.p, 0, 1)

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Redraw the named columns, or every column of strings, categories or truth values that holds no names."""
        frame = as_polars(table)
        if self.columns is None:
            names = tuple(name for name in categorical(frame) if not names_people(frame[name]))
        else:
            names = known(frame, self.columns)
            refuse_names(frame, names, "pram")
        return frame.with_columns([self._redrawn(frame[name], generator(check_seed(seed), name)) for name in names])

    def _redrawn(self, column: pl.Series, rng: np.random.Generator) -> pl.Series:
        values = column.drop_nulls().unique().sort()  # sorted: the draw does not depend on the order of appearance
        codes = _codes(column, values)
        present = np.flatnonzero(codes >= 0)
        if values.len() < 2:
            return column
        drawn = codes.copy()
        moved = present[rng.random(codes.size)[present] < self.p]
        if self.invariant:
            drawn[moved] = codes[rng.choice(present, moved.size)]
        else:  # one of the others: step over the value itself
            drawn[moved] = (codes[moved] + rng.integers(1, values.len(), moved.size)) % values.len()
        return values.gather(pl.Series(drawn, dtype=pl.Int64).set(pl.Series(drawn < 0), None)).alias(column.name)


def transition_matrix(frequencies: Ints, p: float, *, invariant: bool) -> Floats:
    """Return P, rows = original category, columns = released category: what `Pram` draws by, for intruders and checks.

    `Pram` itself never makes it: a column may have as many categories as records.
    """
    size = frequencies.size
    if invariant:
        share = frequencies / frequencies.sum()
        kept: Floats = (1 - p) * np.eye(size) + p * np.tile(share, (size, 1))
        return kept
    moved: Floats = (1 - p) * np.eye(size) + p / (size - 1) * (1 - np.eye(size))
    return moved


def categorical(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the columns of strings, categories and truth values."""
    kinds = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
    return tuple(name for name, kind in frame.schema.items() if isinstance(kind, kinds))


def _codes(column: pl.Series, values: pl.Series) -> Ints:
    """Return the position of each value among the sorted distinct ones, -1 where missing."""
    positions = pl.DataFrame({"value": values, "code": np.arange(values.len())})
    coded = pl.DataFrame({"value": column}).join(positions, on="value", how="left", maintain_order="left")
    return coded["code"].fill_null(-1).to_numpy()
