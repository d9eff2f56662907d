"""The order of columns follows what both tables hold, and nothing else."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.tables.order import _described, by_content

draw = np.random.default_rng(11)
PEOPLE = pl.DataFrame({"a": draw.normal(size=40), "b": draw.exponential(size=40), "c": draw.choice(list("xyz"), 40)})


def order(original, released):
    return by_content(Release(original, released), original.columns)


def test_names_and_places_decide_nothing():
    found = order(PEOPLE, PEOPLE)
    other = {"a": "z", "b": "y", "c": "x"}
    moved = PEOPLE.select("c", "a", "b").rename(other)
    assert order(moved, moved) == tuple(other[name] for name in found)


def test_units_decide_nothing():
    metres = PEOPLE.with_columns(pl.col("a", "b") * 1000)
    assert order(metres, metres) == order(PEOPLE, PEOPLE)


@pytest.mark.parametrize("side", [0, 1])
def test_both_tables_are_looked_at(side):
    """Two columns that are alike in one table are told apart by the other."""
    skewed = pl.Series(np.r_[np.zeros(39), 9.0])
    alike = PEOPLE.select("a", d=pl.col("a").reverse())
    tables = [alike, alike]
    tables[side] = alike.with_columns(d=skewed)
    first = order(*tables)
    tables[side] = alike.with_columns(a=skewed)
    assert order(*tables) == first[::-1]


def test_codes_are_told_by_how_many_have_each_whatever_they_are_called():
    codes, words = pl.Series([7, 7, 1, 9, 9, 9, None]), pl.Series(["x", "x", "z", "y", "y", "y", None])
    assert _described(codes, as_codes=True) == _described(words, as_codes=True) == (1, 3, 1, 4 + 1 + 9, 8 + 1 + 27)
    assert _described(codes, as_codes=False)[0] == 0
