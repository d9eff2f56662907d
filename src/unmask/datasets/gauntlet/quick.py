"""The releases that ``unmask selfcheck --gauntlet`` runs, a few of each family."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import (
    FORBIDDEN,
    Case,
    Pair,
    case,
    differing,
    each,
    matched,
    nearest,
    numbers,
    publish,
    rarity,
    rewritten,
    table,
)
from unmask.datasets.gauntlet.people import amounts, days, register, survey


@case("written")
def derived_columns(seed: int = 0) -> Case:
    """Birth date becomes age, postcode its first four digits, admission its month, each under another name."""
    rng = np.random.default_rng(seed)
    original = register(800, rng).select("sex", "birth date", "postcode", "admitted", "days")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            "sex",
            ((dt.date(2017, 1, 1) - pl.col("birth date")).dt.total_days() // 365).alias("age"),
            pl.col("postcode").str.slice(0, 4).alias("area"),
            pl.col("admitted").dt.strftime("%Y-%m").alias("month"),
            pl.col("days").alias("length_of_stay"),
        )

    return rewritten(original, write, rng, "derive the same columns from what is known, then an exact match")


MONEY = ["income", "rent", "savings", "debt"]


def money(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw people with four skewed amounts."""
    x = np.exp(rng.normal(10.3, 0.8, (n, 4)))
    who = pl.DataFrame({"sex": rng.choice(["m", "f"], n), "region": rng.choice(list("ABCDEFGH"), n)})
    return who.hstack(table(x, names=MONEY))


@case("written")
def brackets_with_separators(seed: int = 0) -> Case:
    """Amounts are printed as brackets with separators, such as 10,000-19,999."""
    rng = np.random.default_rng(seed)

    def bracket(value: float) -> str:
        low = int(value // 10000) * 10000
        return f"{low:,}-{low + 9999:,}"

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, name, bracket) for name in MONEY)

    return rewritten(money(800, rng), write, rng, "put what is known into the printed brackets")


@case("written")
def other_units(seed: int = 0) -> Case:
    """Inches, pounds, another currency, half of the columns on a reversed scale; a little noise."""
    rng = np.random.default_rng(seed)
    n = 800
    x = np.round(rng.normal(size=(n, 6)) * [10, 15, 8000, 12, 9, 20] + [170, 75, 30000, 50, 40, 100], 2)
    a, b = np.array([0.3937, 2.2046, 1.083, -1, -1, -1]), np.array([0, 0, 0, 100, 90, 220])
    y = x * a + b + rng.normal(size=x.shape) * 0.05 * x.std(0) * np.abs(a)
    pair = publish(table(x), table(y), rng)
    back = (numbers(pair.released) - b) / a
    return pair.case(nearest(cdist(x / x.std(0), back / x.std(0)), pair.truth), "convert the units back")


@case("written")
def unsalted_hash(seed: int = 0) -> Case:
    """Birth date and postcode are replaced by the first twelve digits of SHA-256."""
    rng = np.random.default_rng(seed)
    original = register(800, rng).select("sex", pl.col("birth date").cast(pl.String), "postcode")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        sign = lambda text: hashlib.sha256(text.encode()).hexdigest()[:12]  # noqa: E731
        return known.with_columns(each(known, "birth date", sign), each(known, "postcode", sign))

    return rewritten(original, write, rng, "hash what is known")


@case("structure")
def pattern_of_missing(seed: int = 0) -> Case:
    """Values are shuffled among those who answered; who did not answer which question stays."""
    rng = np.random.default_rng(seed)
    n, m = 800, 20
    x = np.round(rng.normal(50, 10, (n, m)), 1)
    x[rng.random((n, m)) < 0.3] = np.nan
    pair = publish(table(x), table(shuffled_where(~np.isnan(x), x, rng)), rng)
    one, other = (np.isnan(numbers(frame)) * 1.0 for frame in (pair.original, pair.released))
    return pair.case(nearest(cdist(one, other, "cityblock"), pair.truth), "compare which cells are missing")


