"""Noise: values are moved at random, by laws that the intruder reads off the two files or guesses."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import FORBIDDEN, Case, case, gaps, matched, numbers, publish, table
from unmask.datasets.gauntlet.people import amounts, days, register


@case("noise")
def unequal_noise(seed: int = 0) -> Case:
    """61 columns: noise of 8 sd on 53 of them, 0.35 sd on eight."""
    rng = np.random.default_rng(seed)
    n, m = 500, 61
    x, s = rng.normal(size=(n, m)), np.full(m, 8.0)
    s[rng.choice(m, 8, replace=False)] = 0.35
    pair = publish(table(x, 6), table(x + rng.normal(size=x.shape) * s, 6), rng)
    x, y = numbers(pair.original), numbers(pair.released)
    v = np.sqrt(np.maximum(y.var(0) - x.var(0), 0.01))
    cost = cdist(x / v, y / v, "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "weigh each column by var(Y) - var(X), one to one")


@case("noise")
def likert_noise(seed: int = 0) -> Case:
    """30 answers from 1 to 7, each moved by up to two steps: ordered codes, not categories."""
    rng = np.random.default_rng(seed)
    x = np.clip(np.round(rng.normal(4, 1.6, (800, 30))), 1, 7)
    y = np.clip(x + rng.choice([-2, -1, 0, 1, 2], x.shape), 1, 7)
    pair = publish(table(x, 0), table(y, 0), rng)
    cost = cdist(x, numbers(pair.released), "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "treat the answers as numbers, one to one")


@case("noise")
def log_noise(seed: int = 0) -> Case:
    """Skewed amounts times exp(noise) of one sd of the logarithm."""
    rng = np.random.default_rng(seed)
    n = 800
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 8)) * 0.5 + rng.normal(size=(n, 8))
    y = x + rng.normal(size=x.shape)
    pair = publish(table(np.exp(8 + 1.5 * x)), table(np.exp(8 + 1.5 * y)), rng)
    cost = cdist(np.log(numbers(pair.original)), np.log(numbers(pair.released)), "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "compare logarithms, one to one")


@case("noise")
def multiplicative_noise(seed: int = 0) -> Case:
    """Every amount is multiplied by a factor of its own between 0.6 and 1.4."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 6, rng)
    pair = publish(table(x), table(x * rng.uniform(0.6, 1.4, x.shape)), rng)
    ratio = numbers(pair.released)[None] / numbers(pair.original)[:, None]
    outside = ((ratio < 0.599) | (ratio > 1.401)).sum(2)
    cost = outside * FORBIDDEN + (np.log(ratio) ** 2).sum(2)
    return pair.case(matched(cost, pair.truth), "only factors between 0.6 and 1.4, one to one")


@case("noise")
def ring_noise(seed: int = 0) -> Case:
    """Every amount is 30 to 50 % above or below the true one, never nearer: the true record is not the nearest."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 5, rng)
    factor = 1 + rng.choice([-1, 1], x.shape) * rng.uniform(0.3, 0.5, x.shape)
    pair = publish(table(x), table(x * factor), rng)
    away = np.abs(numbers(pair.released)[None] / numbers(pair.original)[:, None] - 1)
    outside = ((away < 0.2999) | (away > 0.5001)).sum(2).astype(float)
    return pair.case(matched(outside, pair.truth), "only records 30 to 50 % away in every column, one to one")


@case("noise")
def heavy_tailed_noise(seed: int = 0) -> Case:
    """Noise with Cauchy tails: most values hardly move, some by hundreds of sd."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 10))
    pair = publish(table(x, 4), table(x + 0.25 * rng.standard_cauchy(x.shape), 4), rng)
    cost = np.log1p((gaps(numbers(pair.original), numbers(pair.released)) / 0.25) ** 2).sum(2)
    return pair.case(matched(cost, pair.truth), "likelihood of heavy tails, one to one")


@case("noise")
def noise_then_rounding(seed: int = 0) -> Case:
    """Noise of 0.3 sd, then rounding to whole sds."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 9)) * 10 + 50
    y = np.round((x + rng.normal(0, 3, x.shape)) / 10) * 10
    pair = publish(table(x, 1), table(y, 0), rng)
    cost = cdist(numbers(pair.original), numbers(pair.released), "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "nearest in all, one to one")


@case("noise")
def noise_on_some_people(seed: int = 0) -> Case:
    """Four people in ten have noise of 0.1 sd, the others of 5 sd, and nobody says who."""
    rng = np.random.default_rng(seed)
    n, m = 500, 6
    x = rng.normal(size=(n, m))
    s = np.where(rng.random(n) < 0.4, 0.1, 5.0)[:, None]
    pair = publish(table(x, 3), table(x + rng.normal(size=x.shape) * s, 3), rng)
    square = cdist(numbers(pair.original), numbers(pair.released), "sqeuclidean")
    parts = [np.log(share) - square / (2 * sd**2) - m * np.log(sd) for share, sd in ((0.4, 0.1), (0.6, 5.0))]
    return pair.case(matched(-np.logaddexp(*parts), pair.truth), "likelihood of the mixture, one to one")


@case("noise")
def noise_on_some_cells(seed: int = 0) -> Case:
    """Half of all cells are published as they are, the others are redrawn from the column: no row is untouched."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(100, 20, (500, 8)))
    kept = rng.random(x.shape) < 0.5
    pair = publish(table(x, 0), table(np.where(kept, x, rng.permuted(x, axis=0)), 0), rng)
    equal = (gaps(numbers(pair.original), numbers(pair.released)) == 0).sum(2)
    return pair.case(matched(-equal.astype(float), pair.truth), "count equal cells, one to one")


