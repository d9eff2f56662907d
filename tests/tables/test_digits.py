from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tables import digits


def how_near(a, b):
    """The definition, pair by pair: the mean distance of changed values against that of all pairs that differ."""
    every = [abs(x - y) for x in a for y in b if x != y]
    return np.mean([abs(x - y) for x, y in zip(a, b, strict=True)]) / np.mean(every)


@settings(max_examples=100, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9)).filter(lambda pair: pair[0] != pair[1]), min_size=1
    ),
    shift=st.sampled_from([0.0, 20_000.0, 1e12]),
    unit=st.sampled_from([1.0, 0.1, 1000.0]),
)
def test_distances_are_those_of_all_pairs(pairs, shift, unit):
    a, b = (np.array(side, dtype=float) * unit + shift for side in zip(*pairs, strict=True))
    assert digits._how_near(a, b) == pytest.approx(how_near(a, b), rel=1e-9)


def test_four_pairs_by_hand():
    a, b = np.array([0.0, 0.0, 10.0, 10.0]), np.array([1.0, 10.0, 9.0, 0.0])
    # changed by 1, 10, 1, 10; of the 16 pairs 4 are equal, the others 1, 10 and 9 apart
    assert digits._how_near(a, b) == pytest.approx(5.5 / np.mean([1, 10, 9] * 2 + [9, 1, 10] * 2))


@pytest.mark.parametrize(("noise", "near"), [(3, True), (0, False)])
def test_noise_moves_nearby_and_lots_anywhere(noise, near):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 500, 5000)
    b = a + rng.integers(-noise, noise + 1, 5000) if noise else rng.permutation(a)
    assert digits.moved_nearby(a.astype(float), b.astype(float)) is near
    rows = np.arange(5000)
    told = digits.moved_anywhere(pl.Series(a), pl.Series(np.where(rows % 2, a, b)), (rows, rows))
    assert told is (not near)
