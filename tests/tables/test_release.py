from __future__ import annotations

from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import Release, assess
from unmask.errors import ParameterError, RoleError, TableError

PEOPLE = pl.DataFrame({"id": [3, 1, 2], "age": [30.5, 40.5, 50.5], "town": ["x", "y", "z"]})


def test_pairs_by_id_in_any_order():
    release = Release(PEOPLE, PEOPLE[[2, 0, 1]], id="id")
    assert release.truth.tolist() == [1, 2, 0]
    assert release.quasi == ("age", "town")


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_truth_says_which_row_is_whose(left, right):
    table = pl.DataFrame({"id": range(6), "v": [float(i) for i in range(6)]})
    release = Release(table[list(left)], table[list(right)], id="id")
    assert release.released["v"].to_numpy()[release.truth].tolist() == release.original["v"].to_list()


def test_a_release_is_told_in_a_line_that_is_the_same_in_every_run():
    assert repr(Release(PEOPLE, PEOPLE[:2], id="id")) == "<Release: 3 people, 2 released rows, 2 of them paired>"
    assert repr(Release(PEOPLE, PEOPLE[:2], synthetic=True)) == "<Release: 3 people, 2 released rows, synthetic>"


def test_missing_and_extra_rows_are_reported():
    extra = pl.DataFrame({"id": [1, 9], "age": [1.5, 2.5], "town": ["y", "q"]})
    release = Release(PEOPLE, extra, id="id")
    assert release.truth.tolist() == [-1, 0, -1]
    assert release.paired_rows.tolist() == [1]
    notes = " ".join(release.warnings)
    assert "2 of 3 original records have no row" in notes
    assert "1 rows of the release belong to no original" in notes


def test_ids_as_numbers_and_as_text_are_the_same():
    released = PEOPLE.with_columns(pl.col("id").cast(pl.String))
    assert Release(PEOPLE, released, id="id").truth.tolist() == [0, 1, 2]


def test_row_order_needs_equal_lengths():
    with pytest.raises(TableError, match=r"3 rows in the original, 2 in the release(?s:.*)id="):
        Release(PEOPLE, PEOPLE[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": "ID"}, "did you mean 'id'"),
        ({"quasi": ["agee"]}, "did you mean 'age'"),
        ({"confidential": ["twon"]}, "did you mean 'town'"),
        ({"weight": "w"}, "role 'weight'"),
        ({"quasi": ["age"], "confidential": ["age"]}, "two roles"),
        ({"quasi": []}, "knows no column"),
        ({"ignored": ["id", "age", "town"]}, "knows no column"),
    ],
)
def test_bad_roles(options, message):
    with pytest.raises(RoleError, match=message):
        Release(PEOPLE, PEOPLE, **options)


def test_roles_and_defaults():
    release = Release(PEOPLE, PEOPLE.drop("town"), id="id", confidential=["town"])
    assert release.quasi == ("age",)
    assert {name: column.role for name, column in release.columns.items()} == {
        "id": "id",
        "age": "quasi",
        "town": "confidential",
    }


def test_duplicate_missing_and_foreign_ids():
    twice = pl.DataFrame({"id": [1, 1, 2], "age": [1.5, 2.5, 3.5]})
    with pytest.raises(TableError, match=r"'id' repeats in the original(?s:.*)rows 1 and 2"):
        Release(twice, PEOPLE, id="id")
    with pytest.raises(TableError, match=r"'id' repeats in the release(?s:.*)rows 2 and 3 have the same"):
        Release(PEOPLE, twice.with_columns(pl.Series("id", [1, 2, 2])), id="id")
    with pytest.raises(TableError, match="missing values in the release"):
        Release(PEOPLE, PEOPLE.with_columns(pl.Series("id", [1, None, 3])), id="id")
    with pytest.raises(TableError, match="no id of 'id' is in both"):
        Release(PEOPLE, PEOPLE.with_columns(pl.col("id") + 100), id="id")