@case("noise")
def bounded_noise(seed: int = 0) -> Case:
    """Uniform noise of up to 1.5 sd either way on sixteen columns: a hard bound."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 16))
    pair = publish(table(x, 3), table(x + rng.uniform(-1.5, 1.5, x.shape), 3), rng)
    away = gaps(numbers(pair.original), numbers(pair.released))
    cost = (away > 1.502).sum(2) * FORBIDDEN + (away**2).sum(2)
    return pair.case(matched(cost, pair.truth), "only records within the bound in every column, one to one")


@case("noise")
def jittered_dates(seed: int = 0) -> Case:
    """Five dates a person, each moved by up to ninety days on its own."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2000, (500, 5))
    y = x + rng.integers(-90, 91, x.shape)
    dates = [pl.DataFrame({f"visit{j + 1}": days(t[:, j]) for j in range(5)}) for t in (x, y)]
    pair = publish(dates[0], dates[1], rng)
    one, other = (
        frame.drop("id").select(pl.all().cast(pl.Int32)).to_numpy().astype(float)
        for frame in (pair.original, pair.released)
    )
    return pair.case(matched((gaps(one, other) > 90).sum(2).astype(float), pair.truth), "only dates within ninety days")


@case("noise")
def displaced_homes(seed: int = 0) -> Case:
    """Homes are moved by 0.5 to 1.5 km in any direction; sex and age in steps of five stay."""
    rng = np.random.default_rng(seed)
    n = 500
    x = rng.normal(0, 8, (n, 2))
    angle, far = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.5, 1.5, n)
    y = x + np.column_stack([np.cos(angle), np.sin(angle)]) * far[:, None]
    who = pl.DataFrame({"sex": rng.choice(["m", "f"], n), "age": rng.integers(18, 90, n)})
    masked = who.with_columns(pl.col("age") // 5 * 5)
    pair = publish(who.hstack(table(x, 3, ["east", "north"])), masked.hstack(table(y, 3, ["east", "north"])), rng)
    place = cdist(*(frame.select("east", "north").to_numpy() for frame in (pair.original, pair.released)))
    one = pair.original.select(pl.col("sex") == "m", pl.col("age") // 5 * 5).cast(pl.Float64).to_numpy()
    other = pair.released.select(pl.col("sex") == "m", "age").cast(pl.Float64).to_numpy()
    cost = (gaps(one, other) > 0).sum(2) * 10.0 + ((place < 0.498) | (place > 1.502)) + 1e-3 * place
    return pair.case(matched(cost, pair.truth), "only homes 0.5 to 1.5 km away of the same sex and age")


@case("noise")
def noise_drawn_often(seed: int = 0) -> Case:
    """Each of five amounts is published sixteen times, as monthly figures with fresh noise of 1.2 sd."""
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 15, (300, 5))
    y = np.concatenate([x + rng.normal(0, 18, x.shape) for _ in range(16)], axis=1)
    months = [f"{c}_{month:02d}" for month in range(1, 17) for c in "abcde"]
    pair = publish(table(x, 1, list("abcde")), table(y, 1, months), rng)
    mean = numbers(pair.released).reshape(300, 16, 5).mean(1)
    return pair.case(matched(cdist(x, mean, "sqeuclidean"), pair.truth), "average the months, one to one")


@case("noise")
def typing_errors(seed: int = 0) -> Case:
    """Three letters of each name and a quarter of the postcode digits are mistyped; years are off by up to two."""
    rng = np.random.default_rng(seed)
    n = 400
    original = register(n, rng).select("name", pl.col("birth date").dt.year().alias("born"), "postcode")
    letters = list("abcdefghijklmnopqrstuvwxyz")

    def mistyped(text: str, places: np.ndarray, signs: list[str]) -> str:
        return "".join(str(rng.choice(signs)) if k in places else c for k, c in enumerate(text))

    masked = pl.DataFrame(
        {
            "name": [mistyped(v, rng.integers(0, len(v), 3), letters) for v in original["name"]],
            "born": original["born"] + pl.Series(rng.integers(-2, 3, n)),
            "postcode": [
                mistyped(v, np.flatnonzero(rng.random(5) < 0.25), list("0123456789")) for v in original["postcode"]
            ],
        }
    )
    pair = publish(original, masked, rng)
    signs = []
    for frame in (pair.original, pair.released):
        text = [f"{name:<30.30}{code}" for name, code in frame.select("name", "postcode").rows()]
        signs.append(np.array([[ord(c) for c in line] for line in text], dtype=float))
    years = gaps(*(frame.select("born").to_numpy().astype(float) for frame in (pair.original, pair.released)))[:, :, 0]
    cost = cdist(signs[0], signs[1], "hamming") * 35 + (years > 2) * 35
    return pair.case(matched(cost, pair.truth), "count letters and digits that differ, years within two, one to one")


@case("noise")
def shrunken_and_noisy(seed: int = 0) -> Case:
    """Predictions of a model in place of values: every column is a noisy mixture of all columns of the person."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(3, 1, (400, 7))
    mix = np.eye(7) * 0.4 + rng.normal(0, 0.3, (7, 7))
    y = x @ mix + rng.normal(0, 0.05, x.shape)
    pair = publish(table(x, 3), table(y, 3), rng)
    x, y = numbers(pair.original), numbers(pair.released)
    cost = cdist(x @ mix, y, "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "the model is published: predict from what is known, one to one")
