from __future__ import annotations

import polars as pl
import pytest

from unmask.errors import ParameterError, RoleError
from unmask.masking import Shuffle, Swap, parse_masking


def test_a_share_of_records_trades_whole_values(people):
    masked = Swap(0.4, columns=("age", "town")).apply(people, 1)
    assert masked["age"].sort().equals(people["age"].sort())
    assert masked["town"].sort().equals(people["town"].sort())
    moved = masked["id"].len() - sum(a == b for a, b in zip(masked.rows(), people.rows(), strict=True))
    assert moved <= 200
    pairs = set(zip(people["age"], people["town"], strict=True))
    assert set(zip(masked["age"], masked["town"], strict=True)) <= pairs  # columns move together


def test_shuffling_breaks_relations_and_keeps_marginals():
    table = pl.DataFrame({"a": range(2000), "b": range(2000)})
    apart = Shuffle().apply(table, 0)
    assert apart["a"].sort().equals(table["a"])
    assert abs(apart.select(pl.corr("a", "b")).item()) < 0.1
    assert Shuffle(together=True).apply(table, 0).select(pl.corr("a", "b")).item() == pytest.approx(1)


@pytest.mark.parametrize("masking", [Swap(1), Swap(0.5), Shuffle()])
def test_degenerate(masking):
    for table in (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": []}, schema={"a": pl.Int64})):
        assert masking.apply(table, 0).equals(table)


@pytest.mark.parametrize(
    "text",
    [
        "swap(1, columns=[a], within=[g])",
        "rank_swap(share=0.5, columns=[a], within=[g])",
        "shuffle(columns=[a], within=[g])",
    ],
)
def test_strata_keep_their_values(text):
    """Values move between records of one stratum only, and there they do."""
    table = pl.DataFrame({"g": ["x", "y", "z"] * 100, "a": range(300)})
    moved = parse_masking(text).apply(table, 1)
    assert moved["g"].equals(table["g"])
    assert (moved["a"] != table["a"]).mean() > 0.5
    for stratum in ("x", "y", "z"):
        values = [side.filter(pl.col("g") == stratum)["a"].sort() for side in (table, moved)]
        assert values[0].equals(values[1])
    with pytest.raises(RoleError, match="cannot be moved and say who moves"):
        parse_masking(
            text.replace("columns=[a]", "columns=[g, a]") if "rank" not in text else "swap(1, columns=[g], within=[g])"
        ).apply(table)


def test_names_are_not_swapped():
    table = pl.DataFrame({"name": [f"n{k}" for k in range(50)]})
    for text in ("swap(1, columns=[name])", "shuffle(columns=[name])", "pram(0.5, columns=[name])"):
        with pytest.raises(RoleError, match="names or free text"):
            parse_masking(text).apply(table)


def test_columns_without_their_name_are_not_taken_for_yes():
    """`shuffle([name])` read the list as `together=` and shuffled every number in place of the column."""
    with pytest.raises(ParameterError, match="together is yes or no"):
        parse_masking("shuffle([name])")
