"""Released numbers and classes that follow one sum of columns, or a product or ratio, in a curve that nobody tells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.classes import graded
from unmask.linkage.channel.predictors import index, order_kept

CLASSES = np.array(["none", "some", "fair", "much", "most"])


def firms(n, rng):
    x = np.exp(np.cumsum(rng.normal(0, 0.2, (n, 4)), 1) + rng.normal(9, 1.5, (n, 1)))
    return pl.DataFrame({f"y{k}": np.round(x[:, k]) for k in range(4)})


def attack(known, published):
    number = pl.Series("id", np.arange(known.height))
    released = published.select(number, pl.all()).sample(fraction=1.0, shuffle=True, seed=4)
    return link_channel(Release(known.select(number, pl.all()), released, id="id"), curve=False)


@settings(deadline=None, max_examples=20)
@given(weights=st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0]), min_size=2, max_size=5), seed=st.integers(0, 99))
def test_the_sum_of_columns_that_a_curve_follows(weights, seed):
    """Whatever the curve, as long as it rises, the weights are found but for their common size."""
    wanted = np.array(weights)
    if not wanted.any():
        return
    z = np.random.default_rng(seed).normal(size=(200, wanted.size))
    for curve in (np.exp, np.cbrt, lambda u: np.round(2 * u)):
        found = order_kept(z, curve(z @ wanted / np.linalg.norm(wanted)))
        assert found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted) > 0.99


def test_classes_follow_each_other_whatever_they_are_called():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(300, 3))
    along = z @ [1.0, -1.0, 0.5]
    label = np.array([3, 0, 4, 1, 2])[np.digitize(along, [-1.5, -0.5, 0.5, 1.5])]
    place = graded(z[:200], label[:200], z)
    assert abs(np.corrcoef(place, along)[0, 1]) > 0.99


def test_no_column_goes_with_it_and_one_constant_column():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=50), np.full(50, 7.0)])
    assert np.isfinite(index(x, rng.normal(size=50), x)).all()
    assert np.isfinite(index(x[:, 1:], rng.normal(size=50), x[:, 1:])).all()
    assert np.isfinite(graded(x[:, 1:], np.arange(50) % 3, x[:, 1:])).all()


def test_rates_of_growth():
    """Changes in percent of amounts that are not released: only ratios of two columns tell them."""
    known = firms(160, np.random.default_rng(1))
    x = known.to_numpy()
    grown = pl.DataFrame({f"g{k}": np.round(100 * (x[:, k + 1] / x[:, k] - 1)) for k in range(3)})
    found = attack(known, grown)
    assert found.found.value >= 0.95
    assert "ratio" in found.columns[0].words


def test_classes_of_ratios():
    rng = np.random.default_rng(2)
    known = firms(200, rng)
    x = known.to_numpy()
    published = {}
    for k in range(3):
        ratio = np.log(x[:, k + 1] / x[:, k])
        published[f"class{k}"] = CLASSES[np.digitize(ratio, np.quantile(ratio, [0.2, 0.4, 0.6, 0.8]))]
    made = pl.DataFrame(published)
    crowd = float(made.select(1 / pl.len().over(made.columns)).to_series().mean())
    assert attack(known, made).found.value >= 0.85 * crowd


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 8))])
def test_strangers_under_other_names_are_chance(seed):
    rng = np.random.default_rng(seed)
    known, other = firms(120, rng), firms(120, rng).to_numpy()
    made = pl.DataFrame({"g": np.round(100 * (other[:, 1] / other[:, 0] - 1)), "c": CLASSES[rng.integers(0, 5, 120)]})
    assert attack(known, made).found.value < 0.06
