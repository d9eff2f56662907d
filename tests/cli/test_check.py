"""`unmask check` on the command line: people with many rows, and files that may be swapped."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl

import unmask
from command_line import run

VISITS = unmask.datasets.visits(60)


def written(tmp_path, original, released):
    paths = tmp_path / "original.csv", tmp_path / "released.csv"
    for path, table in zip(paths, (original, released), strict=True):
        table.write_csv(path)
    return paths


def test_people_with_many_rows_are_looked_at_as_assess_takes_them(tmp_path, capsys):
    paths = written(tmp_path, VISITS, VISITS.drop("town").reverse())
    options = ("--id", "patient", "--time", "admitted", "--place", "ward", "--ignored", "born")
    assert run("check", *paths, *options, "-o", tmp_path / "check.json") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"One person, many rows: {VISITS.height} rows of 60 people in the original" in told
    assert "60 people are in both files by the id column" in told and "synthetic" not in told
    found = json.loads((tmp_path / "check.json").read_text())
    assert found["check"]["pairing"] == "untested" and {one["name"] for one in found["columns"]} >= {"ward", "cost"}


def test_an_id_that_repeats_by_mistake_is_refused_here_too(tmp_path, capsys):
    table = pl.DataFrame({"id": [*range(100), 5], "age": np.arange(101) % 30})
    paths = written(tmp_path, table, table)
    assert run("check", *paths, "--id", "id") == 2
    assert "rows 6 and 101 have the same" in " ".join(capsys.readouterr().err.split())
    assert run("check", *paths, "--id", "id", "--many-rows") == 0
    assert run("check", *paths, "--many-rows") == 2
    assert "no --id says whose a row is" in capsys.readouterr().err


def test_files_that_seem_to_be_swapped_are_told(tmp_path, capsys):
    """Months where the release has days: the finer file is the one that nobody should get."""
    rng = np.random.default_rng(0)
    days = [dt.date(2025, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 60, 300)]
    fine = pl.DataFrame({"id": range(300), "day": days, "age": rng.integers(20, 60, 300)})
    coarse = fine.with_columns(pl.col("day").dt.truncate("1mo"), pl.col("age") // 10 * 10).head(200)
    assert run("check", *written(tmp_path, coarse, fine), "--id", "id") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "the release has more detail than the original in 'day', 'age': are the two files swapped?" in told
    assert run("check", *written(tmp_path, fine, coarse), "--id", "id") == 0
    assert "swapped" not in capsys.readouterr().out


def test_noise_and_other_words_are_no_more_detail(tmp_path, capsys):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"id": range(300), "age": rng.integers(20, 60, 300), "sex": rng.choice(["f", "m"], 300)})
    noisy = table.with_columns(pl.col("age") + rng.normal(0, 1, 300), pl.col("sex").replace({"f": "w"}))
    run("check", *written(tmp_path, table, noisy), "--id", "id")
    assert "swapped" not in capsys.readouterr().out
