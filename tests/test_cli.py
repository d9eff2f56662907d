"""The command line as a user meets it: in a process of its own for what a process shows, in this one for the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import unmask
from unmask import cli

PEOPLE = unmask.datasets.patients(80, seed=5)


def run(*arguments, monkeypatch=None):
    """Call the program in this process; return its exit code."""
    saved = sys.argv
    sys.argv = ["unmask", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as stop:
        return stop.code or 0
    finally:
        sys.argv = saved
    return 0


@pytest.fixture
def files(tmp_path):
    PEOPLE.write_csv(tmp_path / "a.csv")
    unmask.parse_masking("noise(0.3)").apply(PEOPLE, 1).write_csv(tmp_path / "b.csv")
    return tmp_path / "a.csv", tmp_path / "b.csv"


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "unmask", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


def test_everything_is_written(files, tmp_path, capsys):
    outputs = [tmp_path / name for name in ("r.json", "r.html", "r.csv")]
    code = run(
        "assess",
        *files,
        "--id",
        "patient",
        "--confidential",
        "diagnosis,cost",
        "--json",
        outputs[0],
        "--html",
        outputs[1],
        "--records",
        outputs[2],
    )
    assert code == 1
    assert all(path.stat().st_size > 500 for path in outputs)
    shown = capsys.readouterr().out
    assert (
        shown.index("Do not publish")
        < shown.index("Findings")
        < shown.index("most exposed")
        < shown.index("How the columns")
    )
    assert pl.read_csv(outputs[2]).columns[0] == "row"
    assert run("verify", outputs[0]) == 0
    assert "the same result" in capsys.readouterr().out


def test_exit_codes(files, tmp_path):
    a, _ = files
    assert run("assess", a, a, "--id", "patient", "--quiet") == 1
    stranger = tmp_path / "s.csv"
    unmask.datasets.census(300, seed=1).write_csv(tmp_path / "c.csv")
    unmask.datasets.census(300, seed=2).write_csv(stranger)
    assert run("assess", tmp_path / "c.csv", stranger, "--only", "nearest,uniqueness", "--quiet") == 0
    unmask.datasets.census(6, seed=1).write_csv(tmp_path / "c6.csv")
    unmask.datasets.census(6, seed=2).write_csv(tmp_path / "s6.csv")
    assert run("assess", tmp_path / "c6.csv", tmp_path / "s6.csv", "--only", "nearest", "--quiet") == 3
    assert run("assess", a, tmp_path / "none.csv") == 2
    assert run("assess", "--nonsense") == 2
    assert run() == 2 or run() == 0  # help


def test_json_to_stdout_is_only_json(files):
    result = shell("assess", *files, "--id", "patient", "--json", "-")
    assert result.returncode == 1
    assert json.loads(result.stdout)["verdict"] == "unsafe"
    assert "Do not publish" in result.stderr


def test_quiet_says_nothing(files, capsys):
    run("assess", *files, "--id", "patient", "--quiet")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_no_progress_bars_where_there_is_no_terminal(files):
    assert shell("assess", *files, "--id", "patient").stderr == ""


def test_config_file_and_command_line_wins(files, tmp_path):
    config = tmp_path / "unmask.toml"
    config.write_text(
        'original = "a.csv"\nreleased = "b.csv"\nid = "patient"\nconfidential = ["diagnosis"]\n'
        'seed = 7\njson = "r.json"\nquiet = true\n'
        '[kind]\nchildren = "numeric"\n'
    )
    assert run("assess", "--config", config) == 1
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["manifest"]["seed"] == 7
    assert {c["name"]: c["kind"] for c in data["columns"]}["children"] == "numeric"
    assert run("assess", "--config", config, "--seed", "8") == 1
    assert json.loads((tmp_path / "r.json").read_text())["manifest"]["seed"] == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeed = 1", "did you mean 'seed'"),
        ('seed = "x"', "wrong type"),
        ("seed = true", "wrong type"),
        ('quasi = "a"', "not a list"),
        ("= 3", "not a readable TOML"),
        ("id = 3", "wrong type"),
    ],
)
def test_bad_config(files, tmp_path, capsys, text, message):
    config = tmp_path / "unmask.toml"
    config.write_text(text)
    assert run("assess", *files, "--config", config) == 2
    assert message in capsys.readouterr().err


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


GOOD = "id,age,town\n1,31.5,x\n2,42.5,y\n3,53.5,z\n"

BAD = {
    "missing file": (None, [], ["no file at"]),
    "empty": (b"", [], ["is empty"]),
    "header only": ("id,age,town\n", [], ["no rows"]),
    "binary junk": (bytes(range(256)) * 9, [], ["zero bytes"]),
    "ragged": ("id,age,town\n1,2\n", [], ["line 2", "3"]),
    "duplicate columns": ("id,age,age\n1,2,3\n", [], ["same name", "'age'"]),
    "duplicate ids": ("id,age,town\n1,2,x\n1,3,y\n2,3,z\n", ["--id", "id"], ["'id' repeats", "row 1"]),
    "no shared column": ("a,b,c\n1,2,3\n", [], ["share no column"]),
    "unknown column": (GOOD, ["--quasi", "agee"], ["'agee'", "did you mean 'age'"]),
    "unknown id": (GOOD, ["--id", "idd"], ["did you mean 'id'"]),
    "unknown policy": (GOOD, ["--policy", "strikt"], ["did you mean 'strict'"]),
    "unknown attack": (GOOD, ["--only", "nearst"], ["did you mean 'nearest'"]),
    "unknown kind": (GOOD, ["--kind", "age=numerical"], ["did you mean 'numeric'"]),
    "kind without =": (GOOD, ["--kind", "age"], ["name=kind"]),
    "all missing": ("id,age,town\n1,,x\n2,,y\n3,,z\n", ["--quasi", "age"], ["'age' has no value", "quasi="]),
    "infinity": ("id,age,town\n1,31.5,x\n2,inf,y\n3,53.5,z\n", [], ["'age'", "infinity in row 2"]),
    "row counts differ": ("id,age,town\n1,31.5,x\n", [], ["3 rows in the original, 1", "id="]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_message(tmp_path, capsys, case):
    content, options, words = BAD[case]
    good = write(tmp_path / "good.csv", GOOD)
    bad = tmp_path / "bad.csv" if content is None else write(tmp_path / "bad.csv", content)
    output = tmp_path / "out.json"
    assert run("assess", good, bad, *options, "--json", output) == 2
    error = capsys.readouterr().err
    assert error.startswith("unmask: ")
    assert "Traceback" not in error
    for word in words:
        assert word in error
    assert not output.exists()


def test_a_folder_is_not_a_table(tmp_path, capsys):
    assert run("assess", write(tmp_path / "good.csv", GOOD), tmp_path) == 2
    assert "is a folder" in capsys.readouterr().err


def test_outputs_are_checked_before_the_work(files, tmp_path, capsys):
    a, b = files
    before = a.read_bytes()
    cases = {
        ("--json", a): "is also an input",
        ("--html", tmp_path / "no" / "r.html"): "no folder",
        ("--html", tmp_path): "is a folder",
        ("--records", tmp_path / "r.xlsx"): ".csv or .parquet",
    }
    for (option, target), message in cases.items():
        assert run("assess", a, b, "--id", "patient", option, target) == 2
        assert message in capsys.readouterr().err
    assert run("assess", a, b, "--id", "patient", "--json", tmp_path / "x", "--html", tmp_path / "x") == 2
    assert a.read_bytes() == before


def test_an_unwritable_folder(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "os.access", lambda path, mode: mode != os.W_OK
    )  # root may write everywhere, so root is told it may not
    assert run("assess", *files, "--id", "patient", "--json", tmp_path / "r.json") == 2
    assert "no permission" in capsys.readouterr().err


def test_odd_but_good_input(tmp_path):
    wide = ",".join(f"c{i}" for i in range(5000))
    rows = "\n".join(",".join(str((7 * i * j + j) % 11 + 0.5) for j in range(5000)) for i in range(4))
    path = write(tmp_path / "wide.csv", f"{wide}\n{rows}\n")
    assert run("assess", path, path, "--quiet", "--only", "uniqueness") in {1, 3}
    long = write(tmp_path / "long.csv", "a,b\n" + "\n".join(f"{'x' * 10_000}{i % 3},{i}.5" for i in range(30)))
    assert run("assess", long, long, "--quiet", "--only", "nearest,uniqueness") == 1
    mixed = write(tmp_path / "mixed.csv", "a,b\n1,x\nhello,y\n2020-01-01,z\n" * 20)
    assert run("assess", mixed, mixed, "--quiet", "--only", "nearest,uniqueness") in {0, 3}


def test_swapped_files_are_said(tmp_path, capsys):
    fine = write(tmp_path / "fine.csv", "age,v\n" + "\n".join(f"{30 + i % 30},{i}.5" for i in range(60)))
    coarse = write(
        tmp_path / "coarse.csv",
        "age,v\n" + "\n".join(f"{30 + 10 * (i % 30 // 10)}-{39 + 10 * (i % 30 // 10)},{i}.5" for i in range(60)),
    )
    run("assess", coarse, fine, "--only", "uniqueness")
    assert "are the two files swapped" in " ".join(capsys.readouterr().out.split())


def test_names_with_commas_and_quotes(tmp_path):
    table = pl.DataFrame({"a,b": [1.5, 2.5, 3.5], 'q"x': ["u", "v", "w"], "<script>": [1.5, 1.0, 2.0]})
    table.write_csv(tmp_path / "t.csv")
    assert run(
        "assess",
        tmp_path / "t.csv",
        tmp_path / "t.csv",
        "--quasi",
        '"a,b","q""x"',
        "--quasi",
        "<script>",
        "--quiet",
        "--only",
        "nearest",
    ) in {1, 3}


def test_help_has_an_example_for_each_command():
    top = shell("--help").stdout
    for command in cli.app.registered_commands:
        assert command.name in top
        assert "Example:" in shell(command.name, "--help").stdout
    assert shell("--version").stdout.strip() == f"unmask {unmask.__version__}"


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


def test_nothing_is_written_that_was_not_asked_for(files, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    shell("assess", *files, "--id", "patient", cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_values_stay_out_of_errors_and_output(files, capsys):
    run("assess", *files, "--id", "patient", "--confidential", "diagnosis")
    captured = capsys.readouterr()
    for value in PEOPLE["patient"]:
        assert value not in captured.out + captured.err
    assert Path(files[0]).exists()


def test_an_error_of_ours_is_not_a_verdict(files, capsys, monkeypatch):
    def broken(*_arguments, **_options):
        raise KeyError("SECRET value")

    monkeypatch.setattr("unmask.cli.run_assess", broken)
    assert run("assess", *files) == 2
    error = capsys.readouterr().err
    assert "KeyError" in error and "SECRET" not in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "-1"], "from 0"),
        (["--html", "-"], "standard output"),
        (["--policy", "loop.toml"], "extends itself"),
        (["--quasi", "town,heigth"], "did you mean 'height'"),
    ],
)
def test_more_bad_options(files, capsys, monkeypatch, options, message):
    monkeypatch.chdir(files[0].parent)
    Path("loop.toml").write_text('extends = "loop.toml"\n')
    assert run("assess", *files, "--id", "patient", *options) == 2
    assert message in capsys.readouterr().err


def test_outputs_spare_configuration_and_special_files(files, tmp_path, capsys):
    config = tmp_path / "c.toml"
    config.write_text('id = "patient"\nquasi = ["sex", "town"]\n')
    assert run("assess", *files, "--config", config, "--json", config) == 2
    assert "also an input" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe")
    assert run("assess", *files, "--config", config, "--json", tmp_path / "pipe") == 2
    assert "not a plain file" in capsys.readouterr().err


def test_lists_in_a_configuration_are_whole_names(tmp_path):
    table = pl.DataFrame({"a,b": [1.5, 2.5, 3.5], " c": [1.5, 1.0, 2.0]})
    table.write_csv(tmp_path / "t.csv")
    (tmp_path / "c.toml").write_text(
        'original = "t.csv"\nreleased = "t.csv"\nquasi = ["a,b", " c"]\njson = "r.json"\nonly = ["nearest"]\n'
    )
    assert run("assess", "--config", tmp_path / "c.toml", "--quiet") in {1, 3}
    assert json.loads((tmp_path / "r.json").read_text())["manifest"]["settings"]["quasi"] == ["a,b", " c"]


def test_the_demo_overwrites_no_other_files(tmp_path, capsys):
    (tmp_path / "original.csv").write_text("mine")
    assert run("demo", "--out", tmp_path, "--n", "50") == 2
    assert "other files" in capsys.readouterr().err
    assert (tmp_path / "original.csv").read_text() == "mine"
    assert run("demo", "--out", tmp_path / "original.csv", "--n", "50") == 2
    assert run("demo", "--out", tmp_path / "new", "--n", "50") == 0
    assert run("demo", "--out", tmp_path / "new", "--n", "50") == 0


def test_wide_tables_end(tmp_path):
    rng_rows = "\n".join(",".join(f"{(i * 37 + j * 11) % 97 + 0.5}" for j in range(400)) for i in range(60))
    path = write(tmp_path / "w.csv", ",".join(f"c{j}" for j in range(400)) + "\n" + rng_rows + "\n")
    assert run("assess", path, path, "--quiet", "--json", tmp_path / "w.json") == 1
    reasons = {f["key"]: f["reason"] for f in json.loads((tmp_path / "w.json").read_text())["findings"]}
    assert "400 attributes are too many" in reasons["learned"]
    assert "name at most 60 in quasi" in reasons["scenario"]


def test_a_synthetic_release(tmp_path, capsys):
    paths = [tmp_path / name for name in ("a.csv", "s.csv", "c.csv")]
    for seed, (path, size) in enumerate(zip(paths, (60, 80, 60), strict=True)):
        unmask.datasets.census(size, seed=seed).write_csv(path)
    report = tmp_path / "r.json"
    code = run("assess", *paths[:2], "--synthetic", "--control", paths[2], "--json", report)
    assert code in {0, 1, 3}
    shown = capsys.readouterr().out
    assert "does not apply" in shown and "synthetic" in shown
    assert json.loads(report.read_text())["manifest"]["settings"]["paired"] is False
    assert unmask.verify(report).same
    assert run("assess", *paths[:2]) == 2  # different lengths, and not said to be synthetic


def test_a_bad_weight_is_refused_before_the_work(tmp_path, capsys):
    table = pl.DataFrame({"town": ["a", "b", "a"], "zero": [0.0, 1.0, 2.0], "text": ["SECRET", "x", "y"]})
    table.write_csv(tmp_path / "a.csv")
    for weight in ("zero", "text"):
        assert run("assess", tmp_path / "a.csv", tmp_path / "a.csv", "--quasi", "town", "--weight", weight) == 2
        told = capsys.readouterr().err
        assert f"sampling weight {weight!r} must be a positive number" in told
        assert "SECRET" not in told
    fix = ["--fix", tmp_path / "f.csv", "--k", "0", "--only", "uniqueness", "--quiet"]
    assert run("assess", tmp_path / "a.csv", tmp_path / "a.csv", "--quasi", "town", *fix) == 2
    assert "k=0" in capsys.readouterr().err


def test_the_masking_is_told_on_the_command_line(files, tmp_path, capsys):
    given = ("assess", *files, "--id", "patient", "--confidential", "diagnosis,cost", "--only", "transparent")
    assert run(*given, "--masking", "noise(0.3)", "--json", tmp_path / "r.json") == 1
    found = json.loads((tmp_path / "r.json").read_text())
    assert "transparent.rate" in {finding["key"] for finding in found["findings"]}
    assert run(*given, "--masking", "noize(0.3)") == 2
    assert "did you mean" in capsys.readouterr().err


def test_a_scenario_in_the_configuration(files, tmp_path, capsys):
    config = tmp_path / "unmask.toml"
    config.write_text(
        f"""original = "{files[0]}"
