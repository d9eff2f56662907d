"""Rows in the order of what they hold: as a sort by all columns, the first one first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tables.canonical import canonical_order


def by_all_columns(*blocks):
    columns = [block[:, k] for block in blocks for k in range(block.shape[1])]
    return np.lexsort(tuple(reversed(columns))) if columns else np.arange(len(blocks[0]))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(0, 40), p=st.integers(0, 4), q=st.integers(0, 3))
def test_equal_to_a_sort_by_all_columns(seed, n, p, q):
    """Few values, so that most rows are told apart late or not at all; missing values and two zeros."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice([-1.0, -0.0, 0.0, 2.5, np.nan], (n, p))
    codes = rng.integers(-1, 2, (n, q)).astype(np.int32)
    assert np.array_equal(canonical_order(numbers, codes), by_all_columns(numbers, codes))
