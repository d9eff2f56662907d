"""Columns of both tables as levels: numbers from 0, the same on both sides, the last for a missing value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats
from unmask.tables import Encoding

MOST = 2048  # levels of a number: beyond, near ones are one; of a category: beyond, only equality counts
GAPS = "days since the row before"


class Columns(NamedTuple):
    """Rows of both sides as levels of each column."""

    names: tuple[str, ...]
    one: Codes  # rows of the original x columns
    two: Codes
    values: tuple[Floats, ...]  # of each column the number at each level; NaN for a missing one, and for categories
    numeric: tuple[bool, ...]

    @property
    def wide(self) -> tuple[bool, ...]:
        """Columns with more categories than a table of all pairs can hold."""
        return tuple(not number and v.size > MOST + 1 for number, v in zip(self.numeric, self.values, strict=True))


def columns_of(encoding: Encoding, gaps: tuple[Floats, Floats] | None) -> Columns:
    """Turn an encoding into levels; ``gaps``: one number more of each row of both sides."""
    parts = [(name, *encoding.columns(name), name in encoding.numeric_names) for name in encoding.names]
    if gaps is not None:
        parts.append((GAPS, *gaps, True))
    made = [_levels(left, right, numeric=number) for _, left, right, number in parts]
    one, two = (np.ascontiguousarray(np.column_stack([level[side] for level in made])) for side in (0, 1))
    return Columns(
        tuple(part[0] for part in parts), one.astype(np.int32), two.astype(np.int32),
        tuple(level[2] for level in made), tuple(part[3] for part in parts),
    )  # fmt: skip


def _levels(left: Floats, right: Floats, *, numeric: bool) -> tuple[Codes, Codes, Floats]:
    """Levels of one column, and the number at each: of many different numbers, the mean of near ones."""
    both = np.concatenate([left, right]) + 0.0
    present = ~np.isnan(both)
    values, which = np.unique(both[present], return_inverse=True)
    if numeric and values.size > MOST:
        group = np.arange(values.size) * MOST // values.size
        values, which = np.bincount(group, values) / np.bincount(group), group[which.ravel()]
    codes = np.full(both.size, values.size, dtype=np.int32)
    codes[present] = which.ravel()
    shown = values if numeric else np.full(values.size, np.nan)
    return codes[: left.size], codes[left.size :], np.append(shown, np.nan)
