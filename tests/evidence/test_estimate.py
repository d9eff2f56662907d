from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from naive import judged as twins
from naive.judged_disclosure import over_control
from unmask.errors import ParameterError
from unmask.evidence.estimate import (
    Estimate,
    bootstrap,
    exact,
    excess,
    excess_over_control,
    largest,
    rate,
    rate_of_counts,
    wilson,
)


@given(n=st.integers(1, 400), share=st.floats(0, 1))
def test_wilson_solves_its_definition(n, share):
    hits = round(share * n)
    assert wilson(hits, n) == pytest.approx(naive.wilson(hits, n), abs=1e-6)


def test_wilson_of_a_known_table():
    # Newcombe 1998, Statistics in Medicine 17, Table I, method 3: 81/263, 15/148, 0/20, 1/29
    for hits, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60))
def test_counts_get_wilson(credits_):
    estimate = rate(np.array(credits_), chance=0.1)
    assert estimate.method == "wilson"
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.hits == pytest.approx(sum(credits_))


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=60), st.randoms())
def test_order_of_records_changes_nothing(credits_, random):
    shuffled = credits_.copy()
    random.shuffle(shuffled)
    assert rate(np.array(credits_), chance=0.1, seed=3) == rate(np.array(shuffled), chance=0.1, seed=3)


def test_shared_ties_get_a_bootstrap():
    credits_ = np.array([0.0, 0.5, 1.0, 0.25] * 50)
    estimate = rate(credits_, chance=0.01, seed=1)
    assert estimate.method == "bootstrap"
    normal = credits_.std() / np.sqrt(credits_.size) * 1.96  # the bootstrap of a mean is near the normal interval
    low, high = bootstrap(credits_, 1)
    assert high - low == pytest.approx(2 * normal, rel=0.1)
    assert estimate.low <= low < high <= estimate.high


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40), st.integers(0, 39))
def test_more_risk_never_looks_safer(credits_, place):
    place %= len(credits_)
    riskier = credits_.copy()
    riskier[place] = 1.0
    before, after = (wilson(sum(c), len(c))[1] for c in (credits_, riskier))
    assert rate(np.array(riskier), chance=0.0).high >= before - 1e-12
    assert after >= before


def test_equal_credits_still_have_an_interval():
    estimate = rate(np.full(40, 0.5), chance=0.01)
    assert estimate.low < 0.5 < estimate.high


def test_bootstrap_covers():
    rng = np.random.default_rng(5)
    law = np.array([0.0, 0.2, 1.0])
    covered = 0
    for trial in range(300):
        low, high = bootstrap(rng.choice(law, size=150, p=[0.6, 0.3, 0.1]), trial)
        covered += low <= 0.16 <= high
    assert 0.90 <= covered / 300 <= 0.99


def test_no_attempts_is_an_error():
    with pytest.raises(ParameterError, match="attempt"):
        rate(np.empty(0), chance=0.1)


def test_a_fact_has_no_width():
    estimate = exact(0.3, n=10, chance=0.1)
    assert (estimate.low, estimate.high, estimate.method) == (0.3, 0.3, "exact")
    assert estimate.excess == pytest.approx(0.2)


def test_excess_of_an_attack_over_the_same_without_the_person():
    attack, without = np.array([1.0, 1.0, 0.0, 1.0] * 25), np.array([1.0, 0.0, 0.0, 1.0] * 25)
    found = excess(attack, without)
    assert found.value == 0.25 and 0 < found.low < 0.25 < found.high and found.chance == 0.0
    assert excess(attack, without, among=10).low < found.low
    assert excess(without, attack).value == 0.0 == excess(without, attack).low
    same = excess(attack, attack)
    assert same.value == 0.0 == same.low < same.high
    order = np.random.default_rng(0).permutation(100)
    assert excess(attack[order], without[order]) == found
    with pytest.raises(ParameterError, match="two credits"):
        excess(attack, without[:3])


def test_the_ends_of_an_excess_are_those_of_resampled_people():
    """Against another way to draw; as one of so many figures the ends are those of a smaller tail."""
    rng = np.random.default_rng(1)
    attack, without = rng.choice([0.0, 0.5, 1.0], 300), rng.choice([0.0, 0.0, 1.0], 300)
    for among, close in ((1, 0.005), (4, 0.008), (20, 0.012)):  # a tail of 5 % in place of 2.5 moves an end by 0.011
        wanted = twins.excess(attack.tolist(), without.tolist(), among)
        found = excess(attack, without, seed=2, among=among)
        assert (found.value, found.n, found.chance) == (pytest.approx(wanted.value), 300, 0.0)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=close)
    assert excess(attack, without, among=0) == excess(attack, without)


def test_equal_gains_have_the_score_interval():
    for gain in (0.0, 0.25, 1.0, -0.5):
        found = excess(np.full(20, max(0.0, gain)), np.full(20, max(0.0, -gain)))
        assert (found.low, found.high) == pytest.approx(naive.wilson(max(0.0, gain) * 20, 20))
        assert found.value == max(0.0, gain)


