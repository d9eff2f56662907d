"""Bounds, decimals, sums and households after a masking."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking import Consistent, Noise, parse_masking
from unmask.masking.consistency import decimals_of, find_sums, lost_sums


@pytest.fixture(scope="module")
def homes():
    rng = np.random.default_rng(8)
    home = np.repeat(np.arange(60), 3)
    return pl.DataFrame(
        {
            "home": home,
            "rent": (300 + 10 * home).astype(float),  # the same for all of a household
            "age": rng.integers(0, 90, 180),
            "bmi": rng.normal(25, 4, 180).round(1),
            "debt": -rng.integers(0, 500, 180),
            "wages": rng.integers(0, 5000, 180),
            "interest": rng.integers(0, 300, 180),
        }
    ).with_columns(total=pl.col("wages") + pl.col("interest"))


def test_bounds_and_decimals(homes):
    raw, kept = Noise(1).apply(homes, 1), Consistent(Noise(1)).apply(homes, 1)
    assert raw["age"].min() < 0 <= kept["age"].min()
    assert kept["debt"].max() <= 0 < raw["debt"].max()
    assert kept["bmi"].equals(kept["bmi"].round(1))
    assert not raw["bmi"].equals(raw["bmi"].round(1))
    assert kept["rent"].equals(kept["rent"].round(0))  # whole numbers, if written as 300.0
    inside = raw["age"].is_between(homes["age"].min(), homes["age"].max())
    assert kept["age"].filter(inside).equals(raw["age"].filter(inside))
    off = Consistent(Noise(1), bounds=False, decimals=False).apply(homes, 1)
    assert off.equals(raw)


def test_relations(homes):
    made = parse_masking("consistent(noise(0.5), relations=['total = wages + interest'])").apply(homes, 1)
    assert made["total"].equals(made["wages"] + made["interest"])
    assert made["total"].dtype == homes["total"].dtype
    back = Consistent(Noise(0.5), relations=("wages = total - interest",)).apply(homes, 1)
    assert back["wages"].equals(back["total"] - back["interest"])


def test_households(homes):
    noisy = Noise(0.5, columns=("rent", "age"))
    raw, kept = noisy.apply(homes, 1), Consistent(noisy, household="home").apply(homes, 1)
    assert raw.group_by("home").agg(pl.col("rent").n_unique())["rent"].max() > 1
    assert kept.group_by("home").agg(pl.col("rent").n_unique())["rent"].max() == 1
    assert kept["age"].n_unique() > 60  # ages differ within a household, and go on doing so
    alone = homes.with_columns(home=pl.lit(None, dtype=pl.Int64))
    assert Consistent(noisy, household="home").apply(alone, 1)["rent"].n_unique() > 60


def test_decimals_by_hand():
    assert decimals_of(pl.Series([1.25, 3.5, None])) == 2
    assert decimals_of(pl.Series([1.0, 2.0])) == 0
    assert decimals_of(pl.Series([1, 2])) == 0
    assert decimals_of(pl.Series([np.pi])) == 15


def test_written_and_read_again():
    masking = Consistent(Noise(0.5), relations=("a = b + c",), household="home", bounds=False)
    assert parse_masking(str(masking)) == masking


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("consistent(3)", ParameterError, "needs a masking"),
        ("consistent(noise(1), relations=['total'])", ParameterError, "no relation"),
        ("consistent(synthetic(copula), household=home)", ParameterError, "other people"),
        ("consistent(noise(1), relations=['total = wages + rent'])", TableError, "does not hold"),
        ("consistent(noise(1), relations=['total = wages + intrest'])", RoleError, "did you mean 'interest'"),
        ("consistent(drop([wages]), relations=['total = wages + interest'])", RoleError, "not released"),
        ("consistent(noise(1), household=house)", RoleError, "no column is called 'house'"),
        ("consistent(sampling(0.5), household=home)", ParameterError, "other people"),
    ],
)
def test_refusals(homes, text, error, words):
    with pytest.raises(error, match=words):
        parse_masking(text).apply(homes, 0)


def test_whole_numbers_stay_whole_after_means():
    table = pl.DataFrame({"n": [1, 2, 4, 9, None, 30], "x": [0.5, 1.25, 2.0, 7.5, 8.0, None]})
    made = parse_masking("consistent(microaggregation(2))").apply(table)
    assert made["n"].dtype == pl.Int64
    assert made["n"].null_count() == 1
    assert made["x"].dtype == pl.Float64
    raw = parse_masking("consistent(microaggregation(2), decimals=False)").apply(table)
    assert raw["n"].dtype == pl.Float64


def test_sums_are_found_and_those_that_are_lost_told(homes):
    assert find_sums(homes) == ("total = wages + interest",)
    assert find_sums(homes.with_columns(pl.col("total").replace({homes["total"][7]: 0}))) == ()  # one row is wrong
    assert find_sums(homes.with_columns(zero=pl.lit(0)).drop("total")) == ()  # wages = wages + 0 says nothing
    assert find_sums(homes.rename({"wages": "wages-net"})) == ()  # could not be written
    assert lost_sums(homes, homes) == ()
    assert lost_sums(homes, Noise(0.5).apply(homes, 1)) == ("total = wages + interest",)
    assert lost_sums(homes, Noise(0.5).apply(homes, 1).drop("wages")) == ()
    kept = Consistent(Noise(0.5), relations=("total = wages + interest",)).apply(homes, 1)
    assert lost_sums(homes, kept) == ()


def test_no_sum_is_found_by_luck():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.integers(0, 3, 200) for j in range(12)})
    assert find_sums(table) == ()
    assert find_sums(table.with_columns(gap=pl.Series([None] * 5 + [1] * 195, dtype=pl.Int64))) == ()
