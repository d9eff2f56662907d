"""`unmask fix`: what it writes, and what it says."""

from __future__ import annotations

import polars as pl
import pytest

from command_line import run, write
from unmask.tables.text import read_cells


@pytest.fixture
def german(tmp_path):
    """Decimal commas, points of thousands, days first, semicolons: as a German spreadsheet saves it."""
    rows = [f"{sex};{age};{age}.01.1970;1.{age}0,50;0{age}67" for sex in "fm" for age in (30, 30, 30, 20, 20)]
    lines = ["sex;age;day;cost;zip", *rows, "x;99;09.01.1970;NA;01099"]
    return write(tmp_path / "people.csv", "\n".join(lines) + "\n")


def test_cells_that_are_not_changed_are_written_as_they_were(german, tmp_path, capsys):
    out, steps = tmp_path / "fixed.csv", tmp_path / "steps.csv"
    done = run("fix", german, "--quasi", "sex,age", "--k", 2, "--only-cells", "-o", out, "--steps", steps)
    assert done == 0
    before, after = (read_cells(path, None, None) for path in (german, out))
    assert before[1] == after[1] == ";"
    kept = ["day", "zip"]
    assert after[0].select(kept).equals(before[0].select(kept))
    assert after[0]["cost"].to_list() == [*before[0]["cost"].to_list()[:-1], None]
    for name in ("sex", "age"):  # blanked, or as it was
        pairs = zip(before[0][name], after[0][name], strict=True)
        assert all(new in {None, old} for old, new in pairs)
    told = capsys.readouterr().out
    assert f"The changed table: {out}." in told and f"The list of changes: {steps}." in told


def test_a_column_that_is_coarsened_is_written_anew(tmp_path):
    table, out = tmp_path / "people.csv", tmp_path / "fixed.csv"
    pl.DataFrame({"age": range(20, 60), "cost": ["1,5"] * 40}).write_csv(table, separator=";")
    assert run("fix", table, "--quasi", "age", "--k", 5, "-o", out) == 0
    cells, separator = read_cells(out, None, None)
    assert separator == ";" and set(cells["cost"]) == {"1,5"} and cells["age"].n_unique() <= 8


def test_other_formats_hold_numbers(german, tmp_path):
    out = tmp_path / "fixed.parquet"
    assert run("fix", german, "--quasi", "sex", "--k", 2, "--only-cells", "-o", out) == 0
    assert pl.read_parquet(out)["age"].dtype.is_integer()


def test_why_more_records_lose_cells_than_stand_out_is_said(tmp_path, capsys):
    """One of six stands alone; who is to look like them loses a cell too."""
    table = write(tmp_path / "people.csv", "sex,town\nf,a\nf,a\nm,a\nf,b\nf,b\nf,b\n")
    assert run("fix", table, "--quasi", "sex,town", "--k", 2, "--only-cells") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "1 of 6 records need a change: blank 3 cells" in told
    assert "They are cells of 3 records: others lose some too, so that nobody stands out." in told


def test_a_group_that_cannot_be_had_says_nothing_of_secrets_nobody_named(tmp_path, capsys):
    table = write(tmp_path / "people.csv", "sex,town\nf,a\nm,b\n")
    assert run("fix", table, "--quasi", "sex,town", "--k", 20, "--only-cells") == 2
    told = capsys.readouterr().err
    assert "got: k=20, 2 records\n" in told and "confidential" not in told and "smaller k\n" in told
