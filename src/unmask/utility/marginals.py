"""Marginals: how far each attribute's own distribution moved, by Kolmogorov-Smirnov and by Hellinger distance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import RoleError, check_name
from unmask.shown import Shown
from unmask.tables import to_floats
from unmask.utility.pairs import read_pair

BINS = 20  # of numeric attributes for Hellinger, at quantiles of the original


@dataclass(frozen=True, slots=True)
class Marginals(Shown):
    """Per attribute, the distance of its released from its original distribution: 0 alike, 1 nothing in common."""

    names: tuple[str, ...]
    ks: Floats  # NaN for attributes without an order
    hellinger: Floats  # missing is a value of its own

    @property
    def worst(self) -> str:
        """The attribute that moved most by Hellinger distance."""
        return self.names[int(np.argmax(self.hellinger))]


def compare_marginals(original: object, released: object, *, columns: Iterable[str] | None = None) -> Marginals:
    """Compare every shared column, or the named ones. Numbers and dates have both distances, categories Hellinger's."""
    left, right = read_pair(original, released)
    shared = [name for name in left.columns if name in right.columns]
    names = tuple(shared if columns is None else columns)
    for name in names:
        check_name(name, shared, f"no column {name!r} in both tables", RoleError)
    distances = [_compare(left[name], right[name]) for name in names]
    return Marginals(names, np.array([d[0] for d in distances]), np.array([d[1] for d in distances]))


def ks_distance(x: Floats, y: Floats) -> float:
    """Return the largest difference of the two distribution functions."""
    if not (x.size and y.size):
        return float(x.size != y.size)
    grid = np.concatenate([x, y])
    left = np.searchsorted(np.sort(x), grid, side="right") / x.size
    right = np.searchsorted(np.sort(y), grid, side="right") / y.size
    return float(np.abs(left - right).max())


def hellinger(p: Floats, q: Floats) -> float:
    """Return the Hellinger distance of two vectors of counts over the same cells."""
    share_p, share_q = p / p.sum(), q / q.sum()
    return float(np.sqrt(max(0.0, 1.0 - np.sqrt(share_p * share_q).sum())))


def _compare(x: pl.Series, y: pl.Series) -> tuple[float, float]:
    if _is_number(x) and _is_number(y):
        a, b = to_floats(x, x.name), to_floats(y, y.name)
        return ks_distance(a[~np.isnan(a)], b[~np.isnan(b)]), hellinger(*_binned(a, b))
    counts = pl.concat(
        [pl.DataFrame({"value": side.cast(pl.String), "side": place}) for place, side in enumerate((x, y))]
    )
    table = counts.group_by("value").agg(p=(pl.col("side") == 0).sum(), q=(pl.col("side") == 1).sum()).sort("value")
    return float("nan"), hellinger(table["p"].to_numpy().astype(float), table["q"].to_numpy().astype(float))


def _binned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Count both in bins between quantiles of the original; beyond its range and missing are cells of their own."""
    held = x[~np.isnan(x)]
    edges = np.unique(np.quantile(held, np.linspace(0, 1, BINS + 1), method="nearest")) if held.size else np.zeros(1)
    borders = np.append(edges, np.nextafter(edges[-1], np.inf))

    def counts(values: Floats) -> Floats:
        cells = np.where(np.isnan(values), borders.size + 1, np.searchsorted(borders, values, side="right"))
        return np.bincount(cells, minlength=borders.size + 2).astype(float)

    return counts(x), counts(y)


def _is_number(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype.is_temporal()
