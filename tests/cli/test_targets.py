"""Every file that a command touches is checked before the work begins."""

from __future__ import annotations

import os
from dataclasses import fields

import pytest

from command_line import GOOD, run, write
from unmask.cli.app import COMMANDS
from unmask.cli.fields import spec_of

GIVEN = {  # what else a command needs
    "assess": ("{a}", "{b}"),
    "link": ("{a}", "{b}"),
    "graph": ("{a}", "{b}", "--labels", "town", "--tolerance", "1", "--original-lonlat", "id,age", "--released-lonlat",
              "id,age"),
    "graph-sweep": ("{a}", "--labels", "town", "--lonlat", "id,age"),
    "network": ("{a}", "{b}"),
    "mask-network": ("{a}", "-o", "{out}"),
    "mask": ("{a}", "--masking", "noise(1)"),
    "fix": ("{a}", "--quasi", "town"),
    "check": ("{a}", "{b}"),
    "utility": ("{a}", "{b}"),
    "explore": ("{a}", "--masking", "noise(1)"),
    "protect": ("{a}", "-o", "{out}"),
}  # fmt: skip


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Two tables; whoever reads one has begun to work."""
    found = {name: write(tmp_path / f"{name}.csv", GOOD) for name in "ab"} | {"out": tmp_path / "out.csv"}
    monkeypatch.setattr("unmask.tables.read.read_text", lambda *_: pytest.fail("a table was read"))
    return found


def words_of(command, tables):
    return [word.format(**tables) for word in GIVEN[command]]


SUFFIX = {"table": ".csv"}
OUTPUTS = [
    (command, entry.name, spec_of(entry))
    for command in GIVEN
    for entry in fields(COMMANDS[command][0])
    if spec_of(entry).writes
]


@pytest.mark.parametrize(("command", "name", "spec"), OUTPUTS)
def test_an_output_that_must_not_be_written(tables, tmp_path, capsys, command, name, spec):
    suffix, before = SUFFIX.get(spec.writes[0], spec.writes[0]), tables["a"].read_bytes()
    os.link(tables["a"], tmp_path / f"link{suffix or '.csv'}")  # another name of an input
    for target, message in (
        (tables["a"], "is also an input"),
        (tmp_path / f"link{suffix or '.csv'}", "is also an input"),
        (tmp_path / "no" / f"x{suffix}", "no folder"),
        (tmp_path / "x.docx", "cannot write to x.docx") if suffix else (tmp_path, "is a folder"),
    ):
        assert run(command, *words_of(command, tables), f"--{name.replace('_', '-')}", target) == 2
        assert message in capsys.readouterr().err
    assert tables["a"].read_bytes() == before


@pytest.mark.parametrize("command", [name for name in GIVEN if sum(c == name for c, *_ in OUTPUTS) > 1])
def test_two_outputs_in_one_file(tables, tmp_path, capsys, command):
    names = [(name, SUFFIX.get(spec.writes[0], spec.writes[0])) for c, name, spec in OUTPUTS if c == command]
    pair = next(((a, b) for (a, s) in names for (b, t) in names if a < b and s == t), None)
    if pair is None:
        return
    target = tmp_path / "x.csv"
    assert run(command, *words_of(command, tables), *(w for name in pair for w in (f"--{name}", target))) == 2
    assert "two outputs go to" in capsys.readouterr().err
    assert not target.exists()


INPUTS = [
    (command, entry.name, spec_of(entry).place)
    for command in GIVEN
    for entry in fields(COMMANDS[command][0])
    if spec_of(entry).reads
]


@pytest.mark.parametrize(("command", "name", "place"), INPUTS)
def test_an_input_that_is_not_there(tables, tmp_path, capsys, command, name, place):
    """The last file is looked for before the first is read."""
    suffix = {"policy": ".toml", "config": ".toml"}.get(name, ".npy" if "distances" in name else ".csv")
    missing, words = tmp_path / f"none{suffix}", words_of(command, tables)
    if place:
        words[0 if name in {"original", "table"} else 1] = str(missing)
    else:
        flag = f"--{name.replace('_', '-')}"
        instead = flag.replace("distances", "lonlat")  # a matrix stands for coordinates
        if instead in words:
            words[words.index(instead) : words.index(instead) + 2] = []
        if name == "plan":  # one of both is named
            words[words.index("--masking") :] = []
        words += [flag, str(missing)]
    assert run(command, *words, *(("-o", tmp_path / "o.csv") if command == "mask" else ())) == 2
    told = capsys.readouterr().err
    assert f"no file at {missing}" in told or f"no configuration file at {missing}" in told


def test_a_file_that_may_not_be_read(tables, capsys, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: not (mode == os.R_OK and str(path).endswith("b.csv")))
    assert run("link", tables["a"], tables["b"]) == 2  # root may read everything, so root is told it may not
    assert "b.csv: no permission" in capsys.readouterr().err


def test_options_are_checked_before_tables_are_read(tables, tmp_path, capsys):
    write(tmp_path / "p.toml", "= 1")
    for words, message in (
        (("--only", "nearst"), "did you mean 'nearest'"),
        (("--masking", "noize(1)"), "did you mean 'noise'"),
        (("--policy", tmp_path / "p.toml"), "not a readable TOML"),
        (("--policy", "strikt"), "did you mean 'strict'"),
    ):
        assert run("assess", tables["a"], tables["b"], *words) == 2
        assert message in capsys.readouterr().err


def test_a_report_that_is_not_there(capsys, tmp_path):
    assert run("verify", tmp_path / "none.json") == 2
    assert "no file at" in capsys.readouterr().err
