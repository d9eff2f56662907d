"""Columns left out, pseudonyms, coarser dates, prefixes, rare categories and hierarchies."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking import Age, Dates, Drop, Groups, Hierarchy, Prefix, Pseudonym, Rare, generalising, parse_masking
from unmask.tables import Release

WORDS = "a key that is long enough"


@pytest.fixture
def coded(people) -> pl.DataFrame:
    """The people with a postcode, a job with rare values, and a time of day."""
    codes = pl.Series("zip", [f"{75000 + 7 * (i % 90):05d}" for i in range(people.height)])
    jobs = pl.Series("job", ["clerk"] * 300 + ["smith"] * 190 + ["mayor"] * 4 + ["judge"] * 3 + ["monk"] * 2 + [None])
    times = people["born"].cast(pl.Datetime("us")).alias("seen")
    return people.with_columns(codes, jobs, times)


def test_left_out_columns_are_gone_and_the_rest_stays(people):
    left = parse_masking("drop([id, town])").apply(people)
    assert left.equals(people.drop("id", "town"))
    with pytest.raises(RoleError, match="no column is called 'twon'"):
        parse_masking("drop([twon])").apply(people)


def test_pseudonyms_keep_equality_and_nothing_else(people, monkeypatch):
    monkeypatch.setenv(generalising.KEY, WORDS)
    masked = parse_masking("pseudonym([id, town])").apply(people)
    pairs = set(zip(people["town"], masked["town"], strict=True))
    assert len(pairs) == people["town"].n_unique() == masked["town"].n_unique()
    assert masked["town"].null_count() == people["town"].null_count() > 0
    assert not set(masked["id"]) & set(people["id"])
    assert {len(value) for value in masked["id"]} == {16}
    assert parse_masking("pseudonym([id, town])").apply(people, 5).equals(masked)  # one key, one name
    assert "key" not in str(parse_masking("pseudonym([id])"))
    monkeypatch.setenv(generalising.KEY, WORDS + "!")
    other = parse_masking("pseudonym([id, town])").apply(people)
    assert not set(other["id"]) & set(masked["id"])


def test_without_a_key_one_is_drawn_for_the_run(people, monkeypatch):
    monkeypatch.delenv(generalising.KEY, raising=False)
    monkeypatch.setattr(generalising, "_drawn_key", lambda: b"1" * 32)
    one = parse_masking("pseudonym([id])").apply(people)
    monkeypatch.setattr(generalising, "_drawn_key", lambda: b"2" * 32)
    assert not set(one["id"]) & set(parse_masking("pseudonym([id])").apply(people)["id"])


def test_codes_have_one_pseudonym_whatever_their_type(monkeypatch):
    monkeypatch.setenv(generalising.KEY, WORDS)
    named = [
        parse_masking("pseudonym([code])").apply(pl.DataFrame({"code": values}))["code"].to_list()
        for values in ([4, 5, None], [4.0, 5.0, None], ["4", "5", None])
    ]
    assert named[0] == named[1] == named[2]


def test_a_short_key_and_a_shared_pseudonym_are_refused(people, monkeypatch):
    monkeypatch.setenv(generalising.KEY, "short")
    with pytest.raises(ParameterError, match="too short"):
        parse_masking("pseudonym([id])").apply(people)
    monkeypatch.setenv(generalising.KEY, WORDS)
    monkeypatch.setattr(generalising, "_hashed", lambda *_: "a" * 40)
    with pytest.raises(ParameterError, match="share a pseudonym"):
        parse_masking("pseudonym([id])").apply(people)


@pytest.mark.parametrize(
    ("period", "written"),
    [("week", "2009-W53"), ("month", "2010-01"), ("quarter", "2010-Q1"), ("year", "2010"), ("decade", "2010s")],
)
def test_dates_are_written_as_their_period(period, written):
    days = pl.DataFrame({"day": [dt.date(2010, 1, 2), None]})
    for table in (days, days.with_columns(pl.col("day").cast(pl.Datetime("us")))):
        assert parse_masking(f"dates({period})").apply(table)["day"].to_list() == [written, None]


@pytest.mark.parametrize("period", generalising.PERIODS)
def test_released_periods_are_read_again(coded, period):
    """What `dates` writes, a release understands: everybody's period contains their own date."""
    study = unmask.study.Study(
        Release(coded.select("born"), parse_masking(f"dates({period})").apply(coded).select("born"))
    )
    assert study.owns("born").all()


