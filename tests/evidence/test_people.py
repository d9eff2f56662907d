"""Limits on people: numbers of them, whatever their share."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.evidence.crowds import Crowds, in_groups_below, small_groups
from unmask.evidence.estimate import Estimate, wilson
from unmask.evidence.finding import Evidence, Observation, Reported
from unmask.evidence.policy import Policy, Threshold
from unmask.evidence.verdict import judge

PUBLIC = Policy("test", "", {"x": Threshold(1.0, "because", "us", 0, 11)})


def judged(observation, policy=PUBLIC):
    (found,) = judge([Reported("m", "M", "story", Evidence((observation,)))], policy)
    return found


def sure_of(hits, claims, n=1000):
    low, high = wilson(hits, n)
    return Observation("x", "claim.", Estimate(hits / n, low, high, n, 0.0), claims)


@pytest.mark.parametrize(
    ("hits", "claims", "outcome"),
    [
        (0, 0, "for"),
        (0, 5, "for"),
        (1, 1, "inconclusive"),  # one in eleven would do as well
        (2, 2, "against"),  # 1 in 121
        (60, 60, "against"),
        (2, 40, "for"),  # the intruder thinks that they are sure, and is not
        (57, 60, "against"),
        (40, 60, "for"),  # not 19 in 20
    ],
)
def test_people_known_count_from_the_first_that_is_not_luck(hits, claims, outcome):
    assert judged(sure_of(hits, claims)).outcome == outcome


def test_a_number_may_be_allowed():
    five = Policy("test", "", {"x": Threshold(1.0, "because", "us", 5, 11)})
    assert judged(sure_of(5, 5), five).outcome == "for"
    assert judged(sure_of(6, 6), five).outcome == "inconclusive"
    assert judged(sure_of(8, 8), five).outcome == "against"
    assert judged(sure_of(8, 8), five).people == 5


def test_share_and_number_are_both_asked_for():
    both = Policy("test", "", {"x": Threshold(0.01, "because", "us", 0, 11)})
    assert judged(sure_of(0, 0), both).outcome == "for"
    assert judged(sure_of(0, 0, n=100), both).outcome == "inconclusive"  # nobody among a hundred shows little
    assert judged(sure_of(3, 3), both).outcome == "against"


def test_luck_at_the_limit_gives_the_error_at_most_at_its_level():
    """Claims that are right one time in eleven: the largest risk that a public file may have."""
    rng = np.random.default_rng(0)
    for claims in (1, 2, 3, 10, 40):
        draws = rng.binomial(claims, 1 / 11, 2000)
        wrong = np.mean([judged(sure_of(int(hits), claims)).outcome == "against" for hits in draws])
        assert wrong <= 0.05 + 0.015


# --- groups -----------------------------------------------------------------------------------------------------------


def people_of(*groups):
    """Size, number of people, whether their own record is there."""
    size = np.concatenate([np.full(n, size) for size, n, _ in groups])
    own = np.concatenate([np.full(n, own) for _, n, own in groups])
    return Crowds(size.astype(np.int64), own.astype(bool), len(size))


@pytest.mark.parametrize(
    ("groups", "k", "hits", "outcome"),
    [
        ([(1, 84, True), (278, 2316, True)], 5, 84, "against"),
        ([(1, 1, True), (333, 999, True)], 11, 1, "against"),  # the first one
        ([(10, 10, True), (330, 990, True)], 11, 10, "against"),
        ([(11, 11, True), (330, 990, True)], 11, 0, "for"),
        ([(4, 4, True), (332, 996, True)], 3, 0, "for"),
        ([(1, 60, True), (0, 2340, False)], 11, 60, "against"),  # copied verbatim among noise
        ([(1, 3, True), (2, 297, False), (0, 700, False)], 11, 0, "for"),  # by chance in their own group
        ([(2, 5, False), (333, 995, True)], 11, 0, "for"),
    ],
)
def test_nobody_may_stand_in_a_small_group(groups, k, hits, outcome):
    policy = Policy("test", "", {"x": Threshold(1.0, "because", "us", 0, k)})
    found = judged(small_groups("x", *people_of(*groups)[:3]), policy)
    assert found.estimate.hits == pytest.approx(hits)
    assert found.outcome == outcome
    assert f"fewer than {k} records" in found.claim


def test_swapped_keys_divide_the_risk():
    """Half of the small groups hold somebody else: alone is a risk of one half, three others leave one eighth."""
    half = people_of((1, 100, True), (1, 100, False), (8, 100, True), (8, 100, False), (100, 600, True))
    assert in_groups_below(half, 11).hits == pytest.approx(100)
    assert in_groups_below(half, 11).low * 1000 == pytest.approx(100)


def test_independent_people_are_in_small_groups_by_chance_alone():
    """Of 200 releases of other people, coarse and fine, hardly one is called unsafe."""
    rng, outcomes = np.random.default_rng(1), []
    for _ in range(200):
        cells, n = int(rng.choice([4, 30, 200, 3000])), int(rng.choice([100, 300, 1000]))
        mine, theirs = rng.integers(0, cells, (2, n))
        size = np.bincount(theirs, minlength=cells)[mine]
        outcomes.append(judged(small_groups("x", size, mine == theirs, n)).outcome)
    assert outcomes.count("against") <= 4  # 5 % of 200 are ten
    assert outcomes.count("for") >= 180


# --- groups of the population -----------------------------------------------------------------------------------------


def by_drawing(f, share, k, rng, draws=20_000):
    """How often fewer than k people must be asked, each drawn with this chance, until f of them are in the file."""
    return float(np.mean(rng.negative_binomial(f, share, draws) + f < k))


@pytest.mark.parametrize(("f", "share"), [(1, 0.3), (2, 0.05), (3, 0.5), (10, 0.9), (4, 1.0), (2, 1e-4)])
def test_a_drawn_crowd_is_small_in_the_population_as_often_as_drawing_says(f, share):
    crowds = people_of((f, 1, True))._replace(share=np.array([[0.0], [share], [share]]))
    wanted = by_drawing(f, share, 11, np.random.default_rng(0))
    assert in_groups_below(crowds, 11).high == pytest.approx(wanted, abs=0.012)


def test_crowds_that_a_register_counts():
    """Crowds of 1, 2, 5 and 5 in the file; of 9, 11, 9 and 50 in the register; ten people of each."""
    crowds = people_of((1, 10, True), (2, 10, True), (5, 10, True), (5, 10, True))
    crowds = crowds._replace(share=np.tile(np.repeat([1 / 9, 2 / 11, 5 / 9, 5 / 50], 10), (3, 1)))
    found = in_groups_below(crowds, 11)
    assert (found.hits, found.low * 40, found.high * 40) == pytest.approx((20, 20, 20))
    assert in_groups_below(crowds, 9).hits == 0
    nobody = crowds._replace(size=np.zeros(40, np.int64), own=np.zeros(40, bool))
    assert in_groups_below(nobody, 11).high == 0


def test_risks_that_the_policy_judges_say_nothing_by_themselves():
    told = Observation.of_risks("risk.above", np.array([0.1, 0.9]), np.array([0.0, 1.0]), "nearest", 3)
    estimate = told.estimate
    assert (estimate.value, estimate.low, estimate.high, estimate.n, estimate.chance) == (0.0, 0.0, 1.0, 2, 0.0)
    assert told.ranked.risk.tolist() == [0.9, 0.1]
