from __future__ import annotations

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.definitions import wilson
from unmask.disclosure.copies import replicated_uniques
from unmask.disclosure.equal_rows import by_columns, counts_of, equals_of
from unmask.disclosure.outside import draw
from unmask.kernels.groups import label_rows, label_values
from unmask.tables.encode import Encoded


def rows(*values):
    codes = np.array(values, dtype=np.int32).reshape(len(values), -1)
    return Encoded(np.empty((len(values), 0)), codes)


def test_counts_by_hand():
    own, there = counts_of(rows(1, 1, 2, 3), rows(1, 3, 3, 4))
    assert own.tolist() == [2, 2, 1, 1]
    assert there.tolist() == [1, 1, 0, 2]


def test_replicas_by_hand():
    """Of 1, 1, 2 .. 7 the singletons are 2 .. 7; four of them are released, twice each.

    They are alone in their half, and of four rows of eight one of two is theirs in 11/14 of the cases. Each of the pair
    is alone in 4/7 of the cases and meets the other of the pair in all of them: (4 11/14 - 2 4/7) 2 / 8; where that
    counts e times, as a release with epsilon 1 may show, (4 11/14 - 2 e 4/7) 2 / 8.
    """
    tables = rows(1, 1, 2, 3, 4, 5, 6, 7), rows(2, 2, 3, 3, 4, 4, 5, 5)
    found, who = replicated_uniques(*tables)
    assert who.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
    assert found.value == pytest.approx(14 / 28)
    assert replicated_uniques(*tables, times=exp(1))[0].value == pytest.approx((22 - 8 * exp(1)) / 28)


def test_nothing_beyond_other_people_is_not_nothing():
    """Fewer equals than other people have: the upper end is that of nobody among so many."""
    pairs = rows(*[k // 2 for k in range(60)])
    found, _ = replicated_uniques(pairs, rows(*range(100, 160)))
    assert found.value == 0 and found.high == pytest.approx(wilson(0, 60)[1])


def test_a_copy_is_found_and_an_expected_repeat_is_not():
    rng = np.random.default_rng(1)
    people = rng.integers(0, 10**6, (500, 2))
    found, _ = replicated_uniques(rows(*people.tolist()), rows(*people[::-1].tolist()))
    assert found.value > 0.99
    coarse = [rng.integers(0, 30, (800, 2)).tolist() for _ in range(3)]
    for control in (None, rows(*coarse[2])):
        found, _ = replicated_uniques(rows(*coarse[0]), rows(*coarse[1]), control)
        assert found.low <= 0.01


@pytest.mark.parametrize("cells", [50, 400, 3000, 10**6])
def test_other_people_are_no_replicas(cells):
    """A fresh sample of the same population is called so at most at the level, with and without control."""
    rng = np.random.default_rng(cells)
    weight = rng.dirichlet(np.full(cells, 0.5)) if cells < 10**6 else None
    alarms = np.zeros(2)
    for _ in range(60):
        tables = [rows(*rng.choice(cells, 300, p=weight).tolist()) for _ in range(3)]
        found = [replicated_uniques(tables[0], tables[1], control)[0] for control in (None, tables[2])]
        alarms += [estimate.low > 0.01 for estimate in found]
    assert (alarms <= 6).all(), alarms  # 60 draws at 2.5 %: more than six in one of a thousand runs


def test_two_copied_people_among_many():
    rng = np.random.default_rng(0)
    people, others = rng.integers(0, 10**9, (200, 1)), rng.integers(0, 10**9, (198, 1))
    found, who = replicated_uniques(rows(*people.tolist()), rows(*others.tolist(), *people[:2].tolist()))
    assert who[:2].tolist() == [1, 1] and who.sum() == 2
    assert found.value == pytest.approx(0.01)


CELLS = st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e300, np.nan])
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from([-1, 0, 1])), min_size=1, max_size=10)


def encoded(records):
    return Encoded(np.array([r[:2] for r in records]), np.array([r[2:] for r in records], dtype=np.int32))


@given(ROWS, ROWS)
def test_equal_rows_of_numbers_and_codes(one, other):
    """Missing equals missing, and 0 equals -0."""
    ours, theirs = ([tuple("" if np.isnan(x) else x + 0.0 for x in record) for record in side] for side in (one, other))
    found = equals_of(encoded(one), encoded(other))
    assert found.own.tolist() == [ours.count(record) for record in ours]
    assert found.there.tolist() == [theirs.count(record) for record in ours]
    assert [found.crowds[i] == found.crowds[j] for i in range(len(ours)) for j in range(len(ours))] == [
        a == b for a in ours for b in ours
    ]
    shares = [np.prod([[t[k] for t in theirs].count(record[k]) / len(theirs) for k in range(3)]) for record in ours]
    assert by_columns(found, len(theirs)) == pytest.approx([1 - (1 - p) ** len(theirs) for p in shares])


@given(st.lists(st.one_of(st.integers(-(2**62), 2**62), st.sampled_from([0, 1, -1, 2**32, -(2**32)])), max_size=60))
def test_values_are_labelled_as_rows_of_one_column_are(values):
    column = np.array(values, dtype=np.int64)
    first, wanted = label_rows(column[:, None], np.empty((len(values), 0), dtype=np.int32))
    label, found = label_values(column)
    assert label.tolist() == wanted.tolist()
    assert found == first.size


def test_many_rows_are_drawn_by_lot_whatever_their_order(monkeypatch):
    monkeypatch.setattr("unmask.disclosure.outside.SORTED", 10)
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(400, 2)), 1)  # some are equal
    values[::7, 0] = np.nan
    side, order = Encoded(values, np.zeros((400, 1), dtype=np.int32)), rng.permutation(400)
    one, two = side.take(draw(side, 50, 3)), side.take(order)
    two = two.take(draw(two, 50, 3))
    assert np.array_equal(one.numeric, two.numeric, equal_nan=True)
    assert len({tuple(row) for row in np.nan_to_num(one.numeric, nan=9.0).tolist()}) > 30
    assert not np.array_equal(one.numeric, side.take(draw(side, 50, 4)).numeric, equal_nan=True)
