"""What competition adds, measured among fewer people: to whom it is drawn, and what is made of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.evidence.estimate import Estimate
from unmask.linkage.competing import Added, added, competition_of, fewer_people
from unmask.study.study import Study


def credits_of(*shares):
    return tuple(np.repeat([1.0, 0.0], [round(400 * share), 400 - round(400 * share)]) for share in shares)


def study(order=slice(None)):
    rng = np.random.default_rng(0)
    own = pl.DataFrame({"id": range(80), "a": rng.normal(size=80), "b": rng.integers(0, 4, 80)})
    more = pl.DataFrame({"id": range(100, 140), "a": rng.normal(size=40), "b": rng.integers(0, 4, 40)})
    made = pl.concat([own.with_columns(pl.col("a") + rng.normal(0, 0.1, 80)), more])
    return Study(Release(own[order], made[::-1], id="id"))


def test_it_is_expected_to_go_on_falling_by_the_same_share():
    """Gains of 10 points, then 5 among four times as many: 1.25 after two steps more."""
    found = added(credits_of(0.5, 0.6), credits_of(0.3, 0.35), 2.0, 0)
    assert found.expected == pytest.approx(0.05 * 0.5**2)
    assert found.least < 0.05 < found.most
    rises = added(credits_of(0.5, 0.55), credits_of(0.3, 0.4), 2.0, 0)
    assert rises.expected == pytest.approx(0.1)  # what rises is not expected to go on rising


def test_where_nearly_all_are_found_one_by_one_those_who_are_missed_count():
    """Of 10 missed among 1,000 five are found at once: so may half of the missed, however many."""
    plain, whole = np.repeat([1.0, 0.0], [990, 10]), np.repeat([1.0, 0.0], [995, 5])
    found = added((plain, whole), (plain, whole), 3.0, 0)
    assert 0.5 < found.regained < 0.9
    assert found.widen(Estimate(0.9, 0.88, 0.92, 1000, 0.001)).high > 0.92 + 0.08 * 0.5
    assert added((whole, whole), (np.ones(20), np.ones(20)), 1.0, 0).regained == 1.0  # nobody is missed: not known


def test_harm_is_expected_to_stay():
    found = added(credits_of(0.5, 0.4), credits_of(0.3, 0.25), 2.0, 0)
    assert found.expected == pytest.approx(-0.05)
    assert found.raise_to(Estimate(0.1, 0.08, 0.12, 1000, 0.001)).low < 0.08


@pytest.mark.parametrize(
    ("gain", "value", "low", "high"),
    [
        (Added(0.03, 0.5, 0.02, 0.01), 0.12, 0.08, 0.15),
        (Added(0.03, 0.5, 0.02, -0.01), 0.12, 0.07, 0.15),  # it may do harm
        (Added(0.03, 0.11, 0.02, 0.01), 0.12, 0.08, 0.12),  # no more than is found of fewer people
        (Added(0.0, 0.5, -0.3, -0.4), 0.0, 0.0, 0.12),
        (Added(0.03, 0.9, 0.02, 0.01, 0.5), 0.12, 0.08, 0.56),  # half of those who are missed
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


def test_it_is_measured_among_a_quarter_and_all_of_those_asked_for():
    met = []

    def attack(few):
        met.append(few.release.original.height)
        return ((np.zeros(met[-1]), np.ones(met[-1])),)

    (found,) = competition_of(study(), np.arange(40), attack, 0)
    assert met == [10, 40]
    assert found.expected == 1.0
