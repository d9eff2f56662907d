"""Microaggregation: groups of at least k records, each value replaced by its group's mean [SDC]_ section 3.3.

`mdav` groups on all columns at once [MDAV]_, `univariate` every column by itself, optimally [HANS]_, `projection` on
the first principal component. Means are released as they are: integer columns become floats, column means are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError, check_name
from unmask.masking.base import ValueMasking

METHODS = ("mdav", "univariate", "projection")


@dataclass(frozen=True)
class Microaggregation(ValueMasking):
    """Replace values by means over groups of at least `k` (all records, when there are fewer than 2k)."""

    k: int
    method: str = "mdav"
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "microaggregation"
    integers_stay: ClassVar[bool] = False

    def _check(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ParameterError("k is not a group size", got=repr(self.k), allowed="an integer, 1 or more")
        check_name(self.method, METHODS, "method is unknown")

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:  # noqa: ARG002  (nothing random)
        if not values.size:
            return values
        if self.method == "univariate":
            return np.column_stack([_univariate(values[:, j], self.k) for j in range(len(names))])
        scaled = standardised(values)
        groups = mdav_groups(scaled, self.k) if self.method == "mdav" else _projected(scaled, self.k)
        return np.column_stack([group_means(values[:, j], groups) for j in range(len(names))])


def mdav_groups(scaled: Floats, k: int) -> Ints:
    """Return the MDAV group of each record of a matrix without missing values."""
    from unmask.kernels.masking import mdav  # noqa: PLC0415  (numba is imported when first needed)

    groups: Ints = mdav(np.ascontiguousarray(scaled), k)
    return groups


def standardised(values: Floats) -> Floats:
    """Centre and scale by population sd, constants to 0; missing values become 0, the attribute's mean."""
    scaled = np.zeros_like(values)
    for j in range(values.shape[1]):
        present = ~np.isnan(values[:, j])
        column = values[present, j]
        if column.size and np.ptp(column) > 0:
            scaled[present, j] = (column - column.mean()) / column.std()
    return scaled


def group_means(column: Floats, groups: Ints) -> Floats:
    """Replace each value by the mean of those present in its group; missing values stay missing."""
    present = ~np.isnan(column)
    size = groups.max() + 1
    total = np.bincount(groups[present], weights=column[present], minlength=size)
    count = np.bincount(groups[present], minlength=size)
    means = total / np.maximum(count, 1)
    result: Floats = np.where(present, means[groups], np.nan)
    return result


def _univariate(column: Floats, k: int) -> Floats:
    """Group one column optimally among its present values."""
    present = np.flatnonzero(~np.isnan(column))
    result = column.copy()
    if present.size:
        result[present] = group_means(column[present], _line_groups(column[present], k))
    return result


def _line_groups(line: Floats, k: int) -> Ints:
    """Return the optimal groups of points on a line."""
    from unmask.kernels.masking import optimal_partition  # noqa: PLC0415

    order = np.argsort(line, kind="stable")
    groups = np.empty(line.size, np.int64)
    groups[order] = optimal_partition(line[order], k)
    return groups


def _projected(scaled: Floats, k: int) -> Ints:
    """Group records by their first principal component."""
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    return _line_groups(scaled @ vectors[:, -1], k)
