"""Households and visits: who is published together is found together."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import FORBIDDEN, Case, Pair, case, numbers, publish, table
from unmask.datasets.gauntlet.people import days
from unmask.datasets.gauntlet.quick import found_together, publish_households


def _members(homes: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People in households of two to six, and what is published of them: noisy ages, a quarter of the rest redrawn."""
    groups = np.repeat(np.arange(homes), rng.integers(2, 7, homes))
    n = len(groups)
    x = np.column_stack([rng.integers(0, k, n) for k in (90, 2, 8, 5)]).astype(float)
    y = x.copy()
    y[:, 0] = np.clip(y[:, 0] + np.round(rng.normal(0, 6, n)), 0, 99)
    for j in (1, 2, 3):
        rows = rng.random(n) < 0.25
        y[rows, j] = rng.permutation(x[:, j])[: rows.sum()]
    return groups, x, y


COLUMNS = ["age", "sex", "relation", "status"]


def _apart(pair: Pair) -> np.ndarray:
    one, other = (frame.select(COLUMNS).to_numpy().astype(float) for frame in (pair.original, pair.released))
    years = np.abs(one[:, None, 0] - other[None, :, 0])
    return np.asarray(years / 8 + 3 * cdist(one[:, 1:], other[:, 1:], "hamming"))


@case("households")
def households(seed: int = 0) -> Case:
    """People in households of two to six; the household number is kept (renamed), answers are noisy."""
    rng = np.random.default_rng(seed)
    groups, x, y = _members(160, rng)
    pair = publish_households(table(x, 0, COLUMNS), table(y, 0, COLUMNS), groups, "home", rng)
    return pair.case(found_together(_apart(pair), pair, "home"), "match whole households, one to one", household="home")


@case("households")
def households_not_declared(seed: int = 0) -> Case:
    """The same, but nobody says that the column with other numbers in the two files is a household."""
    rng = np.random.default_rng(seed)
    groups, x, y = _members(120, rng)
    pair = publish_households(table(x, 0, COLUMNS), table(y, 0, COLUMNS), groups, "dwelling", rng)
    return pair.case(found_together(_apart(pair), pair, "dwelling"), "match whole dwellings, one to one")


@case("households")
def visits(seed: int = 0) -> Case:
    """Three to eight visits a patient under a new patient number, all dates moved by the patient's own offset."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(100), rng.integers(3, 9, 100))
    n = len(groups)
    first = rng.integers(0, 1500, 100)
    when = first[groups] + rng.integers(0, 400, n)
    moved = when + rng.integers(-700, 701, 100)[groups]
    ward = rng.integers(0, 5, n)
    frames = [pl.DataFrame({"visited": days(t), "ward": [f"ward {w}" for w in ward]}) for t in (when, moved)]
    pair = publish_households(frames[0], frames[1], groups, "patient", rng)
    values = []
    for frame in (pair.original, pair.released):
        since = (pl.col("visited") - pl.col("visited").min().over("patient")).dt.total_days()
        values.append(frame.select(since / 20, pl.col("ward").str.slice(5).cast(pl.Float64) * 100).to_numpy())
    cost = np.minimum(cdist(*values, "cityblock"), 100.0)
    return pair.case(found_together(cost, pair, "patient"), "match whole patients by days since the first visit",
                     household="patient")  # fmt: skip


@case("households")
def panel(seed: int = 0) -> Case:
    """Six yearly interviews a person under a new person number; every answer has noise of one sd."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(90), 6)
    year = np.tile(np.arange(2015, 2021), 90)
    level = rng.normal(50, 10, (90, 4))[groups]
    x = np.round(level + rng.normal(0, 5, level.shape))
    y = np.round(x + rng.normal(0, x.std(0), x.shape))
    names = ["year", "health", "stress", "sleep", "mood"]
    frames = [table(np.column_stack([year, t]), 0, names) for t in (x, y)]
    pair = publish_households(frames[0], frames[1], groups, "person", rng)
    one, other = (frame.select(names).to_numpy().astype(float) for frame in (pair.original, pair.released))
    cost = cdist(one[:, 1:], other[:, 1:], "sqeuclidean") + 1e4 * (one[:, None, 0] != other[None, :, 0])
    return pair.case(found_together(cost, pair, "person"), "add up the six interviews of a person", household="person")


@case("households")
def school_classes(seed: int = 0) -> Case:
    """Pupils in classes of 18 to 30 under new class numbers; marks have noise."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(18), rng.integers(18, 31, 18))
    x = np.clip(np.round(rng.normal(rng.normal(3, 0.4, (18, 5))[groups], 1), 1), 1, 6)
    y = np.round(x + rng.normal(0, 0.6, x.shape), 1)
    names = ["maths", "english", "history", "sport", "music"]
    pair = publish_households(table(x, 1, names), table(y, 1, names), groups, "class", rng)
    cost = cdist(*(frame.select(names).to_numpy() for frame in (pair.original, pair.released)), "sqeuclidean")
    return pair.case(
        found_together(cost, pair, "class"), "classes by their size and marks, pupils within", household="class"
    )


@case("households")
def firms(seed: int = 0) -> Case:
    """Employees under new firm numbers; wages are replaced by their rank within the firm, ages have noise."""
    rng = np.random.default_rng(seed)
    sizes = rng.permutation(np.arange(3, 33))
    groups = np.repeat(np.arange(30), sizes)
    wage = np.round(np.exp(rng.normal(8, 0.5, len(groups))), 2)
    age = rng.integers(18, 66, len(groups))
    known = pl.DataFrame({"wage": wage, "age": age})
    place = known.select(pl.col("wage").rank("ordinal").over(pl.Series("firm", groups)).alias("wage")).to_series()
    noisy = pl.Series("age", age + rng.integers(-8, 9, len(groups)))
    pair = publish_households(known, pl.DataFrame([place, noisy]), groups, "firm", rng)
    rank = pl.col("wage").rank("ordinal").over("firm").cast(pl.Float64)
    one, other = (frame.select(rank).to_numpy() for frame in (pair.original, pair.released))
    return pair.case(found_together(cdist(one, other), pair, "firm"), "firms by their size, wages by their rank within",
                     household="firm")  # fmt: skip


@case("households")
def household_heads(seed: int = 0) -> Case:
    """One row a household: members' ages stand in six columns in random order, each moved by up to three years."""
    rng = np.random.default_rng(seed)
    n = 400
    x = np.where(np.arange(6) < rng.integers(2, 7, (n, 1)), rng.integers(0, 90, (n, 6)), np.nan)
    y = rng.permuted(x + rng.integers(-3, 4, x.shape), axis=1)
    pair = publish(table(x, 0), table(y, 0), rng)
    sizes, order = [], []
    for frame in (pair.original, pair.released):
        values = np.sort(numbers(frame), axis=1)
        sizes.append(np.isnan(values).sum(1))
        order.append(np.nan_to_num(values, nan=0.0))
    cost = (sizes[0][:, None] != sizes[1][None]) * FORBIDDEN + cdist(*order, "chebyshev")
    rows = linear_sum_assignment(cost)[1]
    return pair.case(float((rows == pair.truth).mean()), "sort the ages of each household, the same size")
