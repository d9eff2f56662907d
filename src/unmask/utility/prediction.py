"""Prediction: does somebody who learns from the release predict people of the original as well?

A forest learns a column from the others, once on records of the release and once on those of the original, and both
predict the same people of the original, none of whom was in either's training. What is left of the skill is the share
of what the original teaches beyond a blind guess that the release teaches too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Floats, Rows
from unmask.errors import RoleError, check_name
from unmask.shown import Shown
from unmask.silence import many_kinds
from unmask.utility.analyses import is_number, numbers
from unmask.utility.pairs import read_pair
from unmask.utility.propensity import features_of

TREES, LEAF, FOLDS = 20, 5, 2
LEAST_SKILL = 0.05  # below it there is nothing in the original that could be left
MOST_CLASSES, PER_CLASS = 30, 8  # categories of a target, and records of each on average: fewer teach nothing


@dataclass(frozen=True, slots=True)
class Prediction(Shown):
    """How well a column is predicted: R squared of numbers, accuracy of categories, on people of the original."""

    column: str
    score: str  # "R squared" or "accuracy"
    guess: float  # a blind guess: the mean, or the commonest category
    original: float  # by a model of the original
    released: float  # by a model of the release
    left: float | None  # share of the skill beyond a blind guess that is left, 0 to 1; None: the original has none


def compare_predictions(
    original: object, released: object, targets: Iterable[str], *, paired: bool = True, seed: int = 0
) -> tuple[Prediction, ...]:
    """Learn each target from the other columns, on both tables; rows ``paired`` are in the same order in both.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(200)
    >>> one, = unmask.compare_predictions(people, people, ["wages"])
    >>> one.left
    1.0

    """
    left, right = read_pair(original, released)
    names = tuple(targets)
    shared = [name for name in left.columns if name in right.columns]
    for name in names:
        check_name(name, shared, f"no column {name!r} in both tables", RoleError)
    together = paired and left.height == right.height
    found = (_prediction(left, right, name, paired=together, seed=seed) for name in names)
    return tuple(one for one in found if one is not None)


def _prediction(left: pl.DataFrame, right: pl.DataFrame, name: str, *, paired: bool, seed: int) -> Prediction | None:
    """None where there are no other columns, or the target is the same for all, or has too many categories or gaps."""
    others = [column for column in left.columns if column != name and column in right.columns]
    numeric = is_number(left[name]) and is_number(right[name])
    target = [numbers(side[name]) if numeric else _words(side[name]) for side in (left, right)]
    there = [~np.isnan(side) if numeric else side != "" for side in target]
    counts = [np.unique(side[known]).size for side, known in zip(target, there, strict=True)]
    crowded = any(PER_CLASS * count > known.sum() for count, known in zip(counts, there, strict=True))
    if not others or counts[0] < 2 or (not numeric and (max(counts) > MOST_CLASSES or crowded)):
        return None
    features = features_of(left.select(others), right.select(others))
    sides = features[: left.height], features[left.height :]
    hits: list[tuple[float, float, float]] = []
    for train, other, test in _folds(there, paired=paired, seed=seed):
        model = [
            _learnt(sides[k][rows], target[k][rows], seed, numeric=numeric) for k, rows in ((0, train), (1, other))
        ]
        if any(one is None for one in model) or not test.size:
            return None
        blind = target[0][train].mean() if numeric else _commonest(target[0][train])
        guesses = np.full(test.size, blind), *(one.predict(sides[0][test]) for one in model)
        hits.append(tuple(_score(target[0][test], guess, numeric=numeric) for guess in guesses))  # type: ignore[arg-type]
    guess, own, made = (float(part) for part in np.mean(hits, axis=0))
    if numeric:  # R squared against the blind guess itself, which makes its own 0
        guess, own, made = 0.0, 1 - own / guess if guess else 0.0, 1 - made / guess if guess else 0.0
    return Prediction(name, "R squared" if numeric else "accuracy", guess, own, made, skill_left(guess, own, made))


def skill_left(guess: float, own: float, made: float) -> float | None:
    """Share of the skill beyond a blind guess that is left; None where there is none in the original."""
    skill = own - guess
    return None if skill < LEAST_SKILL * (1 - guess) else float(np.clip((made - guess) / skill, 0.0, 1.0))


def _folds(there: list[Any], *, paired: bool, seed: int) -> list[tuple[Rows, Rows, Rows]]:
    """Rows of the original to learn from, of the release to learn from, and of the original to predict."""
    rng = np.random.default_rng([seed, 23])
    fold = tuple(rng.permutation(np.arange(side.size) % FOLDS) for side in there)
    fold = (fold[0], fold[0] if paired else fold[1])
    return [
        (
            np.flatnonzero((fold[0] != k) & there[0]),
            np.flatnonzero((fold[1] != k) & there[1]),
            np.flatnonzero((fold[0] == k) & there[0]),
        )
        for k in range(FOLDS)
    ]


def _learnt(x: Floats, y: Any, seed: int, *, numeric: bool) -> Any:  # noqa: ANN401 - scikit-learn's forests
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415 - slow to import

    if not len(y):
        return None
    kind = RandomForestRegressor if numeric else RandomForestClassifier
    share = 1 / 3 if numeric else "sqrt"
    with many_kinds():
        return kind(TREES, min_samples_leaf=LEAF, max_features=share, random_state=seed, n_jobs=1).fit(x, y)


def _score(truth: Any, guess: Any, *, numeric: bool) -> float:  # noqa: ANN401 - numbers or words
    """Mean squared error of numbers, share of right words."""
    return float(((truth - guess) ** 2).mean()) if numeric else float((truth == guess).mean())


def _words(column: pl.Series) -> Any:  # noqa: ANN401 - an array of words; missing: ""
    return column.cast(pl.String).fill_null("").to_numpy().astype(str)


def _commonest(words: Any) -> str:  # noqa: ANN401 - an array of words
    values, counts = np.unique(words, return_counts=True)
    return str(values[counts.argmax()])