def test_tables_that_share_no_column_name_are_accepted():
    release = Release(PEOPLE, pl.DataFrame({"other": [1, 2, 3]}))
    assert release.quasi == ()
    assert any("no column of the release has the name" in note and "rename" in note for note in release.warnings)
    assert Release(PEOPLE, pl.DataFrame({"id": [3, 1, 2], "other": [1, 2, 3]}), id="id").truth.tolist() == [0, 1, 2]
    with pytest.raises(RoleError, match="knows no column"):
        Release(PEOPLE, pl.DataFrame({"other": [1, 2, 3]}), ignored=["other"])
    with pytest.raises(RoleError, match="knows no column"):
        Release(PEOPLE, pl.DataFrame({"id": [3, 1, 2]}), id="id")


def test_a_known_column_that_the_release_has_under_another_name():
    released = PEOPLE.rename({"town": "place"}).with_columns(pl.Series("place", ["u", "v", "w"]))
    release = Release(PEOPLE, released, id="id", quasi=["age", "town"])
    assert release.quasi == ("age",) and release.roles.unshared == ("town",)
    assert release.settings["quasi"] == ["age", "town"] and release.role("town") == "quasi"
    assert any("no column 'town'" in note for note in release.warnings)
    with pytest.raises(RoleError, match="no column 'place' for role 'quasi' in the original"):
        Release(PEOPLE, released, id="id", quasi=["age", "place"])


def test_infinities_are_named():
    with pytest.raises(TableError, match="'age' of the release holds an infinity in row 2"):
        Release(PEOPLE, PEOPLE.with_columns(pl.Series("age", [1.0, float("inf"), 2.0])))


def test_an_empty_column_is_left_out_or_refused():
    empty = PEOPLE.with_columns(pl.lit(None, dtype=pl.Float64).alias("age"))
    release = Release(PEOPLE, empty, id="id")
    assert release.quasi == ("town",)
    assert any("'age' has no value in the release" in note and "ignored" in note for note in release.warnings)
    with pytest.raises(RoleError, match=r"'age' has no value(?s:.*)quasi="):
        Release(PEOPLE, empty, id="id", quasi=["age", "town"])


def test_swapped_files_are_noticed():
    fine = pl.DataFrame({"age": [31, 42, 53, 64] * 6, "place": ["75011", "75012", "69001", "69002"] * 6})
    coarse = pl.DataFrame(
        {"age": ["30-39", "40-49", "50-59", "60-69"] * 6, "place": ["75***", "75***", "69***", "69***"] * 6}
    )
    assert any("swapped" in note for note in Release(coarse, fine).warnings)
    assert not any("swapped" in note for note in Release(fine, coarse).warnings)
    gaps = PEOPLE.with_columns(pl.Series("town", ["x", None, "z"]))
    assert any("swapped" in note for note in Release(gaps, PEOPLE, id="id").warnings)
    assert not any("swapped" in note for note in Release(PEOPLE, gaps, id="id").warnings)


def test_published_names_are_noticed():
    table = pl.DataFrame({"number": range(100), "x": [0.5] * 100})
    assert any("names people" in note for note in Release(table, table).warnings)
    assert not any("names people" in note for note in Release(table, table.reverse()).warnings)


def test_callers_frame_is_untouched():
    frame = pd.DataFrame({"a": [1.0, float("nan")], "b": ["x", None]}, index=[7, 7])
    before = frame.copy(deep=True)
    release = Release(frame, frame)
    assert release.original["a"].null_count() == 1
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_any_frame(make):
    release = Release(make({"a": [1.5, 2.5], "b": ["x", "y"]}), make({"a": [1.5, 2.5], "b": ["x", "y"]}))
    assert release.original.shape == (2, 2)


@pytest.mark.parametrize(
    "name",
    ["with space", "hyphen-ated", "ünïcödé", 'quo"te', "a'; DROP TABLE x; --", "<script>alert(1)</script>", "a,b"],
)
def test_column_names_are_arbitrary(name):
    table = pl.DataFrame({name: [1.5, 2.5, 3.5, 4.5], "other": ["p", "q", "p", "q"]})
    assessment = assess(Release(table, table, quasi=[name, "other"]))
    assert assessment.verdict in {"unsafe", "inconclusive"}
    assert all(f.estimate is not None or f.outcome == "does not apply" for f in assessment.findings)


