"""People above a risk: counted right, told apart from luck, and no alarm where nobody is."""

from __future__ import annotations

import numpy as np
import pytest

from naive.above import above, sets, tail
from unmask.evidence.above import held_to_risk, luck
from unmask.evidence.finding import Evidence, Observation, Reported
from unmask.evidence.policy import Policy, Threshold
from unmask.evidence.verdict import judge


def ranked(risk, hits, attacks=1):
    return Observation.of_risks("x", np.asarray(risk), np.asarray(hits, dtype=float), "nearest", attacks)


def judged(people, k=11, most=0):
    policy = Policy("test", "", {"x": Threshold(1.0, "because", "us", most, k)})
    (found,) = judge([Reported("risk", "R", "story", Evidence((people,)))], policy)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [3, 11])
def test_equals_the_definition(seed, k):
    rng = np.random.default_rng(seed)
    risk = np.round(rng.random(70), seed % 3)
    hits = (rng.random(70) < risk * 0.6).astype(float)
    found, wanted = held_to_risk(ranked(risk, hits, 3), k).estimate, above(risk.tolist(), hits.tolist(), k, 3)
    assert (found.value, found.low, found.high) == pytest.approx((wanted.value, wanted.low, wanted.high))


def test_by_hand():
    """Ten of ten found: were each of the ten others' hits luck of one in eleven, (10 - 10/11) / (10/11) = 10 remain."""
    people = ranked([0.9] * 10 + [0.1] * 10, [1] * 10 + [0] * 10)
    found = judged(people)
    assert found.estimate.hits == pytest.approx(10)
    assert found.claim == (
        "10 of 20 people or more are found in more than one of 11 draws of the masking: "
        "nearest finds 10 of the 10 people of largest risk."
    )
    assert found.outcome == "against"
    assert luck(people.ranked, 11, 0) == pytest.approx(2 * tail(10, 10, 1 / 11))
    assert judged(people, most=10).outcome == "for"


def test_large_crowds_are_within_the_limit_and_smaller_ones_are_not():
    """Credits are shares of a crowd: no luck in them."""
    assert judged(ranked(np.full(500, 1 / 50), np.full(500, 1 / 50))).outcome == "for"
    assert judged(ranked(np.full(500, 1 / 11), np.full(500, 1 / 11))).outcome == "for"
    assert judged(ranked(np.full(500, 1 / 4), np.full(500, 1 / 4))).outcome == "against"


def outcomes(truth, draws=400, seed=0, *, noise=0.3, attacks=1):
    """Outcomes where people have these chances, and their order is known but for some noise."""
    rng, truth = np.random.default_rng(seed), np.asarray(truth)
    risks = truth * np.exp(noise * rng.normal(size=(draws, truth.size)))
    hits = rng.random((draws, truth.size)) < truth
    return [judged(ranked(r, h, attacks)).outcome for r, h in zip(risks, hits, strict=True)]


@pytest.mark.parametrize("n", [100, 1000])
def test_everybody_right_at_the_limit_is_an_alarm_at_most_at_the_level(n):
    assert outcomes(np.full(n, 1 / 11)).count("against") <= 30  # 20 are 5 %; 99 % of binomial(400, 0.05)


@pytest.mark.parametrize("n", [100, 1000])
def test_strangers_are_no_alarm(n):
    told = outcomes(np.full(n, 1 / n))
    assert told.count("against") == 0 and told.count("for") >= 0.97 * 400


def test_a_few_who_are_found_often_are_seen_among_many_who_never_are():
    """Twenty-five of a thousand at one half: found on average are 1.3 %, which every limit on the average accepts."""
    told = outcomes(np.r_[np.full(25, 0.5), np.full(975, 0.001)], attacks=12)
    assert told.count("against") > 0.8 * 400 and told.count("for") == 0


def test_a_handful_is_never_called_safe():
    """Six at one half among four hundred: too few to be sure of, too many to be nobody."""
    assert outcomes(np.r_[np.full(6, 0.5), np.full(394, 0.001)]).count("for") < 0.15 * 400


def test_the_lower_end_is_at_most_the_truth():
    rng, truth = np.random.default_rng(3), np.r_[np.full(60, 0.3), np.full(340, 0.05)]
    lows = []
    for _ in range(300):
        people = ranked(truth * np.exp(0.5 * rng.normal(size=400)), rng.random(400) < truth)
        lows.append(held_to_risk(people, 11).estimate.low * 400)
    assert np.mean(np.array(lows) > 60) <= 0.05
    assert np.mean(lows) > 2


@pytest.mark.parametrize("seed", range(6))
def test_what_a_limit_is_used_up_to_says_whether_it_is_kept(seed):
    rng = np.random.default_rng(seed)
    risk = rng.random(200)
    hits = (rng.random(200) < risk * 0.1 * seed).astype(float)
    found = judged(ranked(risk, hits), k=5)
    wanted = max(hit / (size / 5 + 0.5 * (1 - 1 / 5)) for size, hit in sets(risk.tolist(), hits.tolist()).items())
    assert found.used == pytest.approx(wanted)
    assert (found.used <= 1) == (found.outcome == "for")
