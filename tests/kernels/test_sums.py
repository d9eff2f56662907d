"""Exact sums: the kernel's whole numbers against those of tables/sums.py, and so every mean and deviation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unmask.kernels.sums import added
from unmask.tables import sums
from unmask.tables.sums import centre_and_spread, total

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=40))
@example([1e308, -1e-308, 5e-324])
@example([-5e-324, 1e-310, 5e-324])
@example([1.7e308, 1.7e308])
@example([-1e-30, 1.0])
def test_sums_and_moments_are_those_of_the_definition(values):
    column = np.array(values)
    assert repr(total(column, added)) == repr(total(column))
    with np.errstate(over="ignore"):
        assert repr(centre_and_spread(column, added)) == repr(centre_and_spread(column))


@pytest.mark.parametrize("n", [1, sums.BLOCK + 1, 100_003])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e12, 1e150])
def test_long_columns(n, size):
    values = np.random.default_rng(n).normal(0.3, 1.0, n) * size
    values[n // 2 :] *= 1e-9
    assert total(values, added) == total(values) == total(values[::-1], added)
    assert centre_and_spread(np.append(values, np.nan), added) == centre_and_spread(values)
