"""Columns that are constant, or repeat another, are left out and told."""

from __future__ import annotations

import polars as pl
import pytest

import unmask

ORIGINAL = pl.DataFrame(
    {
        "age": [31, 44, None, 58],
        "again": [31.0, 44.0, None, 58.0],
        "town": ["a", "b", "a", "c"],
        "country": ["x"] * 4,
        "disease": ["p", "q", "q", "q"],
        "illness": ["p", "q", "q", "q"],
    }
)
RELEASED = ORIGINAL.with_columns(age=pl.Series([30, 45, None, 60]), again=pl.Series([30.0, 45.0, None, 60.0]))
OPTIONS = {"confidential": ["disease", "illness"]}


def test_twins_and_constants_are_left_out_and_told():
    full = unmask.Release(ORIGINAL, RELEASED, **OPTIONS)
    release = full.without_redundant()
    assert (release.quasi, release.confidential) == (("age", "town"), ("disease",))
    told = release.warnings[len(full.warnings) :]
    assert [note.split(":")[0] for note in told] == [
        "column 'country' has one value everywhere",
        "column 'again' holds the same as 'age'",
        "column 'illness' holds the same as 'disease'",
    ]
    assert [release.role(name) for name in ("again", "country", "illness")] == ["quasi", "quasi", "confidential"]
    assert full.quasi == ("age", "again", "town", "country")  # who masks or mends the table sees them all
    assert unmask.assess(full, only=["uniqueness"]).document.warnings[-3:] == told


@pytest.mark.parametrize("table", ["original", "released", "control"])
def test_what_differs_in_one_table_says_something(table):
    for name in ("again", "country", "illness"):
        tables = {"original": ORIGINAL, "released": RELEASED, "control": ORIGINAL}
        other = tables[table][name].to_list()[::-1] if name != "country" else ["x", "x", "x", "y"]
        tables[table] = tables[table].with_columns(pl.Series(name, other))
        left = unmask.Release(**tables, **OPTIONS).without_redundant()
        assert name in (*left.quasi, *left.confidential)


def test_a_constant_that_other_people_do_not_have_says_who_is_inside():
    other = ORIGINAL.with_columns(country=pl.lit("z"))
    assert "country" in unmask.Release(ORIGINAL, RELEASED, control=other).without_redundant().quasi
    assert "country" not in unmask.Release(ORIGINAL, other).without_redundant().quasi


def test_gaps_and_columns_with_a_part_of_their_own_stay():
    gap = ORIGINAL.with_columns(country=pl.Series(["x", None, "x", "x"]))
    assert "country" in unmask.Release(gap, RELEASED).without_redundant().quasi
    assert "again" in unmask.Release(ORIGINAL, RELEASED, categorical=["again"]).without_redundant().quasi
    two = unmask.Release(ORIGINAL, RELEASED, coordinates=["age", "again"])
    assert two.without_redundant().quasi == ("age", "again", "town", "disease")
    assert unmask.Release(ORIGINAL, RELEASED, quasi=["country"]).without_redundant().quasi == ("country",)


def test_a_column_of_one_file_may_be_constant_too():
    more = RELEASED.with_columns(batch=pl.lit(7), lot=pl.Series([1, 2, 3, 4]))
    release = unmask.Release(ORIGINAL.with_columns(source=pl.lit("s")), more).without_redundant()
    assert {"batch", "source"} <= set(release.roles.redundant)
    assert "lot" not in release.roles.redundant
