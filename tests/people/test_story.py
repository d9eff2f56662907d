"""What gives a person away, column by column, and the smallest changes that would hide them."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from command_line import run
from unmask.errors import UnmaskError
from unmask.people.story import Change, PersonStory, Told
from unmask.shares import percent

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=14)


def far(record, person, name):
    """How far a record's value is from the known one, by the definition; a blank is not far from anything."""
    if record[name] is None:
        return 0
    if isinstance(person[name], str):
        return int(record[name] != person[name])
    return abs(record[name] - person[name])


def slow_fit(original, released, row, reaches):
    """Records that are within the reach of what is known, in each of these columns."""
    person = original.row(row, named=True)
    return sum(
        all(far(record, person, name) <= reach + 1e-9 for name, reach in reaches.items())
        for record in released.iter_rows(named=True)
    )


def blanked(released, change, record):
    """The release after the change."""
    gone = {record - 1, *(other - 1 for other in change.others)}
    return released.with_columns(
        pl.Series(name, [None if i in gone else value for i, value in enumerate(released[name])], released[name].dtype)
        for name in change.columns
    )


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(0, 5), st.integers(2, 5))
def test_fits_and_smallest_changes_are_those_of_the_definition(rows, row, k):
    town = [f"town {a}" for a, _, _ in rows]
    original = pl.DataFrame({"town": town, "x": [b + 0.5 for _, b, _ in rows], "y": [c + 0.5 for _, _, c in rows]})
    released = original.with_columns(x=pl.col("x") + pl.Series([(b + c) % 3 - 1.0 for _, b, c in rows]))
    story = unmask.explain_person(unmask.Release(original, released), row + 1, k=k)
    sides = [*zip(released.iter_rows(named=True), original.iter_rows(named=True), strict=True)]
    own = {name: far(*sides[row], name) for name in original.columns}
    usual = {name: float(np.median([far(*pair, name) for pair in sides])) for name in original.columns}
    columns = [one.column for one in story.told]
    for number, one in enumerate(story.told, 1):
        assert one.fit == slow_fit(original, released, row, {name: own[name] for name in columns[:number]})
    assert sum(one.bits for one in story.told) == pytest.approx(np.log2(len(rows) / story.fit))
    if story.fit >= k:
        assert story.changes == ()
        return
    for change in story.changes:  # carried out, the change does what it says
        after = blanked(released, change, story.record)
        reaches = {name: usual[name] if name in change.columns else own[name] for name in columns}
        assert change.fit == slow_fit(original, after, row, reaches) >= k
        assert change.cells == sum(after[name].null_count() for name in columns)
    enough = [
        blank
        for size in range(1, 4)
        for blank in combinations(columns, size)
        if slow_fit(original, released, row, {name: own[name] for name in columns if name not in blank}) >= k
    ]
    assert bool(story.changes) == bool(enough)
    assert [one.cells for one in story.changes] == sorted(one.cells for one in story.changes)


@pytest.mark.parametrize("row", [1, 8, 20])
def test_who_differs_in_many_columns_is_told_all_that_must_be_blanked(row):
    rng = np.random.default_rng(2)
    table = pl.DataFrame({f"c{j}": rng.permutation(20) + 0.5 for j in range(5)} | {"sex": ["f", "m"] * 10})
    story = unmask.explain_person(unmask.Release(table, table), row, k=4)
    (change,) = story.changes
    assert len(change.columns) > 3
    own = dict.fromkeys(table.columns, 0.0)
    assert slow_fit(table, blanked(table, change, story.record), row - 1, own) == change.fit >= 4
    for name in change.columns:  # each of them is needed
        kept = dict.fromkeys({*table.columns} - {*change.columns} | {name}, 0.0)
        assert slow_fit(table, table, row - 1, kept) < 4
    assert f"risk {percent(1 / change.fit)}" in story.words


@pytest.fixture(scope="module")
def release():
    n = 60
    table = pl.DataFrame({"town": ["a"] * 59 + ["z"], "age": [30 + k % 3 for k in range(n)], "sex": ["f", "m"] * 30})
    return unmask.Release(table, table)


def test_the_one_who_is_alone_in_a_town_is_hidden_by_blanking_it_with_company(release):
    """Blanked alone they would stay the only one who may live there: everybody else has another town."""
    story = unmask.explain_person(release, 60)
    assert story.told[0] == type(story.told[0])("town", pytest.approx(np.log2(60)), 1)
    assert [one.bits for one in story.told[1:]] == [0, 0]
    assert story.changes[0].columns == ("town",)
    assert len(story.changes[0].others) == 4
    assert story.changes[0].cells == 5
    assert story.changes[0].fit == 5
    assert story.changes[0].risk == pytest.approx(0.2)
    assert "in their record and 4 like it" in story.words
    assert "only their own record fits" in story.words
    figure = story.figure()
    assert figure.shape == "waterfall"
    assert figure.series[0].y[-1] == pytest.approx(np.log2(60))


