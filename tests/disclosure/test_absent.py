from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, absent_disclosure, parse_masking
from unmask.assessment import discover
from unmask.disclosure.absent import _nothing, assess_absent
from unmask.disclosure.claims import Guesses, right_by_share
from unmask.errors import RoleError
from unmask.evidence.measure import Context
from unmask.study.study import Study

RNG = np.random.default_rng(6)
N = 200
PEOPLE = pl.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.normal(size=N),
        "faith": RNG.choice(["p", "q", "r"], N),
        "wage": RNG.normal(size=N),
    }
)


def test_a_copy_agrees_and_a_stranger_is_at_chance():
    copy = absent_disclosure(Release(PEOPLE, PEOPLE, confidential=["faith", "wage"]), learner="tree")
    assert [entry.agreement.value for entry in copy.attributes] == [1.0, 1.0]
    assert copy.worst.excess.low > 0.2
    stranger = PEOPLE.select(pl.col(name).shuffle(seed=k) for k, name in enumerate(PEOPLE.columns))
    for entry in absent_disclosure(
        Release(PEOPLE, stranger, confidential=["faith", "wage"]), learner="tree"
    ).attributes:
        assert entry.agreement.low - 0.03 <= entry.agreement.chance <= entry.agreement.high + 0.03
        assert entry.excess.low == 0.0


def test_an_attribute_that_is_not_in_the_release_is_learnt_from_the_people():
    masked = parse_masking("noise(0.05)").apply(PEOPLE.select("a", "b"), 1)
    base = Release(PEOPLE.drop("wage"), masked, confidential=["faith"])
    found = absent_disclosure(base, learner="tree")
    assert [entry.name for entry in found.attributes] == ["faith"]
    assert found.attributes[0].agreement.value > found.attributes[0].halves.value
    both = PEOPLE.select("a", "b", "faith")
    assert [
        e.name
        for e in absent_disclosure(Release(PEOPLE, both, confidential=["faith", "wage"]), learner="tree").attributes
    ] == ["wage"]
    assert discover()["model"].applies(base).startswith("'faith' is left out: the release does not have it")


def test_chance_is_over_pairs():
    found = absent_disclosure(Release(PEOPLE, PEOPLE, confidential=["faith"]), learner="tree").attributes[0]
    shares = PEOPLE["faith"].value_counts()["count"].to_numpy() / N
    assert found.agreement.chance == pytest.approx((shares**2).sum(), abs=0.05)


def test_refusals_budget_and_evidence():
    with pytest.raises(RoleError, match="can be learnt"):
        absent_disclosure(Release(PEOPLE, PEOPLE))
    hurried = absent_disclosure(
        Release(PEOPLE, PEOPLE, confidential=["faith", "wage"]), learner="tree", budget=0.0, sample=60
    )
    assert len(hurried.attributes) == 1 and any("'wage'" in note for note in hurried.notes)
    assert hurried.attributes[0].agreement.n < 100
    evidence = assess_absent(Study(Release(PEOPLE, PEOPLE, confidential=["faith"])), Context())
    assert evidence.observations[0].key == "absent.excess" and not evidence.identity


def test_a_sample_of_more_than_half_is_everybody():
    """People are drawn by whole folds: of 200, 150 are all, 100 and 99 are half."""
    base = Release(PEOPLE, PEOPLE, confidential=["faith"])
    for sample, asked in ((150, 200), (101, 200), (100, 100), (99, 100), (200, 200)):
        found = absent_disclosure(base, learner="tree", sample=sample)
        assert found.attributes[0].agreement.n == asked
        assert any("drawn at random" in note for note in found.notes) == (asked < 200)


def test_a_faithful_table_of_large_crowds_remembers_nobody():
    """Sex by region in crowds of a hundred: the release is the original, and no record makes a difference."""
    rng = np.random.default_rng(5)
    crowd = pl.DataFrame({"sex": rng.choice(["m", "f"], 1000), "region": rng.choice(list("ABCDE"), 1000)}).with_columns(
        answer=pl.Series(rng.choice(["yes", "no"], 1000))
    )
    found = absent_disclosure(Release(crowd, crowd, confidential=["answer"])).worst
    assert found.agreement.value == 1.0
    assert found.excess.high < 0.12


def test_who_has_no_guess_is_claimed_last():
    """Where all values that were published are those of one fold, nothing is learnt for it from the others."""
    none, trust = _nothing(2)
    assert np.isnan(none).all()
    guesses = Guesses(np.array([0.0, 0.0, 1.0]), np.r_[trust, 0.1])
    assert right_by_share(guesses, np.array([1 / 3])) == pytest.approx([1 / 3])
