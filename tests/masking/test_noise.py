from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.masking import CorrelatedNoise, MultiplicativeNoise, Noise


def table(n=20_000):
    rng = np.random.default_rng(0)
    a = rng.normal(5, 2, n)
    return pl.DataFrame({"a": a, "b": 3 * a + rng.normal(0, 1, n), "c": rng.exponential(7, n)})


@pytest.mark.parametrize("kappa", [0.1, 0.5, 3.0])
def test_sd_is_kappa_times_the_attributes(kappa):
    x = table().to_numpy()
    noise = Noise(kappa).apply(table(), 1).to_numpy() - x
    assert noise.std(axis=0) == pytest.approx(kappa * x.std(axis=0), rel=0.03)
    assert np.abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.03


def test_correlated_noise_keeps_correlations():
    x = table().to_numpy()
    noise = CorrelatedNoise(0.5).apply(table(), 1).to_numpy() - x
    covariance = np.cov(x.T)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(noise.T) - 0.25 * covariance) / scale).max() < 0.01


def test_multiplicative_noise_grows_with_the_value():
    x = table().with_columns(zero=pl.lit(0.0))
    y = MultiplicativeNoise(0.1).apply(x, 1)
    assert (y["c"] / x["c"]).std() == pytest.approx(0.1, rel=0.03)
    assert (y["c"] / x["c"]).mean() == pytest.approx(1, abs=0.01)
    assert y["zero"].unique().to_list() == [0.0]
