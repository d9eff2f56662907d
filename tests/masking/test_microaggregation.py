from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.masking import least_sse
from naive.masking import mdav as naive_mdav
from reference import REFERENCE
from unmask.masking import Microaggregation
from unmask.masking.microaggregation import mdav_groups, standardised


@pytest.mark.casc
def test_equals_sdcmicro_5_8_1():
    """sdcMicro 5.8.1, microaggregation(method="mdav", aggr=3) on attributes scaled by population sd."""
    census = pl.read_csv(REFERENCE / "data/census.csv")
    golden = pl.read_csv(REFERENCE / "golden/mdav_census_k3.csv", infer_schema_length=None).cast(pl.Float64)
    masked = Microaggregation(3).apply(census)
    assert np.abs(masked.to_numpy() - golden.to_numpy()).max() < 1e-9
    x, y = census.to_numpy(), masked.to_numpy()
    sd = x.std(axis=0)
    share = (((x - y) / sd) ** 2).sum() / (((x - x.mean(axis=0)) / sd) ** 2).sum()
    scalars = json.loads((REFERENCE / "golden/scalars.json").read_text())
    assert share == pytest.approx(scalars["mdav_census_k3_SSE_over_SST"], abs=5e-7)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 70), st.integers(1, 6), st.integers(1, 5), st.integers(0, 1000))
def test_mdav_equals_its_twin(n, k, m, seed):
    values = np.random.default_rng(seed).normal(size=(n, m))
    groups = mdav_groups(values, k)
    assert {frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)} == set(naive_mdav(values, k))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=90), st.integers(1, 8))
def test_mdav_groups_have_k_members_under_ties(values, k):
    groups = mdav_groups(np.array(values, dtype=float)[:, None], k)
    sizes = np.bincount(groups)
    assert sizes.min() >= min(k, len(values))
    assert sizes.max() <= 2 * k - 1 or len(values) < 2 * k


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=11), st.integers(1, 4))
def test_univariate_is_optimal(values, k):
    x = pl.DataFrame({"a": pl.Series(values, dtype=pl.Float64)})
    y = Microaggregation(k, method="univariate").apply(x)
    assert ((x["a"] - y["a"]) ** 2).sum() == pytest.approx(least_sse(x["a"].to_numpy(), k), abs=1e-9)


@pytest.mark.parametrize("method", ["mdav", "univariate", "projection"])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_means_are_kept_and_values_repeat_k_times(method, k, people):
    masked = Microaggregation(k, method=method, columns=("age", "income")).apply(people)
    for name in ("age", "income"):
        assert masked[name].mean() == pytest.approx(people[name].mean(), rel=1e-12)
        assert masked[name].value_counts()["count"].min() >= k
        assert masked[name].std() < people[name].std()


def test_missing_values_stay_and_do_not_count(people):
    masked = Microaggregation(5, columns=("score",)).apply(people)["score"]
    assert masked.is_null().equals(people["score"].is_null())
    assert masked.mean() == pytest.approx(people["score"].mean(), abs=1e-12)


def test_standardised_constant_is_zero():
    assert (standardised(np.full((4, 1), 3.0)) == 0).all()
