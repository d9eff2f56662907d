"""Utility as a report shows it: headline, parts, nothing of the data, and the same for any order of rows."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from unmask import compare_moments, datasets, parse_masking, summarise_utility, what_is_left
from unmask.errors import RoleError
from unmask.utility import summary


@pytest.fixture(scope="module")
def people():
    return datasets.patients(300).drop("patient", "longitude", "latitude")


@pytest.fixture(scope="module")
def released(people):
    return parse_masking("chain([noise(0.5), rare(40, columns=[town])])").apply(people, 1)


def test_the_original_itself(people):
    told = summarise_utility(people, people, keep=["mean(cost)"])
    assert told.value == told.columns_left == told.relations_left == told.analyses_left == 1
    assert told.numbers == summary.NumberUtility(0, 0, 0, 0, 0)
    assert told.told_apart.auc == pytest.approx(0.5, abs=0.06)
    assert told.told_apart.pmse <= 2 * told.told_apart.null
    assert all(one.left == 1 for one in told.predicted if one.left is not None)
    assert told.words.startswith("100 % of the data is left, where 100 % is the original itself (columns 100 %")


def test_the_headline_is_what_is_left(people, released):
    told = summarise_utility(people, released, keep=["mean(cost) by town"], learn=False)
    left = what_is_left(people, released, keep=["mean(cost) by town"])
    assert told.value == pytest.approx(left.value, abs=1e-6)
    assert {one.name: one.left for one in told.columns} == pytest.approx(left.columns, abs=1e-5)
    assert told.told_apart is None
    assert told.predicted == ()
    moments = compare_moments(people, released)
    assert told.numbers.il1s == pytest.approx(moments.il1s, rel=1e-5)
    assert told.numbers.correlation_norm == pytest.approx(moments.correlation_norm, rel=1e-5)


def test_no_order_of_rows_changes_it(people, released):
    order = np.random.default_rng(7).permutation(people.height)
    assert summarise_utility(people[order], released[order]) == summarise_utility(people, released)


def test_gone_columns_and_no_columns(people):
    told = summarise_utility(people, people.select("sex", "cost"))
    assert [one.name for one in told.columns if one.left == 0 and one.overlap is None] == [
        name for name in people.columns if name not in {"sex", "cost"}
    ]
    nothing = summarise_utility(people.select("sex"), people.select("cost"))
    assert (nothing.value, nothing.numbers, nothing.told_apart, nothing.predicted) == (0, None, None, ())
    with pytest.raises(RoleError, match="no column"):
        summarise_utility(people, people, columns=["cots"])


def test_small_groups_are_hidden_but_counted(people):
    rare = people.with_columns(town=pl.when(pl.int_range(pl.len()) < 7).then(pl.lit("Hut")).otherwise(pl.col("town")))
    (one,) = summarise_utility(rare, rare, keep=["mean(cost) by town"], learn=False).analyses
    assert "Hut" not in {number.label for number in one.numbers}
    assert (one.hidden, one.overlap) == (1, 1)
    (model,) = summarise_utility(rare, rare, keep=["cost ~ days + town"], learn=False).analyses
    labels = {number.label for number in model.numbers}
    assert "days" in labels
    assert "town=Hut" not in labels


def test_nothing_of_the_data_is_in_it(people):
    marked = people.with_columns(town=pl.col("town") + " XYZZY", cost=pl.col("cost") + 77_000_000)
    text = json.dumps(dataclasses.asdict(summarise_utility(marked, marked)))
    assert "XYZZY" not in text
    assert "7700" not in text


def test_many_rows_are_a_sample(people, released, monkeypatch):
    monkeypatch.setattr(summary, "MOST_ROWS", 100)
    told = summarise_utility(people, released, keep=["count by sex"], learn=False)
    assert told.rows == 100
    assert sum(one.original for one in told.analyses[0].numbers) == 300  # analyses are computed on all
    assert told.value == pytest.approx(
        summarise_utility(people, released, keep=["count by sex"], learn=False).value, abs=0.1
    )
    assert summarise_utility(people, released.head(200), learn=False).paired is False
