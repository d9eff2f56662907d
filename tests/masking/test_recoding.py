from __future__ import annotations

import polars as pl
import pytest

from unmask.errors import ParameterError
from unmask.masking import Recoding, parse_masking


def test_intervals_hold_their_values(people):
    masked = Recoding(10, columns=("age",)).apply(people)["age"]
    assert masked.dtype == pl.String
    assert Recoding(10).unrounded(people)["age"].dtype.categories.to_list()[:2] == ["[10, 20)", "[20, 30)"]
    for age, interval in zip(people["age"], masked, strict=True):
        low, high = (float(part) for part in interval.strip("[)").split(","))
        assert low <= age < high
        assert high - low == 10


def test_breaks_and_missing():
    table = pl.DataFrame({"a": [5, 18, None, 70]})
    masked = Recoding(breaks=(18, 65)).apply(table)["a"]
    assert masked.to_list() == ["[-inf, 18)", "[18, 65)", None, "[65, inf)"]
    assert Recoding(10).apply(pl.DataFrame({"a": [-0.5, 0.0]}))["a"].to_list() == ["[-10, 0)", "[0, 10)"]
    assert Recoding(0.1).apply(pl.DataFrame({"a": [0.05, 0.25]}))["a"].to_list() == ["[0, 0.1)", "[0.2, 0.3)"]


@pytest.mark.parametrize("table", [
    pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [3, 3]}), pl.DataFrame({"a": pl.Series([None], dtype=pl.Int64)}),
])  # fmt: skip
def test_degenerate(table):
    assert Recoding(10).apply(table)["a"].null_count() == table["a"].null_count()


@pytest.mark.parametrize("text", ["recoding()", "recoding(0)", "recoding(5, breaks=[1])", "recoding(breaks=[2, 1])"])
def test_clear_refusals(text):
    with pytest.raises(ParameterError):
        parse_masking(text)


def test_a_width_that_recodes_nothing_is_refused():
    with pytest.raises(ParameterError, match="width is too small"):
        Recoding(1e-9).apply(pl.DataFrame({"a": [0.0, 1.0]}))
