"""People drawn from very many: what is found if everybody is looked for at once lies within the interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.evidence.estimate import Estimate
from unmask.evidence.known import claims_again
from unmask.linkage.channel import attack, competition, link_channel, linking
from unmask.linkage.channel.gather import gather
from unmask.linkage.competing import Added, added


def noisy(n, sd, seed, columns=5):
    rng = np.random.default_rng(seed)
    x, names = rng.normal(size=(n, columns)), list("abcdefgh")[:columns]
    tables = (x, x + rng.normal(0, sd, x.shape))
    order = rng.permutation(n)
    original, released = (pl.DataFrame(t, schema=names).with_row_index("id") for t in tables)
    return Release(original, released[order], id="id")


@pytest.fixture
def few(monkeypatch):
    """Lists of candidates for everybody, and few people who are looked for at once."""
    for module in (attack, linking):
        monkeypatch.setattr(module, "MOST_PAIRS", 1)
    monkeypatch.setattr(competition, "TOGETHER", 300)
    monkeypatch.setattr(competition, "GROUPED", 120)


# --- the upper end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("added", "high"),
    [
        (Added(0.03, 0.5), 0.15),  # what is added
        (Added(0.6, 0.5), 0.5),  # but no more than is found of fewer people
        (Added(0.0, 0.05), 0.12),  # and never less than without
        (Added(2.0, 1.0), 1.0),
    ],
)
def test_the_upper_end_holds_what_competition_adds(added, high):
    plain = Estimate(0.10, 0.08, 0.12, 1000, 0.001)
    widened = added.widen(plain)
    assert (widened.value, widened.low, widened.n) == (0.10, 0.08, 1000)
    assert widened.high == pytest.approx(high)


def credits_of(*shares):
    return tuple(np.repeat([1.0, 0.0], [round(400 * share), 400 - round(400 * share)]) for share in shares)


def test_what_falls_adds_no_more_and_what_rises_goes_on_rising():
    """Gains of 10 points, then 5: at most 5 and its error; of 5, then 10: twice 5 more after two steps."""
    falls = added([credits_of(0.5, 0.6)], credits_of(0.3, 0.35), 2.0, 0)
    rises = added([credits_of(0.5, 0.55)], credits_of(0.3, 0.4), 2.0, 0)
    error = [1.96 * np.sqrt(gain * (1 - gain) / 400) for gain in (0.05, 0.10)]
    assert falls.most == pytest.approx(0.05 + error[0], abs=1e-4)
    assert rises.most == pytest.approx(0.10 + error[1] + 2 * 0.05, abs=1e-4)
    chains = np.sqrt(1 + 2 * 0.6)  # who loses their record takes another's: the variance of 0.6 found is larger
    assert falls.together == pytest.approx(0.35 + (0.398 - 0.35) * chains, abs=0.001)  # Wilson's, of 140 of 400


def test_some_people_come_with_their_records_and_a_share_of_the_others():
    release = noisy(200, 0.2, 0)
    more = release.released.with_columns(id=pl.col("id") + 1000)[:80]  # records of nobody
    scene = gather(Release(release.original, pl.concat([release.released, more]), id="id"), 0)
    part = np.arange(200) % 2
    some, own, taught = competition._fewer(scene, [], part, np.sort(competition._drawn(scene, 0)[:50]), 0)
    assert (some.material.n_people, some.material.n_records) == (50, 70)
    assert (some.material.truth >= 0).all() and taught == []
    column = scene.material.people[0].number
    position = {row: k for k, row in enumerate(scene.people.tolist())}
    rows = [position[row] for row in some.people.tolist()]
    assert (some.material.people[0].number == column[rows]).all()
    assert (own == part[rows]).all()


def test_some_people_are_linked_as_those_among_whom_competition_is_measured(monkeypatch):
    """By lists, also where all pairs could be scored: what competition adds to the one says nothing of the other."""
    limits = []

    def link(*given, most=None, **how):
        limits.append(most)
        return linking.link_people(*given, most=most, **how)

    monkeypatch.setattr(attack, "link_people", link)
    release = noisy(60, 0.3, 2)
    link_channel(release, people=20, curve=False)
    link_channel(release, curve=False)
    assert limits == [0, None]


def test_another_draw_teaches_another_threshold():
    """Of 100 sure claims 94 are right and the first 50 all: a claim more or less, and half of them are no claims."""
    sure = np.round(np.linspace(0.99, 0.9, 100), 4)
    credit = np.ones(100)
    credit[[60, 65, 70, 80, 90, 95]] = 0.0
    asked = np.ones(100, dtype=bool)
    low, high = claims_again(sure, credit, asked, 0)
    assert low < 0.75 and high > 0.9
    everybody = claims_again(sure, np.ones(100), asked, 0)
    assert everybody == (1.0, 1.0)
    assert claims_again(sure, np.zeros(100), asked, 0) == (0.0, 0.0)
    assert claims_again(np.append(sure, 1.0), np.append(credit, 0.0), np.append(asked, False), 0) == (low, high)


def test_what_people_without_a_record_take_lowers_who_is_known(few):
    """They compete for records where everybody is looked for, and not with those who are asked for one by one."""
    release = noisy(500, 0.15, 3, 3)
    release = Release(release.original, release.released.filter(pl.col("id") < 300), id="id")
    some = link_channel(release, people=250, curve=False)
    plain = replace(some, competition=None).known
    assert some.known.value < plain.value
    assert some.known.low < plain.low and some.known.high >= plain.high


# --- both can be computed ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_everybody_at_once_is_within_the_interval(few):
    release = noisy(900, 0.4, 1)
    everybody = link_channel(release, curve=False)
    some = link_channel(release, people=300, curve=False)
    assert everybody.competition is None
    assert some.competition is not None and some.competition.people == 300
    assert some.found.low <= everybody.found.value <= some.found.high < 1.0
    assert everybody.known.value <= some.known.high


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "columns"), [(0.3, 5), (0.6, 5), (1.0, 8)])
def test_the_interval_of_a_sample_holds_what_everybody_at_once_finds(few, sd, columns):
    """At three times as many people as are looked for at once, and for each of a few draws."""
    plain, raised = [], []
    for seed in range(3):
        release = noisy(1000, sd, seed, columns)
        everybody = link_channel(release, curve=False, seed=seed)
        some = link_channel(release, people=400, curve=False, seed=seed)
        assert some.found.low <= everybody.found.value <= some.found.high
        assert everybody.known.value <= some.known.high
        raised.append(some.found.value - everybody.found.value)
        plain.append(replace(some, competition=None).found.value - everybody.found.value)
    assert abs(np.mean(raised)) < abs(np.mean(plain))  # what is expected to be added is nearer to what is


def test_groups_that_lists_do_not_see_raise_the_upper_end(few):
    """People in homes are found as a whole where all pairs can be compared; of too many that is not known."""
    rng = np.random.default_rng(6)
    home = np.repeat(np.arange(60), rng.integers(2, 6, 60))
    age, other = rng.integers(0, 90, home.size), rng.permutation(60)[home] + 1000
    original = pl.DataFrame({"id": range(home.size), "age": age, "job": rng.integers(0, 9, home.size), "home": home})
    noise = np.round(rng.normal(0, 5, home.size)).astype(int)
    masked = original.with_columns(pl.Series("age", age + noise), pl.Series("home", other))
    found = link_channel(Release(original, masked[rng.permutation(home.size)], id="id", household="home"), curve=False)
    assert found.found.value < 0.6
    assert found.competition is not None and not found.competition.one_by_one
    assert found.found.high > 0.9
