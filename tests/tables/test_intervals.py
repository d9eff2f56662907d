from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tables.encode import to_floats
from unmask.tables.intervals import bounds, has_intervals, interval_share, parse_interval


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("30-39", 30, 39),
        ("30 – 39", 30, 39),
        ("30 to 39", 30, 39),
        ("-5--1", -5, -1),
        ("[30, 40]", 30, 40),
        (">=65", 65, math.inf),
        ("≤ 5", -math.inf, 5),
        ("65+", 65, math.inf),
        ("[, 5]", -math.inf, 5),
        ("1e3-2e3", 1000, 2000),
        ("42", 42, 42),
        (" 4.5 ", 4.5, 4.5),
    ],
)
def test_forms(text, low, high):
    assert parse_interval(text) == (low, high)


def test_open_ends_are_just_outside():
    low, high = parse_interval("[30, 40)")
    assert low == 30 and high < 40 and high == math.nextafter(40, 0)
    low, high = parse_interval("(30, 40]")
    assert low == math.nextafter(30, 40) and high == 40
    assert parse_interval("<5")[1] < 5 < parse_interval(">5")[0]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("[500, inf)", 500, math.inf),
        ("[500, +inf]", 500, math.inf),
        ("[500, )", 500, math.inf),
        ("(-inf, 5]", -math.inf, 5),
        ("(-inf, inf)", -math.inf, math.inf),
    ],
)
def test_no_end_is_beyond_every_number(text, low, high):
    """Just inside infinity is the largest number that there is, and the middle of such a band was half of that."""
    assert parse_interval(text) == (low, high)


def test_a_band_without_end_stands_where_it_begins():
    column = pl.Series(["[0, 500)", "[500, inf)", "(-inf, 0)"])
    assert to_floats(column, "x").tolist() == pytest.approx([250, 500, 0])


@pytest.mark.parametrize("text", ["", "abc", "40-30", "30-", "(40, 30)", "2020-01-01", "1-2-3", "a-b", "NaN", "inf"])
def test_not_intervals(text):
    assert parse_interval(text) is None


@given(st.integers(-1000, 1000), st.integers(0, 100))
def test_what_is_written_is_read(low, width):
    assert parse_interval(f"[{low}, {low + width}]") == (low, low + width)
    assert parse_interval(f"{low}-{low + width}") == (low, low + width)


@given(st.text(max_size=30))
def test_any_text_is_answered(text):
    span = parse_interval(text)
    assert span is None or span[0] <= span[1]


def test_columns():
    column = pl.Series(["30-39", "40-49", None, "50"])
    assert interval_share(column) == 1.0
    assert has_intervals(column)
    assert not has_intervals(pl.Series(["30", "40"]))
    assert has_intervals(pl.Series(["30-39", "40-49", "unknown"]))
    assert not has_intervals(pl.Series(["30-39", "old", "young"]))
    assert interval_share(pl.Series([1, 2])) == 0.0
    assert interval_share(pl.Series([None], dtype=pl.String)) == 0.0
    low, high = bounds(column)
    assert low[:2].tolist() == [30, 40] and high[3] == 50 and high[0] == math.nextafter(40, 0) and math.isnan(low[2])


def test_bands_reach_up_to_the_next_only_where_it_begins_one_later():
    """30-39 and 40-49 leave out no age; between 10-19 and 30-39 there is a gap, which belongs to neither."""
    _, high = bounds(pl.Series(["10-19", "30-39", "40-49"]))
    assert high.tolist() == [19, math.nextafter(40, 0), math.nextafter(50, 0)]
    _, high = bounds(pl.Series(["10-19", "30-39"]))
    assert high.tolist() == [19, 39]
    _, high = bounds(pl.Series(["10-20", "20-30"]))
    assert high.tolist() == [20, 30]
    _, high = bounds(pl.Series(["0-4", "5-9", "10+"]))
    assert high.tolist() == [math.nextafter(5, 0), math.nextafter(10, 0), math.inf]
    _, high = bounds(pl.Series(["5", "6", "7-8", "9-9.5"]))
    assert high.tolist() == [5, 6, math.nextafter(9, 0), 9.5]


@pytest.mark.parametrize(
    ("text", "middle"), [("65+", 65.0), (">=65", 65.0), ("<=5", 5.0), ("[, 5]", 5.0), ("10-20", 15.0)]
)
def test_an_open_interval_counts_as_its_finite_end(text, middle):
    """Not as 0: somebody of 65 or more is not a newborn."""
    assert to_floats(pl.Series(["1", text]), "age").tolist() == [1.0, middle]


CELLS = st.one_of(st.text(max_size=8), st.from_regex(r"\A[\s\x1c]*[\[(<>=≤≥+.-]?\d*[-–,+]?[ ]?\d*[\])]?\Z"))


@given(st.lists(CELLS, max_size=20))
def test_the_share_is_that_of_trying_every_text(texts):
    """No text that reads as an interval is passed over, however it begins."""
    different = set(texts)
    wanted = sum(parse_interval(text) is not None for text in different) / max(1, len(different))
    assert interval_share(pl.Series(texts, dtype=pl.String)) == wanted
