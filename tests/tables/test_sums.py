from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unmask.tables import sums
from unmask.tables.sums import centre_and_spread, total

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=40), st.randoms())
@example([1e308, 1.0, -1e308], None)
@example([1e16, 1.0, -1e16], None)
@example([5e-324, 5e-324, -5e-324], None)
def test_the_sum_is_exact_but_for_what_the_largest_number_hides(values, random):
    found = total(np.array(values))
    exact = sum(map(Fraction, values), Fraction(0))
    largest = max((abs(Fraction(value)) for value in values), default=Fraction(0))
    try:
        wanted = float(exact)
    except OverflowError:
        assert found == (math.inf if exact > 0 else -math.inf)
        return
    allowed = Fraction(math.ulp(wanted)) + largest * len(values) / 2**100
    assert math.isinf(found) or abs(Fraction(found) - exact) <= allowed
    if random is not None:
        random.shuffle(values)
        assert total(np.array(values)) == found


@pytest.mark.parametrize("n", [1, 7, sums.BLOCK, sums.BLOCK + 1, 100_003])
@pytest.mark.parametrize("size", [1e-300, 1e-3, 1.0, 1e12, 1e290])
def test_long_sums_are_those_of_fsum_in_any_order(n, size):
    rng = np.random.default_rng(n)
    values = rng.normal(0.3, 1.0, n) * size
    found = total(values)
    assert found == pytest.approx(math.fsum(values), rel=1e-15)
    assert total(rng.permutation(values)) == found
    assert total(values[::-1]) == found  # a view that runs backwards


def test_what_is_not_finite_is_told():
    assert total(np.array([1.0, math.inf])) == math.inf
    assert total(np.array([1.7e308, 1.7e308])) == math.inf
    assert total(np.array([-1.7e308, -1.7e308])) == -math.inf
    assert total(np.zeros(0)) == total(np.zeros(3)) == 0.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms())
def test_mean_and_sd_have_the_same_bits_in_any_order(values, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert centre_and_spread(np.array(values)) == centre_and_spread(np.array(shuffled))
    mean, sd = centre_and_spread(np.array([*values, np.nan]))
    assert mean == pytest.approx(np.mean(values), abs=1e-6)
    assert sd == pytest.approx(np.std(values, ddof=1) if len(values) > 1 else 0.0, abs=1e-4)


@given(finite, st.integers(1, 40))
@example(0.1, 3)
def test_equal_values_have_no_spread(value, n):
    """Three times 0.1 is not 0.3: a mean that is rounded would leave the column a spread of its own rounding."""
    assert centre_and_spread(np.full(n, value)) == (value, 0.0)


def test_nothing_has_neither_mean_nor_spread():
    assert centre_and_spread(np.array([np.nan, np.nan])) == centre_and_spread(np.zeros(0)) == (0.0, 0.0)


def test_values_are_left_as_they_are():
    values = np.array([3.0, 1.0, 2.0])
    centre_and_spread(values)
    assert values.tolist() == [3.0, 1.0, 2.0]
