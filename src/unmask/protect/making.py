"""A masking carried out: the table that is published, and whose records it holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.masking import Chain, Sampling, parse_masking


def mask_around(table: pl.DataFrame, masking: str, seed: int, around: Sequence[str] = ()) -> tuple[pl.DataFrame, Rows]:
    """The masked table, and the row that each of its records came from: all of them, or those that a last step drew.

    ``around``: columns that the masking does not see and that stay where they are: a household's number, a weight.
    """
    masked, rows = _masked(table.drop(around), masking, seed)
    if not around:
        return masked, rows
    beside = masked.with_columns(table[name][rows] for name in around)
    first = [name for name in table.columns if name in beside.columns]
    return beside.select(*first, *(name for name in beside.columns if name not in first)), rows


def _masked(table: pl.DataFrame, masking: str, seed: int) -> tuple[pl.DataFrame, Rows]:
    everybody = np.arange(table.height)
    if not masking:
        return table, everybody
    parsed = parse_masking(masking)
    steps = parsed.maskings if isinstance(parsed, Chain) else (parsed,)
    drawn = steps[-1]
    if not isinstance(drawn, Sampling):
        return parsed.apply(table, seed), everybody
    rows = drawn.rows(table.height, seed + len(steps) - 1)
    before = Chain(steps[:-1]).apply(table, seed) if len(steps) > 1 else table
    return before[rows], rows
