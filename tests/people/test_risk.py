"""The risk of a person is how often the best attack finds them, whatever this draw of the masking did."""

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.assessment import discover, run_measure
from unmask.evidence import Context, Evidence, Observation, Reported, rate
from unmask.people import risk_of_people
from unmask.people.calibration import calibration_error, reliability

COLUMNS = ["gross_income", "federal_tax", "interest", "social_contribution"]
PEOPLE = unmask.datasets.census(300).select(COLUMNS)


def reported(name, hits, posterior=None, *, identity=True):
    told = Observation("nearest.rate", "c.", rate(np.nan_to_num(hits), chance=0.0))
    return Reported(name, name, "", Evidence((told,), per_record=hits, posterior=posterior, identity=identity))


def never(*_):
    raise AssertionError("no draw is wanted")


def test_one_attack_counts_and_not_the_luckiest_of_many():
    rng = np.random.default_rng(0)
    release = unmask.Release(PEOPLE, PEOPLE)
    coins = [(rng.random(300) < 0.3).astype(float) for _ in range(10)]
    found = risk_of_people(release, [reported(f"m{i}", hits) for i, hits in enumerate(coins)], never)
    best = max(range(10), key=lambda i: coins[i].mean())
    assert found.measure == f"m{best}"
    assert np.mean(found.risk) == pytest.approx(coins[best].mean(), abs=0.02)
    assert np.max(coins, axis=0).mean() > 0.95  # what the largest over attacks would say


def test_who_was_not_looked_for_has_no_risk_and_secrets_do_not_count():
    release = unmask.Release(PEOPLE, PEOPLE)
    hits = np.where(np.arange(300) < 100, np.nan, 0.25)
    found = risk_of_people(release, [reported("a", hits), reported("b", np.ones(300), identity=False)], never)
    assert found.measure == "a"
    assert np.isnan(found.risk[:100]).all() and found.risk[100:] == pytest.approx(np.full(200, 0.25), abs=1e-6)
    nobody = risk_of_people(release, [reported("b", np.ones(300), identity=False)], never)
    assert nobody.measure is None and np.isnan(nobody.risk).all() and nobody.bins == ()


def test_the_posterior_is_half_of_the_risk():
    release = unmask.Release(PEOPLE, unmask.parse_masking("noise(0.5)").apply(PEOPLE, seed=1))  # by no rule
    posterior = np.linspace(0.05, 0.95, 300)
    hits = (np.random.default_rng(1).random(300) < posterior).astype(float)
    without = risk_of_people(release, [reported("a", hits)], never).risk
    found = risk_of_people(release, [reported("a", hits, posterior)], never)
    sure = 2 * found.risk - without
    assert found.risk.mean() == pytest.approx(hits.mean(), abs=0.02)
    assert np.corrcoef(sure, posterior)[0, 1] > 0.98


def test_without_luck_the_posterior_is_the_whole_risk():
    shared = np.repeat([1.0, 0.5, 0.25], 100)
    found = risk_of_people(unmask.Release(PEOPLE, PEOPLE), [reported("a", shared, shared)], never)
    assert found.risk == pytest.approx(shared, abs=1e-6)


def attack(name, release, seed=0):
    return run_measure(discover()[name], release, Context(seed)).per_record


@pytest.mark.parametrize("masking", ["noise(0.5)", "microaggregation(3)"])
def test_where_the_masking_is_known_it_is_drawn_again(masking):
    made = unmask.parse_masking(masking)
    release = unmask.Release(PEOPLE, made.apply(PEOPLE, seed=7), masking=made)
    hits = attack("nearest", release)
    found = risk_of_people(release, [reported("nearest", hits)], attack)
    assert "new draws" in found.how
    if "micro" in masking:  # no chance: each draw is the same
        assert found.risk == pytest.approx(hits, abs=0.02)
        return
    fresh = np.mean([attack("nearest", unmask.Release(PEOPLE, made.apply(PEOPLE, seed=s))) for s in range(50, 70)], 0)
    assert calibration_error(reliability(found.risk, fresh)) < 0.04
    assert np.corrcoef(found.risk, fresh)[0, 1] > 0.9 > np.corrcoef(hits, fresh)[0, 1]


