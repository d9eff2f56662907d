"""Intervals of linkage figures: what they allow for, and that they cover the mean over draws of the masking."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.evidence import Context, Estimate, rate, wilson
from unmask.linkage import Linkage
from unmask.linkage.knowledge_curve import over_sets
from unmask.linkage.one_to_one import assess_global
from unmask.linkage.result import in_chains, why_more
from unmask.study import Study

COLUMNS = ["gross_income", "employer_contribution", "federal_tax", "other_income", "interest", "social_contribution"]


def linkage(margin, credit):
    n = len(margin)
    rows, ones = np.arange(n), np.ones(n, dtype=np.int64)
    return Linkage(rows, np.zeros(n), np.asarray(credit, float), ones, np.asarray(margin, float), 0.0, True, rows, n,
                   "to_release")  # fmt: skip


def covered(estimates):
    truth = np.mean([one.value for one in estimates])
    return np.mean([one.low <= truth <= one.high for one in estimates])


def test_errors_of_a_matching_come_in_chains():
    """Three people change places at a time: every error comes with two others, and the variance is 3 times a coin's."""
    rng = np.random.default_rng(1)
    threes = rng.random((400, 100)) < 0.1
    found = [rate(1.0 - np.repeat(row, 3), chance=0.0) for row in threes]
    assert covered(found) < 0.8  # as if everybody stood for themselves
    assert 0.93 <= covered([in_chains(one) for one in found]) <= 0.98
    everybody = in_chains(rate(np.ones(90), chance=0.0))
    assert everybody.low == pytest.approx(wilson(30, 30)[0]) and everybody.high == 1.0


def test_the_interval_of_a_matching_covers_its_mean():
    """Normal columns with noise: where half to nine in ten are found, (1 + p) times a coin's variance is too little."""
    found = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        people = np.sqrt(0.3) * rng.normal(size=(60, 1)) + np.sqrt(0.7) * rng.normal(size=(60, 6))
        tables = (pl.DataFrame(values) for values in (people, people + 0.5 * rng.normal(size=people.shape)))
        found.append(unmask.link_one_to_one(unmask.Release(*tables)).estimate)
    assert 0.8 < np.mean([one.value for one in found]) < 0.92
    in_twos = [replace(one, low=low, high=high) for one in found for low, high in [wilson_of(one, 1 + one.value)]]
    assert covered(in_twos) < 0.92  # as if errors were two people who changed places
    assert covered(found) >= 0.93


def wilson_of(one, times):
    return wilson(one.value * one.n / times, one.n / times)


def test_the_interval_of_known_covers_its_mean():
    """Some people are clearer than others in every draw, and right more often: a few links move the crossing far."""
    rng, known, counts = np.random.default_rng(3), [], []
    clear = np.linspace(0, 1, 100)
    for _ in range(100):
        found = linkage(clear + 0.1 * rng.normal(size=100), rng.random(100) < 1 - 0.8 * (1 - clear) ** 2)
        known.append(found.known())
        counts.append(rate(np.arange(100) < found.claimed(), chance=0.0))
    assert covered(counts) < 0.8  # a count of the people claimed
    assert covered(known) >= 0.93
    assert np.mean([one.high - one.low for one in known]) < 0.6


def test_known_of_nobody_and_of_everybody():
    nobody = linkage(np.arange(50), np.zeros(50)).known()
    assert nobody.value == nobody.low == 0.0 and nobody.high == pytest.approx(wilson(0, 50)[1])
    everybody = linkage(np.arange(50), np.ones(50)).known()
    assert everybody.value == everybody.high == 1.0 and 0.0 < everybody.low < wilson(50, 50)[0]
    assert linkage(np.arange(50), np.ones(50)).right() == 50


def test_sets_that_were_not_drawn_widen_the_interval():
    people = Estimate(0.3, 0.25, 0.36, 200, 0.01)
    assert over_sets(people, [0.1, 0.3, 0.5], 3) == people  # these are all
    wider = over_sets(people, [0.1, 0.3, 0.4, 0.4], 20)
    reach = 3.182446 * np.std([0.1, 0.3, 0.4, 0.4], ddof=1) / 2 * np.sqrt(1 - 4 / 20)
    assert wider.low == pytest.approx(max(0.0, 0.3 - np.hypot(0.05, reach)))
    assert wider.high == pytest.approx(0.3 + np.hypot(0.06, reach))
    assert (over_sets(people, [0.3], 20).low, over_sets(people, [0.3], 20).high) == (0.0, 1.0)


def test_who_is_known_beyond_those_found_is_told_why():
    known, found = Estimate(1.0, 0.9, 1.0, 1000, 0.0), Estimate(0.963, 0.95, 0.97, 1000, 0.001)
    told = why_more(known, found, 963.0)
    assert "claim 1,000 people and are right for 963, at least 19 in 20" in told
    assert why_more(found, known) == why_more(found, found) == ""
    people = unmask.datasets.census(150, seed=2).select(COLUMNS)
    masked = unmask.parse_masking("noise(0.1)").apply(people, 1)
    rates, claims = assess_global(Study(unmask.Release(people, masked)), Context()).observations
    assert claims.estimate.value > rates.estimate.value
    right = unmask.link_one_to_one(unmask.Release(people, masked)).right()
    assert f"are right for {right:,.0f}, at least 19 in 20" in claims.claim


@pytest.mark.slow
@pytest.mark.parametrize("masking", ["noise(0.15)", "rank_swap(share=0.1)"])
def test_intervals_cover_the_mean_over_draws_of_the_masking(masking):
    """The same people masked again and again, as in benchmarks/intervals.py."""
    people = unmask.datasets.census(120, seed=0).select(COLUMNS)
    found = {"nearest": [], "one_to_one": [], "known": [], "half": []}
    for seed in range(120):
        release = unmask.Release(people, unmask.parse_masking(masking).apply(people, seed=seed))
        nearest, matched = unmask.link_nearest(release), unmask.link_one_to_one(release)
        found["nearest"].append(nearest.estimate)
        found["one_to_one"].append(matched.estimate)
        found["known"].append(matched.known())
        found["half"].append(unmask.knowledge_curve(release, sets=4, seed=seed).half)
    for name, estimates in found.items():
        assert covered(estimates) >= 0.93, name


@pytest.mark.slow
def test_intervals_cover_the_mean_over_new_people():
    """Other people of a population each time, with noise that does not depend on them: neither too wide nor narrow."""
    found = {"nearest": [], "nearest known": [], "one_to_one": [], "one_to_one known": []}
    for seed in range(200):
        rng = np.random.default_rng([seed, 200])
        people = np.sqrt(0.3) * rng.normal(size=(200, 1)) + np.sqrt(0.7) * rng.normal(size=(200, 6))
        tables = (pl.DataFrame(side, schema=COLUMNS) for side in (people, people + rng.normal(0, 0.7, people.shape)))
        release = unmask.Release(*tables)
        for name, linked in (
            ("nearest", unmask.link_nearest(release)),
            ("one_to_one", unmask.link_one_to_one(release)),
        ):
            found[name].append(linked.estimate)
            found[f"{name} known"].append(linked.known())
    for name, estimates in found.items():
        assert 0.91 <= covered(estimates) <= 0.99, name
