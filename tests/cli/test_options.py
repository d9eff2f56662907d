"""One list of names: what is typed, what a TOML file holds, what the manifest repeats, and what `Release` takes."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import get_type_hints

import polars as pl
import pytest

import unmask
from command_line import run, write
from unmask.cli import app, options
from unmask.cli.assess import release_of
from unmask.cli.fields import check_settings, flag_of, load_toml, options_of, read_options, spec_of
from unmask.errors import ParameterError

ROLES = [entry for entry in fields(options.Assess) if spec_of(entry).role]
FORMERLY = {"paired"}  # names that Release takes for one more version


def given_by(command):
    """Parameters that typer sees of a command."""
    found = next(entry for entry in app.app.registered_commands if entry.name == command)
    return set(inspect.signature(found.callback).parameters)


def test_a_role_has_one_name():
    """In the options, in Release, in the settings of the manifest: a new role is one field."""
    parameters = set(inspect.signature(unmask.Release).parameters) - {"original", "released", "reading"} - FORMERLY
    assert {entry.name for entry in ROLES} == parameters
    people = unmask.datasets.census(20)
    known = {entry.name for entry in fields(options.Assess)} | {"reading"}
    assert set(unmask.Release(people, people).settings) <= known
    assert {entry.name for entry in fields(options.Link) if spec_of(entry).role} <= parameters


@pytest.mark.parametrize("command", app.COMMANDS)
def test_every_field_is_typed_and_told(command):
    kind, _ = app.COMMANDS[command]
    typed = {entry.name for entry in fields(kind) if spec_of(entry).typed}
    assert given_by(command) == typed
    for entry in fields(kind):
        assert spec_of(entry).words.endswith(".")
        if spec_of(entry).writes or spec_of(entry).reads:
            assert get_type_hints(kind)[entry.name] in {str, str | None, str | float | None, tuple[str, ...]}


@pytest.mark.parametrize("command", app.COMMANDS)
def test_what_commands_share_has_one_name(command):
    """Tables are read as told, files written to -o, the original comes first."""
    kind, _ = app.COMMANDS[command]
    names = [entry.name for entry in options_of(kind)]
    reads = [entry for entry in fields(kind) if spec_of(entry).reads == "table"]
    if reads and command not in {"verify", "person"}:  # which read as the report says
        assert {"separator", "encoding", "missing", "sheet"} <= set(names)
    if "output" in names:
        flags = next(spec_of(entry).flags for entry in fields(kind) if entry.name == "output")
        assert {"-o", "--output"} <= set(flags)
    if "released" in names:
        assert names.index("original") < names.index("released")
    assert "debug" in names


def test_toml_has_the_same_options(tmp_path):
    """Every option but the file itself, with its field's name, and with what is typed."""
    examples = {tuple: '["x"]', dict: '{ a = "numeric" }', str: '"x"', int: "3", float: "0.5", bool: "true"}
    for entry in fields(options.Assess):
        if entry.name == "config":
            continue
        hint = get_type_hints(options.Assess)[entry.name]
        kind = next(kind for kind in examples if kind.__name__ in str(hint))
        value = '[{ a = "x" }]' if entry.name == "recipients" else examples[kind]
        for name in {entry.name, flag_of(entry).removeprefix("--")}:
            path = write(tmp_path / "c.toml", f"{name} = {value}\n")
            assert set(load_toml(options.Assess, path)) == {entry.name}


def test_the_manifest_can_be_read_as_options(tmp_path):
    """Settings of a report, as a TOML file would hold them, describe the same release."""
    people = unmask.datasets.patients(30, seed=1)
    write(tmp_path / "a.csv", people.write_csv(separator=";"))
    words = ["--id", "patient", "--confidential", "diagnosis", "--kind", "children=numeric", "--ignore", "cost"]
    words += ["--separator", ";", "--missing", "-9,?", "--masking", "noise(0.5)", "--population", "5e4"]
    report = tmp_path / "r.json"
    words += ["--only", "uniqueness", "--quiet", "--json", report]
    assert run("assess", *[tmp_path / "a.csv"] * 2, *words) in {0, 1, 3}
    settings = json.loads(report.read_text())["manifest"]["settings"]
    kept = {name: value for name, value in settings.items() if value is not None}
    read = check_settings(options.Assess, kept, tmp_path / "settings.toml")
    again = options.Assess(**{**read, "original": str(tmp_path / "a.csv"), "released": str(tmp_path / "a.csv")})
    assert json.loads(json.dumps(release_of(again).settings)) == settings
    assert settings["reading"]["missing"][-2:] == ["-9", "?"]


def test_what_is_typed_wins_and_defaults_come_last(tmp_path):
    config = write(tmp_path / "c.toml", 'seed = 7\nk = 3\nquasi = ["a,b"]\n')
    found = read_options(options.Assess, {"config": str(config), "seed": 9, "only": None, "skip": [], "quasi": None})
    assert (found.seed, found.k, found.l, found.quasi, found.only) == (9, 3, 1, ("a,b",), ())


