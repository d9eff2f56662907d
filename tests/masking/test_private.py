"""Differential privacy as a masking: the laws of the noise, bounds, what is promised, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import unmask
from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking import (
    Chain,
    Gaussian,
    Geometric,
    Laplace,
    Noise,
    PrivateHistogram,
    ReverseMapped,
    claim_of,
    parse_masking,
)
from unmask.masking.secret import normal_delta, normal_sd, two_sided_geometric, uniforms


@pytest.fixture
def people():
    rng = np.random.default_rng(4)
    return pl.DataFrame({
        "age": rng.integers(18, 90, 4000), "bmi": rng.normal(25, 4, 4000), "sex": rng.choice(["f", "m"], 4000),
    })  # fmt: skip


def test_two_sided_geometric_has_its_law():
    """P(k) = (1 - a) / (1 + a) a^|k| with a = exp(-1/scale): no two neighbours differ by more than e^(1/scale)."""
    drawn = two_sided_geometric(1, "law", 200_000, 2.0)
    a = np.exp(-0.5)
    for k in range(-4, 5):
        expected = (1 - a) / (1 + a) * a ** abs(k)
        assert (drawn == k).mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / 200_000))


def test_analytic_normal_noise_meets_its_equation_and_known_values():
    """Balle and Wang (2018): delta(sd) = delta exactly at the least sd; below the classical one for epsilon < 1."""
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-5), (5.0, 1e-3)):
        sd = normal_sd(epsilon, delta)
        assert normal_delta(epsilon, sd) == pytest.approx(delta, rel=1e-6)
        assert normal_delta(epsilon, sd) <= delta * (1 + 1e-9)
        a, b = 1 / (2 * sd), epsilon * sd
        assert norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b) == pytest.approx(delta, rel=1e-4)
    assert normal_sd(0.5, 1e-5) < np.sqrt(2 * np.log(1.25 / 1e-5)) / 0.5
    assert normal_sd(1.0, 1e-5, 10.0) == pytest.approx(10 * normal_sd(1.0, 1e-5))


def test_the_bits_are_those_of_shake():
    """Known answer: SHAKE-256 of the seed and the task, 53 bits of each eight bytes."""
    import hashlib

    first = int.from_bytes(hashlib.shake_256(b"7\0age").digest(8), "little") >> 11
    assert uniforms(7, "age", 3)[0] == (first + 0.5) / 2**53
    drawn = uniforms(7, "age", 50_000)
    assert 0 < drawn.min() < 1e-3 and drawn.mean() == pytest.approx(0.5, abs=0.01)


def test_noise_is_as_wide_as_the_bounds(people):
    """Laplace of scale (width x columns / epsilon): its mean size is the scale."""
    made = parse_masking("laplace(2, [(age, 0, 100), (bmi, 10, 60)])").apply(people, 1)
    assert (made["age"] - people["age"]).abs().mean() == pytest.approx(100 * 2 / 2, rel=0.06)
    assert (made["bmi"] - people["bmi"]).abs().mean() == pytest.approx(50 * 2 / 2, rel=0.06)
    normal = parse_masking("gaussian(2, 1e-5, [(age, 0, 100), (bmi, 10, 60)])").apply(people, 1)
    sd = normal_sd(2, 1e-5, np.sqrt(2))
    assert (normal["bmi"] - people["bmi"]).std() == pytest.approx(50 * sd, rel=0.05)
    assert made["age"].dtype == pl.Int64 and made["sex"].equals(people["sex"])


@given(st.floats(-1e6, 1e6), st.floats(0.1, 20))
def test_values_beyond_the_bounds_are_cut_before_the_noise(value, epsilon):
    """The release of a value beyond is that of the bound, to the last bit, whatever the value is."""
    masking = parse_masking(f"laplace({epsilon}, [(x, -3, 5.5)])")
    one, bound = (masking.apply(pl.DataFrame({"x": [v]}), 9)["x"][0] for v in (value, max(-3.0, min(5.5, value))))
    assert one == bound


def test_released_numbers_lie_on_one_grid_whatever_the_data(people):
    """Mironov: the gaps between released numbers must not tell the value. All are whole steps from the lower bound."""
    masking = parse_masking("laplace(1, [(bmi, 10, 60)])")
    grid = masking.grid("bmi", whole=False)
    for table in (people, people.with_columns(pl.col("bmi") * np.pi)):
        steps = (masking.apply(table, 2)["bmi"].to_numpy() - grid.low) / grid.step
        assert np.array_equal(steps, np.rint(steps))
    assert grid.high >= 60 and grid.step < 50 / 1024


def test_geometric_noise_is_whole_even_of_fractions(people):
    made = parse_masking("geometric(1, [(bmi, 10, 60)])").apply(people, 3)
    assert made["bmi"].dtype == pl.Int64


def test_neighbouring_rows_have_odds_within_epsilon():
    """The worst two values, many draws: no released number is e^epsilon times likelier from one than the other."""
    masking, n = parse_masking("geometric(1, [(x, 0, 3)])"), 60_000
    low, high = (masking.apply(pl.DataFrame({"x": [v] * n}), v)["x"].to_numpy() for v in (0, 3))
    for k in range(-4, 8):
        a, b = ((side == k).sum() for side in (low, high))
        assert abs(np.log(a / b)) <= 1 + 4 * np.sqrt(1 / a + 1 / b)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("laplace(1)", "bounds is missing"),
        ("laplace(1, [])", "bounds are missing"),
        ("laplace(0, [(age, 0, 1)])", "epsilon is out of range"),
        ("laplace(-1, [(age, 0, 1)])", "epsilon is out of range"),
        ("laplace(1, [(age, 5, 5)])", "not usable"),
        ("laplace(1, [(age, 5)])", "least and its largest"),
        ("laplace(1, [(age, 0, 1), (age, 0, 2)])", "two bounds"),
        ("gaussian(1, 0, [(age, 0, 1)])", "delta is out of range"),
        ("gaussian(1, 1, [(age, 0, 1)])", "delta is out of range"),
        ("dp_histogram(1, [])", "cells are missing"),
        ("dp_histogram(1, [(age, 0, 100)])", "bands or by its categories"),
        ("dp_histogram(1, [(age, 0, 100, 0)])", "bands or by its categories"),
        ("dp_histogram(1, [(a, 0, 1, 2000), (b, 0, 1, 2000)])", "too many cells"),
    ],
)
def test_says_what_is_wrong(text, says):
    with pytest.raises(ParameterError, match=says):
        parse_masking(text)


def test_refuses_what_noise_would_not_hide(people):
    gaps = people.with_columns(pl.when(pl.col("age") > 80).then(None).otherwise("age").alias("age"))
    with pytest.raises(TableError, match="missing"):
        parse_masking("laplace(1, [(age, 0, 100)])").apply(gaps)
    filled = parse_masking("laplace(1, [(age, 0, 100)], fill=True)").apply(gaps, 1)
    assert filled["age"].null_count() == 0
    with pytest.raises(RoleError, match="no numbers"):
        parse_masking("laplace(1, [(sex, 0, 100)])").apply(people)
    with pytest.raises(RoleError, match="no column"):
        parse_masking("laplace(1, [(agee, 0, 100)])").apply(people)
    with pytest.raises(TableError, match="none of the stated categories"):
        parse_masking("dp_histogram(1, [(sex, [f])])").apply(people)
    with pytest.raises(ParameterError, match="too small"):
        parse_masking("geometric(1e-9, [(age, 0, 1e12)])").apply(people)


@pytest.mark.parametrize(
    "text",
    ["laplace(1, [[age, 0, 100]])", "geometric(0.5, [[age, 0, 100]])", "gaussian(1, 1e-05, [[bmi, 10, 60]])",
     "dp_histogram(2, [[age, 0, 100, 10], [sex, [f, m]]])", "laplace(1, [[age, 0, 100]], fill=True)"],
)  # fmt: skip
def test_is_written_as_it_is_read_and_repeats(text, people):
    masking = parse_masking(text)
    assert str(masking) == text and parse_masking(str(masking)) == masking
    assert masking.apply(people, 8).equals(masking.apply(people, 8))
    assert not masking.apply(people, 8).equals(masking.apply(people, 9))


# --- histograms -----------------------------------------------------------------------------------------------------


def test_histogram_counts_are_near_and_rows_within(people):
    masking = parse_masking("dp_histogram(1, [(age, 0, 100, 10), (sex, [f, m])])")
    made = masking.apply(people, 1)
    assert made.columns == ["age", "sex"] and made["age"].dtype == pl.Int64
    assert made["age"].is_between(0, 100).all()
    assert abs(made.height - people.height) < 60  # 20 cells of noise with sd 1.4 each
    for k in range(2, 9):
        band = pl.col("age").is_between(10 * k, 10 * k + 9)
        left, right = (table.filter(band).height for table in (people, made))
        assert abs(left - right) < 6 * np.sqrt(left + 20)


def test_histogram_of_nobody_is_noise_and_rows_are_as_many_as_asked(people):
    empty = parse_masking("dp_histogram(1, [(sex, [f, m])], rows=7)").apply(people.head(0), 1)
    assert empty.height == 7 and set(empty["sex"]) <= {"f", "m"}


def test_histogram_bands_of_whole_numbers():
    """(0, 10, 3): edges 0, 3.33, 6.67, 10 hold 0-3, 4-6, 7-10; every whole number is in one band and can be drawn."""
    masking = parse_masking("dp_histogram(50, [(x, 0, 10, 3)])")
    made = masking.apply(pl.DataFrame({"x": [0] * 300 + [5] * 300}), 1)
    assert set(made["x"]) == {0, 1, 2, 3, 4, 5, 6}
    with pytest.raises(ParameterError, match="no whole number"):
        parse_masking("dp_histogram(1, [(x, 0, 2, 10)])").apply(pl.DataFrame({"x": [1]}))


# --- what is promised -----------------------------------------------------------------------------------------------


def test_claims():
    laplace, histogram = Laplace(1, (("age", 0, 100),)), PrivateHistogram(2, (("sex", ("f", "m")),))
    assert (laplace, histogram) == tuple(map(parse_masking, (str(laplace), str(histogram))))
    assert claim_of(Geometric(1, (("age", 0, 9),))) == claim_of(Gaussian(1, 0.1, (("age", 0, 9),)))._replace(delta=0)
    assert claim_of(laplace) == (1, 0.0, ("age",), "replaced")
    assert claim_of(histogram) == (2, 0.0, ("sex",), "removed")
    two = parse_masking("chain([drop([id]), laplace(1, [(age, 0, 9)]), gaussian(2, 1e-5, [(bmi, 0, 9)])])")
    assert claim_of(two) == (3, 1e-5, ("age", "bmi"), "replaced")
    assert claim_of(Chain((laplace, parse_masking("rounding(5, columns=[age])")))) == claim_of(laplace)
    assert claim_of(Chain((Noise(0.5), laplace))) is None  # noise that looks at everybody came first
    assert claim_of(ReverseMapped(laplace)) is None  # the original's own values come back
    assert claim_of(Noise(0.5)) is None


@pytest.mark.parametrize(
    "text",
    ["laplace(60, [(age, 0, 100), (bmi, 10, 60)])", "geometric(60, [(age, 0, 100), (bmi, 0, 60)])",
     "gaussian(60, 1e-5, [(age, 0, 100), (bmi, 10, 60)])"],
)  # fmt: skip
def test_who_knows_the_method_knows_the_noise(text, people):
    """The likelihood is that of the noise: 99 % of people are within the credible set, and more are found."""
    some = people.head(400)
    release = unmask.Release(some, parse_masking(text).apply(some, 5), quasi=["age", "bmi"])
    found = unmask.link_transparent(release, masking=text)
    assert found.inside.mean() == pytest.approx(0.99, abs=0.02)
    assert found.estimate.value >= unmask.link_nearest(release).estimate.value - 0.02
    assert 0 < found.estimate.value < 0.9
