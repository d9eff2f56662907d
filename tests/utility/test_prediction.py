"""Learning from the release: as much as from the original, half, or nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import compare_predictions, parse_masking
from unmask.errors import RoleError
from unmask.utility.prediction import skill_left


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 400))
    word = np.where(x + 0.3 * rng.normal(size=400) > 0, "high", "low")
    return pl.DataFrame({"x": x, "z": z, "y": 2 * x + z, "word": word})


def test_the_same_table_teaches_the_same(people):
    for one in compare_predictions(people, people, ["y", "word"]):
        assert one.original == one.released > 0.8
        assert one.left == 1
    number, word = compare_predictions(people, people, ["y", "word"])
    assert (number.score, number.guess) == ("R squared", 0)
    assert word.score == "accuracy"
    assert word.guess == pytest.approx(0.5, abs=0.06)


def test_shuffled_columns_teach_nothing_and_noise_less(people):
    shuffled = parse_masking("shuffle(columns=[x, z, y, word])").apply(people, 1)
    noisy = parse_masking("noise(1)").apply(people, 1)
    for target in ("y", "word"):
        (none,), (some,) = (compare_predictions(people, other, [target]) for other in (shuffled, noisy))
        assert none.left < 0.2 < some.left < 1


def test_intervals_still_teach(people):
    (one,) = compare_predictions(people, parse_masking("recoding(0.5)").apply(people), ["word"])
    assert one.left > 0.8


def test_rows_that_are_not_paired(people):
    (one,) = compare_predictions(people, people.sample(300, seed=3), ["y"], paired=False)
    assert one.left > 0.9


def test_nothing_to_learn(people):
    noise = people.with_columns(y=pl.Series(np.random.default_rng(2).normal(size=400)))
    (one,) = compare_predictions(noise, noise, ["y"])
    assert one.left is None
    assert compare_predictions(people.select("y"), people.select("y"), ["y"]) == ()
    flat = people.with_columns(word=pl.lit("a"))
    assert compare_predictions(flat, flat, ["word"]) == ()
    many = people.with_columns(word=pl.format("w{}", pl.int_range(pl.len()) % 25)).head(100)
    assert compare_predictions(many, many, ["word"]) == ()  # four records of each category
    with pytest.raises(RoleError, match="no column 'w' in both"):
        compare_predictions(people, people, ["w"])


def test_skill_by_hand():
    assert skill_left(0.5, 0.9, 0.7) == pytest.approx(0.5)
    assert skill_left(0.5, 0.9, 0.3) == 0
    assert skill_left(0.5, 0.9, 0.95) == 1
    assert skill_left(0.5, 0.52, 0.52) is None