def test_who_stands_among_others_needs_no_change(release):
    story = unmask.explain_person(release, 1)
    assert story.fit == 10
    assert story.changes == ()
    assert "already" in story.words


def test_the_list_puts_most_people_per_cell_first(release):
    stories = [unmask.explain_person(release, row) for row in (60, 1)]
    listed = unmask.hiding_list(stories)
    assert listed.row(0)[:4] == ("town", 1, 5, [60])
    assert len(listed["records"][0]) == 5
    assert 60 in listed["records"][0]
    assert listed.height == 1


@pytest.mark.parametrize(("row", "k", "words"), [(0, 5, "no such row"), (61, 5, "no such row"), (1, 1, "2 or more")])
def test_what_cannot_be_asked_is_refused(release, row, k, words):
    with pytest.raises(UnmaskError, match=words):
        unmask.explain_person(release, row, k=k)


def test_who_has_no_record_is_told():
    table = pl.DataFrame({"pid": [f"p{k}" for k in range(30)], "age": list(range(30))})
    release = unmask.Release(table, table.head(20), id="pid")
    with pytest.raises(UnmaskError, match="no record"):
        unmask.explain_person(release, 25)


def test_on_the_command_line(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"age": rng.integers(0, 90, 80), "income": rng.normal(0, 1, 80), "sex": ["f", "m"] * 40})
    table.write_csv(tmp_path / "original.csv")
    table.write_csv(tmp_path / "release.csv")
    report = tmp_path / "report.json"
    files = (tmp_path / "original.csv", tmp_path / "release.csv")
    run("assess", *files, "--only", "nearest", "--json", report)
    capsys.readouterr()
    assert run("person", report, "--row", "3", "--chart", tmp_path / "one.svg") == 0
    told = capsys.readouterr().out
    assert "Row 3: only their own record fits" in told
    assert "blank" in told
    assert (tmp_path / "one.svg").read_text().startswith("<svg")
    assert run("person", report, "-o", tmp_path / "cells.csv") == 0
    told = capsys.readouterr().out
    assert "found by Nearest record." in told
    assert "1 people" not in told
    cells = pl.read_csv(tmp_path / "cells.csv")
    assert cells.columns == ["blank", "people", "cells", "record"]
    assert cells.height >= 10
    assert run("person", report, "--row", "99") == 2
    assert run("person", report, "--row", "x") == 2
    assert run("person", report, "--chart", tmp_path / "two.svg") == 2


def test_the_report_holds_the_stories_of_the_exposed(tmp_path):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(0, 90, 80), "income": rng.normal(0, 1, 80)})
    done = unmask.assess(unmask.Release(table, table), only=["nearest"], utility="none")
    stories = done.document.stories
    assert [story.row for story in stories] == [entry.row for entry in done.document.exposed]
    assert stories[0] == unmask.explain_person(unmask.Release(table, table), stories[0].row)
    assert done.to_dict()["stories"][0]["told"][0]["column"] in {"age", "income"}
    done.write_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    folded = page.split('id="stories"')[1].split("</details>")[0].replace("\u00a0", " ")
    assert [folded.count(f"<li>{story.words}</li>") for story in stories] == [1] * len(stories)
    assert folded.count("<svg") == 1 and f"What gives row {stories[0].row} away?" in folded


def test_files_that_share_no_column_have_no_stories():
    people = unmask.datasets.census(60).select("wages", "interest")
    found = unmask.assess(unmask.Release(people, people.rename({"wages": "a", "interest": "b"})), only=["channel"])
    assert found.document.stories == () and found.verdict != "safe"


def test_a_story_counts_records_and_tells_no_more_than_two_ways():
    """Bits say nothing to a steward; five ways to hide somebody are four too many to read."""
    told = (Told("age", 5.0, 20), Told("town", 4.3, 1), Told("sex", 0.0, 1))
    changes = tuple(Change((name,), 6) for name in ("age", "town", "sex", "job"))
    words = PersonStory(17, 640, 5, told, changes).words
    begun = "Row 17: only their own record fits what is known of them. Of 640 records, age leaves 20 and town 1."
    hidden = "blank age: 6 records fit, risk 16.7 %; or blank town: 6 records fit, risk 16.7 % (2 more)."
    assert words == f"{begun} To put them among 5: {hidden}"
    assert "Row 17: 640 of 640 records fit what is known of them. They stand" in PersonStory(17, 640, 5, (), ()).words
    assert Change(("a", "b", "c"), 5).words.startswith("blank a, b and c: 5 records fit")