def test_the_same_option_under_two_names(tmp_path):
    config = write(tmp_path / "c.toml", 'ignore = ["a"]\nignored = ["b"]\n')
    with pytest.raises(ParameterError, match="'ignored' in .* is given twice"):
        load_toml(options.Assess, config)


def test_numbers_below_their_least(tmp_path, capsys):
    for words in (("mask", "a.csv", "--masking", "noise(1)", "-o", "b.csv"), ("link", "a.csv", "b.csv")):
        assert run(*words, "--seed", "-1") == 2
        assert "--seed is a number from 0" in capsys.readouterr().err
    assert run("demo", "--n", "3", "-o", tmp_path / "d") == 2
    assert "--n is a number from 20" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_population_is_a_number_or_a_file():
    assert read_options(options.Assess, {"population": "5e4"}).population == 5e4
    assert read_options(options.Assess, {"population": "5e4.csv"}).population == "5e4.csv"


def test_paths_of_a_toml_file_are_beside_it(tmp_path):
    config = write(
        tmp_path / "c.toml",
        'original = "a.csv"\njson = "-"\nhtml = "r.html"\npolicy = "strict"\n'
        'population = "p.csv"\ndistances = "d.npy"\n',
    )
    found = load_toml(options.Assess, config)
    beside = {"original": "a.csv", "html": "r.html", "population": "p.csv", "distances": "d.npy"}
    assert found == {**{name: str(tmp_path / file) for name, file in beside.items()}, "json": "-", "policy": "strict"}
    write(config, 'policy = "ours.toml"\n')
    assert load_toml(options.Assess, config) == {"policy": str(tmp_path / "ours.toml")}


def test_no_default_is_shared():
    """A dictionary that two commands share would carry settings from one to the other."""
    for kind, _ in app.COMMANDS.values():
        for entry in fields(kind):
            assert entry.default is MISSING or not isinstance(entry.default, dict | list)


@pytest.mark.parametrize("command", ["assess", "link", "mask", "fix"])
def test_files_are_read_as_told(tmp_path, command):
    """A separator and an encoding that nobody guesses, and a mark of its own for missing."""
    table = pl.DataFrame({"größe": [1.5, 2.5, -9.0, 4.0, 5.5, 6.0] * 5, "ort": ["x", "y", "z"] * 10})
    path = write(tmp_path / "t.csv", table.write_csv(separator="^").encode("latin-1"))
    out = tmp_path / "out.parquet"
    words = {
        "assess": [path, path, "--records", out, "--only", "uniqueness", "--quasi", "größe"],
        "link": [path, path, "-o", out, "--quasi", "größe", "--attack", "nearest"],
        "mask": [path, "--masking", "rounding(2, columns=[größe])", "-o", out],
        "fix": [path, "--quasi", "größe,ort", "-o", out],
    }[command]
    reading = ["--separator", "^", "--encoding", "latin-1", "--missing", "-9,-9.0"]
    assert run(command, *words, *reading) in {0, 1, 3}
    written = pl.read_parquet(out)
    assert written.height == 30
    if command == "mask":
        assert written["größe"].null_count() == 5
    assert run(command, *words, "--separator", "^", "--encoding", "utf-8") == 2


@pytest.mark.parametrize("command", ["check", "utility", "explore", "protect"])
def test_newer_commands_read_files_as_told(tmp_path, capsys, command):
    table = pl.DataFrame({"größe": [1.5, 2.5, 3.0, 4.0, 5.5, 6.0] * 5, "ort": ["x", "y", "z"] * 10})
    path = write(tmp_path / "t.csv", table.write_csv(separator="^").encode("latin-1"))
    two, out = command in {"check", "utility"}, tmp_path / "out.json"
    words = (path, path, "-o", out) if two else (path, "-o", tmp_path / "out.csv")
    if two:
        assert run(command, *words, "--separator", "^", "--encoding", "latin-1") in {0, 1, 3}
        assert "größe" in out.read_text(encoding="utf-8")
    assert run(command, *words, "--separator", "^", "--encoding", "utf-8") == 2
    assert "utf-8" in capsys.readouterr().err


def test_the_report_by_suffix(files, tmp_path, capsys):
    common = ("assess", *files, "--id", "patient", "--only", "uniqueness", "--quiet")
    assert run(*common, "-o", tmp_path / "r.html", "-o", tmp_path / "r.json") in {0, 1, 3}
    assert json.loads((tmp_path / "r.json").read_text())["schema"].startswith("unmask-report")
    assert "<html" in (tmp_path / "r.html").read_text()
    for words, message in (
        (("-o", "r.pdf"), ".html or .json"),
        (("-o", "a.json", "--json", "b.json"), "two files are given for the JSON"),
        (("-o", "a.html", "-o", "b.html"), "two files are given for the HTML"),
    ):
        assert run(*common, *words) == 2
        assert message in capsys.readouterr().err
        assert not Path(words[1]).exists()
