"""A release right at a limit, with the truth known: each error is made at most at its level.

Both errors count: *against* publishing what is within the limit, and *for* publishing what is just not shown to be. The
true rate is the limit itself, so that either word is an error, and each may be said in 5 % of draws at most.
"""

from __future__ import annotations

import numpy as np
import pytest

from unmask.evidence.crowds import small_groups
from unmask.evidence.estimate import Estimate, excess, excess_over_control, rate, wilson
from unmask.evidence.finding import Evidence, Observation, Reported
from unmask.evidence.policy import Policy, Threshold
from unmask.evidence.verdict import decide, judge

DRAWS = 600
MOST = 0.05 + 2.33 * (0.05 * 0.95 / DRAWS) ** 0.5  # 99 % of draws at the level


def outcomes(make, limit, draws=DRAWS, seed=0):
    """Outcomes of one figure over draws; ``make(rng)`` gives its estimate."""
    rng, policy = np.random.default_rng(seed), Policy("test", "", {"x": Threshold(limit, "because", "us")})
    told = [Reported("m", "M", "s", Evidence((Observation("x", "c.", make(rng)),))) for _ in range(draws)]
    return [judge([one], policy)[0].outcome for one in told]


def errors(told):
    return told.count("against") / len(told), told.count("for") / len(told)


@pytest.mark.parametrize("limit", [0.01, 0.05, 0.09, 0.2, 0.65])
@pytest.mark.parametrize("n", [100, 1000, 3000])
def test_a_count(limit, n):
    def make(rng):
        hits = int(rng.binomial(n, limit))
        return Estimate(hits / n, *wilson(hits, n), n, 0.0)

    against, safe = errors(outcomes(make, limit))
    assert against <= MOST and safe <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
def test_shared_credits(n):
    """Half of the hits are shared by two or three: the bootstrap, and at least the score interval."""
    shares = np.array([0.0, 1 / 3, 0.5, 1.0])
    odds = np.array([0.86, 0.04, 0.04, 0.06])
    limit = float(shares @ odds)

    against, safe = errors(outcomes(lambda rng: rate(rng.choice(shares, n, p=odds), chance=0.0), limit))
    assert against <= MOST and safe <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
def test_an_excess_over_the_same_attack_without_the_person(n):
    """Gains of -1, 0 and 1: what is learnt of some is unlearnt of others."""
    limit = 0.09

    def make(rng):
        gains = rng.choice([-1.0, 0.0, 1.0], n, p=[0.08, 0.75, 0.17])
        return excess(np.maximum(gains, 0.0), np.maximum(-gains, 0.0))

    against, safe = errors(outcomes(make, limit))
    assert against <= MOST and safe <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
def test_an_excess_over_people_outside(n):
    def make(rng):
        inside, outside = (rng.random(n) < share for share in (0.39, 0.30))
        return excess_over_control(inside.astype(float), outside.astype(float))

    against, safe = errors(outcomes(make, 0.09))
    assert against <= MOST and safe <= MOST


@pytest.mark.parametrize("claims", [2, 3, 10, 40, 200])
def test_people_claimed_who_are_right_one_time_in_eleven(claims):
    """The largest risk that a public file may have: it is not knowledge, and 19 in 20 is far away."""
    policy = Policy("test", "", {"x": Threshold(1.0, "because", "us", 0, 11)})
    rng, told = np.random.default_rng(1), []
    for hits in rng.binomial(claims, 1 / 11, DRAWS):
        seen = Observation("x", "c.", Estimate(hits / 1000, *wilson(int(hits), 1000), 1000, 0.0), claims)
        told += [finding.outcome for finding in judge([Reported("m", "M", "s", Evidence((seen,)))], policy)]
    assert told.count("against") <= MOST * DRAWS


@pytest.mark.parametrize("k", [5, 11])
def test_small_groups_that_hold_the_person_so_seldom_that_the_risk_is_one_in_k(k):
    """Groups of two after swapping: one of k times two the person's own record is in theirs."""
    policy = Policy("test", "", {"x": Threshold(1.0, "because", "us", 0, k)})
    rng, told = np.random.default_rng(2), []
    for _ in range(300):
        own = rng.random(500) < np.where(np.arange(500) < 100, 2 / k, 1.0)
        size = np.where(np.arange(500) < 100, 2, 100)
        told += [
            f.outcome for f in judge([Reported("m", "M", "s", Evidence((small_groups("x", size, own, 500),)))], policy)
        ]
    assert told.count("against") <= 0.05 * 300 + 9
    assert told.count("for") <= 0.6 * 300  # within the limit is right here: 1/k is accepted


@pytest.mark.parametrize("together", [False, True])
def test_many_figures_right_at_their_limits(together):
    """Thirty figures, of the same people or each of others: unsafe at most at the level, and never safe."""
    rng, n, keys = np.random.default_rng(4), 500, [f"k{i}" for i in range(30)]
    limits = np.resize([0.01, 0.05, 0.09, 0.2], 30)
    policy = Policy(
        "test", "", {key: Threshold(float(limit), "because", "us") for key, limit in zip(keys, limits, strict=True)}
    )
    words = []
    for _ in range(300):
        lots = rng.random(n)[None, :] if together else rng.random((30, n))
        hits = (lots < limits[:, None]).sum(1)
        told = [
            Reported("m", "M", "s", Evidence((Observation(key, "c.", Estimate(h / n, *wilson(int(h), n), n, 0.0)),)))
            for key, h in zip(keys, hits, strict=True)
        ]
        words.append(decide(judge(told, policy)).word)
    assert words.count("unsafe") <= 15 + 9
    assert words.count("safe") <= 15
