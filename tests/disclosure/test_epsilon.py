"""The lower bound of epsilon: by hand, by simulation where epsilon is known, and never too high too often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from unmask.disclosure.epsilon import Counted, choose_rule, clopper_pearson, least_runs, most_shown
from unmask.disclosure.one_run import Guesses, guesses_of, held_to_claim, shown_by

LUCK = 3.1  # standard errors that a simulation may be off


def test_by_hand():
    """90 of 100 right, 10 of 100 wrong: ln of Clopper and Pearson's ends at 2.5 % each."""
    counted = Counted(90, 100, 10, 100)
    low, high = beta.ppf(0.025, 90, 11), beta.ppf(0.975, 11, 90)
    assert counted.shown() == pytest.approx(np.log(low / high))
    assert counted.shown(delta=0.05) == pytest.approx(np.log((low - 0.05) / high))
    assert counted.value() == pytest.approx(np.log(90.5 / 10.5))
    assert Counted(0, 50, 0, 50).shown() == 0.0
    assert Counted(50, 50, 50, 50).shown() == 0.0


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_more_hits_show_more_and_more_alarms_less(right, wrong, confidence):
    here = Counted(right, 60, wrong, 60).shown(confidence=confidence)
    assert Counted(min(60, right + 1), 60, wrong, 60).shown(confidence=confidence) >= here
    assert Counted(right, 60, wrong - 1, 60).shown(confidence=confidence) >= here
    assert 0 <= here <= most_shown(60, confidence=confidence)
    assert Counted(right, 60, wrong, 60).shown(delta=0.01, confidence=confidence) <= here


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_fewest_runs_are_the_fewest(epsilon):
    least = least_runs(epsilon)
    assert most_shown(least) > epsilon >= most_shown(least - 1)


def test_no_number_of_runs_that_can_be_made_refutes_a_large_epsilon():
    assert least_runs(1.0, delta=0.1) > least_runs(1.0)
    assert least_runs(25.0) is None


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_randomised_response_is_accused_one_time_in_twenty_at_most(epsilon):
    """The answer is true with probability e^eps / (1 + e^eps): its epsilon is known, and the rule meets it."""
    rng, n, draws = np.random.default_rng(5), 300, 4000
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    right, wrong = rng.binomial(n, truth, draws), rng.binomial(n, 1 - truth, draws)
    shown = np.array([Counted(int(a), n, int(b), n).shown() for a, b in zip(right[:1000], wrong[:1000], strict=True)])
    too_high = float((shown > epsilon).mean())
    assert too_high <= 0.05 + LUCK * np.sqrt(0.05 * 0.95 / 1000)
    assert np.median(shown) > 0.5 * epsilon or epsilon < 0.5  # and it is no empty bound


def test_laplace_counting_is_not_accused_though_the_rule_is_chosen():
    """A count of 0 or 1 with Laplace noise of scale 1 (epsilon 1): chosen on one half, counted on the other."""
    rng, accused, shown = np.random.default_rng(11), 0, []
    for _ in range(200):
        mine, others = 1 + rng.laplace(size=600), rng.laplace(size=600)
        rule, _ = choose_rule(mine[:200], others[:200])
        shown.append(rule.counted(mine[200:], others[200:]).shown())
        accused += shown[-1] > 1.0
    assert accused <= 0.05 * 200 + LUCK * np.sqrt(0.05 * 0.95 * 200)
    assert np.mean(shown) > 0.4


def test_a_rule_counted_on_the_runs_that_chose_it_would_be_wrong():
    """The reason for two sets of runs: the best of twenty attacks that tell nothing looks as if it told something."""
    rng = np.random.default_rng(3)
    shown = [max(choose_rule(rng.normal(size=99), rng.normal(size=99))[1] for _ in range(20)) for _ in range(40)]
    assert np.mean(np.array(shown) > 0) > 0.3


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_the_rule_is_the_best_of_all(mine, others):
    """Naive twin: every level, either answer, counted one by one."""
    a, b = np.array(mine, dtype=float), np.array(others, dtype=float)
    rule, shown = choose_rule(a, b)
    assert rule.counted(a, b).shown() == pytest.approx(shown, abs=1e-12)
    for level in {*mine, *others}:
        yes = Counted(sum(x >= level for x in mine), len(mine), sum(x >= level for x in others), len(others))
        no = Counted(sum(x <= level for x in others), len(others), sum(x <= level for x in mine), len(mine))
        assert max(yes.shown(), no.shown()) <= shown + 1e-12


def test_clopper_pearson_has_its_level():
    assert clopper_pearson(0, 10, 0.025) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert clopper_pearson(10, 10, 0.025) == (pytest.approx(0.025**0.1), 1.0)


# --- one release ----------------------------------------------------------------------------------------------------


def test_guesses_by_hand():
    """45 of 50 guesses right, half of all people members: ln odds of the lower end; the claim allows 73 %."""
    one = Guesses(45, 50, 0.5, 100)
    low = beta.ppf(0.025, 45, 6)
    assert one.shown(0.025) == pytest.approx(np.log(low / (1 - low)))
    assert one.allowed(1.0) == pytest.approx(np.e / (1 + np.e))
    assert Guesses(45, 50, 0.9, 100).shown(0.025) == 0.0  # nine of ten are members: nothing was told
    assert one.shown(0.025, delta=1e-3) == 0.0  # 2 x 100 x 0.001 is more than the level


def test_a_claim_is_held_against_guesses():
    rng = np.random.default_rng(0)
    split = (rng.integers(0, 2, 400), rng.integers(0, 2, 400))
    apart = guesses_of((rng.normal(3, 1, 400), rng.normal(0, 1, 400)), split)
    (seen,) = held_to_claim(apart, 1.0, 0.0)
    assert seen.key == "membership.claim"
    assert seen.estimate.low > 0
    assert "Epsilon 1 is claimed, and at least" in seen.claim
    alike = guesses_of((rng.normal(0, 1, 400), rng.normal(0, 1, 400)), split)
    assert held_to_claim(alike, 1.0, 0.0)[0].estimate.low == 0.0
    assert held_to_claim(apart, None, 0.0) == ()


def test_randomised_response_about_presence_is_not_accused():
    """Each person's presence is told with epsilon 1: guesses from one release, over many releases."""
    rng, epsilon, accused, draws = np.random.default_rng(2), 1.0, 0, 300
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    for _ in range(draws):
        told = [(rng.random(200) < share).astype(float) for share in (truth, 1 - truth)]
        split = (rng.integers(0, 2, 200), rng.integers(0, 2, 200))
        accused += shown_by(guesses_of((told[0], told[1]), split))[0] > epsilon
    assert accused <= 0.05 * draws + LUCK * np.sqrt(0.05 * 0.95 * draws)