def test_a_synthetic_release_has_no_pairs():
    people = pl.DataFrame({"id": range(30), "a": range(30), "b": ["x", "y"] * 15})
    release = Release(people, people.drop("id")[:20], id="id", synthetic=True)
    assert release.synthetic
    assert (release.truth == -1).all() and release.paired_rows.size == 0
    assert release.quasi == ("a", "b")
    assert any("synthetic" in warning for warning in release.warnings)
    assert not any("names people" in warning for warning in release.warnings)
    again = Release(people, people.drop("id"), **release.settings)
    assert again.synthetic


def test_the_former_name_of_synthetic_still_works():
    assert Release(PEOPLE, PEOPLE, paired=False).synthetic
    assert not Release(PEOPLE, PEOPLE, paired=True).synthetic
    with pytest.raises(ParameterError, match="synthetic or paired"):
        Release(PEOPLE, PEOPLE, synthetic=True, paired=True)


@pytest.mark.parametrize("name", ["masking", "truth", "original", "quasi", "paired_rows", "anything"])
def test_a_release_is_frozen(name):
    release = Release(PEOPLE, PEOPLE, id="id")
    with pytest.raises((AttributeError, TypeError)):
        setattr(release, name, None)
    with pytest.raises((AttributeError, TypeError)):
        delattr(release, name)


@pytest.mark.parametrize("name", ["truth", "paired_rows"])
def test_who_belongs_to_whom_cannot_be_rewritten(name):
    release, given = Release(PEOPLE, PEOPLE, id="id"), np.array([2, 0, 1])
    for frozen in (release, release.with_masking("noise(1)"), release.with_tables(PEOPLE, PEOPLE, given)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(frozen, name)[0] = 1
    given[0] = 1  # whoever gave it may still use it


def test_another_release_leaves_the_first_as_it_is():
    release = Release(PEOPLE, PEOPLE[:2], id="id", masking="noise(1)")
    more = release.with_people(PEOPLE)
    assert more.original.height == 6 and more.truth.tolist() == [0, 1, -1, -1, -1, -1]
    assert more.paired_rows.tolist() == [0, 1]
    assert release.original.height == 3 and release.truth.tolist() == [0, 1, -1]
    assert release.with_masking("noise(2)").masking == "noise(2)" and release.masking == "noise(1)"
    other = release.with_tables(PEOPLE[:1], PEOPLE, np.array([2]))
    assert other.paired_rows.tolist() == [0] and other.quasi == release.quasi and other.columns == release.columns
    assert copy(release).truth is release.truth  # frozen objects can be copied


def test_assess_reads_the_masking_and_leaves_the_release_alone():
    people = pl.DataFrame({"a": range(30), "b": ["x", "y"] * 15})
    release = Release(people, people, masking="noise(0.5)")
    assess(release, only=["transparent"])
    assert release.masking == "noise(0.5)"


def test_columns_that_differ_only_in_case_are_the_same():
    original = pl.DataFrame({"Age": [1, 2, 3], "town": ["a", "b", "c"]})
    released = pl.DataFrame({"AGE": [1, 2, 3], " Town ": ["a", "b", "c"]})
    release = Release(original, released)
    assert release.quasi == ("Age", "town")
    assert sum("taken for the same" in note for note in release.warnings) == 2
    twice = Release(original.with_columns(AGE=pl.lit(1)), released.rename({" Town ": "town"}))
    assert "AGE" in twice.quasi  # a name that is there stays what it is


def test_the_masking_stands_in_the_settings_as_it_is_written():
    table = pl.DataFrame({"a": [1.0, 2.0, 4.0]})
    assert Release(table, table).settings["masking"] is None
    assert Release(table, table, masking="noise(0.5)").settings["masking"] == "noise(0.5)"


def test_which_columns_of_other_people_fit():
    table = pl.DataFrame({"age": [31.5, 42.5, 53.5], "town": ["x", "y", "z"]})
    release, others = Release(table, table), pl.DataFrame({"age": [64.5], "size": [1]})
    assert [release.fits(others, name) for name in ("age", "town", "size", "nothing")] == [True, False, False, False]
