"""Households and visits: who is published together is found together."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import FORBIDDEN, Case, Pair, case, numbers, publish, table
from unmask.datasets.gauntlet.people import days


def together(distance: np.ndarray, groups: np.ndarray, published: np.ndarray) -> np.ndarray:
    """Match whole groups of one size, one to one, and the members within: the released row of every person."""
    ours, theirs = ([np.flatnonzero(of == g) for g in np.unique(of)] for of in (groups, published))
    cost = np.full((len(ours), len(theirs)), FORBIDDEN)
    for i, a in enumerate(ours):
        for j, b in enumerate(theirs):
            if len(a) == len(b):
                part = distance[np.ix_(a, b)]
                cost[i, j] = part[linear_sum_assignment(part)].sum()
    link = np.full(len(groups), -1)
    for i, j in zip(*linear_sum_assignment(cost), strict=True):
        if cost[i, j] < FORBIDDEN:
            a, b = ours[i], theirs[j]
            rows, columns = linear_sum_assignment(distance[np.ix_(a, b)])
            link[a[rows]] = b[columns]
    return link


def _publish(x: pl.DataFrame, y: pl.DataFrame, groups: np.ndarray, name: str, rng: np.random.Generator) -> Pair:
    """Both tables with the number of the group, which is another one in the release."""
    number = rng.permutation(groups.max() + 1) + 1000
    return publish(x.with_columns(pl.Series(name, groups)), y.with_columns(pl.Series(name, number[groups])), rng)


def _found(distance: np.ndarray, pair: Pair, name: str) -> float:
    """Share of people linked to their own row by matching whole groups."""
    return float(
        (together(distance, pair.original[name].to_numpy(), pair.released[name].to_numpy()) == pair.truth).mean()
    )


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
    pair = _publish(table(x, 0, COLUMNS), table(y, 0, COLUMNS), groups, "home", rng)
    return pair.case(_found(_apart(pair), pair, "home"), "match whole households, one to one", household="home")


@case("households")
def households_not_declared(seed: int = 0) -> Case:
    """The same, but nobody says that the column with other numbers in the two files is a household."""
    rng = np.random.default_rng(seed)
    groups, x, y = _members(120, rng)
    pair = _publish(table(x, 0, COLUMNS), table(y, 0, COLUMNS), groups, "dwelling", rng)
    return pair.case(_found(_apart(pair), pair, "dwelling"), "match whole dwellings, one to one")


@case("households", quick=True)
def couples(seed: int = 0) -> Case:
    """Couples with ages in bands of ten, sex, and one of twelve jobs: alone in a crowd, together unique."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(200), 2)
    x = np.column_stack([rng.integers(18, 90, 400), np.tile([0, 1], 200), rng.integers(0, 12, 400)]).astype(float)
    names = ["age", "sex", "job"]
    pair = _publish(table(x, 0, names), table(x // [10, 1, 1] * [10, 1, 1], 0, names), groups, "pair", rng)
    one = pair.original.select(names).to_numpy() // [10, 1, 1] * [10, 1, 1]
    cost = cdist(one, pair.released.select(names).to_numpy(), "hamming")
    return pair.case(_found(cost, pair, "pair"), "match whole couples, one to one", household="pair")


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
    pair = _publish(frames[0], frames[1], groups, "patient", rng)
    values = []
    for frame in (pair.original, pair.released):
        since = (pl.col("visited") - pl.col("visited").min().over("patient")).dt.total_days()
        values.append(frame.select(since / 20, pl.col("ward").str.slice(5).cast(pl.Float64) * 100).to_numpy())
    cost = np.minimum(cdist(*values, "cityblock"), 100.0)
    return pair.case(_found(cost, pair, "patient"), "match whole patients by days since the first visit",
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
    pair = _publish(frames[0], frames[1], groups, "person", rng)
    one, other = (frame.select(names).to_numpy().astype(float) for frame in (pair.original, pair.released))
    cost = cdist(one[:, 1:], other[:, 1:], "sqeuclidean") + 1e4 * (one[:, None, 0] != other[None, :, 0])
    return pair.case(_found(cost, pair, "person"), "add up the six interviews of a person", household="person")


@case("households")
def school_classes(seed: int = 0) -> Case:
    """Pupils in classes of 18 to 30 under new class numbers; marks have noise."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(18), rng.integers(18, 31, 18))
    x = np.clip(np.round(rng.normal(rng.normal(3, 0.4, (18, 5))[groups], 1), 1), 1, 6)
    y = np.round(x + rng.normal(0, 0.6, x.shape), 1)
    names = ["maths", "english", "history", "sport", "music"]
    pair = _publish(table(x, 1, names), table(y, 1, names), groups, "class", rng)
    cost = cdist(*(frame.select(names).to_numpy() for frame in (pair.original, pair.released)), "sqeuclidean")
    return pair.case(_found(cost, pair, "class"), "classes by their size and marks, pupils within", household="class")


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
    pair = _publish(known, pl.DataFrame([place, noisy]), groups, "firm", rng)
    rank = pl.col("wage").rank("ordinal").over("firm").cast(pl.Float64)
    one, other = (frame.select(rank).to_numpy() for frame in (pair.original, pair.released))
    return pair.case(_found(cdist(one, other), pair, "firm"), "firms by their size, wages by their rank within",
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
