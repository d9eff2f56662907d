from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ParameterError
from unmask.kernels.masking import swap_ranks
from unmask.masking import RankSwap, parse_masking


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 1000))
def test_partners_trade_within_the_window(n, window, seed):
    partner = swap_ranks(n, window, np.random.default_rng(seed).random(n))
    assert sorted(partner) == list(range(n))
    assert (partner[partner] == np.arange(n)).all()  # a swap is its own inverse
    assert np.abs(partner - np.arange(n)).max() <= window


@given(st.lists(st.integers(0, 30) | st.none(), min_size=1, max_size=80), st.floats(0, 1), st.integers(0, 9))
def test_keeps_the_marginal_and_moves_at_most_a_share(values, share, seed):
    x = pl.DataFrame({"a": pl.Series(values, dtype=pl.Int64)})
    y = RankSwap(share=share).apply(x, seed)["a"]
    assert y.sort().equals(x["a"].sort())
    assert y.is_null().equals(x["a"].is_null())
    low, high = (x["a"].rank(side).cast(pl.Int64) for side in ("min", "max"))
    new_low, new_high = (y.rank(side).cast(pl.Int64) for side in ("min", "max"))
    gap = pl.select(pl.max_horizontal(low - new_high, new_low - high, 0)).to_series().max() or 0
    assert gap <= share * x["a"].count() + 1e-9


def test_swaps_nearly_everything():
    x = pl.DataFrame({"a": np.random.default_rng(0).normal(size=2000)})
    y = RankSwap(share=0.05).apply(x, 0)
    moved = np.abs(x["a"].rank().to_numpy() - y["a"].rank().to_numpy())
    assert (moved > 0).mean() > 0.95
    assert moved.max() == pytest.approx(100, abs=2)


def test_whole_numbers_beyond_2_to_53_survive():
    x = pl.DataFrame({"a": pl.Series([2**60 + i for i in range(100)])})
    assert RankSwap(share=0.2).apply(x, 0)["a"].sort().equals(x["a"])


@pytest.mark.parametrize("p", [2, 5, 29, 100])
def test_percents_of_before_mean_what_they_meant_and_are_told(p):
    for text in (f"rank_swap({p})", f"rank_swap(p={p})", f"rank_swap({p}, columns=[a])", f"rank_swap({p}, [a])"):
        with pytest.warns(DeprecationWarning, match="share="):
            masking = parse_masking(text)
        assert masking == RankSwap(share=p / 100, columns=("a",) if "[a]" in text else None)
        assert parse_masking(str(masking)) == masking  # and is written as it is now


@pytest.mark.parametrize("text", ["rank_swap(0.5)", "rank_swap(1)", "rank_swap(p=0.05)", "chain([rank_swap(1.0)])"])
def test_a_number_that_may_be_a_percent_or_a_share_is_refused(text):
    with pytest.raises(ParameterError, match="can be either") as error:
        parse_masking(text)
    assert "share=" in str(error.value)


def test_a_share_is_given_once_and_by_name():
    for text in ("rank_swap(5, share=0.05)", "rank_swap(share=0.05, p=5)", "rank_swap(5, p=6)", "rank_swap(five)"):
        with pytest.raises(ParameterError, match="rank_swap"):
            parse_masking(text)
