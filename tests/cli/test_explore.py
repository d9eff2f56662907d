"""`unmask explore` on the command line: lists of maskings, JSON, the page, and what is refused."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import run
from unmask import datasets
from unmask.cli.explore import show_frontier
from unmask.protect import Frontier, Point


@pytest.fixture
def table(tmp_path):
    datasets.census(60).select("wages", "interest").write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def test_maskings_from_a_file_the_json_and_the_page(table, tmp_path, capsys):
    grid = tmp_path / "grid.toml"
    grid.write_text('maskings = ["rounding(1)"]\n[[grid]]\nmasking = "noise({})"\nstrengths = [0.001, 0.01]\n')
    out = [tmp_path / name for name in ("points.csv", "points.json", "page.html")]
    files = "-o", out[0], "--json", out[1], "--html", out[2]
    assert run("explore", table, "--grid", grid, "--method", "noise(0.002)", *files) == 1  # nothing safe
    tried = {"noise(0.002)", "rounding(1)", "noise(0.001)", "noise(0.01)"}
    assert set(pl.read_csv(out[0])["masking"]) == tried
    found = json.loads(out[1].read_text())
    assert {point["masking"] for point in found["points"]} == tried
    assert found["recommended"] is None
    assert out[2].read_text().count("<circle") == 4
    assert "noise(0.001)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("maskings = [", "cannot read the maskings"),
        ('[[grid]]\nmasking = "noise(1)"\nstrengths = [1]', "a place for its strengths"),
        ('[[grid]]\nmasking = "noise({})"', "cannot read the maskings"),
        ('maskings = ["nose(1)"]', "did you mean 'noise'"),
        ("maskings = []", "no masking to try"),
        ('maskings = ["sampling(0.5)"]', "does not keep all rows"),
        ('maskings = ["synthetic(copula)"]', "does not keep all rows"),
    ],
)
def test_wrong_lists(table, tmp_path, capsys, text, words):
    grid = tmp_path / "grid.toml"
    grid.write_text(text)
    assert run("explore", table, "--grid", grid) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_names_of_columns_are_shown_in_the_table(table, capsys):
    run("explore", table, "--method", "noise(0.001, columns=[wages])")
    assert capsys.readouterr().out.count("[wages]") == 2  # in the table, and in what to do


def test_long_maskings_are_told_in_words_and_short_ones_as_they_are_typed(capsys):
    long = "chain([drop([town, postcode]), dates(decade, columns=[born]), rank_swap(share=0.05, columns=[income])])"
    points = [
        Point(text, 1, "core", "safe", "", "nearest", 0.01, 0.0, 0.02, 0, 0.5, 0.5, None, None, 1.0)
        for text in (long, "noise(0.5)")
    ]
    show_frontier(Frontier(tuple(points), 400, "partner", 0.09))
    told = " ".join(capsys.readouterr().out.split("None of")[0].split())
    assert "what is done" in told
    assert "noise(0.5)" in told
    assert "chain(" not in told
    for words in ("postcode;", "decade", "swapped"):
        assert words in told
