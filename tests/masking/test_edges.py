"""Edges of columns: rules that may be kept, and tails that are somebody's own values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.masking import Consistent, Noise
from unmask.masking.edges import kept_within, lower_edge


def test_an_edge_by_hand():
    assert lower_edge(np.array([18.0, 18, 18, 18, 18, 40])) == 18  # five equal values
    assert lower_edge(np.array([18.0, 18, 18, 18, 19, 40])) is None  # too few people to tell
    assert lower_edge(np.array([18.0, 18, 18, 18])) is None
    assert lower_edge(np.array([np.nan] * 3)) is None
    steps = np.arange(200.0)  # one apart: the five smallest span 4, as any five of the lowest quarter
    assert lower_edge(steps) == 2
    assert lower_edge(np.r_[steps[:1] - 4.0, steps[1:]]) == pytest.approx(1.2)  # 8 wide, usually 4.33: twice is 8.65
    assert lower_edge(np.r_[steps[:1] - 5.0, steps[1:]]) is None  # 9 wide, usually 4.41


@pytest.mark.parametrize("seed", range(5))
def test_adults_have_an_edge_and_heights_a_tail(seed):
    rng = np.random.default_rng(seed)
    ages, heights = rng.integers(18, 80, 400).astype(float), rng.normal(170, 9, 400).round()
    assert lower_edge(ages) == pytest.approx(18.3, abs=0.7)
    assert lower_edge(-ages) == pytest.approx(-78.7, abs=0.7)
    assert lower_edge(heights) is None
    assert lower_edge(-rng.lognormal(10, 1, 400)) is None  # the largest incomes


def test_noise_makes_no_children_of_adults():
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"age": rng.integers(18, 90, 300), "mark": rng.integers(1, 8, 300) * 10.0})
    raw, kept = Noise(0.5).apply(table, 1), Consistent(Noise(0.5)).apply(table, 1)
    assert raw["age"].min() < 18 <= kept["age"].min()
    assert raw["age"].max() > 89 >= kept["age"].max()
    assert (kept["mark"].min(), kept["mark"].max()) == (10.0, 70.0)
    inside = raw["age"].is_between(table["age"].min(), table["age"].max())
    assert kept["age"].filter(inside).equals(raw["age"].filter(inside))
    assert kept["age"].dtype == table["age"].dtype


def test_what_is_within_the_bounds_stays():
    before = np.arange(100.0)
    assert np.array_equal(kept_within(before[::-1], before, 0), before[::-1])
    moved = kept_within(np.array([-3.0, 0.5, 120, np.nan]), before, 0)
    assert np.array_equal(moved, [2, 0.5, 97, np.nan], equal_nan=True)
    assert np.array_equal(kept_within(before - 5, np.full(3, np.nan), 0), before - 5)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=150), st.integers(0, 3))
def test_nobody_is_moved_who_is_within(values, digits):
    before = np.array(values)
    around = np.r_[before, before.min() - 1, before.max() + 1]
    kept = kept_within(around, before, digits)
    assert np.array_equal(kept[:-2], before)
    assert (before.min() < 0) or kept.min() >= 0
    mirrored = kept_within(-around, -before, digits)
    assert np.array_equal(mirrored, -kept)
