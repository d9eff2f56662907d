"""What it costs to take a row for another, for an intruder who knows nobody.

Every column weighs the same: two rows at random differ by 1 in it on average. A category that differs costs one over
the share of pairs that differ, a number its squared difference over the mean of all (4 at most), a missing value 1. A
row that was left out, or put in, costs as much as half of the columns, so that a pair of rows costs no more than both.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.kernels.bags import Costs
from unmask.persons.columns import Columns
from unmask.tables import centre_and_spread

FARTHEST = 4.0  # times the mean: no single number decides
OWN_SCALE = 0.5  # share of released numbers that occur in the original, from which both are on one scale


def distances(columns: Columns, most: int) -> Costs:
    """Costs of all pairs of levels; ``most``: rows of the largest bag."""
    tables = [_table(columns, place) for place in range(len(columns.names))]
    used = sum(bool(table[0].any() or table[1] > 0) for table in tables)
    size = np.abs(np.arange(-most, most + 1)) * used / 2
    return as_costs(tables, columns, size, float(used))


def as_costs(tables: list[tuple[Floats, float]], columns: Columns, size: Floats, cap: float) -> Costs:
    """Put the tables of all columns into one array; of a wide column there is a list, and the cost of all others."""
    flats = [table.ravel().astype(np.float32) for table, _ in tables]
    widths = np.array([values.size for values in columns.values], dtype=np.int64)
    least = [
        np.minimum(table, other) if table.ndim == 1 else table.min(axis=1) for table, other in tables
    ]  # fmt: skip
    return Costs(
        np.concatenate(flats), _starts([flat.size for flat in flats]), widths,
        np.array(columns.wide, dtype=np.int8), np.array([other for _, other in tables], dtype=np.float64),
        np.concatenate(least).astype(np.float32), _starts([one.size for one in least]),
        np.asarray(size, dtype=np.float64), cap,
    )  # fmt: skip


def _starts(sizes: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def shares(codes: Codes, levels: int) -> Floats:
    """Share of the rows that have each level."""
    return np.asarray(np.bincount(codes, minlength=levels) / max(1, codes.size))


def _table(columns: Columns, place: int) -> tuple[Floats, float]:
    values, one, two = columns.values[place], columns.one[:, place], columns.two[:, place]
    left, right = (shares(codes, values.size)[:-1] for codes in (one, two))
    if columns.numeric[place]:
        return _numbers(values, one, two), 0.0
    differ = left.sum() * right.sum() - float(left @ right)
    cost = left.sum() * right.sum() / differ if differ > 1e-12 else 0.0
    missing = 1.0 if cost else 0.0
    if columns.wide[place]:
        return np.append(np.zeros(values.size - 1), missing), cost
    found = np.full((values.size, values.size), cost)
    np.fill_diagonal(found, 0.0)
    found[-1, :] = found[:, -1] = missing
    return found, 0.0


def _numbers(values: Floats, one: Codes, two: Codes) -> Floats:
    """Squared differences, each side on its own scale where they share few numbers."""
    there = two[two < values.size - 1]
    same = np.isin(there, one).mean() if there.size else 1.0
    left, right = values[:-1], values[:-1]
    if same < OWN_SCALE:
        (a, spread), (b, other) = (centre_and_spread(values[codes]) for codes in (one, two))
        left, right = (left - a) / (spread or other or 1.0), (right - b) / (other or spread or 1.0)
    p, q = (shares(codes, values.size)[:-1] for codes in (one, two))
    p, q = p / max(p.sum(), 1e-300), q / max(q.sum(), 1e-300)
    squares = (left[:, None] - right[None, :]) ** 2
    mean = float(p @ squares @ q)
    found = np.zeros((values.size, values.size))
    if mean > 0:
        found[:-1, :-1] = np.minimum(squares / mean, FARTHEST)
        found[-1, :] = found[:, -1] = 1.0
    return found
