"""Equivalence classes, once: records that look the same on the quasi-identifiers, counted where the data lives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from unmask.arrays import Floats, Ints, Table
from unmask.errors import TableError
from unmask.groups.counting.classes import Frame, check_keys, open_table, refuse_weights, select_keys

COUNT = "__unmask_size__"
GROUPS = "__unmask_groups__"


class Sizes(NamedTuple):
    """How many groups there are of each size, sizes ascending."""

    size: Ints
    groups: Ints

    @property
    def n_records(self) -> int:
        """n, the records in all groups."""
        return int((self.size * self.groups).sum())

    @property
    def n_groups(self) -> int:
        """G, the groups."""
        return int(self.groups.sum())


def group_sizes(table: Table, quasi: Iterable[str], weight: str | None = None) -> Sizes:
    """Count the groups of every size. Missing is a value of its own: null equals null.

    With a weight, the size of a group is the number of people it stands for: the sum of the weights, rounded.
    """
    chosen, keys, size = _chosen(table, quasi, weight)
    weighed = [] if weight is None else [nw.col("w").min().alias("least"), nw.col("gap").sum()]
    worst = [] if weight is None else [nw.col("least").min(), nw.col("gap").sum()]
    sizes = chosen.group_by(keys).agg(size, *weighed)
    table_of_sizes = sizes.group_by(COUNT).agg(nw.len().alias(GROUPS), *worst).collect()
    counts = table_of_sizes[COUNT].to_numpy()
    if not counts.size:
        raise TableError("the table has no rows", hint="a table needs at least one row")
    groups = table_of_sizes[GROUPS].to_numpy().astype(np.int64)
    if weight is None:
        order = np.argsort(counts)
        return Sizes(counts[order].astype(np.int64), groups[order])
    least, gaps = table_of_sizes["least"].to_numpy().astype(np.float64), int(table_of_sizes["gap"].sum())
    refuse_weights(weight, gaps, int(groups[~np.isfinite(counts) | ~(least > 0)].sum()))
    whole, place = np.unique(_people(counts), return_inverse=True)
    return Sizes(whole, np.bincount(place.ravel(), groups).astype(np.int64))


def record_sizes(table: Table, quasi: Iterable[str], weight: str | None = None) -> Ints:
    """Size of each record's group, in the order of the table (a table that lives elsewhere is brought here)."""
    chosen, keys, size = _chosen(table, quasi, weight)
    sizes = chosen.collect().select(size.over(*keys).alias(COUNT))[COUNT].to_numpy()
    return sizes.astype(np.int64) if weight is None else _people(sizes)


def _chosen(table: Table, quasi: Iterable[str], weight: str | None) -> tuple[Frame, list[str], nw.Expr]:
    """The keys (NaN is missing) as k0, k1, ..., and what a group's size is."""
    names = check_keys(quasi)
    frame = open_table(table, quasi=names, weight=[weight] if weight is not None else []).lazy()
    size = nw.len() if weight is None else nw.col("w").sum()
    return select_keys(frame, names, weight), [f"k{i}" for i in range(len(names))], size.alias(COUNT)


def _people(sums: Floats) -> Ints:
    return np.maximum(1, np.rint(sums)).astype(np.int64)
