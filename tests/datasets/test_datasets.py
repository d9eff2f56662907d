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
