"""The share of a crowd that is in the release, against the definition and against populations that are known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.assessment import discover, run_measure
from unmask.evidence import Context
from unmask.groups.population.outside import class_shares
from unmask.study import Study

NAMES = ["sex", "region", "age"]


def people(n, seed, cells=(2, 5, 9)):
    rng = np.random.default_rng(seed)
    skewed = [np.minimum(rng.geometric(2 / size, n), size) for size in cells]
    return pl.DataFrame(dict(zip(NAMES, skewed, strict=True))).cast(pl.String)


def outside(**roles):
    study = Study(unmask.Release(quasi=NAMES, **roles))
    return run_measure(discover()["population"], study, Context()).outside


@pytest.mark.parametrize("seed", [0, 1])
def test_with_a_register_it_is_counted(seed):
    town = people(900, seed)
    survey = town.sample(80, seed=seed)
    changed = survey.with_columns(pl.Series("age", ["1", *survey["age"][1:]]))
    found = outside(original=survey, released=changed, population=town)
    inside, everybody = Counter(changed.rows()), Counter(town.rows())
    own = [mine == theirs for mine, theirs in zip(survey.rows(), changed.rows(), strict=True)]
    naive = [
        min(1.0, inside[key] / max(inside[key], everybody[key])) if same else 1.0
        for key, same in zip(survey.rows(), own, strict=True)
    ]
    for share in found.share:
        assert share.tolist() == pytest.approx(naive)
    lone = sum(same and inside[key] == 1 == everybody[key] for key, same in zip(survey.rows(), own, strict=True))
    unknown = 80 - sum(own)
    assert found.alone[:2] == pytest.approx((unknown / 80, (unknown + lone) / 80))


def test_the_journalist_s_figure_is_that_of_somebody_who_guesses_among_the_people_of_the_register():
    """Played: for each record of the release, somebody of the register who looks the same is named."""
    town = people(900, 3).with_row_index("who")
    survey = town.sample(120, seed=3)
    release = unmask.Release(survey.select(NAMES), survey.select(NAMES), population=town.select(NAMES))
    found = unmask.assess(release, only=["uniqueness", "population", "nearest"], intruder="journalist")
    alike = {key: group["who"].to_list() for key, group in town.group_by(NAMES)}
    rng, right = np.random.default_rng(0), 0
    for _ in range(200):
        right += sum(rng.choice(alike[row[1:]]) == row[0] for row in survey.rows())
    played = right / (200 * 120)
    figures = {finding.key: finding.estimate for finding in found.findings if finding.estimate}
    for key in ("uniqueness.average", "nearest.rate"):
        assert figures[key].value == pytest.approx(played, abs=0.01)
        assert figures[key].low <= played <= figures[key].high


def test_a_column_that_cannot_be_compared_leaves_everything_as_it_is():
    survey = people(60, 1)
    lots = np.random.default_rng(2).integers(0, 5, 60)  # one label for each region would be read
    coded = survey.with_columns(
        region=pl.Series([f"q{region}{lot}" for region, lot in zip(survey["region"], lots, strict=True)])
    )
    assert outside(original=survey, released=coded, population=5000) is None


@pytest.mark.parametrize("fine", [False, True])
def test_models_hold_the_truth_between_their_ends(fine):
    """A large population that is known: people found among those who look the same, and people alone."""
    cells = (40, 60, 90) if fine else (2, 8, 20)
    country = people(200_000, 5, cells)
    survey = country.sample(500, seed=5)
    found = outside(original=survey, released=survey, population=200_000)
    crowd, sample = Counter(country.rows()), Counter(survey.rows())
    truth = np.mean([sample[key] / crowd[key] for key in survey.rows()])
    low, _, high = found.share.mean(axis=1)
    assert low <= truth <= high
    alone = np.mean([crowd[key] == 1 for key in survey.rows()])
    assert found.alone[0] <= alone <= found.alone[2]


@pytest.mark.parametrize("rare", [0.03, 0.3])
def test_some_who_are_alone_among_many_who_are_not(rare):
    """Everybody lives in one of 60 large crowds, but for some with a job of their own: no sample tells them apart."""
    rng, n = np.random.default_rng(7), 100_000
    job = np.where(rng.random(n) < rare, np.arange(n), -1)
    values = {"sex": rng.integers(0, 2, n), "region": rng.integers(0, 30, n), "age": job}
    country = pl.DataFrame(values).cast(pl.String)
    survey = country.sample(400, seed=7)
    found = outside(original=survey, released=survey, population=n)
    crowd, sample = Counter(country.rows()), Counter(survey.rows())
    truth = np.mean([sample[key] / crowd[key] for key in survey.rows()])
    assert found.share[2].mean() >= truth > found.share[1].mean()  # what models expect is far too little here
    assert found.alone[2] >= np.mean([crowd[key] == 1 for key in survey.rows()])


def test_weights_alone_do_not_make_a_crowd():
    """Everybody is alone with fine values: the weights say that they stand for 400, and nobody knows."""
    rng = np.random.default_rng(2)
    survey = pl.DataFrame({name: rng.normal(size=200).round(5) for name in NAMES}).with_columns(weight=pl.lit(400.0))
    found = outside(original=survey, released=survey, weight="weight")
    assert found.share[1].max() < 0.1
    assert found.share[2].min() > 0.9 and found.alone[2] > 0.9


def test_classes_of_several_and_of_one():
    survey = pl.DataFrame({"sex": list("aab")})
    risk = unmask.population_risk(survey, quasi=["sex"], population=300)
    low, middle, high = class_shares(risk)
    assert (low <= middle).all() and (middle <= high).all()
    by_count = dict(zip(risk.classes.counts.tolist(), high.tolist(), strict=True))
    assert by_count[1] == 1.0 and by_count[2] < 0.05  # two of three hundred who look the same were not drawn from two
    sure = unmask.population_risk(survey, quasi=["sex"], population=3)
    assert [share.tolist() for share in class_shares(sure)] == [[1.0, 1.0]] * 3