def shuffled_where(here: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shuffle, column by column, the values of the cells that are marked."""
    y = x.copy()
    for j in range(x.shape[1]):
        rows = np.flatnonzero(here[:, j])
        y[rows, j] = x[rng.permutation(rows), j]
    return y


@case("structure")
def cents_survive(seed: int = 0) -> Case:
    """Noise of one sd in whole units: the cents stay."""
    rng = np.random.default_rng(seed)
    x = np.round(np.exp(rng.normal(6, 1, (800, 5))), 2)
    pair = publish(table(x), table(x + np.round(rng.normal(size=x.shape) * x.std(0))), rng)
    one, other = (np.round(numbers(frame) * 100) % 100 for frame in (pair.original, pair.released))
    return pair.case(nearest(differing(one, other), pair.truth), "compare the cents")


@case("structure")
def person_date_shift(seed: int = 0) -> Case:
    """Six dates a person, all moved by one offset of that person within five years."""
    rng = np.random.default_rng(seed)
    n = 800
    x = np.cumsum(np.column_stack([rng.integers(0, 3650, n), rng.exponential(60, (n, 5)).astype(int) + 1]), 1)
    y = x + rng.integers(-1825, 1826, n)[:, None]
    dates = [pl.DataFrame({f"visit{j + 1}": days(t[:, j]) for j in range(6)}) for t in (x, y)]
    pair = publish(dates[0], dates[1], rng)
    one, other = (
        np.diff(frame.drop("id").select(pl.all().cast(pl.Int32)).to_numpy()) for frame in (pair.original, pair.released)
    )
    return pair.case(nearest(cdist(one, other, "cityblock"), pair.truth), "compare the gaps between visits")


@case("noise")
def correlated_noise(seed: int = 0) -> Case:
    """Noise of two sd that is nearly the same in all columns: differences of columns are hardly touched."""
    rng = np.random.default_rng(seed)
    n, m = 500, 8
    x = rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + rng.normal(size=(n, m))
    noise = rng.normal(0, 2, (n, 1)) * np.ones(m) + rng.normal(0, 2, (n, 1)) * rng.choice([-1, 1], m)
    pair = publish(table(x, 3), table(x + noise + rng.normal(0, 0.4, (n, m)), 3), rng)
    x, y = numbers(pair.original), numbers(pair.released)
    values, axes = np.linalg.eigh(np.cov(y.T) - np.cov(x.T))
    white = axes / np.sqrt(np.maximum(values, 0.1))
    cost = cdist((x - x.mean(0)) @ white, (y - y.mean(0)) @ white, "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "Mahalanobis distance of cov(Y) - cov(X), one to one")


@case("swapping")
def pram(seed: int = 0) -> Case:
    """Each of twelve categories is redrawn with probability 0.45 (post-randomisation)."""
    rng = np.random.default_rng(seed)
    x = rng.choice(7, (500, 12), p=[0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05])
    y = np.where(rng.random(x.shape) < 0.45, rng.permuted(x, axis=0), x)
    letters = np.array(list("ABCDEFG"))
    frames = [pl.DataFrame({f"c{j:02d}": letters[t[:, j]] for j in range(12)}) for t in (x, y)]
    pair = publish(frames[0], frames[1], rng)
    return pair.case(matched(rarity(*codes(pair)), pair.truth), "equal cells by how rare they are, one to one")


def codes(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Number the values of every column, in their order, as both files use them."""
    one, other = [], []
    for c in pair.original.drop("id").columns:
        known = {v: float(k) for k, v in enumerate(sorted(set(pair.original[c]) | set(pair.released[c])))}
        one.append(each(pair.original, c, known.__getitem__).to_numpy())
        other.append(each(pair.released, c, known.__getitem__).to_numpy())
    return np.column_stack(one), np.column_stack(other)


Groups = list[np.ndarray]


def mdav(x: np.ndarray, k: int) -> Groups:
    """Group the records farthest from the mean with their nearest, then those farthest from these, in turn."""
    z = (x - x.mean(0)) / x.std(0)
    left, groups = np.arange(len(z)), []
    while len(left) >= 2 * k:
        far = left[((z[left] - z[left].mean(0)) ** 2).sum(1).argmax()]
        other = left[((z[left] - z[far]) ** 2).sum(1).argmax()]
        for seed in (far, other):
            if len(left) >= 2 * k:
                group = left[((z[left] - z[seed]) ** 2).sum(1).argsort(kind="stable")[:k]]
                groups.append(group)
                left = np.setdiff1d(left, group)
    return [*groups, left]


def means(x: np.ndarray, groups: Iterable[np.ndarray]) -> np.ndarray:
    """Replace each record by the mean of its group."""
    y = x.astype(float).copy()
    for group in groups:
        y[group] = x[group].mean(0)
    return y


@case("aggregation")
def mdav_3(seed: int = 0) -> Case:
    """Groups of three similar records (MDAV) are replaced by their mean."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        x = numbers(known)
        return table(means(x, mdav(x, 3)))

    return rewritten(table(amounts(501, 6, rng)), write, rng, "re-run the method on what is known: one in three")


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


def publish_households(
    x: pl.DataFrame, y: pl.DataFrame, groups: np.ndarray, name: str, rng: np.random.Generator
) -> Pair:
    """Both tables with the number of the group, which is another one in the release."""
    number = rng.permutation(groups.max() + 1) + 1000
    return publish(x.with_columns(pl.Series(name, groups)), y.with_columns(pl.Series(name, number[groups])), rng)


def found_together(distance: np.ndarray, pair: Pair, name: str) -> float:
    """Share of people linked to their own row by matching whole groups."""
    return float(
        (together(distance, pair.original[name].to_numpy(), pair.released[name].to_numpy()) == pair.truth).mean()
    )


@case("households")
def couples(seed: int = 0) -> Case:
    """Couples with ages in bands of ten, sex, and one of twelve jobs: alone in a crowd, together unique."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(200), 2)
    x = np.column_stack([rng.integers(18, 90, 400), np.tile([0, 1], 200), rng.integers(0, 12, 400)]).astype(float)
    names = ["age", "sex", "job"]
    pair = publish_households(table(x, 0, names), table(x // [10, 1, 1] * [10, 1, 1], 0, names), groups, "pair", rng)
    one = pair.original.select(names).to_numpy() // [10, 1, 1] * [10, 1, 1]
    cost = cdist(one, pair.released.select(names).to_numpy(), "hamming")
    return pair.case(found_together(cost, pair, "pair"), "match whole couples, one to one", household="pair")


def synthetic_case(original: pl.DataFrame, released: pl.DataFrame, found: float, words: str, **roles: Any) -> Case:  # noqa: ANN401
    """Return the case of a release whose rows belong to nobody."""
    rated = bool(roles.pop("rated", True))
    return Case(original, released, found, words, {"synthetic": True, **roles}, rated)


@case("synthetic")
def copy_called_synthetic(seed: int = 0) -> Case:
    """A shuffled copy of everybody, said to be synthetic, and no control table."""
    original = survey(800, seed)
    released = original[np.random.default_rng(seed).permutation(800)]
    found = equal(original, released)
    return synthetic_case(original, released, found, "look for equal rows")


def equal(original: pl.DataFrame, released: pl.DataFrame, columns: list[str] | None = None) -> float:
    """Share of people of whom a row of the release is an exact copy."""
    there = set(released.select(columns or original.columns).rows())
    return float(np.mean([row in there for row in original.select(columns or original.columns).rows()]))


def harmless_rows(original: pl.DataFrame, released: pl.DataFrame, words: str, **roles: Any) -> Case:  # noqa: ANN401
    """Return a release whose rows belong to nobody."""
    return Case(original, released, None, words, {"synthetic": True, **roles})


def harmless_pair(
    original: pl.DataFrame,
    masked: pl.DataFrame,
    rng: np.random.Generator,
    words: str,
    **roles: Any,  # noqa: ANN401
) -> Case:
    """Return a release with a row for everybody, which tells nothing of them."""
    pair = publish(original, masked, rng)
    return Case(pair.original, pair.released, None, words, {"id": "id", **roles})


@case("harmless")
def independent_people(seed: int = 0) -> Case:
    """Other people of the same population."""
    return harmless_rows(survey(800, seed), survey(800, seed + 7), "other people",
                  control=survey(800, seed + 1), confidential=["illness"])  # fmt: skip


@case("harmless")
def large_crowds(seed: int = 0) -> Case:
    """Sex, region and two age bands: crowds of thirty and more, an answer independent of them."""
    rng = np.random.default_rng(seed)
    n = 3000
    original = pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "region": rng.choice(list("ABCDEFGHIJ"), n),
            "age": rng.integers(18, 96, n),
            "answer": np.where(rng.random(n) < 0.3, "yes", "no"),
        }
    )
    bands = pl.when(pl.col("age") < 45).then(pl.lit("18-44")).otherwise(pl.lit("45-95")).alias("age")
    return harmless_pair(
        original, original.with_columns(bands), rng, "crowds of thirty and more", confidential=["answer"]
    )
