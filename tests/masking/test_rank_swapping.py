from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.kernels.masking import swap_ranks
from unmask.masking import RankSwap


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 1000))
def test_partners_trade_within_the_window(n, window, seed):
    partner = swap_ranks(n, window, np.random.default_rng(seed).random(n))
    assert sorted(partner) == list(range(n))
    assert (partner[partner] == np.arange(n)).all()  # a swap is its own inverse
    assert np.abs(partner - np.arange(n)).max() <= window


@given(st.lists(st.integers(0, 30) | st.none(), min_size=1, max_size=80), st.floats(0, 100), st.integers(0, 9))
def test_keeps_the_marginal_and_moves_at_most_p_percent(values, p, seed):
    x = pl.DataFrame({"a": pl.Series(values, dtype=pl.Int64)})
    y = RankSwap(p).apply(x, seed)["a"]
    assert y.sort().equals(x["a"].sort())
    assert y.is_null().equals(x["a"].is_null())
    low, high = (x["a"].rank(side).cast(pl.Int64) for side in ("min", "max"))
    new_low, new_high = (y.rank(side).cast(pl.Int64) for side in ("min", "max"))
    gap = pl.select(pl.max_horizontal(low - new_high, new_low - high, 0)).to_series().max() or 0
    assert gap <= p * x["a"].count() / 100 + 1e-9


def test_swaps_nearly_everything():
    x = pl.DataFrame({"a": np.random.default_rng(0).normal(size=2000)})
    y = RankSwap(5).apply(x, 0)
    moved = np.abs(x["a"].rank().to_numpy() - y["a"].rank().to_numpy())
    assert (moved > 0).mean() > 0.95
    assert moved.max() == pytest.approx(100, abs=2)


def test_whole_numbers_beyond_2_to_53_survive():
    x = pl.DataFrame({"a": pl.Series([2**60 + i for i in range(100)])})
    assert RankSwap(20).apply(x, 0)["a"].sort().equals(x["a"])
