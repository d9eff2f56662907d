"""`unmask audit`, and what `unmask mask` says of maskings that promise something."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import run

LAPLACE = "laplace(1, [(age, 0, 100)])"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [20 + k % 60 for k in range(40)], "town": ["a", "b"] * 20}).write_csv(path)
    return path


def test_a_claim_that_stands_and_one_that_is_false(people, capsys):
    out = people.with_name("audit.json"), people.with_name("audit.svg")
    few = ("--runs", 60, "--people", 10, "--quiet")
    assert run("audit", people, "--masking", LAPLACE, *few, "--json", out[0], "--chart", out[1]) == 0
    told = capsys.readouterr().out
    assert "claimed 1, shown at least" in told and "not refuted" in told
    found = json.loads(out[0].read_text())
    assert found["claimed"] == 1.0 and found["refuted"] is False and found["method"].startswith("laplace(1")
    assert out[1].read_text().startswith("<svg")
    assert run("audit", people, "--method", "laplace(9, [(age, 0, 100)])", "--epsilon", 1, *few) == 1
    assert "The claim is false" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "in one way"),
        (("--masking", LAPLACE, "--epsilon", "0"), "epsilon is out of range"),
        (("--masking", LAPLACE, "--epsilon", "7"), "from 5,398"),
        (("--masking", "laplace(1)"), "bounds is missing"),
        (("--masking", "laplace(1, [(agee, 0, 100)])", "--runs", "50"), "did you mean 'age'"),
        (("--masking", LAPLACE, "--canary", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_bad_input_is_one_clear_error(people, arguments, says, capsys):
    assert run("audit", people, *arguments) == 2
    assert says in capsys.readouterr().err


def test_mask_keeps_no_seed_and_says_what_is_promised(people, capsys):
    made = [people.with_name(name) for name in ("one.csv", "two.csv")]
    for path in made:
        assert run("mask", people, "--masking", LAPLACE, "-o", path) == 0
    told = capsys.readouterr().out
    assert "a secret seed that is kept nowhere" in told and "epsilon 1" in told
    assert "town are not covered" in told
    assert made[0].read_text() != made[1].read_text()
    assert run("mask", people, "--masking", LAPLACE, "--seed", 4, "-o", made[0]) == 0
    assert "keep it secret" in capsys.readouterr().out


def test_mask_does_not_put_private_noise_right_by_the_original(people):
    """Bounds and decimals of the original would be told without noise: negative ages stay."""
    out = people.with_name("out.csv")
    assert run("mask", people, "--masking", "laplace(0.1, [(age, 0, 100)])", "--seed", 1, "-o", out) == 0
    assert pl.read_csv(out)["age"].min() < 0
