"""Lots of rows: by what rows contain, not by where they or their columns stand, nor by units, names or labels.

People are split into those who teach and those who are looked for by lot. A lot that followed a name or a label would
give another result for the same table told otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column

    Ints = NDArray[np.int64]
    Marks = NDArray[np.uint64]

SPREAD = np.uint64(0x9E3779B97F4A7C15)


def contents(columns: Sequence[Column]) -> Marks:
    """A number for each row, the same for rows that contain the same and for no others."""
    return mixed(sum((scattered(column.code + 1, place) for place, column in enumerate(columns)), nothing(columns)))


def lots(columns: Sequence[Column], seed: int) -> Marks:
    """A random number for each row. Columns come in an order that follows what they hold (`by_content`).

    A number is known by its rank, a word by how many rows have it and by what else these rows contain; so words that
    are alike in all of this have one lot.
    """
    keys = range(seed * len(columns), (seed + 1) * len(columns))
    total = sum((scattered(_ranks(c), key) for key, c in zip(keys, columns, strict=True)), nothing(columns))
    first = mixed(total)
    words = [(key, column) for key, column in zip(keys, columns, strict=True) if not _is_ordered(column)]
    return mixed(sum((scattered(_company(column, first), key) for key, column in words), total))


def nothing(columns: Sequence[Column]) -> Marks:
    """A zero for each row."""
    return np.zeros(len(columns[0]), dtype=np.uint64)


def with_group(mark: Marks, groups: Ints) -> Marks:
    """Marks of rows that also depend on what the rows of their group contain."""
    total = np.zeros(int(groups.max()) + 1, dtype=np.uint64)
    np.add.at(total, groups, mark)
    return mixed(mark + mixed(total[groups]))


def _is_ordered(column: Column) -> bool:
    """Whether each cell is a number, or missing."""
    return bool(np.isfinite(column.number[~column.missing]).all())


def _ranks(column: Column) -> Ints:
    """Rank of a number, or how many rows have a word; 0 for a missing cell."""
    if not _is_ordered(column):
        return np.where(column.missing, 0, np.bincount(column.code + 1)[column.code + 1])
    return np.where(column.missing, 0, np.unique(column.number, return_inverse=True)[1].ravel() + 1)


def _company(column: Column, lot: Marks) -> Marks:
    """For each row a number of all rows that have its word."""
    total = np.zeros(len(column.words) + 1, dtype=np.uint64)
    np.add.at(total, column.code, lot)
    return total[column.code]


def scattered(values: Ints | Marks, key: int) -> Marks:
    """Numbers without any order, others for each key."""
    return mixed(mixed(values.astype(np.uint64) * SPREAD) + mixed(np.array([key + 1], dtype=np.uint64) * SPREAD))


def mixed(total: Marks) -> Marks:
    """Change every digit by every other."""
    changed = total ^ (total >> np.uint64(31))
    changed *= SPREAD
    return np.asarray(changed ^ (changed >> np.uint64(29)), dtype=np.uint64)
