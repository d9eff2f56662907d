"""One codebook for both versions of a column."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.utility.coding import BINS, LEVELS, both_coded


def test_numbers_fall_between_quantiles_of_the_original():
    x = pl.Series("x", np.arange(100.0))
    codes, moved = both_coded(x, x + 1000)
    assert np.bincount(codes).tolist() == [10] * BINS
    assert set(moved) == {BINS - 1}
    assert both_coded(x, None)[1] is None
    assert np.array_equal(both_coded(x, None)[0], codes)  # a column that is gone is counted as it was


def test_intervals_count_with_their_middle():
    x, y = (
        pl.Series([float(k) for k in range(100)]),
        pl.Series([f"[{k // 10 * 10}, {k // 10 * 10 + 10})" for k in range(100)]),
    )
    a, b = both_coded(x, y)
    assert np.mean(a == b) > 0.9


def test_missing_is_a_code_and_rare_words_are_one():
    words = pl.Series([None, *(f"w{k}" for k in range(LEVELS + 5))])
    codes, _ = both_coded(words, words)
    assert codes[0] == -1
    assert codes.max() == LEVELS
    assert (codes == LEVELS).sum() == 5
