"""Calibration on five maskings with the truth known: among people of risk r, a share r is found in fresh draws.

Pooled over several tables: how well one release's risks fit depends as well on the luck of its own few hundred hits.
"""

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.evidence import Evidence, Observation, Reported, rate
from unmask.linkage import link_channel, link_nearest
from unmask.people import risk_of_people
from unmask.people.calibration import calibration_error, reliability

COLUMNS = ["gross_income", "employer_contribution", "federal_tax", "other_income", "interest", "social_contribution"]
CENSUS = unmask.datasets.census(1080).select(COLUMNS)
MASKINGS = {
    "noise": "noise(0.5)",
    "correlated": "correlated_noise(0.5)",
    "swapped": "rank_swap(share=0.1)",
    "aggregated": "microaggregation(5)",
    "rounded": None,
}
WITHOUT_CHANCE = {"aggregated", "rounded"}  # every draw is the same


def masked(name, people, seed):
    if MASKINGS[name]:
        return unmask.parse_masking(MASKINGS[name]).apply(people, seed=seed)
    widths = {column: round(0.7 * people[column].std()) for column in COLUMNS}
    return people.with_columns([(pl.col(column) / width).round() * width for column, width in widths.items()])


def nearest(release):
    return link_nearest(release).credit, None


def channel(release):
    found = link_channel(release, curve=False)
    return found.credit, found.best


def risk(release, hits, posterior):
    told = Observation("nearest.rate", "c.", rate(hits, chance=0.0))
    entry = Reported("a", "a", "", Evidence((told,), per_record=hits, posterior=posterior))
    return risk_of_people(release, [entry], None).risk


def risks_and_fresh_draws(attack, name, n, tables, draws):
    """Risks by each draw, and how often each person was found in the other draws."""
    told, found = [], []
    for table in range(3 * tables if name in WITHOUT_CHANCE else tables):
        people = CENSUS.sample(n, seed=table, shuffle=True)
        seeds = range(1 if name in WITHOUT_CHANCE else draws)
        releases = [unmask.Release(people, masked(name, people, seed)) for seed in seeds]
        results = [attack(release) for release in releases]
        hits = np.array([result[0] for result in results])
        for seed in seeds:
            told.append(risk(releases[seed], *results[seed]))
            found.append(np.delete(hits, seed, 0).mean(0) if len(seeds) > 1 else hits[0])
    return np.concatenate(told), np.concatenate(found)


def check(told, found, most=0.03):
    assert calibration_error(reliability(told, found)) <= most
    between = (told > 0.4) & (told < 0.6)
    assert between.sum() < 100 or found[between].mean() == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("name", ["noise", "rounded"])
def test_risks_are_calibrated(name):
    told, found = risks_and_fresh_draws(nearest, name, 300, 2, 4)
    check(told, found, 0.04)
    assert np.corrcoef(told, found)[0, 1] > 0.7  # and they tell people apart


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKINGS)
def test_risks_by_people_alike_are_calibrated(name):
    check(*risks_and_fresh_draws(nearest, name, 400, 5, 6))


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKINGS)
def test_risks_by_the_channel_are_calibrated(name):
    check(*risks_and_fresh_draws(channel, name, 400, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "correlated", "swapped"])
def test_risks_of_patients_are_calibrated(name):
    """Another table: columns of other shapes, of which two are whole numbers."""
    patients = unmask.datasets.patients(1080, seed=0).select("cost", "bmi", "days", "height")
    told, found = [], []
    for table in range(3):
        people = patients.sample(400, seed=table, shuffle=True)
        made = unmask.parse_masking(MASKINGS[name])
        releases = [unmask.Release(people, made.apply(people, seed=seed)) for seed in range(5)]
        hits = np.array([nearest(release)[0] for release in releases])
        told += [risk(release, hits[place], None) for place, release in enumerate(releases)]
        found += [np.delete(hits, place, 0).mean(0) for place in range(5)]
    check(np.concatenate(told), np.concatenate(found))


@pytest.mark.slow
def test_hits_of_one_draw_are_not():
    """What was told before: whoever is hit has risk 1, the others 0."""
    people = CENSUS.sample(400, seed=0, shuffle=True)
    hits = [nearest(unmask.Release(people, masked("noise", people, seed)))[0] for seed in range(6)]
    assert calibration_error(reliability(hits[0], np.mean(hits[1:], axis=0))) > 0.1
