"""Data shuffling: the same values, the relations that a model sees, and nothing of a person's own value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, RoleError
from unmask.masking import DataShuffling, parse_masking


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(6)
    sex = rng.choice(["f", "m"], 1500)
    age = rng.integers(20, 80, 1500)
    income = np.exp(10 + 0.02 * age + 0.4 * (sex == "m") + 0.5 * rng.normal(size=1500)).round()
    rent = (income * rng.uniform(0.2, 0.4, 1500)).round()
    return pl.DataFrame({"sex": sex, "age": age, "income": income, "rent": rent})


def spearman(frame, a, b):
    return frame.select(pl.corr(pl.col(a).rank(), pl.col(b).rank())).item()


def test_keeps_the_values_and_the_relations(table):
    made = DataShuffling(("income", "rent")).apply(table, 1)
    for name in ("income", "rent"):
        assert made[name].sort().equals(table[name].sort())
    assert made.select("sex", "age").equals(table.select("sex", "age"))
    for pair in (("income", "rent"), ("age", "income"), ("age", "rent")):
        assert spearman(made, *pair) == pytest.approx(spearman(table, *pair), abs=0.06), pair
    means = [side.group_by("sex").agg(pl.col("income").log().mean()).sort("sex")["income"] for side in (table, made)]
    assert list(means[0]) == pytest.approx(list(means[1]), abs=0.06)


def test_nothing_of_the_own_value_is_left(table):
    """Given age and sex, the released income is not related to the person's own."""
    made = DataShuffling(("income",), given=("age", "sex")).apply(table, 1)
    features = np.column_stack([np.ones(1500), table["age"], table["sex"] == "m"])
    left = [
        np.log(side["income"]) - features @ np.linalg.lstsq(features, np.log(side["income"]), rcond=None)[0]
        for side in (table, made)
    ]
    assert abs(np.corrcoef(*left)[0, 1]) < 0.08


def test_seeds_missing_values_and_refusals(table):
    gaps = table.with_columns(income=pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("income")))
    made = parse_masking("data_shuffling([income])").apply(gaps, 2)
    assert made["income"].is_null().equals(gaps["income"].is_null())
    assert made.equals(DataShuffling(("income",)).apply(gaps, 2))
    assert not made.equals(DataShuffling(("income",)).apply(gaps, 3))
    assert DataShuffling(("a",)).apply(pl.DataFrame({"a": [1.0]})).equals(pl.DataFrame({"a": [1.0]}))
    with pytest.raises(ParameterError, match="shuffled and given"):
        DataShuffling(("income",), given=("income",))
    with pytest.raises(RoleError, match="no order"):
        DataShuffling(("sex",)).apply(table)
    named = table.with_columns(name=pl.format("n{}", pl.int_range(pl.len())))
    with pytest.raises(RoleError, match="names or free text"):
        DataShuffling(("income",), given=("name",)).apply(named)
