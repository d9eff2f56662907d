"""What like numbers of a row have together, released in place of them."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.rows import best_range, blocks, row_feature


def attack(x, made):
    number, order = pl.Series("id", np.arange(len(x))), np.random.default_rng(9).permutation(len(x))
    known = pl.DataFrame({f"bp{k + 1}": np.round(x[:, k], 1) for k in range(x.shape[1])})
    released = made.select(number, pl.all())[order]
    return link_channel(Release(known.select(number, pl.all()), released, id="id"), curve=False)


def crowd(table):
    return float(table.select(1 / pl.len().over(table.columns)).to_series().mean())


def columns(**cells):
    return [read_column(pl.Series(name, values)) for name, values in cells.items()]


def test_figures_by_hand():
    both = columns(age=[50, 60, 70], bp2=[4, None, 1], bp10=[1, None, 1], bp1=[7, None, 4])
    assert blocks(both) == [(3, 2, 1)]  # by name: bp1, bp10, bp2; age is unlike them
    wanted = {"smallest": 1.0, "largest": 7.0, "middle": 4.0, "mean": 4.0, "count 1.0 5.0": 2.0, "count -inf inf": 3.0}
    for form, value in wanted.items():
        found = row_feature(both, (3, f"row {form}")).values
        assert found[0] == value
        assert np.isnan(found[1])
    assert row_feature(both, (3, "row smallest")).words == "the smallest of `bp1` and 2 columns like it"
    assert blocks(columns(a=[1, 2], b=[3, 4])) == []


@settings(deadline=None, max_examples=25)
@given(ends=st.lists(st.integers(0, 100), min_size=2, max_size=2, unique=True), seed=st.integers(0, 50))
def test_the_range_that_counts_come_from(ends, seed):
    low, high = min(ends), max(ends) + 10  # a range of a few values is seen only if an end of it is tried first
    table = np.random.default_rng(seed).integers(0, 101, (80, 12)).astype(float)
    y = ((table >= low) & (table < high)).sum(1).astype(float)
    if y.var() == 0:
        return
    _, found_low, found_high = best_range(table, y)
    again = ((table >= found_low) & (table < found_high)).sum(1)
    assert np.mean(again == y) > 0.8


def test_smallest_largest_and_mean_in_place_of_measurements():
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(120, 15, (200, 1)) + rng.normal(0, 8, (200, 8)), 1)
    figures = {"low": x.min(1).round(), "high": x.max(1).round(), "mean": x.mean(1).round()}
    made = pl.DataFrame(figures)
    assert attack(x, made).found.value >= 0.95 * crowd(made)


def test_counts_in_brackets():
    rng = np.random.default_rng(2)
    x = np.round(np.exp(rng.normal(3.5, 1, (160, 15))), 1)
    ends = [0, 15, 30, 60, 1e9]
    counts = {f"n{k}": ((x >= ends[k]) & (x < ends[k + 1])).sum(1) for k in range(4)}
    found = attack(x, pl.DataFrame(counts))
    assert found.found.value >= 0.9 * crowd(pl.DataFrame(counts))
    assert "lie in a range" in found.columns[0].words


def test_figures_of_strangers_are_chance():
    rng = np.random.default_rng(3)
    x, y = (np.round(rng.normal(120, 15, (150, 8)), 1) for _ in range(2))
    made = pl.DataFrame({"low": y.min(1), "high": y.max(1), "above": (y > 125).sum(1)})
    assert attack(x, made).found.value < 0.06
