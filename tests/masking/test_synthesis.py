"""Synthetic records keep marginals and pairwise relations, hold nobody, and are the same for the same seed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import datasets
from unmask.errors import ParameterError, RoleError
from unmask.masking import Synthetic, parse_masking


@pytest.fixture(scope="module")
def table():
    return datasets.patients(1000).drop("patient", "postcode", "longitude", "latitude")


@pytest.fixture(scope="module", params=["copula", "cart"])
def made(table, request):
    return request.param, Synthetic(request.param).apply(table, 1)


def test_marginals(table, made):
    _, synthetic = made
    assert synthetic.schema == table.schema
    assert synthetic.height == table.height
    for name in ("height", "bmi", "cost", "days"):
        x, y = (np.sort(side[name].drop_nulls().cast(pl.Float64).to_numpy()) for side in (table, synthetic))
        grid = np.concatenate([x, y])
        gap = np.abs(np.searchsorted(x, grid, "right") / x.size - np.searchsorted(y, grid, "right") / y.size).max()
        assert gap < 0.08, name
    for name in ("sex", "town", "smoker", "diagnosis"):
        shares = [dict(side[name].value_counts(normalize=True).rows()) for side in (table, synthetic)]
        assert max(abs(shares[1].get(value, 0) - share) for value, share in shares[0].items()) < 0.06, name
    for name in table.columns:
        assert synthetic[name].null_count() == pytest.approx(table[name].null_count(), abs=40)


def test_pairwise_relations(table, made):
    method, synthetic = made
    for pair in (("height", "bmi"), ("height", "cost"), ("days", "cost")):
        ranks = [side.select(pl.corr(*(pl.col(name).rank() for name in pair))).item() for side in (table, synthetic)]
        assert ranks[1] == pytest.approx(ranks[0], abs=0.12), pair
    heights = [side.group_by("sex").agg(pl.col("height").mean()).sort("sex")["height"] for side in (table, synthetic)]
    wide = 0.5 if method == "copula" else 0.25  # a copula blurs relations with categories
    gap = heights[0][1] - heights[0][0]
    assert heights[1][1] - heights[1][0] == pytest.approx(gap, rel=wide)


def test_written_as_the_original(table, made):
    _, synthetic = made
    assert synthetic["bmi"].drop_nulls().round(1).equals(synthetic["bmi"].drop_nulls())
    assert synthetic["cost"].min() >= table["cost"].min()
    assert synthetic["cost"].max() <= table["cost"].max()


def test_seeds_and_rows(table):
    small = table.head(60).select("sex", "height", "cost")
    for text in ("synthetic(copula, rows=25)", "synthetic(cart, leaf=5, rows=25)"):
        masking = parse_masking(text)
        assert masking.apply(small, 3).height == 25
        assert masking.apply(small, 3).equals(masking.apply(small, 3))
        assert not masking.apply(small, 3).equals(masking.apply(small, 4))
    assert str(parse_masking("synthetic(cart, leaf=7)")) == "synthetic(method=cart, leaf=7)"
    assert not parse_masking("chain([drop([sex]), synthetic(copula)])").keeps_people


def test_a_leaf_hides_in_a_crowd():
    """With leaves of 10 of two columns, a value is drawn from at least ten records."""
    table = pl.DataFrame({"x": np.arange(100.0), "y": np.arange(100.0)})
    made = Synthetic("cart", leaf=10, rows=3000).apply(table, 0)
    seen = made.group_by("x").agg(pl.col("y").n_unique())
    assert seen["y"].min() >= 8


@pytest.mark.parametrize("method", ["copula", "cart"])
def test_degenerate_tables(method):
    for table in (
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [None, None], "b": ["x", "x"]}, schema={"a": pl.Float64, "b": pl.String}),
        pl.DataFrame({"a": []}, schema={"a": pl.Int64}),
        pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "w": ["a", "b", "c", "a"]}),  # nearly as many categories as rows
        pl.DataFrame({"t": [True, False, None], "e": pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"]))}),
    ):
        assert Synthetic(method).apply(table, 0).schema == table.schema


def test_refusals(table):
    named = table.with_columns(name=pl.format("n{}", pl.int_range(pl.len())))
    with pytest.raises(RoleError, match=r"drop\(\[name\]\)"):
        Synthetic().apply(named)
    with pytest.raises(ParameterError, match="did you mean 'cart'"):
        Synthetic("carts")
    with pytest.raises(ParameterError, match="leaf"):
        Synthetic("cart", leaf=0)
