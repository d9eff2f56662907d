"""What is equal as it is written is equal as it is read; a column of which reading lost that is left as it stands."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.tables.encode import as_text

KEPT = 0.9  # of the paired cells that are equal as they are written
DAYS = (pl.Date, pl.Datetime)
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
Both = tuple[pl.Series, pl.Series]


def loses(written: Both, read: Both, pairs: Pairs) -> bool:
    """Whether paired cells that are the same as they are written mostly are not as they were read."""
    before = equal(*written, pairs)
    return bool(before.sum() and (before & equal(*read, pairs)).sum() < KEPT * before.sum())


def equal(left: pl.Series, right: pl.Series, pairs: Pairs) -> NDArray[np.bool_]:
    """For each pair, whether both cells hold the same; missing is the same as missing."""
    if left.dtype != right.dtype:
        days = left.dtype in DAYS and right.dtype in DAYS
        left, right = (one.cast(pl.Datetime("us")) if days else as_text(one) for one in (left, right))
    return left[pairs[0]].eq_missing(right[pairs[1]]).to_numpy()
