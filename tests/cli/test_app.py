"""The command line as a whole: help, what is wrong with any command, and the small commands."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import unmask
from command_line import run, shell
from unmask.assessment import discover
from unmask.cli import app as cli
from unmask.datasets import gauntlet
from unmask.tables.write import write_atomically


def test_help_has_an_example_for_each_command(capsys):
    top = shell("--help").stdout
    for command in cli.app.registered_commands:  # each in a process of its own: test_help_is_light
        assert command.name in top
        assert run(command.name, "--help") == 0
        assert "Example:" in capsys.readouterr().out
    assert shell("--version").stdout.strip() == f"unmask {unmask.__version__}"


def test_the_help_shows_how_to_give_masking_and_scenario(capsys):
    assert run("assess", "--help") == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert '--masking "noise(0.5)"' in shown
    assert "[scenario]" in shown


@pytest.mark.slow
def test_demo_selfcheck(tmp_path, capsys):
    assert run("demo", "--out", tmp_path / "demo", "--n", "120") == 0
    shown = capsys.readouterr().out
    assert "report.html" in shown
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "original.csv",
        "release.csv",
        "report.html",
        "report.json",
        "records.csv",
    }
    assert run("selfcheck", "--only", "uniqueness") == 0
    assert "passed" in capsys.readouterr().out
    assert run("selfcheck", "--only", "x") == 2


@pytest.mark.slow
def test_the_demo_overwrites_no_other_files(tmp_path, capsys):
    (tmp_path / "original.csv").write_text("mine")
    assert run("demo", "--out", tmp_path, "--n", "50") == 2
    assert "other files" in capsys.readouterr().err
    assert (tmp_path / "original.csv").read_text() == "mine"
    assert run("demo", "--out", tmp_path / "original.csv", "--n", "50") == 2
    assert run("demo", "--out", tmp_path / "original.csv" / "x", "--n", "50") == 2
    assert "cannot make the folder" in capsys.readouterr().err
    assert run("demo", "--out", tmp_path / "new", "--n", "50") == 0
    assert run("demo", "--out", tmp_path / "new", "--n", "50") == 0


def test_an_error_of_ours_is_not_a_verdict(files, capsys, monkeypatch):
    def broken(*_arguments, **_options):
        raise KeyError("SECRET value")

    monkeypatch.setattr("unmask.cli.assess.run", broken)
    assert run("assess", *files) == 2
    error = capsys.readouterr().err
    assert "KeyError" in error and "SECRET" not in error


def crash(*_arguments, **_options):
    cell = "secret".upper()  # not in this line of code, which is shown
    raise KeyError(cell)


def test_debug_tells_where_and_no_value(files, capsys, monkeypatch):
    monkeypatch.setattr("unmask.cli.assess.run", crash)
    assert run("assess", *files) == 2
    assert "run again with --debug to see where" in capsys.readouterr().err
    assert run("assess", *files, "--debug") == 2
    error = capsys.readouterr().err
    assert "in crash" in error and "test_app.py" in error and "SECRET" not in error
    assert error.endswith("unmask: an error of unmask itself (KeyError)\n")
    assert run("assess", *files, "--debug", "--show-values") == 2
    assert "KeyError: 'SECRET'" in capsys.readouterr().err
    monkeypatch.setenv("UNMASK_DEBUG", "1")
    assert run("assess", *files) == 2
    assert "in crash" in capsys.readouterr().err
    monkeypatch.delenv("UNMASK_DEBUG")
    assert run("assess", *files) == 2
    assert "in crash" not in capsys.readouterr().err  # --debug lasts for one command


def test_debug_of_a_measure_goes_to_stderr_and_not_into_the_report(files, tmp_path, capsys, monkeypatch):
    entry = discover()["uniqueness"]
    monkeypatch.setattr("unmask.cli.assess.discover", lambda: {"uniqueness": replace(entry, run=crash)})
    monkeypatch.setattr("unmask.assessment.discover", lambda: {"uniqueness": replace(entry, run=crash)})
    words = ("assess", *files, "--id", "patient", "--json", tmp_path / "r.json", "--quiet")
    assert run(*words) == 3
    plain = json.loads((tmp_path / "r.json").read_text())
    assert capsys.readouterr().err == ""
    assert run(*words, "--debug") == 3
    error, debugged = capsys.readouterr().err, json.loads((tmp_path / "r.json").read_text())
    assert "in crash" in error and "SECRET" not in error
    assert "run again with --debug" in debugged["findings"][0]["reason"]
    assert debugged["digest"] == plain["digest"] and "Traceback" not in json.dumps(debugged)


def test_an_error_of_the_user_is_one_message_also_with_debug(capsys):
    assert run("link", "none.csv", "none.csv", "--debug") == 2
    error = capsys.readouterr().err
    assert "in check_file" in error
    assert "\nunmask: cannot read none.csv: no file at none.csv\n" in error


PATHS = {
    "assess": ("population", "control", "distances", "known-distances", "json", "html", "records", "fix", "config"),
    "link": ("output",),
    "mask": ("output",),
    "fix": ("output", "steps"),
    "graph": ("output", "original-distances", "released-distances"),
    "graph-sweep": ("output", "chart", "distances"),
    "verify": ("original", "released"),
    "demo": ("out", "output"),
}


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(("command", "option"), [(c, o) for c, options in PATHS.items() for o in options])
def test_an_empty_option_is_named(tmp_path, capsys, monkeypatch, command, option, joined):
    monkeypatch.chdir(tmp_path)
    assert run(command, *([f"--{option}="] if joined else [f"--{option}", ""])) == 2
    assert capsys.readouterr().err.startswith(f"unmask: --{option} is given, but empty\n  hint: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [("assess", "", "b.csv"), ("link", "a.csv", ""), ("mask", ""), ("fix", ""), ("verify", ""), ("graph", "", "b.csv")],
)
def test_an_empty_table_name_is_told(capsys, words):
    assert run(*words) == 2
    assert capsys.readouterr().err.startswith("unmask: an empty name is given\n  hint: ")


def test_short_options_and_lists_are_not_empty_either(files, capsys):
    assert run("link", *files, "-o", "") == 2
    assert "-o is given, but empty" in capsys.readouterr().err
    assert run("assess", *files, "--quasi", "") == 2  # would else be all columns
    assert "--quasi is given, but empty" in capsys.readouterr().err


def test_an_equals_sign_in_a_value_is_no_empty_option(files):
    assert run("assess", *files, "--id", "patient", "--only", "uniqueness", "--kind=children=numeric", "--quiet") in {
        0,
        1,
        3,
    }


def test_no_labels_are_a_choice(capsys):
    assert run("graph-sweep", "no such table.csv", "--labels", "") == 2
    assert "is given, but empty" not in capsys.readouterr().err


def test_an_empty_path_in_python():
    with pytest.raises(unmask.UnmaskError, match="original: no file is named"):
        unmask.Release("", "b.csv")
    with pytest.raises(unmask.UnmaskError, match="no file is named to write to"):
        write_atomically("", "text")


def test_too_little_memory_is_told_and_refused(files, capsys, monkeypatch):
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 1000)
    assert run("link", *files, "--id", "patient") == 2
    told = capsys.readouterr().err
    assert "would need about" in told and "GB to use" in told and "hint: ask fewer people" in told


def test_memory_that_ends_all_the_same(files, capsys, monkeypatch):
    def broken(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr("unmask.cli.assess.run", broken)
    assert run("assess", *files) == 2
    assert capsys.readouterr().err.startswith("unmask: the memory is not enough\n  hint: ")


def test_selfcheck_runs_the_gauntlet(capsys):
    assert run("selfcheck", "--gauntlet", "--cases", "1", "--only", "nearest") in {0, 1}
    told = capsys.readouterr().out
    assert next(iter(gauntlet.CASES)).replace("_", " ") in told and "of 1 hold" in told
    assert run("selfcheck", "--gauntlet", "--cases", "0") == 2