def test_the_ends_of_a_difference():
    """The least is the least of one less the most of the other; the other way round the interval would be empty."""
    found = excess_over_control(np.ones(20), np.zeros(30))
    (low, _), (_, high) = naive.wilson(20, 20), naive.wilson(0, 30)
    assert (found.low, found.high, found.n, found.chance) == (pytest.approx(low - high), 1.0, 20, 0.0)
    same = excess_over_control(np.ones(20), np.ones(30))
    assert (same.value, same.low) == (0.0, 0.0)
    assert same.high == pytest.approx(1.0 - naive.wilson(30, 30)[0])
    rng = np.random.default_rng(3)
    mine, others = rng.choice([0.0, 1.0, 1.0], 200), rng.choice([0.0, 0.25, 1.0], 120)
    for among, close in ((1, 0.006), (10, 0.012)):  # a tail of 5 % in place of 2.5 moves an end by 0.016
        wanted = over_control(mine.tolist(), others.tolist(), among)
        found = excess_over_control(mine, others, seed=4, among=among)
        assert (found.value, found.n) == (pytest.approx(wanted.value), 200)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=close)


def test_shared_credits_have_the_wider_of_two_intervals():
    for credits_ in ([0.5] * 3 + [1.0] * 40, [0.0, 0.25, 1.0] * 30, [0.5, 0.0] * 4):
        wanted = twins.rate(credits_, 0.1)
        found = rate(np.array(credits_), chance=0.1, seed=1)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=0.012)


def test_excess_over_control():
    found = excess_over_control(np.ones(50), np.zeros(80))
    assert found.value == 1.0 and 0.8 < found.low < 1.0
    assert excess_over_control(np.array([0.0, 1.0] * 30), np.array([1.0, 0.0] * 40)).low == 0.0
    with pytest.raises(ParameterError, match="both sides"):
        excess_over_control(np.ones(3), np.empty(0))


def test_the_largest_of_several_has_a_wider_interval():
    """At the limit the better of two fair figures is above it, by its interval, no more often than one is."""
    rng = np.random.default_rng(0)
    draws = rng.normal(0.3, 0.01, size=(20_000, 2))
    found = [Estimate(value, value - 0.0196, value + 0.0196, 100, 0.0, None, "bootstrap") for value in (0.3, 0.2)]
    best = largest(found)
    assert best.value == 0.3
    assert best.high - 0.3 == pytest.approx(0.3 - best.low)
    assert (draws.max(1) - (0.3 - best.low) > 0.3).mean() == pytest.approx(0.025, abs=0.004)
    assert largest(found[:1]) == found[0]


def test_records_that_gain_together_are_one_draw():
    """Crowds of ten who all gain or all do not: as if each stood for themselves the interval covers far too seldom."""
    rng, crowds, covered = np.random.default_rng(4), np.repeat(np.arange(30), 10), np.zeros(2)
    for seed in range(300):
        gains = np.repeat(rng.random(30) < 0.3, 10).astype(float)
        for place, one in enumerate((None, crowds)):
            found = excess(gains, np.zeros(300), seed=seed, crowds=one)
            covered[place] += found.low <= 0.3 <= found.high
    assert covered[0] < 0.6 * 300
    assert 0.91 * 300 <= covered[1] <= 0.98 * 300
    few = rng.random(50)
    assert excess(few, np.zeros(50), crowds=np.arange(50)).low == pytest.approx(excess(few, np.zeros(50)).low, abs=0.02)


def test_nobody_of_300_is_not_nobody_of_all():
    """Nobody of 300 inside and one of 300 outside: resampling says "at most 0", and two in a hundred may be there."""
    inside, outside = np.zeros(300), np.eye(1, 300).ravel()
    found = excess_over_control(inside, outside)
    assert found.value == 0.0 and found.high == pytest.approx(naive.wilson(0, 300)[1]) and found.high > 0.01
    some = excess_over_control(np.arange(300) < 30.0, np.arange(200) < 10.0)
    low = 0.05 - np.hypot(0.1 - naive.wilson(30, 300)[0], naive.wilson(10, 200)[1] - 0.05)
    assert some.value == pytest.approx(0.05) and some.low <= low + 1e-12
    rng, covered = np.random.default_rng(8), 0
    for seed in range(300):
        sides = (rng.random((2, 300)) < np.array([[0.012], [0.006]])).astype(float)
        one = excess_over_control(*sides, seed=seed)
        covered += one.low <= 0.006 <= one.high
    assert covered >= 0.94 * 300


@pytest.mark.parametrize("values", [[0.0, 1.0, 1.0], [0.0, 0.5, 0.25, 0.5], [0.125]])
def test_a_rate_of_counts_is_that_of_so_many_people(values):
    counts = np.array([7, 11, 0, 5][: len(values)])
    found = rate_of_counts(np.array(values), counts, chance=0.1, seed=3)
    whole = rate(np.repeat(values, counts), chance=0.1, seed=3)
    assert (found.n, found.chance, found.method) == (whole.n, whole.chance, whole.method)
    assert [found.value, found.low, found.high] == pytest.approx([whole.value, whole.low, whole.high], rel=1e-12)


def test_a_rate_of_counts_makes_no_array_of_people():
    people = np.array([10**12, 10**12, 5])
    assert rate_of_counts(np.array([0.0, 0.5, 1.0]), people, chance=0.0).value == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("value", "n", "words"),
    [
        (509.5 / 600, 600, "about 510 of 600"),
        (510 / 600, 600, "510 of 600"),
        (0.25, 4000, "1,000 of 4,000"),
        (0.001, 300, "fewer than 1 of 300"),
    ],
)
def test_a_count_whose_share_is_another_is_about(value, n, words):
    """84.9 % of 600 people are no 510, which is 85 %: ties were shared."""
    assert Estimate(value, value, value, n, 0.0).counted == words
