"""An order of rows by what they hold: never by where they stand in a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Ints


def canonical_order(*blocks: NDArray[Any]) -> Ints:
    """Order of rows by their whole content, so that what is random among equal values does not follow the file."""
    order = np.arange(blocks[0].shape[0], dtype=np.int64)
    group, tied = np.zeros_like(order), np.arange(order.size)  # of each place, and places that are not told apart yet
    for column in (block[:, k] for block in blocks for k in range(block.shape[1])):
        values, groups = column[order[tied]], group[tied]
        moved = np.lexsort((values, groups))
        order[tied], values = order[tied][moved], values[moved]
        fresh = np.append(True, (groups[1:] != groups[:-1]) | _differ(values[1:], values[:-1]))[: tied.size]
        group[tied] = np.cumsum(fresh)
        tied = tied[~(fresh & np.append(fresh[1:], True))]  # most rows are told apart by a column or two
        if not tied.size:
            break
    return order


def _differ(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values differ; missing equals missing."""
    return np.asarray((left != right) & ((left == left) | (right == right)))  # noqa: PLR0124 - NaN does not equal itself
