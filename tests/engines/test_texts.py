"""Cells of text files: numbers, days and words by one decision for all tables, as memory has it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import unmask
from unmask import engines
from unmask.errors import RoleError, TableError

pytest.importorskip("duckdb")
N = 120
RNG = np.random.default_rng(4)
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.permutation(20_000)[:N]]
PEOPLE = pl.DataFrame({"id": range(N), "born": DAYS, "group": RNG.choice(list("abc"), N)})
EARLY = pl.col("born").dt.day() <= 12  # day and month cannot be told apart


def pair(tmp_path, original, released):
    paths = tmp_path / "o.csv", tmp_path / "r.csv"
    for table, path in zip((original, released), paths, strict=True):
        table.write_csv(path)
    return paths


def column(values, name="x"):
    return pl.DataFrame({"id": range(len(values)), "group": ["a", "b"] * (len(values) // 2), name: values})


def kinds_of(original, released, name="x", **how):
    with engines.open_store(original, released, id="id", **how) as store:
        key = next(key for key in (*store.keys, *store.left_out) if key.name == name)
        warnings = {name: words for one in store.sources for name, words in one.warnings.items()}
        return key, warnings.get(name)


def kept(original, released, **how):
    """Share of people whose record carries all their values."""
    with engines.open_store(original, released, id="id", **how) as store:
        asked = f"SELECT count(*) FROM o WHERE same = {store.whole}"  # noqa: S608
        return store.duck.row(asked)[0] / store.n_paired


# --- days -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%d.%m.%Y", "%m/%d/%y", "%Y/%m/%d"])
@pytest.mark.parametrize("time", ["", " %H:%M", " %H:%M:%S"])
def test_days_are_read_alike_where_one_file_alone_does_not_show_their_order(tmp_path, form, time):
    hours = pl.Series([dt.timedelta(hours=int(hour), minutes=7) for hour in RNG.integers(1, 23, N)])
    moments = PEOPLE["born"].cast(pl.Datetime("us")) + (hours if time else dt.timedelta())
    people = PEOPLE.with_columns(moments.dt.strftime(form + time).alias("born"))
    given = pair(tmp_path, people, people.filter(PEOPLE["born"].dt.day() <= 12))
    for tables in (given, given[::-1]):
        key, warned = kinds_of(*tables, name="born")
        assert key.kinds == (("time", "time") if time else ("day", "day"))
        assert warned is None
        assert kept(*tables) == 1.0


def test_the_order_of_days_is_told_by_a_table_with_types(tmp_path):
    early = PEOPLE.filter(EARLY)
    written = early.with_columns(pl.col("born").dt.strftime("%m/%d/%Y"))
    written.write_csv(tmp_path / "o.csv")
    key, warned = kinds_of(tmp_path / "o.csv", early, name="born")
    assert (key.kinds, warned) == (("day", "day"), None)
    assert kept(tmp_path / "o.csv", early) == 1.0
    early.write_csv(tmp_path / "r.csv")  # 2001-02-03
    assert kept(tmp_path / "o.csv", tmp_path / "r.csv") == 1.0


def test_days_that_nothing_tells_apart_are_told_as_in_memory(tmp_path):
    early = PEOPLE.filter(EARLY).with_columns(pl.col("born").dt.strftime("%m/%d/%Y"))
    given = pair(tmp_path, early, early)
    words = "column 'born': day and month cannot be told apart; day first is assumed"
    assert kinds_of(*given, name="born")[1] == words
    assert any(words in told for told in unmask.Release(*given, id="id").warnings)
    assert words in unmask.assess_large(*given, id="id", only=["uniqueness"]).document.warnings
    assert words not in unmask.assess_large(*given, id="id", ignored=["born"], only=["uniqueness"]).document.warnings
    assert kept(*given) == 1.0


def test_each_file_may_have_an_order_of_its_own_where_both_show_it(tmp_path):
    american, german = (PEOPLE.with_columns(pl.col("born").dt.strftime(form)) for form in ("%m/%d/%Y", "%d/%m/%Y"))
    assert kept(*pair(tmp_path, american, german)) == 1.0


def test_days_that_no_calendar_has_are_text_in_both(tmp_path):
    odd = PEOPLE.with_columns(pl.col("born").dt.strftime("%Y/%d/%m"))
    key, warned = kinds_of(*pair(tmp_path, odd, odd.filter(PEOPLE["born"].dt.day() <= 12)), name="born")
    assert key.kinds == ("text", "text")
    assert warned == (
        "column 'born': the release holds numbers or dates alone, another table does not: compared as text"
    )


# --- numbers and words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "-3", "+4"], "whole"),
        (["1.5", "2", "1e3", ".5"], "number"),
        (["12345678901234567890", "2", "3", "4"], "wide"),
        (["01067", "1067", "20095", "1"], "text"),  # a code
        (["0", "0.5", "00.5", "1"], "number"),
        (["true", "false", "true", "false"], "yes"),
        (["True", "false", "TRUE", "False"], "yes"),
        (["t", "f", "true", "false"], "text"),  # `t` and `true` are two words
        (["yes", "no", "yes", "no"], "text"),
        (["1:30", "2:45", "3:00", "4:15"], "text"),
        (["2020-01-31", "2020-02-01", "2020-03-01", "2020-12-31"], "day"),
        (["2020-02-30", "2020-02-01", "2020-03-01", "2020-12-31"], "text"),
        (["2020-01-31T10:00", "2020-02-01 11:00:07.5", "2020-03-01", "2020-12-31Z"[:10]], "time"),
        (["1" * 39, "2", "3", "4"], "text"),
    ],
)
@pytest.mark.parametrize("missing", [0, 2])
def test_a_column_is_what_all_its_cells_are(tmp_path, cells, kind, missing):
    table = column([*cells, *(["NA", ""] * missing)])
    key, warned = kinds_of(*pair(tmp_path, table, table))
    assert (key.kinds, warned) == ((kind, kind), None)


@pytest.mark.parametrize("turned", [1, -1])
def test_one_word_in_one_file_makes_text_of_both_and_is_told(tmp_path, turned):
    whole, word = column(["1", "2", "3", "4"]), column(["1", "2", "3", "90+"])
    key, warned = kinds_of(*pair(tmp_path, *(whole, word)[::turned]))
    assert key.kinds == ("text", "text")
    assert "compared as text" in warned
    assert ("the original" if turned == 1 else "the release") in warned


def test_a_leading_zero_in_one_file_makes_codes_of_both(tmp_path):
    padded, plain = column(["01", "1", "2", "3"]), column(["1", "1", "2", "3"])
    assert kinds_of(*pair(tmp_path, padded, plain))[0].kinds == ("text", "text")


def test_ids_are_read_alike_too(tmp_path):
    ids = [f"{k:03d}" for k in range(9)] + ["A7"]
    original = pl.DataFrame({"id": ids, "x": range(10)})
    given = pair(tmp_path, original, original.head(9))
    with engines.open_store(*given, id="id") as store:
        assert store.n_paired == 9
        assert not [words for one in store.sources for name, words in one.warnings.items() if name == "x"]
    told = unmask.assess_large(*given, id="id", only=["uniqueness"]).document.warnings
    assert not [words for words in told if "compared as text" in words]


@pytest.mark.parametrize("mark", ["", "NA"])
def test_a_mark_of_missing_is_no_id(tmp_path, mark):
    table = pl.DataFrame({"id": ["a", "b", mark, "d"], "x": range(4)})
    with pytest.raises(TableError, match="has 1 missing values in the original"):
        kinds_of(*pair(tmp_path, table, table.head(2)))


def test_long_ids_are_not_rounded(tmp_path):
    ids = [str(10**19 + k) for k in range(20)]
    table = pl.DataFrame({"id": ids, "x": range(20)})
    with engines.open_store(*pair(tmp_path, table, table), id="id") as store:
        assert store.n_paired == 20


@pytest.mark.parametrize(
    ("cells", "typed", "kinds"),
    [
        (["1", "2"], ["1", "2"], ("text", "text")),
        (["1", "2"], [1.0, 2.5], ("whole", "number")),
        (["True", "False"], [True, False], ("yes", "yes")),
        (["NA", ""], [1.0, 2.5], ("whole", "number")),
        (["2020-01-31", "2020-02-01"], [dt.date(2020, 1, 31)] * 2, ("day", "day")),
    ],
)
def test_a_text_file_beside_a_table_with_types_goes_by_these(tmp_path, cells, typed, kinds):
    column(cells * 10).write_csv(tmp_path / "o.csv")
    assert kinds_of(tmp_path / "o.csv", column(typed * 10))[0].kinds == kinds


def test_values_in_names_of_folders_are_texts_too(tmp_path):
    """A folder group=01 is a code, as a cell would be; beside numbers with a type it is a number."""
    for group in ("01", "1", "2"):
        folder = tmp_path / "o" / f"group={group}"
        folder.mkdir(parents=True)
        rows = PEOPLE.filter(pl.col("group") == {"01": "a", "1": "b", "2": "c"}[group])
        rows.drop("group").write_csv(folder / "p.csv")
    codes = PEOPLE.with_columns(pl.col("group").replace({"a": "01", "b": "1", "c": "2"}))
    codes.write_csv(tmp_path / "r.csv")
    assert kinds_of(tmp_path / "o", tmp_path / "r.csv", name="group")[0].kinds == ("text", "text")
    assert kept(tmp_path / "o", tmp_path / "r.csv") == 1.0
    (tmp_path / "o" / "group=01").rename(tmp_path / "o" / "group=3")
    numbers = codes.with_columns(pl.col("group").replace({"01": "3"}).cast(pl.Int64))
    assert kinds_of(tmp_path / "o", numbers, name="group")[0].kinds == ("whole", "whole")


def test_text_beside_numbers_with_a_type_is_refused(tmp_path):
    column(["1", "x"] * 10).write_csv(tmp_path / "o.csv")
    with pytest.raises(RoleError, match="of different kinds"):
        kinds_of(tmp_path / "o.csv", column([1, 2] * 10))


def test_parts_of_one_table_go_by_one_decision(tmp_path):
    codes = [f"{k:03d}" for k in range(20)] + [f"{k:03d}X" for k in range(20)]
    table = column(codes)
    (tmp_path / "o").mkdir()
    table[:20].write_csv(tmp_path / "o" / "p1.csv")
    table[20:].write_csv(tmp_path / "o" / "p2.csv")
    table.write_csv(tmp_path / "r.csv")
    assert kept(tmp_path / "o", tmp_path / "r.csv") == 1.0


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_any_separator(tmp_path, separator):
    table = PEOPLE.with_columns(pl.Series("x", RNG.normal(size=N)))
    table.write_csv(tmp_path / "o.csv", separator=separator)
    table.write_csv(tmp_path / "r.csv")
    assert kept(tmp_path / "o.csv", tmp_path / "r.csv") == 1.0