released = "{files[1]}"
id = "patient"
confidential = ["diagnosis", "cost"]
only = ["nearest"]
masking = "noise(0.3)"

[scenario]
people = 20
"""
    )
    assert run("assess", "--config", config, "--json", tmp_path / "r.json") in {0, 1, 3}
    text = (tmp_path / "r.json").read_text()
    assert "the intruder knows 20 people" in text
    rates = [finding for finding in json.loads(text)["findings"] if finding["key"] == "nearest.rate"]
    assert rates[0]["estimate"]["n"] == 20
    config.write_text(config.read_text().replace("people = 20", "person = 20"))
    assert run("assess", "--config", config) == 2
    assert "did you mean 'people'" in capsys.readouterr().err


def test_the_help_shows_how_to_give_masking_and_scenario(capsys):
    assert run("assess", "--help") == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert '--masking "noise(0.5)"' in shown
    assert "[scenario]" in shown


@pytest.mark.parametrize("only", ["probabilistic", "learned", "scenario"])
def test_odd_tables_are_never_called_safe_by_the_linkers(tmp_path, only):
    """One record, one constant attribute: whatever can be said, it is not that all is well."""
    for name, table in {"one": {"a": [1.5]}, "same": {"a": ["x"] * 6, "b": [2.0] * 6}}.items():
        path = tmp_path / f"{name}.csv"
        pl.DataFrame(table).write_csv(path)
        out = tmp_path / f"{name}.json"
        code = run("assess", path, path, "--only", only, "--json", out)
        assert code in {1, 2, 3}
