from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import max_knowledge as naive
from unmask.max_knowledge.compare import (
    deniability,
    direction,
    false_link_rate,
    instance_p_value,
    ks_distance,
    ks_interval,
    ks_p_value,
    one_sided,
)

SAMPLES = st.lists(st.integers(0, 12), min_size=1, max_size=25)


@given(SAMPLES, SAMPLES)
def test_ks_equals_its_twin(a, b):
    assert ks_distance(np.array(a, float), np.array(b, float)) == pytest.approx(naive.ks(a, b))


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=25))
def test_false_link_rate_equals_its_twin(chances):
    assert false_link_rate(np.array(chances)) == pytest.approx(naive.false_link_rate(chances))


def test_direction_in_words():
    rng = np.random.default_rng(0)
    near, far = rng.normal(5, 1, 300), rng.normal(9, 1, 300)
    assert one_sided(near, far)[0] > 0.9
    assert direction(near, far, ks_p_value(near, far, 0)) == "disclosive"
    assert direction(far, near, ks_p_value(far, near, 0)) == "over-protected"
    assert direction(near, near, ks_p_value(near, near, 0)) == "none"


@pytest.mark.slow
def test_p_value_is_calibrated():
    rng = np.random.default_rng(1)
    p = [
        ks_p_value(rng.integers(0, 40, 60).astype(float), rng.integers(0, 40, 90).astype(float), s) for s in range(120)
    ]
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.1)
    assert np.mean(p) == pytest.approx(0.5, abs=0.12)


def test_interval_holds_the_value():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 500), rng.normal(1, 1, 5000)
    low, high = ks_interval(a, b, 0)
    assert low < ks_distance(a, b) < high
    assert high - low < 0.2


def test_deniability_of_a_record():
    chances = deniability(np.array([0.0, 5.0, 99.0]), np.arange(1.0, 10.0))
    assert chances.tolist() == [0.1, 0.6, 1.0]


def test_instances_are_exchangeable():
    rng = np.random.default_rng(5)
    samples = [rng.normal(shift, 1, 200) for shift in (-3, 0, 0, 0, 0)]
    assert instance_p_value(samples[0], samples[1:]) == 0.2  # the least that four others allow
    assert instance_p_value(samples[1], samples[2:]) >= 0.25
    assert instance_p_value(samples[1], [samples[1]] * 3) == 1.0


def test_many_distinct_distances_are_drawn_in_cells():
    rng = np.random.default_rng(6)
    same, other = rng.normal(size=(2, 4000))
    assert ks_p_value(same, other, 0) > 0.01
    assert ks_p_value(same, other - 0.3, 0) == pytest.approx(1 / 500)
    low, high = ks_interval(same, other + 0.5, 0)
    assert low < ks_distance(same, other + 0.5) < high