def test_age_counts_birthdays_that_have_been():
    born = [dt.date(2000, 11, 16), dt.date(2000, 11, 17), dt.date(2004, 2, 29), None]
    masked = parse_masking("age('2026-11-16')").apply(pl.DataFrame({"born": born}))
    assert masked["born"].to_list() == [26, 25, 22, None]
    with pytest.raises(TableError, match="dates after"):
        parse_masking("age('2001-01-01')").apply(pl.DataFrame({"born": born}))


def test_only_dates_have_periods(people):
    assert parse_masking("dates(year)").apply(people).drop("born").equals(people.drop("born"))
    with pytest.raises(RoleError, match="no dates"):
        parse_masking("dates(year, columns=[income])").apply(people)


def test_prefixes_keep_the_first_characters(coded):
    short = parse_masking("prefix(2, columns=[zip])").apply(coded)["zip"]
    padded = parse_masking("prefix(2, columns=[zip], pad=x)").apply(coded)["zip"]
    assert short.to_list() == [code[:2] for code in coded["zip"]]
    assert padded.to_list() == [code[:2] + "xxx" for code in coded["zip"]]
    numbers = coded.with_columns(pl.col("zip").cast(pl.Int64))
    assert parse_masking("prefix(2, columns=[zip])").apply(numbers)["zip"].equals(short)
    with pytest.raises(ParameterError, match="longer than that"):
        parse_masking("prefix(5, columns=[zip])").apply(coded)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 10, 150, 195, 250, 600])
def test_rare_categories_are_put_together(coded, k):
    masked = parse_masking(f"rare({k}, columns=[job])").apply(coded)["job"]
    before, after = Counter(coded["job"].drop_nulls()), Counter(masked.drop_nulls())
    assert masked.null_count() == 1
    if k <= sum(before.values()):
        assert min(after.values()) >= k  # every group is a crowd, the others' too
    kept = [job for job in after if job != "other"]
    assert all(after[job] == before[job] for job in kept)  # nobody moved between jobs that stay
    merged = [job for job in before if job not in kept]
    smaller = sorted(merged, key=lambda job: before[job])[:-1]
    together = sum(before[job] for job in smaller)
    assert not merged or together < k or all(before[job] < k for job in merged)  # not one more than needed


def test_a_hierarchy_has_levels(coded, tmp_path):
    file = tmp_path / "towns.csv"
    file.write_text("town,side,country\nA,north,X\nB,south,X\nC,south,X\n")
    one = parse_masking(f"hierarchy({str(file)!r}, columns=[town])").apply(coded)["town"]
    two = parse_masking(f"hierarchy({str(file)!r}, columns=[town], level=2)").apply(coded)["town"]
    sides = {"A": "north", "B": "south", "C": "south", None: None}
    assert one.to_list() == [sides[town] for town in coded["town"]]
    assert set(two.drop_nulls()) == {"X"}
    with pytest.raises(ParameterError, match="no such level"):
        parse_masking(f"hierarchy({str(file)!r}, columns=[town], level=3)").apply(coded)
    file.write_text("town,side\nA,north\n")
    with pytest.raises(TableError, match="2 values of 'town' are not in the hierarchy") as error:
        parse_masking(f"hierarchy({str(file)!r}, columns=[town])").apply(coded)
    assert "B" not in str(error.value).replace("'town'", "")


@pytest.mark.parametrize(
    "text",
    ["drop([])", "pseudonym([id], length=4)", "pseudonym([id], length=50)", "dates(hour)", "age('soon')",
     "prefix(0, columns=[zip])", "prefix(2, columns=[zip], pad=xx)", "rare(1, columns=[job])", "prefix(2)",
     "hierarchy('x.csv', columns=[a], level=0)"],
)  # fmt: skip
def test_clear_refusals(text):
    with pytest.raises(ParameterError):
        parse_masking(text)


