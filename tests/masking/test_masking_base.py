"""What holds for every masking, whatever its family."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking import Noise, parse_masking

VALUES = [
    "noise(0.5)", "correlated_noise(0.5)", "multiplicative_noise(0.1)", "rank_swap(share=0.05)", "microaggregation(3)",
    "microaggregation(3, method=univariate)", "microaggregation(3, method=projection)", "rounding(100)",
    "rounding(100, method=random)",
]  # fmt: skip
EVERY = [*VALUES, "pram(0.2)", "pram(0.2, invariant=True)", "top_bottom(top=0.9)", "swap(0.5)", "shuffle()"]


@pytest.mark.parametrize("text", EVERY)
def test_same_seed_same_table(text, people):
    masking = parse_masking(text)
    before = people.clone()
    once, again = masking.apply(people, 3), masking.apply(people, 3)
    assert once.equals(again)
    assert people.equals(before)  # the caller's frame is untouched
    assert once.columns == people.columns
    assert once["id"].equals(people["id"]) or "pram" in text
    assert [c.null_count() for c in once] == [c.null_count() for c in people]


@pytest.mark.parametrize("text", EVERY)
def test_description_can_be_read_back(text):
    masking = parse_masking(text)
    assert str(masking) == text
    assert parse_masking(str(masking)) == masking


@pytest.mark.parametrize("text", EVERY)
@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1], "b": [2.5], "c": ["x"]}),
        pl.DataFrame({"a": [5, 5, 5, 5], "b": [1.0, 1.0, 1.0, 1.0], "c": ["x", "x", "x", "x"]}),
        pl.DataFrame({"a": [None] * 4, "b": [None] * 4, "c": [None] * 4},
                     schema={"a": pl.Int64, "b": pl.Float64, "c": pl.String}),
        pl.DataFrame(schema={"a": pl.Int64, "b": pl.Float64, "c": pl.String}),
        pl.DataFrame({"c": ["x", "y"]}),
    ],
    ids=["one row", "constant", "all missing", "no rows", "no numbers"],
)  # fmt: skip
def test_degenerate_tables_are_answered(text, table):
    masked = parse_masking(text).apply(table, 0)
    assert masked.shape == table.shape
    assert [c.null_count() for c in masked] == [c.null_count() for c in table]
    if "multiplicative" not in text and "rounding" not in text and "c" in table.columns and table.width == 3:
        assert masked.cast(table.schema).drop("c").equals(table.drop("c"))  # nothing to spread: nothing changes


def test_any_frame_gives_the_same(people):
    columns = ["age", "income"]
    wanted = Noise(0.5).apply(people.select(columns), 1)
    assert Noise(0.5).apply(pd.DataFrame(people.select(columns).to_dict(as_series=False)), 1).equals(wanted)
    assert Noise(0.5).apply(people.select(columns).to_arrow(), 1).equals(wanted)
    assert Noise(0.5).apply(people.lazy().select(columns), 1).equals(wanted)
    assert isinstance(people.select(columns).to_arrow(), pa.Table)


def test_a_column_does_not_depend_on_the_others(people):
    alone = Noise(0.5, columns=("income",)).apply(people, 1)
    assert alone["income"].equals(Noise(0.5).apply(people, 1)["income"])
    assert alone["age"].equals(people["age"])


def test_integers_stay_integers_and_dates_dates(people):
    masked = Noise(0.5, columns=("age", "born", "school")).apply(people, 1)
    assert masked.schema == people.schema
    assert not masked["born"].equals(people["born"])
    small = pl.DataFrame({"a": pl.Series([0, 1, 250, 255], dtype=pl.UInt8)})
    assert Noise(3).apply(small, 0)["a"].dtype == pl.Int64  # what no longer fits is widened, not clipped
    assert Noise(0).apply(small, 0).equals(small)


def test_nan_stays_nan():
    table = pl.DataFrame({"a": [1.0, float("nan"), None, 4.0]})
    masked = Noise(0.5).apply(table, 0)["a"]
    assert masked.is_nan().to_list() == [False, True, None, False]


def test_clear_refusals(people):
    with pytest.raises(RoleError, match="did you mean 'income'"):
        Noise(0.5, columns=("incom",)).apply(people)
    with pytest.raises(RoleError, match="no order"):
        Noise(0.5, columns=("town",)).apply(people)
    with pytest.raises(TableError, match="column 'a' has an infinite value\n  got: row 1"):
        Noise(0.5).apply(pl.DataFrame({"a": [1.0, float("inf")]}))
    with pytest.raises(TableError, match="cannot mask"):
        Noise(0.5).apply([1, 2])
    with pytest.raises(ParameterError, match="seed"):
        Noise(0.5).apply(people, -1)
