"""Numbers of equal values: the same by a table as by a sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.study import ranks
from unmask.study.ranks import ranked

WHOLE = st.integers(-60, 60).map(float)
OTHERS = st.sampled_from([-0.0, 0.5, 1e-20, 2.0**53, -(2.0**60), 1e300, -1e300, np.inf, -np.inf])
NUMBERS = st.lists(st.one_of(st.just(np.nan), WHOLE), max_size=12)
CODES = st.lists(st.integers(-1, 9), max_size=12)


def by_definition(left, right):
    """The place of each value among the different ones, from 1; 0 where it is missing."""
    values = [None if value != value else value + 0.0 for value in (*left, *right)]  # noqa: PLR0124 - NaN
    order = sorted({value for value in values if value is not None})
    return [0 if value is None else order.index(value) + 1 for value in values]


@given(NUMBERS, NUMBERS, st.lists(OTHERS, max_size=2), st.sampled_from([1, 3, 2**15]))
def test_numbers(left, right, others, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "CHUNK", chunk)
        sides = np.array([*left, *others], float), np.array(right, float)
        found = ranked(*sides)
    assert [len(side) for side in found] == [len(side) for side in sides]
    assert np.concatenate(found).tolist() == by_definition(*sides)


@given(CODES, CODES, st.booleans())
def test_codes(left, right, sort):
    sides = np.array(left, np.int32), np.array(right, np.int32)
    with pytest.MonkeyPatch.context() as patch:
        if sort:
            patch.setattr(ranks, "_by_table", lambda *_: None)
        found = ranked(*sides)
    assert np.concatenate(found).tolist() == by_definition(*([c if c >= 0 else np.nan for c in s] for s in sides))


@pytest.mark.parametrize(
    ("values", "table"),
    [
        ([3.0, 70_000.0], False),  # too far apart for so few
        ([3.0, 60_000.0], True),
        ([0.5, 1.5], True),  # whole numbers apart
        ([0.5, 1.25], False),
        ([-1e6, 1e-20, 0.0], False),  # the last two are 1e6 away from the first
        ([np.nan, np.nan], True),
        ([0.0, np.inf], False),
        ([-np.inf, np.inf], False),
    ],
)
def test_when_values_are_counted_in_a_table(values, table):
    both = np.array(values)
    assert (ranks._by_table(both, both) is not None) == table
    assert np.concatenate(ranked(both, both)).tolist() == by_definition(both, both)


def test_a_column_of_a_wider_table():
    """Every other number, as they lie in a table of two columns."""
    table = np.array([[5.0, 9.0], [np.nan, 9.0], [7.0, 9.0], [5.0, 9.0]])
    assert [side.tolist() for side in ranked(table[:, 0], table[::-1, 0])] == [[1, 0, 2, 1], [1, 2, 0, 1]]
