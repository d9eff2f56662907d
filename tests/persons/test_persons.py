"""Reading tables with many rows a person: whose rows, when, how values are written, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from small_persons import few_rows

import unmask
from unmask import Persons
from unmask.errors import RepeatedIdError, RoleError, TableError
from unmask.persons.persons import _since_before

VISITS = unmask.datasets.visits(40, seed=2)


def test_rows_are_kept_by_person_in_any_order():
    released = VISITS.with_columns(pl.col("admitted").dt.strftime("%Y-%m"))
    one = Persons(VISITS, released, id="patient")
    two = Persons(VISITS.reverse(), released.sample(fraction=1, shuffle=True, seed=4), id="patient")
    assert one.ids.to_list() == two.ids.to_list() == sorted(VISITS["patient"].unique())
    assert (one.start == two.start).all() and (one.own == np.arange(40)).all()
    assert one.release.original.equals(two.release.original) and one.release.released.equals(two.release.released)
    assert one.sizes[0].sum() == VISITS.height and one.chance == 1 / 40


def test_coarser_values_are_understood_from_rows_of_one_person():
    released = VISITS.select(
        "patient",
        pl.col("admitted").dt.strftime("%Y-%m"),
        pl.col("born") // 20 * 20,
        pl.col("diagnosis").str.slice(0, 1),
        "sex",
    )
    persons = Persons(VISITS, released.sample(fraction=1, shuffle=True, seed=1), id="patient")
    match = persons.match()
    rows = np.flatnonzero(persons.release.truth >= 0)
    assert rows.size == VISITS.height
    assert match.owns(persons.release.truth).mean() > 0.95
    assert persons.time == "admitted"
    assert any("'born': the release has coarser steps" in note for note in persons.encoding().notes)


def test_a_point_is_when_and_where_or_all_that_is_known():
    moves = unmask.datasets.trajectories(20)
    assert Persons(moves, moves, id="person", place="antenna").points == ("time", "antenna")
    assert Persons(VISITS, VISITS, id="patient", quasi=["sex", "town"]).points == ("sex", "town")


def test_days_since_the_row_before_are_of_the_same_person():
    found = _since_before(np.array([5.0, 1.0, 3.0, 7.0, 7.5]), np.array([0, 3, 5]))
    assert np.array_equal(found, [2.0, np.nan, 2.0, np.nan, 0.5], equal_nan=True)


def test_people_of_one_side_are_told():
    table = few_rows(10)
    persons = Persons(table.filter(pl.col("id") != 101), table.filter(pl.col("id") != 102), id="id")
    assert persons.own.tolist() == [-1, *range(1, 9)]
    assert "1 people of the original have no row in the release" in persons.notes
    assert "1 people of the release are not in the original" in persons.notes


def test_control_people_who_are_members_are_left_out():
    table = few_rows(10)
    other = few_rows(10, seed=5).with_columns(pl.col("id") + 7)
    persons = Persons(table, table, id="id", control=other)
    assert "3 control people have an id of the original and are left out" in persons.notes
    assert persons.start.size == 10 + 7 + 1 and (persons.own[10:] == -1).all()


@pytest.mark.parametrize(
    ("change", "options", "error", "words"),
    [
        (pl.lit(1).alias("id"), {}, TableError, "has one person"),
        (pl.col("id") + 100, {}, TableError, "nobody of the original is in the release by id"),
        (pl.when(pl.col("id") > 103).then(pl.col("id")).alias("id"), {}, TableError, "missing values in the release"),
        (pl.col("day"), {"time": "ward"}, RoleError, "cannot say the time"),
        (pl.col("day"), {"time": "dya"}, RoleError, "cannot say the time"),
        (pl.col("day"), {"place": "secret", "confidential": ["secret"]}, RoleError, "cannot say the place"),
        (pl.col("id").alias("who"), {"id": "who"}, RoleError, "no column 'who'"),
    ],
)
def test_what_cannot_be_worked_with_is_refused(change, options, error, words):
    table = few_rows(12)
    with pytest.raises(error, match=words):
        Persons(table, table.with_columns(change), **{"id": "id", **options})


def test_tables_that_share_no_column_are_refused():
    table = few_rows(12).select("id", "day")
    with pytest.raises(RoleError, match="share no known column"):
        Persons(table, table.rename({"day": "when"}), id="id")


def test_a_control_table_needs_the_id():
    table = few_rows(12)
    with pytest.raises(RoleError, match="in the control table"):
        Persons(table, table, id="id", control=few_rows(5).drop("id"))


def test_a_release_with_one_row_a_person_names_the_way():
    with pytest.raises(RepeatedIdError, match=r"unmask.Persons and unmask.assess_persons") as caught:
        unmask.Release(VISITS, VISITS, id="patient")
    several = VISITS.group_by("patient").len().filter(pl.col("len") > 1).height
    assert caught.value.share == pytest.approx(several / 40)
