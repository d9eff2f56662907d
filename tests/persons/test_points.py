"""Unicity and sequences against people looked at one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_persons import disturbed, few_rows

import unmask
from naive import persons as naive
from unmask import Persons, unicity
from unmask.persons.points import did, sequences


def bags_of(table, *columns):
    return naive.bags(table.select(columns).rows(), table["id"].to_list())


@pytest.mark.parametrize("seed", range(3))
def test_all_points_of_a_person_by_definition(seed):
    """With at most four rows each, four points are all of them: nothing is drawn."""
    table = few_rows(20, most=4, seed=seed)
    other = disturbed(table, seed)
    persons = Persons(table, other, id="id", quasi=["sex", "day", "ward"])
    found = unicity(persons)
    one, two = (bags_of(side, "sex", "day", "ward") for side in (table, other))
    asked = [p for p in one if p in two]
    left = {p: naive.have(one[p], two) for p in asked}
    assert found.credit.tolist() == pytest.approx([(p in left[p]) / max(1, len(left[p])) for p in asked])
    assert found.released[3].value == pytest.approx(np.mean([left[p] == {p} for p in asked]))
    alone = [naive.have(one[p], one) == {p} for p in asked]
    assert found.original[3].value == pytest.approx(np.mean(alone))


def test_one_point_is_drawn_from_all_rows():
    """Mean over the rows of a person, within what four draws of each leave open."""
    table = few_rows(60, most=4, seed=4, days=30)
    found = unicity(Persons(table, table, id="id", quasi=["day", "ward"]))
    bags = bags_of(table, "day", "ward")
    wanted = np.mean([np.mean([naive.have([row], bags) == {p} for row in set(rows)]) for p, rows in bags.items()])
    assert found.released[0].value == pytest.approx(wanted, abs=0.08)
    assert found.released[0].value == found.original[0].value


def test_more_points_leave_fewer():
    moves = unmask.datasets.trajectories(60, seed=1)
    coarse = moves.with_columns(pl.col("time").dt.date(), pl.col("antenna").str.slice(0, 3))
    found = unicity(Persons(moves, coarse, id="person", place="antenna"))
    for curve in (found.original, found.released, found.found):
        values = [one.value for one in curve]
        assert values == sorted(values)
    assert all(b.value <= a.value for a, b in zip(found.original, found.released, strict=True))
    assert found.released[0].value < 0.2
    assert found.released[7].value > 0.6


@pytest.mark.parametrize("seed", range(2))
def test_sequences_by_definition(seed):
    """With at most four rows each the sequence is all of them, in the order of time."""
    table = few_rows(15, most=4, seed=seed, wards=3)
    other = disturbed(table, seed, moved=0.3)
    found = sequences(Persons(table, other, id="id", quasi=["sex", "day", "ward"], time="day"))
    one, two = (bags_of(side, "day", "sex", "ward") for side in (table, other))
    told = {q: [(day, (sex, ward)) for day, sex, ward in rows] for q, rows in two.items()}
    credit = []
    for p in [p for p in one if p in two]:
        rows = sorted(one[p])
        if len({day for day, _, _ in rows}) < len(rows):  # rows of one time have no order: any is drawn
            continue
        left = [q for q in told if naive.in_order([(sex, ward) for _, sex, ward in rows], told[q])]
        credit.append((p, (p in left) / max(1, len(left))))
    by_person = dict(zip(found.asked.tolist(), found.credit.tolist(), strict=True))
    assert len(credit) > 5
    for p, wanted in credit:
        assert by_person[p - 101] == pytest.approx(wanted)


@given(
    rows=st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]), st.integers(0, 2)), max_size=5,
                  unique_by=lambda row: row[0]),
    wanted=st.lists(st.integers(0, 2), min_size=1, max_size=3),
)  # fmt: skip
def test_the_earliest_row_that_fits_is_enough(rows, wanted):
    assert did(sorted(rows), [{one} for one in wanted]) == naive.in_order(wanted, rows)


def test_without_times_there_is_no_order():
    table = few_rows(12)
    assert sequences(Persons(table, table, id="id", quasi=["sex", "ward"])) is None
