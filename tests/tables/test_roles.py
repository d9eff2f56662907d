from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.errors import RoleError
from unmask.tables.encode import encode
from unmask.tables.roles import _like_codes, infer_kind

LEVELS = pl.Enum(["low", "high"])


@pytest.mark.parametrize(
    ("original", "released", "kind", "word"),
    [
        (pl.Series([True, False]), None, "boolean", "true/false"),
        (pl.Series([date(2020, 1, 1)]), None, "date", "numbers"),
        (pl.Series(["low"], dtype=LEVELS), None, "ordinal", "order"),
        (pl.Series([1.5, 2.5]), None, "numeric", "decimals"),
        (pl.Series(list(range(100))), None, "numeric", "100 different"),
        (pl.Series([1, 2, 3] * 50), None, "categorical", "codes"),
        (pl.Series([1, 2, 3] * 50), pl.Series([1.2, 2.0, 3.0] * 50), "numeric", "changed"),
        (pl.Series([1, 2, 3] * 50), pl.Series([3, 2, 1] * 50), "categorical", "codes"),
        (pl.Series(["x", "y"]), None, "categorical", "2 different"),
        (pl.Series([f"text {i}" for i in range(50)]), None, "categorical", "free text"),
        (pl.Series(["30-39", "40-49"]), None, "numeric", "intervals"),
        (pl.Series(["under 3", "3-5", "6-14", "15-17", "18-24"]), None, "categorical", "other text"),
        (pl.Series(["01067", "10115"]), None, "categorical", "postcodes"),
        (pl.Series(["1.5", "2.5"]), None, "numeric", "written as text"),
        (pl.Series([75011, 75012]), pl.Series(["750**", "750**"]), "categorical", "compared as text"),
        (pl.Series([31, 42]), pl.Series(["30-39", "40-49"]), "numeric", "whole numbers"),
    ],
)
def test_inference_decides_and_says_why(original, released, kind, word):
    found, reason = infer_kind(original, released)
    assert found == kind
    assert word in reason


def test_overrides():
    table = pl.DataFrame({"region": [1, 2, 3] * 50, "score": [1.5, 2.5, 3.5] * 50})
    assert Release(table, table).kind("region") == "categorical"
    release = Release(table, table, kinds={"region": "numeric"}, categorical=["score"])
    assert (release.kind("region"), release.kind("score")) == ("numeric", "categorical")
    assert release.columns["region"].reason == "as you said"
    with pytest.raises(RoleError, match="did you mean 'numeric'"):
        Release(table, table, kinds={"region": "numerical"})
    with pytest.raises(RoleError, match="did you mean 'region'"):
        Release(table, table, kinds={"regoin": "numeric"})


def test_codes_written_as_floats_are_codes():
    """Some programs write 4 as 4.0 as soon as one row of the column is empty."""
    codes = [k % 4 + 1 for k in range(200)]
    whole = pl.DataFrame({"region": codes, "x": [float(k) / 7 for k in range(200)]})
    empty = pl.Series("region", [None if row == 3 else float(code) for row, code in enumerate(codes)])
    floats = whole.with_columns(empty)
    text = whole.cast({"region": pl.String})
    decimals = text.with_columns(pl.col("region") + ".0")
    for original, released in ((whole, floats), (floats, whole), (floats, floats), (text, decimals)):
        release = Release(original, released, quasi=["region"])
        assert release.columns["region"].kind == "categorical"
        encoding = encode(release)
        equal = encoding.original.codes[:, 0] == encoding.released.codes[:, 0]
        assert equal.sum() >= 199


def test_long_numbers_are_categories_and_a_missing_role_says_where_it_was_looked_for():
    assert infer_kind(pl.Series([2**60 + k for k in range(30)]), None)[0] == "categorical"
    table = pl.DataFrame({"a": [1.0, 2.0], "w": [1.0, 1.0]})
    for roles, where in (({"id": "x"}, "the original"), ({"weight": "x"}, "the tables")):
        with pytest.raises(RoleError, match=where) as told:
            Release(table, table, **roles)
        assert str(told.value).count("'w'") == 1  # each column once, though both tables have it


def test_numbers_that_a_double_cannot_tell_apart_are_categories():
    account = pl.DataFrame({"a": [2**53, 2**53 + 1, *range(2**53 - 30, 2**53 - 2)]})
    assert infer_kind(account["a"][1:], None)[0] == "categorical"
    codes = encode(Release(account, account)).original.codes
    assert codes[0, 0] != codes[1, 0]
    assert infer_kind(pl.Series([2**53 - 1 - k for k in range(30)]), None)[0] == "numeric"


def test_only_whole_numbers_look_like_codes():
    """Half of 60 values went anywhere: codes where they are whole, an amount where they are not."""
    rng = np.random.default_rng(0)
    values = rng.permutation(60).astype(float)
    changed = np.where(np.arange(60) % 2, values, rng.permutation(values))
    pairs = np.arange(60), np.arange(60)
    whole = pl.Series(values), pl.Series(changed)
    assert _like_codes(*whole, pairs)
    assert not _like_codes(whole[0] + 0.5, whole[1] + 0.5, pairs)


def test_the_first_5000_people_tell_whether_numbers_look_like_codes():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 60, 5001).astype(float)
    changed = np.where(np.arange(5001) % 2, values, rng.permutation(values))
    pairs = np.arange(5001), np.arange(5001)
    assert _like_codes(pl.Series(values), pl.Series(changed), pairs)
    near = np.r_[values[:5000] + 1.0, 0.0]  # all others lie next to their own value: an amount
    assert not _like_codes(pl.Series(values), pl.Series(near), pairs)
