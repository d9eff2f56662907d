from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from unmask.groups.population.weights import household_risk, individual_risk, unique_variance


def by_definition(f, p):
    """sum over h >= f of C(h-1, f-1) p^f (1-p)^(h-f) / h, term by term."""
    total, h, term = 0.0, f, p**f
    while h < 200_000 and (term > 1e-18 or h < 2 * f / p):
        total += term / h
        term *= (1 - p) * h / (h - f + 1)
        h += 1
    return total


@pytest.mark.parametrize("p", [0.9, 0.5, 0.499, 0.1, 0.02])
@pytest.mark.parametrize("f", [1, 2, 3, 5, 19, 20, 21, 60])
def test_series_of_the_definition(f, p):
    assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(by_definition(f, p), rel=1e-9)


@given(st.integers(1, 10**7), st.floats(1e-9, 1.0))
def test_stable_for_every_f(f, p):
    """Between 1/E(F) = p/f (Jensen) and 1/f, never infinite: sdcMicro's series explodes, and so does SciPy's hyp2f1."""
    risk = individual_risk(np.array([f]), np.array([f / p]))[0]
    assert p / f * (1 - 1e-12) <= risk <= (1 / f) * (1 + 1e-12)


@pytest.mark.parametrize(("f", "p"), [(7, 1e-6), (25, 1e-6), (100, 0.01), (1000, 0.3), (100_000, 1e-4)])
def test_integral(f, p):
    """r = p integral_0^1 u^(f-1)/(p + (1-p) u) du, in x = -f log u."""
    value, _ = quad(
        lambda x: p / f * np.exp(-x) / (p + (1 - p) * np.exp(-x / f)), 0, 60, epsabs=0, epsrel=1e-9, limit=200
    )
    assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(value, rel=1e-8)


def test_closed_forms():
    """f = 1: p/(1-p) log(1/p); f = 2: p/(1-p) - (p/(1-p))^2 log(1/p); p = 1: 1/f."""
    p = 0.05
    one, two = individual_risk(np.array([1, 2]), np.array([1 / p, 2 / p]))
    assert one == pytest.approx(p / (1 - p) * np.log(1 / p))
    assert two == pytest.approx(p / (1 - p) - (p / (1 - p)) ** 2 * np.log(1 / p))
    assert individual_risk(np.array([1, 2, 5]), np.array([1.0, 2.0, 5.0])).tolist() == pytest.approx([1, 1 / 2, 1 / 5])
    assert individual_risk(np.array([3]), np.array([1.0]))[0] == pytest.approx(1 / 3)  # weights below one: f itself


def test_approximation_is_close_and_exact_up_to_two():
    counts = np.array([1, 2, 3, 10])
    exact, near = (individual_risk(counts, counts / 0.02, method) for method in ("exact", "approximate"))
    assert near[:2].tolist() == exact[:2].tolist()
    assert near[3] == pytest.approx(exact[3], rel=0.01)


def test_variance_of_a_unique_by_its_law():
    p = 0.2
    h = np.arange(1, 400)
    law = p * (1 - p) ** (h - 1)
    assert unique_variance(np.array([p]))[0] == pytest.approx((law / h**2).sum() - (law / h).sum() ** 2)
    assert unique_variance(np.array([1.0]))[0] == 0.0


def test_households():
    risk = household_risk(np.array([0.5, 0.2, 1.0]), np.array([0, 0, 1]), np.array([2, 1, 1]))
    assert risk.tolist() == pytest.approx([1 - 0.5 * 0.5 * 0.8, 1.0])
