"""`unmask assess` as a user meets it: what it shows and writes, its exit codes, odd but good input."""

from __future__ import annotations

import json

import polars as pl
import pytest

import unmask
from command_line import run, shell, write


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
        "--only",
        "nearest,uniqueness,inference",
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
    assert all(f": {path}\n" in shown for path in outputs)  # the files are named, each on its line
    assert pl.read_csv(outputs[2]).columns[0] == "row"
    assert run("verify", outputs[0]) == 0
    assert "the same result" in capsys.readouterr().out


def test_exit_codes(files, tmp_path, monkeypatch):
    a, _ = files
    assert run("assess", a, a, "--id", "patient", "--only", "nearest", "--quiet") == 1
    stranger = tmp_path / "s.csv"
    unmask.datasets.census(450, seed=1).with_row_index("nr").write_csv(tmp_path / "c.csv")
    unmask.datasets.census(450, seed=2).with_row_index("nr").write_csv(stranger)
    both = (tmp_path / "c.csv", stranger, "--id", "nr", "--quiet", "--only", "nearest,uniqueness")
    assert run("assess", *both) == 3  # the channel was not run
    with monkeypatch.context() as patch:  # with the attacks that safety needs in earnest: test_assessment.py
        patch.setattr("unmask.evidence.policy._core", lambda: {"paired": ("nearest", "uniqueness")})
        assert run("assess", *both) == 0
    unmask.datasets.census(6, seed=1).write_csv(tmp_path / "c6.csv")
    unmask.datasets.census(6, seed=2).write_csv(tmp_path / "s6.csv")
    assert run("assess", tmp_path / "c6.csv", tmp_path / "s6.csv", "--only", "nearest", "--quiet") == 3
    assert run("assess", a, tmp_path / "none.csv") == 2
    assert run("assess", "--nonsense") == 2
    assert run() == 2 or run() == 0  # help


def test_json_to_stdout_is_only_json(files):
    result = shell("assess", *files, "--id", "patient", "--only", "nearest,inference", "--json", "-")
    assert result.returncode == 1
    assert json.loads(result.stdout)["verdict"] == "unsafe"
    assert "Do not publish" in result.stderr


def test_quiet_says_nothing(files, capsys):
    run("assess", *files, "--id", "patient", "--quiet", "--only", "nearest,learned")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_no_progress_bars_where_there_is_no_terminal(files):
    told = shell("assess", *files, "--id", "patient", "--only", "nearest,learned").stderr
    assert told.startswith("note: the policy")  # that there are too few people, and nothing else
    assert told.count("\n") == 1
    assert "\r" not in told


def test_config_file_and_command_line_wins(files, tmp_path):
    config = tmp_path / "unmask.toml"
    config.write_text(
        'original = "a.csv"\nreleased = "b.csv"\nid = "patient"\nconfidential = ["diagnosis"]\n'
        'seed = 7\njson = "r.json"\nquiet = true\nonly = ["nearest", "uniqueness"]\n'
        '[kind]\nchildren = "numeric"\n'
    )
    assert run("assess", "--config", config) == 1
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["manifest"]["seed"] == 7
    assert {c["name"]: c["kind"] for c in data["columns"]}["children"] == "numeric"
    assert run("assess", "--config", config, "--seed", "8") == 1
    assert json.loads((tmp_path / "r.json").read_text())["manifest"]["seed"] == 8


@pytest.mark.slow
def test_odd_but_good_input(tmp_path):
    wide = ",".join(f"c{i}" for i in range(5000))
    rows = "\n".join(",".join(str((7 * i * j + j) % 11 + 0.5) for j in range(5000)) for i in range(4))
    path = write(tmp_path / "wide.csv", f"{wide}\n{rows}\n")
    assert run("assess", path, path, "--quiet", "--only", "uniqueness") in {1, 3}
    long = write(tmp_path / "long.csv", "a,b\n" + "\n".join(f"{'x' * 10_000}{i % 3},{i}.5" for i in range(30)))
    assert run("assess", long, long, "--quiet", "--only", "nearest,uniqueness") == 1
    mixed = write(tmp_path / "mixed.csv", "a,b\n1,x\nhello,y\n2020-01-01,z\n" * 20)
    assert run("assess", mixed, mixed, "--quiet", "--only", "nearest,uniqueness") in {0, 3}


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


def test_values_stay_out_of_errors_and_output_and_nothing_is_written(files, tmp_path, capsys, monkeypatch):
    """By all attacks."""
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    run("assess", *files, "--id", "patient", "--confidential", "diagnosis")
    captured = capsys.readouterr()
    assert "Findings" in captured.out
    for value in pl.read_csv(files[0])["patient"].cast(pl.String):
        assert value not in captured.out + captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_lists_in_a_configuration_are_whole_names(tmp_path):
    table = pl.DataFrame({"a,b": [1.5, 2.5, 3.5], " c": [1.5, 1.0, 2.0]})
    table.write_csv(tmp_path / "t.csv")
    (tmp_path / "c.toml").write_text(
        'original = "t.csv"\nreleased = "t.csv"\nquasi = ["a,b", " c"]\njson = "r.json"\nonly = ["nearest"]\n'
    )
    assert run("assess", "--config", tmp_path / "c.toml", "--quiet") in {1, 3}
    assert json.loads((tmp_path / "r.json").read_text())["manifest"]["settings"]["quasi"] == ["a,b", " c"]


@pytest.mark.slow
def test_wide_tables_end(tmp_path):
    rows = ([(i * 37 + j * 11 + i * j * 13) % 4099 + 0.5 for j in range(400)] for i in range(60))
    rng_rows = "\n".join(",".join(map(str, row)) for row in rows)
    path = write(tmp_path / "w.csv", ",".join(f"c{j}" for j in range(400)) + "\n" + rng_rows + "\n")
    assert run("assess", path, path, "--quiet", "--json", tmp_path / "w.json") == 1
    report = json.loads((tmp_path / "w.json").read_text())
    assert not [f["key"] for f in report["findings"] if f["outcome"] == "could not run"]
    notes = {entry["name"]: " ".join(entry["notes"]) for entry in report["measures"]}
    for name in ("learned", "knowledge_curve", "knowledge_sweep", "special_uniques"):
        assert "with 400 attributes it looks at the 60" in notes[name]


def test_a_synthetic_release(tmp_path, capsys):
    paths = [tmp_path / name for name in ("a.csv", "s.csv", "c.csv")]
    for seed, (path, size) in enumerate(zip(paths, (60, 80, 60), strict=True)):
        unmask.datasets.census(size, seed=seed).write_csv(path)
    report = tmp_path / "r.json"
    code = run("assess", *paths[:2], "--synthetic", "--control", paths[2], "--json", report)
    assert code in {0, 1, 3}
    shown = capsys.readouterr().out
    found = json.loads(report.read_text())
    idle = sum(finding["outcome"] == "does not apply" for finding in found["findings"])
    told = " ".join(shown.split())
    assert idle > 20 and f"{idle} not applicable." in told and "Did not apply: Nearest record, " in told
    assert f" {idle} of " in told and " attacks, which need rows that belong together" in told and "synthetic" in told
    assert found["manifest"]["settings"]["synthetic"] is True
    assert unmask.verify(report).same
    assert run("assess", *paths[:2]) == 2  # different lengths, and not said to be synthetic


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
