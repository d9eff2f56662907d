from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import datasets
from unmask.cli.demo import demo_tables


@pytest.mark.parametrize("generate", [datasets.census, datasets.patients])
def test_seeded_and_of_any_size(generate):
    assert generate(50, seed=1).equals(generate(50, seed=1))
    assert not generate(50, seed=1).equals(generate(50, seed=2))
    assert [generate(n).height for n in (1, 2, 333)] == [1, 2, 333]


@pytest.mark.parametrize("generate", [datasets.visits, datasets.trajectories])
def test_many_rows_a_person_are_seeded_and_of_any_size(generate):
    assert generate(50, seed=1).equals(generate(50, seed=1))
    assert not generate(50, seed=1).equals(generate(50, seed=2))
    assert [generate(n)[:, 0].n_unique() for n in (1, 2, 333)] == [1, 2, 333]


def test_visits_have_people_who_come_back_for_what_they_came_for():
    table = datasets.visits(500)
    each = table.group_by("patient").agg(pl.len(), pl.col("sex", "born", "town").n_unique())
    assert each["len"].median() <= 3 < each["len"].mean() + 1 and each["len"].max() > 10
    assert each.select(pl.max_horizontal("sex", "born", "town")).to_series().max() == 1
    pairs = table.with_columns(pl.col("diagnosis").shift().over("patient").alias("before")).drop_nulls("before")
    shuffled = (pairs["diagnosis"] == pairs["before"].shuffle(seed=1)).mean()
    assert (pairs["diagnosis"] == pairs["before"]).mean() > shuffled + 0.2


def test_trajectories_are_at_home_by_night_and_near_by():
    table = datasets.trajectories(300, points=12)
    assert 10 < table.height / 300 < 13 and not table.is_duplicated().any()
    night = table.filter(pl.col("time").dt.hour() < 7)
    most = night.group_by("person", "antenna").len().sort("len").group_by("person").last()["len"].sum()
    assert most / night.height > 0.6


def test_census_is_numeric_correlated_skewed_and_partly_tied():
    table = datasets.census(4000)
    assert table.width == 13
    assert all(kind.is_integer() for kind in table.dtypes)
    assert table.min_horizontal().min() >= 0
    correlations = np.corrcoef(table.to_numpy().T.astype(float))
    strong = (np.abs(correlations[np.triu_indices(13, 1)]) > 0.6).mean()
    assert 0.2 < strong < 0.8
    assert all(table[name].skew() > 1 for name in ("gross_income", "federal_tax", "interest"))
    ties = {name: table[name].n_unique() / table.height for name in table.columns}
    assert ties["earned_income"] < 0.5 and ties["sample_weight"] > 0.9
    assert (table["social_contribution"] == 3825).mean() > 0.05


def test_patients_are_mixed_with_realistic_dependence():
    table = datasets.patients(4000)
    kinds = {table.schema[name] for name in ("sex", "birth date", "days", "smoker", "bmi")}
    assert kinds == {pl.String, pl.Date, pl.Int64, pl.Boolean, pl.Float64}
    assert table["patient"].n_unique() == 4000
    assert 0.01 < table["bmi"].null_count() / 4000 < 0.08
    women = table.filter(pl.col("sex") == "female")
    assert set(table.filter(pl.col("diagnosis") == "O80 birth")["sex"]) == {"female"}
    assert women["height"].median() < table.filter(pl.col("sex") == "male")["height"].median()
    hip, asthma = (
        table.filter(pl.col("diagnosis").str.contains(word))["birth date"].dt.year().mean()
        for word in ("hip", "asthma")
    )
    assert hip < asthma - 30
    assert (table["postcode"].str.len_chars() == 5).all()
    spread = table.group_by("postcode").agg(pl.col("longitude").std(), pl.len()).filter(pl.col("len") > 5)
    assert spread["longitude"].mean() < table["longitude"].std() / 5


def test_the_demo_publishes_less_than_it_has():
    original, released = demo_tables(200, 0)
    assert set(released.columns) < set(original.columns)
    assert released["birth date"].n_unique() < 15
    assert released["patient"].equals(original["patient"])
