"""Probabilistic information loss: the definitions, what sampling alone does, and bounds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from naive import utility as naive
from unmask import datasets, information_loss, parse_masking
from unmask.errors import RoleError
from unmask.utility.information_loss import loss_of


def test_equals_the_definitions():
    rng = np.random.default_rng(4)
    x = rng.lognormal(size=(60, 2))
    x[:, 1] += x[:, 0]
    y = x + rng.normal(0, 0.05, x.shape)
    found = loss_of(x, y)
    means = [naive.loss_of_mean(x[:, j].tolist(), y[:, j].tolist()) for j in range(2)]
    assert found.means == pytest.approx(np.mean(means))
    variances = [
        naive.loss_of_mean(((x - x.mean(0)) ** 2)[:, j].tolist(), ((y - y.mean(0)) ** 2)[:, j].tolist())
        for j in range(2)
    ]
    assert found.variances == pytest.approx(np.mean(variances))
    product = [((side - side.mean(0))[:, 0] * (side - side.mean(0))[:, 1]).tolist() for side in (x, y)]
    assert found.covariances == pytest.approx(naive.loss_of_mean(*product))
    both = naive.loss_of_correlation(x[:, 0].tolist(), x[:, 1].tolist(), y[:, 0].tolist(), y[:, 1].tolist())
    assert found.correlations == pytest.approx(both)


def test_another_sample_loses_what_chance_gives():
    """|Z| between two samples is that of one times sqrt(2): on average the loss is 2 arctan(sqrt 2) / pi, 0.61."""
    rng = np.random.default_rng(5)
    found = [loss_of(*rng.normal(size=(2, 300, 3))) for _ in range(60)]
    for kind in ("means", "variances", "covariances", "correlations", "quantiles"):
        assert np.mean([getattr(one, kind) for one in found]) == pytest.approx(0.61, abs=0.06), kind


@pytest.mark.parametrize("masking", ["noise({})", "multiplicative_noise({})"])
def test_none_for_the_same_more_for_stronger_and_bounded(masking):
    people = datasets.census(300)
    assert information_loss(people, people).value == 0
    losses = [information_loss(people, parse_masking(masking.format(s)).apply(people, 1)).value for s in (0.05, 0.5, 3)]
    assert 0 < losses[0] < losses[1] < losses[2] <= 1


def test_degenerate_tables():
    one = pl.DataFrame({"a": [1.0, 2.0, 3.0], "w": ["x", "y", "z"]})
    found = information_loss(one, one.with_columns(pl.col("a") + 100))
    assert found.means == pytest.approx(1)
    assert 0.6 < found.quantiles < 1  # of three values a quantile is hardly known
    assert found.covariances is found.correlations is None
    flat = pl.DataFrame({"a": [1.0, 1.0], "b": [1.0, 2.0]})
    assert information_loss(flat, flat).value == 0
    assert information_loss(flat, flat.with_columns(a=pl.lit(2.0))).means == 0.5  # a constant moved: no sampling does
    with pytest.raises(RoleError, match="no column is numeric"):
        information_loss(one.select("w"), one.select("w"))
