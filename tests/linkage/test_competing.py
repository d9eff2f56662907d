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


def shares(plain, whole, n=10**6):
    """Credits of which such shares are 1."""
    return tuple(np.repeat([1.0, 0.0], [round(n * s), n - round(n * s)]) for s in (plain, whole))


def test_a_gain_fades_with_the_share_as_it_was_seen_to():
    """By hand: steps of 0.3 and 0.2 sd at probits 0 and -0.5; how it fades is mostly that of other tables."""
    cdf = NormalDist().cdf
    fewer, more = shares(cdf(0.0), cdf(0.3)), shares(cdf(-0.5), cdf(-0.3))
    found = added([fewer], more, 2.0, 0)
    assert found.expected(cdf(-0.5)) == pytest.approx(cdf(-0.3) - cdf(-0.5), abs=1e-5)
    rest, wander = -0.1 + 0.65 * 0.2 * 0.5, 0.02**2 + (0.2 * 0.2) ** 2
    weight = (0.2 * 0.2 * 0.5) ** 2 / ((0.2 * 0.2 * 0.5) ** 2 + wander * 0.5)
    step = 0.2 * np.exp(-0.4 * (0.65 + weight * rest / (0.2 * -0.5)))
    assert found.expected(cdf(-0.9)) == pytest.approx(cdf(-0.9 + step) - cdf(-0.9), abs=1e-4)
    again = 2 * (rest / 2) ** 2  # in two steps more by as much each, either way
    sd = np.sqrt((0.2 * 0.2 * 0.4) ** 2 * (1 - weight) + wander * 0.4 + again)
    assert found.expected(cdf(-0.9), -2.0) == pytest.approx(cdf(-0.9 + step - 2 * sd) - cdf(-0.9), abs=1e-3)


def test_a_loss_stays_and_may_change_again_by_all_that_it_changed():
    cdf = NormalDist().cdf
    found = added([shares(cdf(0.0), cdf(-0.1))], shares(cdf(-0.5), cdf(-0.8)), 1.0, 0)
    assert found.trend.error == pytest.approx(0.2, abs=5e-3)
    step = 0.3 * np.exp(-0.4 * found.trend.fade)
    assert found.expected(cdf(-0.9)) == pytest.approx(cdf(-0.9 - step) - cdf(-0.9), abs=1e-4)
    assert -1.0 < found.trend.fade < 0.0  # as it grew when the share fell
    alike = added([shares(cdf(0.0), cdf(-0.3))], shares(cdf(-0.5), cdf(-0.8)), 1.0, 0)
    assert alike.trend.fade == pytest.approx(0.0, abs=1e-3)


def test_nothing_is_expected_where_nobody_or_everybody_is_found_anyway():
    found = added([credits_of(0.5, 0.6)], credits_of(0.3, 0.35), 2.0, 0)
    assert found.expected(0.0) == found.expected(1.0) == 0.0
    assert added([credits_of(0.0, 0.0)], credits_of(0.0, 0.0), 2.0, 0).expected(0.0) == 0.0
    for pair in (credits_of(0.0, 0.1), credits_of(0.9, 1.0), credits_of(0.0, 1.0)):  # probits without end are kept off
        assert 0.0 <= 0.4 + added([pair], pair, 1.0, 0).expected(0.4) <= 1.0
    assert Added(0.1, 0.9).expected(0.5) == 0.0


def test_of_all_who_are_found_one_by_one_some_may_lose_their_records():
    found = added([credits_of(1.0, 0.9)], credits_of(1.0, 0.9), 1.0, 0)
    assert found.expected(1.0) < 0.0
    assert found.raise_to(Estimate(1.0, 0.99, 1.0, 400, 0.001)).low < 0.9


def test_a_change_that_chance_explains_is_not_carried_on():
    """Of 40 people nobody can tell a step of 0.3 from one of -0.3; of 400,000 it is more than chance."""
    few, many = (
        added(
            [shares(0.6, NormalDist().cdf(probit(0.6) + 0.3), n)],
            shares(0.4, NormalDist().cdf(probit(0.4) - 0.3), n),
            1,
            0,
        )
        for n in (40, 400_000)
    )
    assert abs(few.trend.fade) < 0.05 < abs(many.trend.fade)
    assert few.trend.error < many.trend.error  # nor is it taken for one that all may know again


def test_what_one_step_adds_is_never_lost_by_a_draw_of_the_same_people():
    """Where fewer and more gain alike, the same share gains the same."""
    pair = credits_of(0.3, 0.4)
    assert added([pair], pair, 2.0, 0).expected(120 / 400) == pytest.approx(0.1, abs=2e-3)


def test_where_nearly_all_are_found_one_by_one_those_who_are_missed_count():
    """Of 10 missed among 1,000 five are found at once: so may half of the missed, however many."""
    plain, whole = np.repeat([1.0, 0.0], [990, 10]), np.repeat([1.0, 0.0], [995, 5])
    found = added([(plain, whole)], (plain, whole), 3.0, 0)
    assert 0.5 < found.regained < 0.9
    assert found.widen(Estimate(0.9, 0.88, 0.92, 1000, 0.001)).high > 0.92 + 0.08 * 0.5
    all_ = np.ones(20)
    assert added([(whole, whole)], (all_, all_), 1.0, 0).regained == 1.0  # nobody is missed: not known


