"""`unmask hierarchy`, and `--hierarchy` where a command takes one."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import run, write


@pytest.fixture
def files(tmp_path):
    people = pl.DataFrame({"town": ["Berg", "Moor", "See", "Furt"] * 10, "zip": [f"75{k:03d}" for k in range(40)]})
    people.write_csv(tmp_path / "people.csv")
    write(tmp_path / "towns.csv", "Berg;north;*\nMoor;north;*\nSee;south;*\nFurt;south;*\n")
    return tmp_path


def test_suggest_edit_mask_and_understand(files, capsys):
    """The whole way: suggested postcodes, a release at a level, and an assessment that understands it."""
    people, release = files / "people.csv", files / "release.csv"
    assert run("hierarchy", people, "--column", "zip", "-o", files / "zip.csv") == 0
    told = capsys.readouterr().out
    assert "zip: 40 values, 5 levels above them." in told and "level 2: 1 group" in told
    masking = f"hierarchy('{files / 'zip.csv'}', columns=[zip], level=1)"
    towns = f"hierarchy('{files / 'towns.csv'}', columns=[town])"
    assert run("mask", people, "--masking", masking, "--masking", towns, "-o", release) == 0
    assert pl.read_csv(release)["town"].unique().sort().to_list() == ["north", "south"]
    given = ("--hierarchy", f"town={files / 'towns.csv'}", "--hierarchy", f"zip={files / 'zip.csv'}")
    report = files / "report.json"
    assert run("assess", people, release, *given, "--only", "uniqueness", "--quiet", "--json", report) in {0, 1, 3}
    document = json.loads(report.read_text())
    rules = {column["name"]: column["rule"] for column in document["columns"]}
    assert "hierarchy" in rules["town"] and "hierarchy" in rules["zip"]
    assert document["manifest"]["settings"]["hierarchies"]["town"] == str(files / "towns.csv")


def test_fix_with_a_hierarchy(files, capsys):
    out = files / "fixed.csv"
    tree = f"town={files / 'towns.csv'}"
    assert run("fix", files / "people.csv", "--quasi", "town", "--k", 15, "--hierarchy", tree, "-o", out) == 0
    assert "write town at level 1 of its hierarchy" in capsys.readouterr().out
    assert pl.read_csv(out)["town"].unique().sort().to_list() == ["north", "south"]


def test_explore_suggests_the_levels_of_a_hierarchy(files):
    found, tree = files / "found.json", files / "towns.csv"
    given = ("--hierarchy", f"town={tree}", "--glance", "--json", found)
    assert run("explore", files / "people.csv", *given) == 1  # a glance calls nothing safe
    maskings = [point["masking"] for point in json.loads(found.read_text())["points"]]
    assert [one for one in maskings if one.count("hierarchy(") == 1 and "town" in one]
    assert all(one.count("[town]") == 1 and "rare(" not in one for one in maskings)  # its own words, no others


def test_a_file_is_looked_at_and_turned_into_a_tree(files, capsys):
    tree = files / "towns.toml"
    known = ("--column", "town", "--file", files / "towns.csv")
    assert run("hierarchy", files / "people.csv", *known, "-o", tree) == 0
    assert "level 1: 2 groups" in capsys.readouterr().out
    assert '"north" = ["Berg", "Moor"]' in tree.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("hierarchy", "{}/people.csv", "--column", "twon"), "did you mean 'town'"),
        (("hierarchy", "{}/people.csv", "--column", "town"), "suggests itself"),
        (("hierarchy", "{}/people.csv", "--column", "zip", "--file", "{}/towns.csv"), "40 values of 'zip' are not"),
        (("fix", "{}/people.csv", "--quasi", "town", "--hierarchy", "town"), "--hierarchy town=towns.csv"),
        (("explore", "{}/people.csv", "--hierarchy", "town=nowhere.csv"), "nowhere.csv"),
        (("explore", "{}/people.csv", "--hierarchy", "twon={}/towns.csv"), "did you mean 'town'"),
        (("assess", "{}/people.csv", "{}/people.csv", "--hierarchy", "town=nowhere.csv"), "no file nowhere.csv"),
        (("assess", "{}/people.csv", "{}/people.csv", "--hierarchy", "twon={}/towns.csv"), "twon"),
    ],
)
def test_bad_input_is_one_clear_error(files, arguments, says, capsys):
    assert run(*(word.format(files) for word in arguments)) == 2
    assert says in capsys.readouterr().err


def test_a_file_of_options_names_hierarchies_beside_itself(files):
    config = write(files / "unmask.toml", '[hierarchies]\ntown = "towns.csv"\n')
    report = files / "report.json"
    people = files / "people.csv"
    words = ("--config", config, "--only", "uniqueness", "--quiet", "--json", report)
    assert run("assess", people, people, *words) in {0, 1, 3}
    assert json.loads(report.read_text())["manifest"]["settings"]["hierarchies"]["town"] == str(files / "towns.csv")
