from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.masking import reverse_mapped as naive
from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking import Noise, Pram, ReverseMapped, Rounding, Sampling, Suppression, parse_masking
from unmask.masking.reverse_mapping import reverse_mapped

AFTER = [
    "noise(0.5)", "correlated_noise(1)", "multiplicative_noise(0.2)", "rank_swap(share=0.1)", "microaggregation(7)",
    "microaggregation(7, method=univariate)", "rounding(1000)", "top_bottom(top=0.5)", "recoding(20)", "swap(0.3)",
    "shuffle()", "pram(0.5)", "noise(0.7, columns=[born, school, age])",
]  # fmt: skip


@pytest.mark.parametrize("text", AFTER)
def test_keeps_every_marginal_exactly(text, people):
    masked = ReverseMapped(parse_masking(text)).apply(people, 5)
    for name in ("age", "income", "score", "born", "school"):
        if name == "school" and text.startswith("pram"):
            continue
        assert masked[name].dtype == people[name].dtype
        assert masked[name].sort().equals(people[name].sort())


@given(st.lists(st.tuples(st.integers(), st.integers()), min_size=1, unique_by=(lambda p: p[0], lambda p: p[1])))
def test_equals_algorithm_1(pairs):
    x, y = [p[0] % 10**9 for p in pairs], [p[1] for p in pairs]
    y = np.argsort(np.argsort(np.array(y, dtype=object))).tolist()
    z = reverse_mapped(pl.Series("a", x), pl.Series("a", y), np.random.default_rng(0))
    assert z.to_list() == naive(x, y)


def test_worked_by_hand():
    x, y = pl.Series("a", [30, 10, 20, 40]), pl.Series("a", [7.0, 9.0, 1.0, 8.0])
    assert reverse_mapped(x, y, np.random.default_rng(0)).to_list() == [20, 40, 10, 30]


def test_nothing_masked_nothing_changed(people):
    assert ReverseMapped(Noise(0)).apply(people, 0).equals(people)


def test_ties_of_the_masked_are_shared_out_by_seed(people):
    flat = ReverseMapped(Rounding(1e9))  # every value becomes 0: only chance is left
    first, second = flat.apply(people, 1), flat.apply(people, 2)
    assert first["income"].sort().equals(people["income"].sort())
    assert not first["income"].equals(second["income"])


def test_missing_values_stay_where_the_masking_has_them(people):
    masked = ReverseMapped(Noise(0.5)).apply(people, 0)
    assert masked["score"].is_null().equals(people["score"].is_null())
    fewer = ReverseMapped(Suppression(((0, "age"), (3, "age")))).apply(people, 0)["age"]
    assert fewer.null_count() == 2
    assert fewer.min() == people["age"].min()
    assert fewer.max() == people["age"].max()


def test_dates_times_and_ordered_pandas_categories():
    times = [datetime(2020, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    table = pl.DataFrame({"d": [date(2020, 1, 1), date(2021, 1, 1), None], "t": times})
    masked = ReverseMapped(Noise(2, columns=("d", "t"))).apply(table, 0)
    assert masked.schema == table.schema
    assert masked["t"].sort().equals(table["t"])
    frame = pd.DataFrame({"grade": pd.Categorical(["b", "a", "c"] * 5, categories=["c", "b", "a"], ordered=True)})
    assert ReverseMapped(Noise(1)).apply(frame, 0)["grade"].sort().cast(str).to_list().count("a") == 5


def test_plain_categories_are_left_as_masked(people):
    both = ReverseMapped(Pram(0.5)).apply(people, 0)
    assert both["town"].equals(Pram(0.5).apply(people, 0)["town"])
    with pytest.raises(RoleError, match="no order to map back by"):
        ReverseMapped(Pram(0.5), columns=("town",)).apply(people)


def test_fractions_decide_the_rank_of_integers():
    """Noise on integers is ranked before it is rounded: rounding would make ties where there were none."""
    table = pl.DataFrame({"a": [0] * 500 + [1] * 500})
    masked = ReverseMapped(Noise(0.2)).apply(table, 0)
    assert masked.equals(table)  # noise of 0.1 never crosses 0.5, and no tie reshuffles


@pytest.mark.parametrize("table", [
    pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2, 2, 2]}),
    pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Float64)}),
    pl.DataFrame({"a": [1.0, float("nan")]}),
])  # fmt: skip
def test_degenerate(table):
    masked = ReverseMapped(Noise(1)).apply(table, 0)
    assert masked["a"].drop_nans().to_list() == table["a"].drop_nans().to_list() or masked["a"].null_count() == 1


def test_clear_refusals(people):
    with pytest.raises(TableError, match="reverse_map cannot follow sampling"):
        ReverseMapped(Sampling(0.5)).apply(people)
    with pytest.raises(ParameterError, match="needs a masking to follow"):
        parse_masking("reverse_map(0.5)")
