"""`unmask assess` on bad input: one clear message, exit code 2, nothing written, nothing called safe."""

from __future__ import annotations

import os
import re
from pathlib import Path

import polars as pl
import pytest

from command_line import GOOD, run, write


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeed = 1", "did you mean 'seed'"),
        ('seed = "x"', "wrong type"),
        ("seed = true", "wrong type"),
        ('quasi = "a"', "not a list"),
        ("= 3", "not a readable TOML"),
        ("id = 3", "wrong type"),
        ('population = ""', "'population' in"),
        ('json = ""', "is empty"),
        ('quasi = ["a", ""]', "is empty"),
    ],
)
def test_bad_config(files, tmp_path, capsys, text, message):
    config = tmp_path / "unmask.toml"
    config.write_text(text)
    assert run("assess", *files, "--config", config) == 2
    assert message in capsys.readouterr().err


BAD = {
    "missing file": (None, [], ["no file at"]),
    "empty": (b"", [], ["is empty"]),
    "header only": ("id,age,town\n", [], ["no rows"]),
    "binary junk": (bytes(range(256)) * 9, [], ["zero bytes"]),
    "ragged": ("id,age,town\n1,2\n", [], ["line 2", "3"]),
    "duplicate columns": ("id,age,age\n1,2,3\n", [], ["same name", "'age'"]),
    "duplicate ids": (
        "id,age,town\n1,2,x\n1,3,y\n2,3,z\n",
        ["--id", "id"],
        ["'id' repeats", "rows 1 and 2 have the same"],
    ),
    "no shared column": ("a,b,c\n1,2,3\n", [], ["3 rows in the original, 1"]),
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
        ("--records", tmp_path / "r.docx"): ".csv, .tsv, .parquet",
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


def test_swapped_files_are_said(tmp_path, capsys):
    fine = write(tmp_path / "fine.csv", "age,v\n" + "\n".join(f"{30 + i % 30},{i}.5" for i in range(60)))
    coarse = write(
        tmp_path / "coarse.csv",
        "age,v\n" + "\n".join(f"{30 + 10 * (i % 30 // 10)}-{39 + 10 * (i % 30 // 10)},{i}.5" for i in range(60)),
    )
    run("assess", coarse, fine, "--only", "uniqueness")
    assert "are the two files swapped" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("only", ["probabilistic", "learned", "knowledge_curve"])
def test_odd_tables_are_never_called_safe_by_the_linkers(tmp_path, only):
    """One record, one constant attribute: whatever can be said, it is not that all is well."""
    for name, table in {"one": {"a": [1.5]}, "same": {"a": ["x"] * 6, "b": [2.0] * 6}}.items():
        path = tmp_path / f"{name}.csv"
        pl.DataFrame(table).write_csv(path)
        out = tmp_path / f"{name}.json"
        code = run("assess", path, path, "--only", only, "--json", out)
        assert code in {1, 2, 3}


def test_a_plan_refuses_what_the_real_run_refuses(tmp_path, capsys):
    good = write(tmp_path / "good.csv", GOOD)
    assert run("assess", good, good, "--id", "id", "--by", "twon", "--plan") == 2
    assert "did you mean 'town'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "unit", "hint"), [("10", "minutes", "10m"), ("1.5", "Hours", "1.5h"), ("90", "s", "90s")]
)
def test_a_time_with_a_blank_in_it_is_told_how_to_write(tmp_path, capsys, number, unit, hint):
    good = write(tmp_path / "good.csv", GOOD)
    assert run("assess", good, good, "--budget", number, unit) == 2
    assert f"hint: --budget {hint}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["bad.parquet", "bad.xlsx", "bad.json", "bad.csv.gz", "bad.arrow"])
def test_what_cannot_be_read_is_told_without_names_of_classes(tmp_path, capsys, name):
    bad, good = write(tmp_path / name, b"PAR1 of nothing"), write(tmp_path / "good.csv", GOOD)
    assert run("assess", good, bad) == 2
    told = capsys.readouterr().err
    assert name in told and not re.search(r"got: \w*(Error|Exception|File)\b", told)
