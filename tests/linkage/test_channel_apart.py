"""Released numbers that are learnt only together: each has a test of its own before it counts as compared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.linkage.channel import apart
from unmask.linkage.channel.apart import told_apart
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.joint import Joint
from unmask.linkage.channel.material import Material
from unmask.linkage.channel.numbers import Number
from unmask.linkage.channel.trial import Trial, split
from unmask.linkage.channel.views import Through

CHANCE = ("normal", "number", "level", "heavy", "order")


def drawn(n, rng):
    """Five columns that have nothing to do with anybody."""
    return {
        "normal": rng.normal(size=n),
        "number": rng.integers(0, 10**9, n).astype(float),
        "level": rng.integers(0, 7, n).astype(float),
        "heavy": np.exp(2 * rng.normal(size=n)),
        "order": rng.permutation(n).astype(float),
    }


def trial_of(people, released, n):
    sides = [
        tuple(read_column(pl.Series(name, values)) for name, values in side.items()) for side in (people, released)
    ]
    material = Material(*sides, np.arange(n))
    return Trial(material, split(material, np.arange(n), 0))


@pytest.fixture(scope="module")
def told():
    """Three sums of three numbers with an error, beside five columns of chance; eight times."""
    found = []
    for seed in range(8):
        rng, n = np.random.default_rng(seed), 150
        x = rng.normal(size=(n, 3))
        y = x @ rng.normal(size=(3, 3)) + 0.7 * rng.normal(size=(n, 3))
        released = {f"sum {k}": y[:, k] for k in range(3)} | drawn(n, rng)
        trial = trial_of({f"x{k}": x[:, k] for k in range(3)}, released, n)
        joint = Joint(tuple((-1, k) for k in range(8)), "value", "linear", sources=(0, 1, 2))
        found.append(told_apart(trial, [joint], seed))
    return np.array([[of[k] for k in range(8)] for of in found])


def test_a_column_of_chance_gains_as_often_as_it_loses(told):
    chance = told[:, 3:].ravel()
    assert np.abs(chance).max() < 4.0 and (chance > 2).mean() <= 0.1
    assert abs(chance.mean()) < 3.0 / np.sqrt(chance.size)


def test_a_column_that_tells_something_is_seen_to(told):
    assert (told[:, :3] > 3).mean() > 0.9


def test_columns_of_one_name_and_recipes_of_one_column_are_not_asked():
    rng, n = np.random.default_rng(0), 60
    x = rng.normal(size=(n, 2))
    trial = trial_of({"a": x[:, 0], "b": x[:, 1]}, {"A": x[:, 0], "c": x[:, 1] + x[:, 0]}, n)
    joint = Joint(((0, 0), (-1, 1)), "value", "linear", sources=(0, 1))
    assert set(told_apart(trial, [joint], 0)) == {1}
    assert told_apart(trial, [], 0) == {}


def test_a_view_that_is_not_there_any_more_tells_nothing():
    """A recipe for a column that the view of the mixed release does not have is no evidence either way."""
    rng, n = np.random.default_rng(1), 200
    low, high = rng.normal(0, 1, n), rng.normal(9, 1, n)
    stray = rng.permutation(n)[:12]
    low[stray], high[stray] = high[stray], low[stray]
    trial = trial_of({"a": low, "b": high}, {"c": low, "d": high}, n)
    there = Through("order", Number(0, (0, ""), "value", "same"))
    beyond = Through("order", Number(5, (0, ""), "value", "same"))
    assert told_apart(trial, [there], 0)[0] > 3
    assert told_apart(trial, [beyond], 0) == {0: 0.0, 1: 0.0}


def compared(original, released):
    linkage = unmask.link_channel(unmask.Release(original, released, id="id"), curve=False)
    return {told.column for told in linkage.columns if told.nats > 0 and told.clear and not told.several}


@pytest.mark.slow
def test_only_what_is_learnt_counts_as_compared():
    """A sum and the error of that sum tell the person together; the error alone tells nothing, and so does chance."""
    rng, n = np.random.default_rng(3), 240
    age, error = rng.normal(50, 10, n), rng.normal(0, 40, n)
    original = pl.DataFrame({"id": np.arange(n), "age": age, "town": rng.choice(list("ABC"), n)})
    original = original.with_columns(size=pl.Series(rng.normal(170, 10, n)))
    released = original.select("id", "town", p=pl.Series(age + error), q=pl.Series(error + rng.normal(0, 1, n)))
    released = released.with_columns(**{name: pl.Series(values) for name, values in drawn(n, rng).items()})
    found = compared(original, released.sample(fraction=1, shuffle=True, seed=1))
    assert {"town", "q"} <= found
    assert not found & set(CHANCE)


def test_what_is_learnt_once_is_what_would_be_learnt_again(monkeypatch):
    """Records of people who taught nothing are mixed: learning from the others again gives the same."""
    rng, n = np.random.default_rng(1), 80
    x = rng.normal(size=(n, 2))
    y = x @ rng.normal(size=(2, 3)) + 0.5 * rng.normal(size=(n, 3))
    y[3, 1] = np.nan
    trial = trial_of({"a": x[:, 0], "b": x[:, 1]}, {f"sum {k}": y[:, k] for k in range(3)}, n)
    joint = Joint(tuple((-1, k) for k in range(3)), "rank", "single", sources=(0, 1))
    once = told_apart(trial, [joint], 0)
    assert len(once) == 3
    monkeypatch.setattr(apart, "_lessons", lambda *_: {})
    assert told_apart(trial, [joint], 0) == pytest.approx(once, abs=1e-9)
