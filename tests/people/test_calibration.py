"""Probabilities from hits: the definition written slowly, and simulations where the truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from unmask.people.calibration import (
    FEWEST,
    averaged_over_draws,
    calibration_error,
    fit_logistic,
    hits_among_alike,
    levelled,
    luck_of,
    reliability,
)

RNG = np.random.default_rng(5)


def test_weights_have_the_largest_penalised_likelihood():
    design = np.column_stack([np.ones(60), RNG.normal(size=(60, 2))])
    hits = RNG.choice([0.0, 0.5, 1.0], 60)

    def loss(w):
        chance = 1 / (1 + np.exp(-design @ w))
        likelihood = sum(h * np.log(p) + (1 - h) * np.log(1 - p) for h, p in zip(hits, chance, strict=True))
        return -likelihood + 0.5 * (1e-6 * w[0] ** 2 + w[1] ** 2 + w[2] ** 2)

    assert fit_logistic(design, hits) == pytest.approx(minimize(loss, np.zeros(3), tol=1e-12).x, abs=1e-4)
    assert fit_logistic(design, hits, np.array([1.0, -2.0, 3.0])) == pytest.approx(fit_logistic(design, hits), abs=1e-9)


def test_hits_of_one_draw_become_the_chance_of_the_next():
    """People whose true chance follows from how far apart they stand: hits miss it by far, the estimate does not."""
    errors, naive = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        apart = rng.normal(size=(500, 2))
        chance = 1 / (1 + np.exp(1 - 2 * apart[:, 0]))
        hits, fresh = (rng.random((2, 500)) < chance).astype(float)
        errors.append(np.abs(hits_among_alike(apart, hits) - chance).mean())
        naive.append(calibration_error(reliability(hits, fresh)))
        between = (np.abs(hits_among_alike(apart, hits) - 0.5)) < 0.1
        assert abs(fresh[between].mean() - 0.5) < 0.2
    assert np.mean(errors) < 0.03 and np.mean(naive) > 0.15


def test_nobody_teaches_their_own_probability():
    apart = RNG.normal(size=(200, 1))
    hits = (RNG.random(200) < 0.4).astype(float)
    other = hits.copy()
    other[17] = 1 - other[17]
    assert hits_among_alike(apart, hits)[17] == hits_among_alike(apart, other)[17]


def test_order_of_rows_makes_no_difference_and_few_people_get_the_mean():
    apart = np.round(RNG.normal(size=(120, 2)), 1)
    hits = (RNG.random(120) < 0.4).astype(float)
    order = RNG.permutation(120)
    assert hits_among_alike(apart, hits)[order] == pytest.approx(hits_among_alike(apart[order], hits[order]), abs=1e-9)
    few = hits[: FEWEST - 1]
    assert set(hits_among_alike(apart[: few.size], few)) == {few.mean()}
    assert set(hits_among_alike(np.zeros((120, 0)), hits)) == {hits.mean()}
    assert hits_among_alike(np.zeros((120, 2)), hits) == pytest.approx(np.full(120, hits.mean()))


@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=30), st.floats(0.05, 0.95))
def test_levelled_keeps_the_order_and_has_the_mean_of_the_hits(posterior, rate):
    posterior = np.array(posterior)
    told = levelled(posterior, np.full(posterior.size, rate))
    assert told.mean() == pytest.approx(rate, abs=1e-6)
    assert (np.diff(told[np.argsort(posterior)]) >= -1e-12).all()
    odds = np.log(told / (1 - told)) - np.log(posterior / (1 - posterior))
    assert odds == pytest.approx(np.full(odds.size, odds[0]), abs=1e-5)


@pytest.mark.parametrize("strength", [0.5, 3.0, 30.0])
def test_shares_of_draws_are_drawn_towards_the_prior_as_a_beta_law_says(strength):
    rng = np.random.default_rng(3)
    prior = rng.uniform(0.2, 0.8, 4000)
    chance = rng.beta(strength * prior, strength * (1 - prior))
    hits = (rng.random((6, 4000)) < chance).astype(float)
    told = averaged_over_draws(prior, hits)
    assert told == pytest.approx((strength * prior + hits.sum(0)) / (strength + 6), abs=0.05)
    assert calibration_error(reliability(told, (rng.random(4000) < chance).astype(float))) < 0.03


def test_without_chance_the_hits_are_the_risk_and_one_draw_changes_nothing():
    prior, hits = np.array([0.3, 0.6, 0.5]), np.array([1.0, 0.0, 1.0])
    assert averaged_over_draws(prior, np.tile(hits, (5, 1))) == pytest.approx(hits)
    assert averaged_over_draws(prior, hits[None]) is prior


def test_luck_is_how_much_of_a_coin_the_hits_are():
    rng = np.random.default_rng(2)
    chance = rng.uniform(0.1, 0.9, 5000)
    assert luck_of(chance, (rng.random(5000) < chance).astype(float)) == pytest.approx(1.0, abs=0.05)
    assert luck_of(chance, chance) == 0.0
    assert luck_of(np.array([0.5, 0.8]), np.array([0.0, 1.0])) == pytest.approx((0.25 + 0.04) / (0.25 + 0.16))
    assert luck_of(np.ones(3), np.ones(3)) == 0.0


def test_reliability_by_hand():
    bins = reliability(np.array([0.9, 0.1, 0.2, 0.8]), np.array([1.0, 0.0, 1.0, 1.0]), bins=2)
    assert [(round(b.risk, 9), b.found, b.n) for b in bins] == [(0.15, 0.5, 2), (0.85, 1.0, 2)]
    assert bins[0].low < 0.5 < bins[0].high
    assert calibration_error(bins) == pytest.approx((0.35 + 0.15) / 2)
    assert np.isnan(calibration_error(()))


def test_a_large_crowd_is_not_judged_by_the_few_who_are_not_in_it():
    features = np.vstack([np.zeros((95, 1)), np.arange(1, 6)[:, None]])
    hits = np.r_[np.tile([0.0, 0.0, 0.0, 0.0, 1.0], 19), np.ones(5)]
    found = hits_among_alike(features, hits)
    assert found[:95] == pytest.approx(np.full(95, 0.2))


def test_people_of_equal_risk_count_alike_in_every_bin():
    bins = reliability(np.full(100, 0.3), np.tile([1.0, 0, 0, 1, 0, 0, 1, 0, 0, 0], 10))
    assert [one.found for one in bins] == pytest.approx([0.3] * len(bins))
    assert calibration_error(bins) == pytest.approx(0)