WRITTEN = {
    "drop([id, town])": Drop(["id", "town"]),
    "pseudonym([id], length=20)": Pseudonym("id", length=20),
    "dates(month, columns=[born])": Dates("month", columns=["born"]),
    "age('2026-11-16')": Age("2026-11-16"),
    "prefix(2, [zip], pad=x)": Prefix(2, "zip", pad="x"),
    "rare(5, [job], other=rest)": Rare(5, ["job"], other="rest"),
    "hierarchy('towns.csv', [town], level=2)": Hierarchy("towns.csv", ["town"], level=2),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written_is_read_again(text):
    assert parse_masking(text) == WRITTEN[text]
    assert str(WRITTEN[text]) == text


def test_the_caller_keeps_the_table_and_missing_stays_missing(coded):
    before = coded.clone()
    for text in ("dates(month)", "prefix(2, [zip])", "rare(5, [job])", "pseudonym([town])"):
        masked = parse_masking(text).apply(coded)
        assert [masked[name].null_count() for name in coded.columns] == [coded[n].null_count() for n in coded.columns]
    assert coded.equals(before)


def test_knowing_the_coarser_words_finds_what_they_leave(coded):
    """`transparent` follows them: whoever runs the masking again finds those who are alone with what is left."""
    table = coded.select("born", "zip", "job")
    text = "chain([dates(month), prefix(4, columns=[zip]), rare(5, columns=[job])])"
    masked = parse_masking(text).apply(table)
    release = Release(table, masked, masking=text)
    found = unmask.assess(release, only=["transparent"]).findings
    counts = Counter(masked.rows())
    alone = sum(1 / counts[row] for row in masked.rows()) / table.height
    assert next(f for f in found if f.key == "transparent.rate").estimate.value == pytest.approx(alone)


def test_a_key_in_the_same_run_is_not_in_the_intruders_hands(people, monkeypatch):
    monkeypatch.setenv(generalising.KEY, WORDS)
    table = people.select("id", "town")
    release = Release(table, parse_masking("pseudonym([id])").apply(table), masking="pseudonym([id])", quasi=["town"])
    found = unmask.assess(release, only=["transparent"]).findings
    towns = table["town"].n_unique()
    assert next(f for f in found if f.key == "transparent.rate").estimate.value <= (towns + 1) / table.height


def test_groups_of_categories():
    towns = pl.DataFrame({"town": ["Berg", "Moor", "See", None, "Furt"]})
    text = "groups([(north, [Berg, Moor]), (south, [See])], columns=[town])"
    assert parse_masking(text).apply(towns)["town"].to_list() == ["north", "north", "south", None, "Furt"]
    rest = text.replace("columns=[town]", "columns=[town], other=elsewhere")
    assert parse_masking(rest).apply(towns)["town"].to_list() == ["north", "north", "south", None, "elsewhere"]
    assert parse_masking(str(parse_masking(rest))) == parse_masking(rest)
    assert parse_masking(text) == Groups((("north", ("Berg", "Moor")), ("south", ("See",))), columns=("town",))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("groups([north], columns=[town])", ParameterError, "pairs of a name"),
        ("groups([(north, Berg)], columns=[town])", ParameterError, "pairs of a name"),
        ("groups([(a, [Berg]), (b, [Berg])], columns=[town])", ParameterError, "in two groups"),
        ("groups([(a, [Burg])], columns=[town])", TableError, "1 categories of the groups are not in 'town'"),
    ],
)
def test_wrong_groups(text, error, words):
    with pytest.raises(error, match=words):
        parse_masking(text).apply(pl.DataFrame({"town": ["Berg"]}))


def test_codes_are_noised_only_when_asked():
    """Whole numbers of which a few stand for many rows each are codes; a name says otherwise."""
    table = pl.DataFrame({"code": [1, 2, 3] * 100, "amount": range(300)})
    assert parse_masking("noise(1)").apply(table, 1)["code"].equals(table["code"])
    assert not parse_masking("noise(1)").apply(table, 1)["amount"].equals(table["amount"])
    assert not parse_masking("noise(1, columns=[code])").apply(table, 1)["code"].equals(table["code"])
    rounded = table.with_columns(code=pl.col("code") * 1000)  # multiples of 1000 are amounts that were rounded
    assert not parse_masking("noise(1)").apply(rounded, 1)["code"].equals(rounded["code"])


@pytest.mark.parametrize("name", ["post code", "Postcode", "ZIP", "zip_code", "plz", "postal", "town_code"])
def test_postcodes_that_are_numbers_are_noised_only_when_asked(name):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.integers(10_000, 99_999, 300), "amount": rng.integers(10_000, 99_999, 300)})
    masked = parse_masking("noise(0.2)").apply(table, 1)
    assert masked[name].equals(table[name])
    assert not masked["amount"].equals(table["amount"])
    asked = parse_masking(f"noise(0.2, columns=[{name!r}])").apply(table, 1)
    assert not asked[name].equals(table[name])
