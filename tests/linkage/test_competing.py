"""What competition adds, measured among fewer people: to whom it is drawn, and what is made of it."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.evidence.estimate import Estimate
from unmask.linkage.competing import Added, Trend, added, competition_of, fewer_people
from unmask.study.study import Study


def credits_of(*shares):
    return tuple(np.repeat([1.0, 0.0], [round(400 * share), 400 - round(400 * share)]) for share in shares)


def study(order=slice(None)):
    rng = np.random.default_rng(0)
    own = pl.DataFrame({"id": range(80), "a": rng.normal(size=80), "b": rng.integers(0, 4, 80)})
    more = pl.DataFrame({"id": range(100, 140), "a": rng.normal(size=40), "b": rng.integers(0, 4, 40)})
    made = pl.concat([own.with_columns(pl.col("a") + rng.normal(0, 0.1, 80)), more])
    return Study(Release(own[order], made[::-1], id="id"))


def probit(share):
    return NormalDist().inv_cdf(share)


def test_it_is_expected_to_move_by_the_step_that_was_seen_and_its_change():
    """By hand: steps of 0.3 and 0.2 sd at shares 0.5 and 0.3, asked for at 0.3 (as seen), and at 0.2."""

    def shares(x, step):
        plain = NormalDist().cdf(x)
        return tuple(
            np.repeat([1.0, 0.0], [round(1e6 * s), 10**6 - round(1e6 * s)]) for s in (plain, NormalDist().cdf(x + step))
        )

    fewer, more = shares(0.0, 0.3), shares(-0.5, 0.2)
    found = added(fewer, more, 2.0, 0)
    there = NormalDist().cdf(-0.5)
    assert found.expected(there) == pytest.approx(NormalDist().cdf(-0.3) - there, abs=1e-5)
    slope = 0.1 / 0.5  # a million people leave no doubt
    step = 0.2 - slope * 0.4
    share = NormalDist().cdf(-0.9)
    assert found.expected(share) == pytest.approx(NormalDist().cdf(-0.9 + step) - share, abs=1e-4)
    assert found.least < NormalDist().cdf(-0.3) - there < found.most


def test_nothing_is_expected_where_nobody_or_everybody_is_found_anyway():
    found = added(credits_of(0.5, 0.6), credits_of(0.3, 0.35), 2.0, 0)
    assert found.expected(0.0) == found.expected(1.0) == 0.0
    assert added(credits_of(0.0, 0.0), credits_of(0.0, 0.0), 2.0, 0).expected(0.0) == 0.0
    for pair in (credits_of(0.0, 0.1), credits_of(0.9, 1.0), credits_of(0.0, 1.0)):  # probits without end are kept off
        assert 0.0 <= 0.4 + added(pair, pair, 1.0, 0).expected(0.4) <= 1.0
    assert Added(0.1, 0.9).expected(0.5) == 0.0


def test_a_change_that_chance_explains_is_not_carried_on():
    """Of 40 people nobody can tell a step of 0.3 from one of 0.2; of 400,000 everybody can."""
    few, many = (
        [
            tuple(np.repeat([1.0, 0.0], [round(n * s), n - round(n * s)]) for s in shares)
            for shares in ((0.6, 0.7), (0.45, 0.5))
        ]
        for n in (40, 400_000)
    )
    slopes = [added(*pairs, 1.0, 0).trend.slope for pairs in (few, many)]
    seen = [(probit(b) - probit(a)) for a, b in ((0.6, 0.7), (0.45, 0.5))]
    assert slopes[1] == pytest.approx((seen[1] - seen[0]) / (probit(0.45) - probit(0.6)), rel=0.01)
    assert 0 < slopes[0] < slopes[1] / 2


def test_what_one_step_adds_is_never_lost_by_a_draw_of_the_same_people():
    """Where fewer and more gain alike, the same share gains the same."""
    pair = credits_of(0.3, 0.4)
    assert added(pair, pair, 2.0, 0).expected(120 / 400) == pytest.approx(0.1, abs=2e-3)


def test_where_nearly_all_are_found_one_by_one_those_who_are_missed_count():
    """Of 10 missed among 1,000 five are found at once: so may half of the missed, however many."""
    plain, whole = np.repeat([1.0, 0.0], [990, 10]), np.repeat([1.0, 0.0], [995, 5])
    found = added((plain, whole), (plain, whole), 3.0, 0)
    assert 0.5 < found.regained < 0.9
    assert found.widen(Estimate(0.9, 0.88, 0.92, 1000, 0.001)).high > 0.92 + 0.08 * 0.5
    assert added((whole, whole), (np.ones(20), np.ones(20)), 1.0, 0).regained == 1.0  # nobody is missed: not known


def test_harm_is_expected_to_stay():
    found = added(credits_of(0.5, 0.4), credits_of(0.3, 0.25), 2.0, 0)
    assert found.expected(0.3) == pytest.approx(-0.05, abs=2e-3)
    assert found.raise_to(Estimate(0.1, 0.08, 0.12, 1000, 0.001)).low < 0.08


def moved(gain):
    """A trend that adds so much to a tenth."""
    x = probit(0.1)
    return Trend(x, probit(0.1 + gain) - x, 0.0)


@pytest.mark.parametrize(
    ("gain", "value", "low", "high"),
    [
        (Added(0.03, 0.5, moved(0.02), 0.01), 0.12, 0.08, 0.15),
        (Added(0.03, 0.5, moved(0.02), -0.01), 0.12, 0.07, 0.15),  # it may do harm
        (Added(0.03, 0.11, moved(0.02), 0.01), 0.12, 0.08, 0.12),  # no more than is found of fewer people
        (Added(0.03, 0.5, moved(0.3), 0.01), 0.15, 0.08, 0.15),  # nor more than it may be
        (Added(0.0, 0.5, moved(-0.0999), -0.4), 0.0001, 0.0, 0.12),
        (Added(0.03, 0.9, moved(0.02), 0.01, 0.5), 0.12, 0.08, 0.56),  # half of those who are missed
    ],
)
def test_the_estimate_of_all_at_once(gain, value, low, high):
    found = gain.raise_to(Estimate(0.10, 0.08, 0.12, 1000, 0.001))
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high))


def test_fewer_people_have_their_own_records_and_a_share_of_those_of_nobody():
    people = np.arange(0, 80, 2)
    few = fewer_people(study(), people, 20, 0)
    assert (few.original.height, few.released.height) == (20, 20 + 10)
    assert few.original["id"].to_list() == few.released["id"].to_list()[:20]
    assert set(few.original["id"]) <= set(people.tolist())
    assert few.released["id"][20:].min() >= 100
    assert set(few.original["id"]) <= set(fewer_people(study(), people, 30, 0).original["id"])


def test_the_same_people_in_any_order_of_rows():
    order = np.random.default_rng(1).permutation(80)
    shuffled = study(order)
    people = np.flatnonzero(order % 2 == 0)
    one, two = fewer_people(study(), np.arange(0, 80, 2), 20, 0), fewer_people(shuffled, people, 20, 0)
    assert set(one.original["id"]) == set(two.original["id"])
    assert set(one.released["id"]) == set(two.released["id"])


def test_it_is_measured_in_each_quarter_and_among_all_of_those_asked_for():
    met = []

    def attack(few):
        met.append(set(few.release.original["id"]))
        return ((np.zeros(len(met[-1])), np.ones(len(met[-1]))),)

    (found,) = competition_of(study(), np.arange(40), attack, 0)
    assert [len(people) for people in met] == [10, 10, 10, 10, 40]
    assert set.union(*met[:4]) == met[4]  # everybody is in one of them
    assert found.expected(0.5) > 0.4


def test_a_quarter_of_one_person_is_that_person():
    (found,) = competition_of(study(), np.arange(1), lambda _: ((np.zeros(1), np.ones(1)),), 0)
    assert np.isfinite(found.expected(0.5))
