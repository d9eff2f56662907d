from __future__ import annotations

import polars as pl
import pytest

from unmask.masking import Shuffle, Swap


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