def test_a_masking_that_cannot_have_made_the_release_is_not_drawn():
    made = unmask.parse_masking("noise(0.5, columns=[interest])")
    release = unmask.Release(PEOPLE, unmask.parse_masking("noise(0.5)").apply(PEOPLE, seed=1), masking=made)
    assert "new draws" not in risk_of_people(release, [reported("nearest", np.full(300, 0.5))], never).how


def test_risks_of_an_assessment():
    masked = unmask.parse_masking("noise(0.3)").apply(PEOPLE, seed=1)
    assessment = unmask.assess(unmask.Release(PEOPLE, masked), only=["nearest", "uniqueness"])
    assert assessment.risks.shape == (300,) and assessment.records["risk"].to_list() == assessment.risks.tolist()
    assert assessment.risks.mean() == pytest.approx(assessment.records["nearest"].mean(), abs=0.02)
    assert assessment.document.people.measure == "nearest"
    some = pl.concat([PEOPLE, PEOPLE.head(5)]).with_row_index("id")
    absent = unmask.assess(unmask.Release(some, masked.with_row_index("id"), id="id"), only=["nearest"])
    assert np.isnan(absent.risks[300:]).all() and not np.isnan(absent.risks[:300]).any()


def test_people_in_crowds_have_the_risk_of_their_crowd():
    """Nearly everybody stands equally far apart: the few others must not teach what the crowds are like."""
    draw = np.random.default_rng(5)
    people = pl.DataFrame({"sex": draw.choice(["f", "m"], 200), "town": draw.choice(list("abcdefg"), 200)})
    found = unmask.assess(unmask.Release(people, people), only=["nearest", "uniqueness"])
    crowd = people.with_columns(n=pl.len().over("sex", "town"))["n"].to_numpy()
    assert found.risks == pytest.approx(1 / crowd)
    assert found.document.people.error == pytest.approx(0, abs=1e-9)


def banded(n=1500):
    """Pay in thousands: two people are alone in the release, and others stand in large crowds."""
    draw = np.random.default_rng(3)
    pay = np.append(draw.integers(1000, 6000, n - 2), [90_500, 120_700])
    people = pl.DataFrame({"pay": pay, "town": draw.choice(["a", "b", "c"], n)}).with_row_index("id")
    return unmask.Release(people, people.with_columns(pl.col("pay") // 1000 * 1000), id="id")


def test_who_is_alone_by_a_rule_has_a_risk_of_one_whichever_attack_is_the_best():
    hits = np.zeros(1500)
    hits[:40] = 1.0  # somebody who guesses better than anybody, and misses the two
    release = banded()
    exact = np.asarray(run_measure(discover()["uniqueness"], release, Context(0)).per_record)
    for posterior in (None, np.full(1500, 0.03)):
        found = risk_of_people(
            release, [reported("a", hits, posterior), reported("uniqueness", exact, identity=False)], never
        )
        assert found.measure == "a"
        assert found.risk[-2:].tolist() == [1.0, 1.0]
        assert (found.risk >= exact).all()


def test_people_above_a_risk_are_counted_where_nothing_is_drawn():
    core = unmask.Policy.load("partner").core["paired"]
    found = unmask.assess(banded(), only=core, policy="partner", utility="none")
    told = next(finding for finding in found.findings if finding.key == "risk.above")
    assert told.outcome == "against"
    assert told.claim == "2 of 1,500 people stand among fewer than 5 whenever the release is made so."
    assert found.risks[-2:].tolist() == [1.0, 1.0]
    noise = unmask.Release(PEOPLE, unmask.parse_masking("noise(2)").apply(PEOPLE, 1))
    noisy = unmask.assess(noise, only=core, utility="none")
    assert "whenever" not in next(one for one in noisy.findings if one.key == "risk.above").claim
