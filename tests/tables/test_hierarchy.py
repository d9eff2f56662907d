"""Hierarchies: formats, contradictions, containment, and releases that are understood by them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unmask
from unmask.errors import ParameterError, RoleError, TableError
from unmask.study import as_study
from unmask.tables import read_hierarchy, suggest_hierarchy

TOWNS = "Berg;north;*\nMoor;north;*\nSee;south;*\n"
ROWS = {"Berg": ("Berg", "north", "*"), "Moor": ("Moor", "north", "*"), "See": ("See", "south", "*")}


def write(path, text):
    path.write_text(text)
    return str(path)


# --- formats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [TOWNS, TOWNS.replace(";", ","), TOWNS.replace(";", "\t"), f"town;side;all\n{TOWNS}", f"\ufeff{TOWNS}"],
    ids=["ARX", "commas", "tabs", "a header", "a mark of order"],
)
def test_text_files(tmp_path, text):
    assert read_hierarchy(write(tmp_path / "towns.csv", text)).rows == ROWS


def test_trees_and_frames(tmp_path):
    tree = read_hierarchy(write(tmp_path / "t.toml", 'north = ["Berg", "Moor"]\nsouth = ["See"]\n'))
    assert tree.rows == ROWS  # two roots: one more group for all
    assert read_hierarchy({"north": ["Berg", "Moor"], "south": ["See"]}).rows == ROWS
    assert read_hierarchy({"all": {"north": ["Berg"], "south": ["See"]}}).rows["See"] == ("See", "south", "all")
    frame = pl.DataFrame({"a": ["Berg", "Moor", "See"], "b": ["north", "north", "south"], "c": ["*"] * 3})
    assert read_hierarchy(frame).rows == ROWS
    frame.write_parquet(tmp_path / "t.parquet")
    assert read_hierarchy(str(tmp_path / "t.parquet")).rows == ROWS


def test_what_is_written_is_read_again(tmp_path):
    tree = read_hierarchy({"a b": {'say "x"': ["1", "2"], "y": ["3\\4"]}, "c": {"z": ["5"]}})
    for name, text in (("t.csv", tree.to_csv()), ("t.toml", tree.to_toml())):
        assert read_hierarchy(write(tmp_path / name, text)).rows == tree.rows


def test_the_first_row_is_a_value_where_the_column_has_it(tmp_path):
    """No group occurs twice: only the column tells that the first row is no header."""
    file = write(tmp_path / "t.csv", "a;x\nb;y\n")
    assert set(read_hierarchy(file).rows) == {"b"}
    assert set(read_hierarchy(file, {"a", "b"}).rows) == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;x;*\nb;x\nc;x;*\n", "row 2 has 1 levels, the first has 2"),
        ("a;x;*\na;y;*\n", "a value of t.csv is in two groups"),
        ("a;x;p\nb;x;q\nc;y;q\n", "a group of level 1 of t.csv is in two groups"),
        ("a;x;*\nb;;*\n", "row 2, level 1"),
        ("a\nb\n", "different numbers of levels, or none"),
        ("", "no rows"),
        ("x;p;*\ny;x;*\nz;x;*\n", "one word for two groups"),
    ],
)
def test_contradictions_are_named_without_values(tmp_path, text, says):
    with pytest.raises(TableError, match=says) as error:
        read_hierarchy(write(tmp_path / "t.csv", text))
    assert "'x'" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        read_hierarchy(str(tmp_path / "nowhere.csv"))
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00a;b")
    with pytest.raises(TableError, match="not a readable"):
        read_hierarchy(str(tmp_path / "t.csv"))
    with pytest.raises(TableError, match="not a readable TOML"):
        read_hierarchy(write(tmp_path / "t.toml", "a = ["))
    with pytest.raises(TableError, match="groups of groups"):
        read_hierarchy(write(tmp_path / "u.toml", "a = 3"))


# --- containment ----------------------------------------------------------------------------------------------------

trees = st.integers(1, 4).flatmap(
    lambda depth: st.lists(
        st.lists(st.integers(0, 2), min_size=depth, max_size=depth), min_size=1, max_size=12
    )
)  # fmt: skip


def tree_of(paths):
    """A tree by paths of branches from the root: every leaf has a name of its own."""
    rows = []
    for number, path in enumerate(paths):
        groups = ["g" + ".".join(map(str, path[: k + 1])) for k in range(len(path))]
        rows.append((f"v{number}", *reversed(groups), "*"))
    return read_hierarchy(pl.DataFrame(rows, orient="row"))


@given(trees)
def test_level_0_is_identity_the_top_is_one_group_and_levels_only_merge(paths):
    tree = tree_of(paths)
    assert all(value == group for value, group in tree.at(0).items())
    assert set(tree.at(tree.levels).values()) == {"*"}
    for level in range(tree.levels):
        fine, coarse = tree.at(level), tree.at(level + 1)
        assert all(coarse[a] == coarse[b] for a in fine for b in fine if fine[a] == fine[b])


@given(trees)
def test_containment_is_a_partial_order_and_runs_of_places_say_the_same(paths):
    tree = tree_of(paths)
    words = sorted({word for row in tree.rows.values() for word in row})
    holds = {(a, b) for a in words for b in words if tree.contains(a, b)}
    assert all((a, a) in holds for a in words)
    assert all((a, c) in holds for a, b in holds for b2, c in holds if b == b2)
    assert all(a == b for a, b in holds if (b, a) in holds)
    values = list(tree.rows)
    spread = tree.spread(pl.Series(values), pl.Series(words))
    for j, word in enumerate(words):
        inside = (spread.known >= spread.low[j]) & (spread.known <= spread.high[j])
        assert inside.tolist() == [tree.contains(word, value) for value in values]


def test_levels_that_are_not_there():
    tree = read_hierarchy(ROWS_TREE)
    with pytest.raises(ParameterError, match="no such level"):
        tree.at(3)
    with pytest.raises(TableError, match="1 values of 'town' are not in the hierarchy") as error:
        tree.write(pl.Series("town", ["Berg", "Furt"]), 1)
    assert "Furt" not in str(error.value)


ROWS_TREE = {"north": ["Berg", "Moor"], "south": ["See"]}


# --- a release that is coarser --------------------------------------------------------------------------------------


@pytest.fixture
def towns():
    return pl.DataFrame({"town": ["Berg", "Moor", "See", "Berg"], "age": [30, 40, 50, 60]})


def test_by_hand(towns):
    """Four people; the release has sides for towns: each is alone by age, and Berg and Moor are both north."""
    released = pl.DataFrame({"town": ["north", "north", "south", "north"], "age": [30, 40, 50, 60]})
    release = unmask.Release(towns, released, hierarchies={"town": ROWS_TREE}, quasi=["town"])
    encoding = as_study(release).encoding(["town"])
    assert encoding.code_names == ("town",) and not encoding.foreign
    assert np.array_equal(encoding.original.codes, encoding.released.codes)
    entry = next(one for one in unmask.check(release).columns if one.name == "town")
    assert entry.own == 1.0 and "hierarchy" in entry.rule
    found = unmask.assess(release, only=["uniqueness"]).findings
    assert next(f for f in found if f.key == "uniqueness.average").estimate.value == pytest.approx(0.5)  # 1/3 x 3 + 1


def test_a_wrong_group_does_not_contain_the_value(towns):
    released = pl.DataFrame({"town": ["south", "north", "south", "north"], "age": [30, 40, 50, 60]})
    entry = unmask.check(unmask.Release(towns, released, hierarchies={"town": ROWS_TREE})).columns[0]
    assert entry.own == pytest.approx(0.75)


def test_several_levels_in_one_column(towns):
    """One Berg stays Berg, the other is north, as is Moor: who lives in Berg may be any of the three."""
    released = pl.DataFrame({"town": ["Berg", "north", "south", "north"]})
    release = unmask.Release(towns, released, hierarchies={"town": ROWS_TREE}, quasi=["town"])
    found = unmask.assess(release, only=["uniqueness"]).findings
    by_hand = (1 / 3 + 1 / 2 + 1 + 1 / 3) / 4  # Berg: Berg and two norths; Moor: two norths; See: itself
    assert next(f for f in found if f.key == "uniqueness.average").estimate.value == pytest.approx(by_hand)


def test_a_release_of_the_values_themselves_is_as_without(towns):
    both = unmask.Release(towns, towns), unmask.Release(towns, towns, hierarchies={"town": ROWS_TREE})
    plain, given_ = (as_study(release).encoding() for release in both)
    assert plain.names == given_.names and np.array_equal(plain.original.codes, given_.original.codes)


def test_bands_and_periods_are_read_as_numbers_and_dates_all_the_same():
    """A hierarchy of ages gives bands: they stay numbers, of which more can be asked than of words."""
    people = pl.DataFrame({"age": [21, 34, 38, 52], "unit": [101, 102, 201, 202]})
    ages, units = suggest_hierarchy(people["age"]), read_hierarchy({"heart": ["101", "102"], "bones": ["201", "202"]})
    released = people.with_columns(ages.write(people["age"], 1), units.write(people["unit"], 1))
    release = unmask.Release(people, released, hierarchies={"age": ages, "unit": units})
    encoding = as_study(release).encoding()
    assert encoding.numeric_names == ("age",) and encoding.code_names == ("unit",)
    assert release.kind("unit") == "categorical"
    assert [one.own for one in unmask.check(release).columns] == [1.0, 1.0]


def test_settings_name_the_files(towns, tmp_path):
    file = write(tmp_path / "towns.csv", TOWNS)
    release = unmask.Release(towns, towns, hierarchies={"town": file})
    assert release.settings["hierarchies"] == {"town": file}
    tree = unmask.Release(towns, towns, hierarchies={"town": ROWS_TREE}).settings["hierarchies"]
    assert tree == {"town": None}  # no values in a report
    with pytest.raises(TableError, match="no report keeps"):
        unmask.Release(towns, towns, hierarchies=tree)
    with pytest.raises(RoleError, match="twon"):
        unmask.Release(towns, towns, hierarchies={"twon": file})


# --- fix lists ------------------------------------------------------------------------------------------------------


def test_a_fix_list_takes_a_level():
    """Six towns of two people in two regions: at level 1 everybody is among six, and no cell is blanked."""
    tree = {"north": ["a", "b", "c"], "south": ["d", "e", "f"]}
    table = pl.DataFrame({"town": list("abcdef") * 2})
    plan = unmask.fix_list(table, quasi=["town"], k=5, hierarchies={"town": tree})
    assert plan.words == ("For groups of 5, 12 of 12 records need a change: write town at level 1 of its hierarchy.")
    assert plan.apply(table)["town"].to_list() == (["north"] * 3 + ["south"] * 3) * 2
    assert plan.steps(table).to_dicts() == [
        {"action": "coarsen", "attribute": "town", "row": None, "width": None, "level": 1}
    ]
    partly = pl.DataFrame({"town": ["north"] * 6 + list("def") * 2})  # some of it is coarse already
    again = unmask.fix_list(partly, quasi=["town"], k=5, hierarchies={"town": tree})
    assert again.apply(partly)["town"].n_unique() == 2
    with pytest.raises(RoleError, match="not known"):
        unmask.fix_list(table, quasi=["town"], k=5, hierarchies={"age": tree})
    with pytest.raises(TableError, match="not in the hierarchy"):
        unmask.fix_list(table, quasi=["town"], k=5, hierarchies={"town": {"north": ["a"], "south": ["d"]}})


# --- suggestions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "value", "row"),
    [
        (pl.Series("born", ["1994-05-17", "2001-12-01"]).str.to_date(), "1994-05-17",
         ("1994-05-17", "1994-05", "1994-Q2", "1994", "1990s", "*")),
        (pl.Series("zip", ["75001", "75116"]), "75001", ("75001", "7500*", "750**", "75***", "7****", "*****")),
        (pl.Series("age", [3, 37, 99]), "37", ("37", "35-39", "30-39", "*")),
        (pl.Series("dx", ["I21.4", "E11", "Z99.2"]), "I21.4", ("I21.4", "I21", "I00-I99", "*")),
    ],
)  # fmt: skip
def test_suggestions_by_hand(values, value, row):
    assert suggest_hierarchy(values).rows[value] == row


@given(st.lists(st.integers(-500, 5000), min_size=1, max_size=30))
def test_suggested_bands_hold_their_numbers_and_nest(values):
    tree = suggest_hierarchy(pl.Series("x", values))
    again = read_hierarchy(pl.DataFrame(list(tree.rows.values()), orient="row"))  # no contradiction
    assert again.rows == tree.rows
    for level in range(1, tree.levels):
        for word, band in tree.at(level).items():
            low, high = unmask.tables.intervals.parse_interval(band)
            assert low <= int(word) <= high


def test_no_hierarchy_suggests_itself_for_words():
    with pytest.raises(TableError, match="suggests itself"):
        suggest_hierarchy(pl.Series("town", ["Berg", "See"]))
    with pytest.raises(ParameterError, match="form"):
        suggest_hierarchy(pl.Series("town", ["Berg"]), "colours")