def test_what_is_lost_lowers_the_rate_and_both_ends():
    """Half of all by themselves, a third all at once: as was seen in both files' proportions, so is it among all."""
    found = added([credits_of(0.6, 0.45)], credits_of(0.5, 0.33), 1.0, 0)
    told = found.raise_to(Estimate(0.5, 0.48, 0.52, 2000, 0.001))
    assert told.value == pytest.approx(0.33, abs=2e-3)
    assert told.low < 0.31 and 0.35 < told.high < 0.45


def test_what_is_known_is_lowered_by_a_loss_but_not_raised():
    plain = Estimate(0.5, 0.48, 0.52, 2000, 0.0)
    lost = added([credits_of(0.6, 0.45)], credits_of(0.5, 0.33), 1.0, 0).widen(plain)
    assert lost.value == pytest.approx(0.33, abs=2e-3) and lost.low < 0.31
    assert lost.high == pytest.approx(0.52, abs=0.02)
    gained = added([credits_of(0.4, 0.5)], credits_of(0.4, 0.5), 1.0, 0).widen(plain)
    assert gained.value == 0.5 and gained.high > 0.56  # no more than is found of the fewer


def test_the_error_of_the_step_is_on_both_sides():
    """No table is so well known that what competition does to it among all is known from fewer."""
    found = added([credits_of(0.6, 0.7)], credits_of(0.5, 0.6), 2.0, 0)
    told = found.raise_to(Estimate(0.3, 0.28, 0.32, 2000, 0.001))
    assert told.low < 0.3 < told.value < told.high
    assert told.value - told.low > 0.04


def test_quarters_that_differ_by_more_than_their_people_explain_widen_the_interval():
    """People who are linked by one chain are found or lost together."""
    alike, apart = ([credits_of(0.6, 0.5 + d) for d in (-s, s, -s, s)] for s in (0.0, 0.2))
    ends = [
        added(parts, credits_of(0.6, 0.5), 0.0, 0).raise_to(Estimate(0.6, 0.58, 0.62, 2000, 0))
        for parts in (alike, apart)
    ]
    assert ends[1].low < ends[0].low - 0.05 and ends[1].high > ends[0].high + 0.05


def moved(gain):
    """A trend that adds so much to a tenth, known without error."""
    x = probit(0.1)
    return Trend(x, probit(0.1 + gain) - x, 0.0)


@pytest.mark.parametrize(
    ("gain", "value", "high"),
    [
        (Added(0.03, 0.5, moved(0.02)), 0.12, 0.143),  # the same step, of 12 %
        (Added(0.03, 0.11, moved(0.02)), 0.11, 0.11),  # no more than is found of fewer people
        (Added(0.0, 0.5, moved(-0.05)), 0.05, 0.06),  # it does harm
        (Added(0.0, 0.5, moved(-0.0999)), 0.0001, 0.0002),
        (Added(0.03, 0.9, moved(0.02), 0.5), 0.12, 0.143),  # what may be added to those who are known is not
    ],
)
def test_the_estimate_of_all_at_once(gain, value, high):
    found = gain.raise_to(Estimate(0.10, 0.08, 0.12, 1000, 0.001))
    assert (found.value, found.high) == (pytest.approx(value), pytest.approx(high, abs=5e-3))
    assert max(0.0, value - 0.03) <= found.low < value


def test_fewer_people_have_their_own_records_and_a_share_of_those_of_nobody():
    people = np.arange(0, 80, 2)
    few = fewer_people(study(), people, 20, 0)
    assert (few.original.height, few.released.height) == (20, 20 + 10)
    assert few.original["id"].to_list() == few.released["id"].to_list()[:20]
    assert set(few.original["id"]) <= set(people.tolist())
    assert few.released["id"][20:].min() >= 100
    assert set(few.original["id"]) <= set(fewer_people(study(), people, 30, 0).original["id"])


def test_people_without_a_record_come_in_proportion():
    """They compete as well: a third of all who are known, in the quarters and the whole, and only once each."""
    given = study()
    truth = np.where(np.arange(80) % 4 == 0, -1, given.release.truth)
    absent = Study(given.release.with_tables(given.release.original, given.release.released, truth))
    people = np.flatnonzero(truth >= 0)
    drawn = [fewer_people(absent, people, 15, 0, part) for part in range(4)]
    assert [(few.original.height, len(few.paired_rows)) for few in drawn] == [(20, 15)] * 4
    assert (drawn[0].truth == [*range(15), *[-1] * 5]).all()
    others = [i for few in drawn for i in few.original["id"][15:]]
    assert len(set(others)) == 20 and all(i % 4 == 0 for i in others)
    spare = [i for few in drawn for i in few.released["id"][15:]]  # of nobody, or of those who are not known
    assert len(set(spare)) == len(spare) == 60


def test_only_those_who_have_a_record_are_counted():
    given = study()
    truth = np.where(np.arange(80) % 4 == 0, -1, given.release.truth)
    absent = Study(given.release.with_tables(given.release.original, given.release.released, truth))
    (found,) = competition_of(
        absent, np.flatnonzero(truth >= 0), lambda few: ((few.release.truth >= 0) * np.ones((2, 1)),), 0
    )
    assert found.together == pytest.approx(1.0)


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
