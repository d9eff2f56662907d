"""Single columns: figures by hand, without a value of the data in them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from naive import utility as naive
from unmask.utility.coding import both_coded
from unmask.utility.columns import compare_column


def told(x, y):
    return compare_column("x", 0.5, x, y, both_coded(x, y))


def test_numbers_by_hand():
    x = pl.Series(np.arange(1.0, 101.0))
    one = told(x, 2 * x + 10)
    sd = x.std()
    assert one.mean_shift == pytest.approx((111 - 50.5) / sd)
    assert one.sd_ratio == pytest.approx(2)
    assert one.quantile_shift == pytest.approx((2 * 95.05 + 10 - 95.05) / sd)  # the 95 % quantile moves most
    assert one.ks == pytest.approx(0.55)  # at 100: all of the original, 45 of the release
    assert (one.top_kept, one.top_shift, one.missing_shift) == (None, None, 0)


def test_categories_by_hand():
    x = pl.Series(["a"] * 50 + ["b"] * 30 + ["c"] * 20)
    y = pl.Series(["a"] * 40 + ["b"] * 30 + ["d"] * 20 + [None] * 10)
    one = told(x, y)
    assert one.overlap == pytest.approx(naive.overlap(x.to_list(), y.to_list())) == pytest.approx(0.7)
    assert one.top_kept == pytest.approx(2 / 3)
    assert one.top_shift == pytest.approx(-0.2)
    assert one.missing_shift == pytest.approx(0.1)
    assert (one.ks, one.mean_shift, one.sd_ratio, one.quantile_shift) == (None,) * 4


def test_gone_constant_and_empty():
    x = pl.Series([1.0, 1.0, 1.0])
    gone = compare_column("x", 0.0, x, None, both_coded(x, None))
    assert gone.overlap is gone.mean_shift is None
    assert told(x, x).mean_shift is None  # no sd to measure by
    empty = pl.Series([None, None], dtype=pl.String)
    assert told(empty, empty).top_kept is None
    assert told(empty, empty).overlap == 1
