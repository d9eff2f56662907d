"""Both versions of a column on one codebook: numbers between quantiles of the original, categories by their text."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.arrays import Codes, Floats
from unmask.errors import UnmaskError
from unmask.utility.analyses import numbers

BINS, LEVELS = 10, 30  # of numbers between quantiles; of categories, the rarer ones together


def both_coded(x: pl.Series, y: pl.Series | None) -> tuple[Codes, Codes | None]:
    """Both versions of a column as codes: the same code for the same value; -1 where nothing is there."""
    try:
        a, b = numbers(x), None if y is None else numbers(y)
    except UnmaskError:
        return _levels(x, y)
    if np.unique(a[~np.isnan(a)]).size <= BINS:
        return _levels(pl.Series(a), None if b is None else pl.Series(b))
    edges = np.unique(np.quantile(a[~np.isnan(a)], np.linspace(0, 1, BINS + 1)[1:-1]))
    return _binned(a, edges), None if b is None else _binned(b, edges)


def _binned(values: Floats, edges: Floats) -> Codes:
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right")).astype(np.int32)


def _levels(x: pl.Series, y: pl.Series | None) -> tuple[Codes, Codes | None]:
    """Categories by their text; those beyond the commonest of each side are one."""
    sides = [x.cast(pl.String)] if y is None else [x.cast(pl.String), y.cast(pl.String)]
    common: dict[str, int] = {}
    for side in sides:
        counted = sorted(side.drop_nulls().alias("").value_counts().rows(), key=lambda row: (-row[1], row[0]))
        for value, _ in counted[:LEVELS]:
            common.setdefault(value, len(common))
    other = len(common)
    coded = [
        side.replace_strict(common, default=other, return_dtype=pl.Int32).set(side.is_null(), -1).to_numpy()
        if common
        else np.full(len(side), -1, dtype=np.int32)
        for side in sides
    ]
    return coded[0], coded[1] if y is not None else None
