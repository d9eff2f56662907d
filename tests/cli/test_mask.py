"""`unmask mask`: reads, masks, writes, and says clearly why when it cannot."""

from __future__ import annotations

import polars as pl
import pytest
import xlsxwriter
from typer.testing import CliRunner

from unmask.cli.app import app
from unmask.errors import UnmaskError
from unmask.masking import parse_masking
from unmask.tables.read import read_table


@pytest.fixture
def census(tmp_path):
    table = pl.DataFrame(
        {"age": [30, 41, 52, 63] * 10, "pay": [float(i * i) for i in range(40)], "town": ["A", "B"] * 20}
    )
    table.write_csv(tmp_path / "census.csv")
    return tmp_path / "census.csv", table


def run(*arguments):
    return CliRunner().invoke(app, ["mask", *map(str, arguments)], catch_exceptions=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_masks_and_reverse_maps(census, suffix):
    path, table = census
    out = path.with_name(f"release{suffix}")
    result = run(path, "--method", "noise(0.5)", "--reverse-map", "--seed", 3, "-o", out)
    assert result.exit_code == 0, result.output
    release = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    assert release.equals(parse_masking("reverse_map(noise(0.5))").apply(table, 3))
    assert release["pay"].sort().equals(table["pay"].sort())
    assert (out.stat().st_mode & 0o777) == 0o600
    assert "reverse_map(noise(0.5)), seed 3: 40 rows" in result.output


def test_several_methods_apply_in_turn(census):
    path, table = census
    out = path.with_name("release.parquet")
    assert run(path, "--method", "noise(0.5)", "--method", "pram(0.5)", "--raw", "-o", out).exit_code == 0
    assert pl.read_parquet(out).equals(parse_masking("chain([noise(0.5), pram(0.5)])").apply(table, 0))


@pytest.mark.parametrize(
    ("method", "out", "says"),
    [
        ("nois(1)", "r.csv", "did you mean 'noise'"),
        ("noise(1)", "r.docx", ".csv, .tsv, .parquet"),
        ("noise(1)", "census.csv", "is also an input"),
        ("noise(1)", "nowhere/r.csv", "no folder"),
        ("noise(1, columns=[agee])", "r.csv", "did you mean 'age'"),
    ],
)
def test_clear_refusals(census, method, out, says):
    path, _ = census
    result = run(path, "--method", method, "-o", path.parent / out)
    assert isinstance(result.exception, UnmaskError)
    assert says in str(result.exception)
    assert not (path.parent / "r.csv").exists()


def test_a_sheet_of_a_workbook_becomes_an_archive(census):
    path, table = census
    book, out = path.with_suffix(".xlsx"), path.with_name("release.jsonl.gz")
    with xlsxwriter.Workbook(book) as workbook:
        table.with_columns(pl.col("pay") + 0.5).write_excel(workbook, worksheet="people")
        workbook.add_worksheet("notes")
    result = run(book, "--masking", "noise(0.5)", "--raw", "--sheet", "people", "-o", out)
    assert result.exit_code == 0, result.output
    assert read_table(out).equals(parse_masking("noise(0.5)").apply(table.with_columns(pl.col("pay") + 0.5), 0))
    result = run(book, "--masking", "noise(0.5)", "-o", out)
    assert result.exit_code and "'people', 'notes'" in str(result.exception)


def test_bounds_and_decimals_stay_unless_raw(census):
    path, table = census
    out = path.with_name("release.parquet")
    assert run(path, "--method", "noise(1)", "-o", out).exit_code == 0
    kept = pl.read_parquet(out)
    assert kept["pay"].min() >= 0
    assert kept["pay"].equals(kept["pay"].round(0))
    assert parse_masking("noise(1)").apply(table, 0)["pay"].min() < 0


def test_columns_that_still_name_people_are_told(tmp_path):
    people = pl.DataFrame({"name": [f"person {k}" for k in range(30)], "age": range(30)})
    people.write_csv(tmp_path / "people.csv")
    told = run(tmp_path / "people.csv", "--method", "noise(0.5)", "-o", tmp_path / "release.csv").output
    assert "note: name still names people" in told
    assert "drop([name])" in told
    dropped = run(tmp_path / "people.csv", "--method", "drop([name])", "-o", tmp_path / "release.csv").output
    assert "note:" not in dropped


def test_sums_that_are_lost_are_told(tmp_path):
    table = pl.DataFrame({"base": [100 + 7 * k % 50 for k in range(60)], "bonus": [k % 11 for k in range(60)]})
    table.with_columns(total=pl.col("base") + pl.col("bonus")).write_csv(tmp_path / "pay.csv")
    told = run(tmp_path / "pay.csv", "--masking", "noise(0.5)", "-o", tmp_path / "release.csv").output
    assert "note: total = base + bonus holds in the original and no longer" in " ".join(told.split())
    kept = "consistent(noise(0.5), relations=['total = base + bonus'])"
    assert "note:" not in run(tmp_path / "pay.csv", "--masking", kept, "-o", tmp_path / "release.csv").output
