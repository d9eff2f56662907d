"""One found member gives the others away: by definition, with each kind of knowledge about the population."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask import Release, RoleError, assess
from unmask.evidence.measure import Context
from unmask.groups.household import assess_household, number_homes, over_homes
from unmask.groups.population.measure import assess_population
from unmask.selfcheck import selfcheck
from unmask.study.study import Study

ROWS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["p", "q", None])), min_size=1, max_size=12)


@given(ROWS)
def test_by_definition(rows):
    risks, homes = [row[0] for row in rows], [row[1] for row in rows]
    found = over_homes(np.array(risks), number_homes(pl.Series(homes, dtype=pl.String)))
    assert found.tolist() == pytest.approx(naive.household_risks(risks, homes), abs=1e-12)


def table():
    rng = np.random.default_rng(1)
    columns = {"a": rng.integers(0, 5, 60), "b": rng.integers(0, 5, 60), "home": np.arange(60) // 3, "w": [4.0] * 60}
    return pl.DataFrame(columns)


@pytest.mark.parametrize("known", ["weight", "register", "number", "nothing"])
def test_follows_from_the_members(known):
    people = table()
    given_ = {
        "weight": {"weight": "w"},
        "register": {"population": pl.concat([people] * 4), "ignored": ["w"]},
        "number": {"population": 240, "ignored": ["w"]},
        "nothing": {"ignored": ["w"]},
    }[known]
    kinds = {"a": "categorical", "b": "categorical"}
    release = Release(people, people, household="home", kinds=kinds, **given_)
    assert release.role("home") == "household"
    assert release.quasi == ("a", "b")
    found = assess_household(Study(release), Context())
    if known == "nothing":
        crowd = people.select(pl.len().over("a", "b")).to_series().to_numpy()
        single = 1 / crowd
    else:
        single = assess_population(Study(release), Context()).per_record
    assert found.per_record.tolist() == pytest.approx(naive.household_risks(single, people["home"].to_list()))
    assert found.observations[0].estimate.value > single.mean()


def test_applies_when_a_column_is_named():
    people = table().drop("w")
    found = assess(Release(people, people), only=["household", "uniqueness"])
    assert {f.measure: f.outcome for f in found.findings}["household"] == "does not apply"
    found = assess(Release(people, people, household="home"), only=["household"])
    assert found.records["household"].mean() == pytest.approx(found.records["risk"].mean(), abs=0.05)
    with pytest.raises(RoleError, match="household"):
        Release(people, people, household="hom")
    with pytest.raises(RoleError, match="two roles"):
        Release(people, people, household="home", quasi=["home"])


def test_selfcheck():
    checks = selfcheck(only=["household"], size=150)
    assert all(check.passed for check in checks)
    assert {check.table for check in checks if check.chance is not None} == {"surveyed"}
