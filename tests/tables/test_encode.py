from __future__ import annotations

from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from unmask import Release
from unmask.errors import ParameterError, TableError
from unmask.tables.canonical import canonical_order
from unmask.tables.encode import encode, rank, to_floats

COLUMN = st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0]), min_size=1, max_size=25)


@given(COLUMN)
def test_ranks_equal_their_definitions(values):
    column = np.array(values)
    assert naive.ordinal_ranks_are_valid(values, rank(column, "ordinal", seed=3).tolist())
    assert rank(column, "average").tolist() == [naive.average_rank(values, i) for i in range(len(values))]
    assert rank(column, "dense").tolist() == [naive.dense_rank(values, i) for i in range(len(values))]


def test_ordinal_ranks_of_equal_values_follow_the_seed_and_not_the_row():
    column = np.zeros(50)
    assert rank(column, seed=1).tolist() != rank(column, seed=2).tolist()
    assert rank(column, seed=1).tolist() == rank(column, seed=1).tolist()
    other = np.arange(50.0)
    order = np.random.default_rng(0).permutation(50)
    straight = rank(column, order=canonical_order(other[:, None]), seed=1)
    shuffled = rank(column[order], order=canonical_order(other[order][:, None]), seed=1)
    assert straight[order].tolist() == shuffled.tolist()


def test_missing_has_no_rank():
    ranks = rank(np.array([3.0, np.nan, 1.0]), "average")
    assert ranks[[0, 2]].tolist() == [2, 1] and np.isnan(ranks[1])
    with pytest.raises(ParameterError, match="ordinal, average, dense"):
        rank(np.zeros(2), "first")


def test_dates_times_and_durations_are_days():
    assert to_floats(pl.Series([date(1970, 1, 2), None]), "d")[0] == 1.0
    assert to_floats(pl.Series([datetime(1970, 1, 2, 12)]), "d")[0] == 1.5  # noqa: DTZ001
    assert to_floats(pl.Series([time(6)]), "t")[0] == 0.25
    assert to_floats(pl.Series([timedelta(hours=36)]), "t")[0] == 1.5


def test_one_codebook_for_both_tables_and_missing_marked():
    original = pl.DataFrame({"c": ["b", "a", None, "z"], "x": [1.0, None, 3.0, 4.0], "b": [True, False, None, True]})
    released = pl.DataFrame({"c": ["a", "a", "q", None], "x": [1.5, 2.5, None, 4.0], "b": [True, True, True, None]})
    encoding = encode(Release(original, released))
    assert encoding.numeric_names == ("x",)
    assert encoding.code_names == ("c", "b")
    assert encoding.original.codes[:, 0].tolist() == [1, 0, -1, 3]
    assert encoding.released.codes[:, 0].tolist() == [0, 0, 2, -1]
    assert encoding.original.codes[:, 1].tolist() == [1, 0, -1, 1]
    assert np.isnan(encoding.original.numeric[1, 0])


def test_a_category_is_foreign_where_no_value_occurs_in_both_tables():
    original = pl.DataFrame({"a": ["x", "y", None], "b": ["x", "y", None], "n": [1.0, 2.0, 3.0]})
    released = pl.DataFrame({"a": ["y", "q", None], "b": ["p", "q", None], "n": [7.0, 8.0, 9.0]})
    assert tuple(encode(Release(original, released)).foreign) == ("b",)  # nothing in both is no value in both


def test_codes_written_as_integer_float_or_text_are_the_same():
    left, right = pl.DataFrame({"c": [1, 2, 3]}), pl.DataFrame({"c": ["1", "2", "3"]})
    for other in (right, pl.DataFrame({"c": [1.0, 2.0, 3.0]})):
        encoding = encode(Release(left, other, categorical=["c"]))
        assert np.array_equal(encoding.original.codes, encoding.released.codes)


def test_ordered_levels_are_positions_in_their_order():
    levels = pl.Enum(["low", "mid", "high"])
    table = pl.DataFrame({"l": ["high", "low", None]}, schema={"l": levels})
    release = Release(table, table)
    assert release.kind("l") == "ordinal"
    values = encode(release).original.numeric[:, 0]
    assert values[:2].tolist() == [2, 0] and np.isnan(values[2])
    ordered = pd.DataFrame({"l": pd.Categorical(["high", "low"], categories=["low", "mid", "high"], ordered=True)})
    assert encode(Release(ordered, ordered)).original.numeric[:, 0].tolist() == [2, 0]
    plain = pd.DataFrame({"l": pd.Categorical(["high", "low"], categories=["low", "mid", "high"])})
    assert Release(plain, plain).kind("l") == "categorical"
    numbers = pl.DataFrame({"l": [10, 9, 100]})
    assert encode(Release(numbers, numbers, kinds={"l": "ordinal"})).original.numeric[:, 0].tolist() == [1, 0, 2]


def test_year_in_place_of_a_date():
    original = pl.DataFrame({"born": [date(1980, 5, 1), date(1990, 1, 1)]})
    encoding = encode(Release(original, pl.DataFrame({"born": [1980, 1990]})))
    assert np.array_equal(encoding.original.numeric, encoding.released.numeric)
    assert "years" in encoding.notes[0]


def test_without_takes_one_attribute_away():
    table = pl.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    encoding = encode(Release(table, table))
    assert encoding.without("a").names == ("b",)
    assert encoding.without("b").names == ("a",)


def test_text_in_a_numeric_column_names_column_row_and_remedy():
    original, released = pl.DataFrame({"x": [1.5, 2.5, 3.5]}), pl.DataFrame({"x": ["1.5", "2.5", "high"]})
    release = Release(original, released, kinds={"x": "numeric"})
    with pytest.raises(TableError, match=r"'x'.*(?s:.*)row 3(?s:.*)categorical"):
        encode(release)
