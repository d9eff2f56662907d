"""Audits of mechanisms whose epsilon is known: right ones stand, broken ones are found, bad input is answered."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.disclosure.canaries import make_worlds
from unmask.errors import ParameterError, RoleError, TableError


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {"age": rng.integers(20, 80, 60), "income": rng.normal(3000, 500, 60), "sex": rng.choice(["f", "m", "x"], 60)}
    )


def test_a_right_mechanism_stands_and_the_bound_is_no_empty_one(people):
    found = unmask.audit_privacy(people, "laplace(1.5, [(age, 0, 100)])", runs=300, people=20)
    assert found.claimed == 1.5 and found.refuted is False
    assert 0.5 < found.shown < 1.5
    assert "not refuted" in found.words and "no proof" in found.words
    assert found.counted.runs == 225


@pytest.mark.parametrize(
    ("masking", "claimed"),
    [
        ("laplace(5, [(age, 0, 100)])", 1.0),  # epsilon said to be a fifth of what it is
        ("gaussian(8, 1e-5, [(age, 0, 100)])", 1.0),
        ("dp_histogram(5, [(age, 0, 100, 10), (sex, [f, m, x])])", 1.0),
        ("noise(0.5)", 2.0),
        ("rounding(10, columns=[age])", 2.0),  # the same each time: told apart always
    ],
)
def test_a_broken_claim_is_found(people, masking, claimed):
    found = unmask.audit_privacy(people, masking, epsilon=claimed, runs=150, people=20)
    assert found.refuted is True
    assert "The claim is false" in found.words


def test_noise_for_a_sensitivity_of_one_where_it_is_a_hundred_is_found(people):
    def broken(table, seed):
        noise = np.random.default_rng(seed).laplace(0, 1.0, table.height)  # bounds are 100 apart, not 1
        return table.with_columns(pl.col("age").clip(0, 100) + pl.Series(noise))

    found = unmask.audit_privacy(people.select("age"), broken, epsilon=1.0, runs=60, people=20)
    assert found.refuted is True


def test_only_the_columns_of_the_promise_are_looked_at(people):
    """Income and sex are published as they are: the promise is about age alone, and stands."""
    found = unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", runs=100, people=20)
    assert found.refuted is False
    everything = unmask.audit_privacy(
        people, "laplace(1, [(age, 0, 100)])", runs=100, people=20, columns=["age", "income"]
    )
    assert everything.refuted is True


def test_the_same_seed_gives_the_same_audit(people):
    runs = [unmask.audit_privacy(people, "pram(0.5, columns=[sex])", runs=60, people=10, seed=3) for _ in range(2)]
    assert runs[0].to_dict() == runs[1].to_dict()
    assert json.loads(json.dumps(runs[0].to_dict()))["claimed"] is None


def test_worlds_differ_in_one_row(people):
    both = make_worlds(people, ["age", "sex"], replaced=True, bounds={"age": (0.0, 100.0)})
    assert both.inside.head(60).equals(both.outside.head(60))
    assert both.inside.row(60)[0] == 0 and both.outside.row(60)[0] == 100
    assert both.inside.row(60)[1] == both.outside.row(60)[1]  # income is not claimed
    assert both.inside.row(60)[2] != both.outside.row(60)[2]
    away = make_worlds(people, ["age"], replaced=False, bounds={})
    assert away.outside.equals(people.with_columns(pl.col("age").cast(pl.Int64)))
    assert away.inside.height == 61
    assert away.inside["age"][60] < people["age"].min()  # beyond everybody, where nothing bounds it


def test_a_canary_of_ones_own(people):
    given = pl.DataFrame({"age": [30, 31]})
    near = unmask.audit_privacy(people, "laplace(30, [(age, 0, 100)])", epsilon=0.5, canary=given, runs=200, people=20)
    assert near.refuted is False  # a year apart: epsilon 0.3
    with pytest.raises(TableError, match="two rows"):
        unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", canary=given.head(1), runs=50)
    with pytest.raises(RoleError, match="town"):
        unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", canary=pl.DataFrame({"town": ["a", "b"]}), runs=50)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": 0.0}, "epsilon is out of range"),
        ({"epsilon": 7.0, "runs": 100}, "from 5,398"),
        ({"epsilon": 40.0}, "no number of runs"),
        ({"delta": 1.0}, "delta is out of range"),
        ({"neighbours": "sideways"}, "neighbours are unknown"),
        ({"people": 0}, "beside the canary"),
        ({"confidence": 1.0}, "confidence"),
        ({"runs": 5}, "so few runs"),
    ],
)
def test_says_what_is_wrong(people, options, says):
    with pytest.raises(ParameterError, match=says):
        unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", **options)


def test_the_picture_and_the_table(people):
    found = unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", runs=40, people=5)
    names = [series.name for series in found.figure.series]
    assert names == ["audit", "allowed by the claim", "blind guess"]
    allowed = found.figure.series[1]
    at = allowed.x.index(0.2)
    assert allowed.y[at] == pytest.approx(0.2 * np.e)  # e^1 times as often, at most
    assert found.to_frame().height > 3


@pytest.mark.slow
def test_right_mechanisms_are_accused_one_time_in_twenty_at_most(people):
    accused = 0
    for seed in range(60):
        found = unmask.audit_privacy(people, "laplace(1, [(age, 0, 100)])", runs=60, people=5, seed=seed)
        accused += found.refuted
    assert accused <= 0.05 * 60 + 3.1 * np.sqrt(0.05 * 0.95 * 60)
