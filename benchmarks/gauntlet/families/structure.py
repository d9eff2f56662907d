"""Structure: the values are hidden, and something other than the values gives people away."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group, skew

from unmask.datasets.gauntlet.case import Case, case, differing, matched, nearest, numbers, publish, rewritten, table
from unmask.datasets.gauntlet.people import amounts, names, register
from unmask.datasets.gauntlet.quick import shuffled_where


@case("structure")
def pattern_of_zeros(seed: int = 0) -> Case:
    """Amounts are shuffled among those who have any; who has nothing of which kind stays."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 18, rng) * (rng.random((500, 18)) < 0.4)
    pair = publish(table(x), table(shuffled_where(x > 0, x, rng)), rng)
    one, other = ((numbers(frame) == 0) * 1.0 for frame in (pair.original, pair.released))
    return pair.case(nearest(cdist(one, other, "cityblock"), pair.truth), "compare which amounts are zero")


@case("structure")
def last_digits(seed: int = 0) -> Case:
    """Noise in whole thousands on account balances: the last three digits stay."""
    rng = np.random.default_rng(seed)
    x = np.round(np.exp(rng.normal(10, 0.8, (500, 3))))
    pair = publish(table(x, 0), table(x + 1000 * np.round(rng.normal(0, 40, x.shape)), 0), rng)
    one, other = (numbers(frame) % 1000 for frame in (pair.original, pair.released))
    return pair.case(nearest(differing(one, other), pair.truth), "compare the last three digits")


@case("structure")
def time_of_day(seed: int = 0) -> Case:
    """Two times to the second, each moved by up to sixty whole days: the time of day stays."""
    rng = np.random.default_rng(seed)
    n, start = 500, dt.datetime(2020, 1, 1)  # noqa: DTZ001 - tables hold local times
    x = rng.integers(0, 365 * 86400, (n, 2))
    y = x + 86400 * rng.integers(-60, 61, x.shape)

    def times(seconds: np.ndarray) -> pl.DataFrame:
        moments = {
            c: [start + dt.timedelta(seconds=int(s)) for s in seconds[:, j]] for j, c in enumerate(("in", "out"))
        }
        return pl.DataFrame(moments)

    pair = publish(times(x), times(y), rng)
    clock = pl.col("in", "out").dt.strftime("%H%M%S").cast(pl.Float64)
    one, other = (frame.select(clock).to_numpy() for frame in (pair.original, pair.released))
    return pair.case(nearest(differing(one, other), pair.truth), "compare the times of day")


@case("structure")
def meter_readings(seed: int = 0) -> Case:
    """Twelve monthly readings: every meter starts at another number, readings are rounded to tens."""
    rng = np.random.default_rng(seed)
    n = 500
    x = rng.integers(0, 90000, n)[:, None] + np.cumsum(rng.gamma(4, 60, (n, 12)), 1)
    y = np.round((x + rng.integers(-40000, 40000, n)[:, None]) / 10) * 10
    pair = publish(table(x, 0), table(y, 0), rng)
    cost = cdist(np.diff(numbers(pair.original)), np.diff(numbers(pair.released)), "cityblock")
    return pair.case(nearest(cost, pair.truth), "compare what was used each month")


@case("structure")
def scaled_by_person(seed: int = 0) -> Case:
    """Each person's amounts are multiplied by one secret factor of that person: shares of the total stay."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 6, rng)
    pair = publish(table(x), table(x * np.exp(rng.normal(0, 1, 500))[:, None]), rng)
    logs = [np.log(numbers(frame)) for frame in (pair.original, pair.released)]
    one, other = (log - log.mean(1, keepdims=True) for log in logs)
    return pair.case(nearest(cdist(one, other), pair.truth), "compare the shares of the total")


@case("structure")
def totals_kept(seed: int = 0) -> Case:
    """Noise of two sd on six amounts, corrected so that every person's total stays; the total is no column."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 6, rng)
    noise = np.round(rng.normal(size=x.shape) * 2 * x.std(0), 2)
    noise[:, -1] -= noise.sum(1)
    pair = publish(table(x), table(x + noise), rng)
    one, other = (numbers(frame).sum(1, keepdims=True) for frame in (pair.original, pair.released))
    return pair.case(nearest(np.round(np.abs(one - other.T), 2), pair.truth), "compare the totals")


@case("structure")
def scored_within_person(seed: int = 0) -> Case:
    """Ten ratings are published less the person's own mean, over the person's own sd, with one decimal."""
    rng = np.random.default_rng(seed)
    x = np.clip(np.round(rng.normal(50, 8, (500, 1)) + rng.normal(0, 14, (500, 10))), 0, 100)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        v = numbers(known)
        return table((v - v.mean(1, keepdims=True)) / v.std(1, keepdims=True), 1, known.columns)

    return rewritten(table(x, 0), write, rng, "score what is known in the same way")


@case("structure")
def order_within_person_lost(seed: int = 0) -> Case:
    """Eight measurements of a person are published in random order, each moved by up to two units."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(120, 18, (500, 8)))
    y = rng.permuted(x, axis=1) + rng.integers(-2, 3, x.shape)
    pair = publish(table(x, 0), table(y, 0), rng)
    cost = cdist(np.sort(numbers(pair.original)), np.sort(numbers(pair.released)), "sqeuclidean")
    return pair.case(matched(cost, pair.truth), "sort each person's measurements, one to one")


@case("structure")
def rotated(seed: int = 0) -> Case:
    """The table of numbers is turned by a secret rotation of all columns at once."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.gamma(2, 1, (500, 6)) @ np.diag([8, 5, 3.5, 2.4, 1.6, 1]) + rng.gamma(2, 1, (500, 1)), 3)
    y = (x - x.mean(0)) @ ortho_group.rvs(6, random_state=rng)
    pair = publish(table(x, 3), table(y, 3), rng)

    def axes(values: np.ndarray) -> np.ndarray:
        centred = values - values.mean(0)
        scores = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
        return np.asarray(scores * np.sign(skew(scores)))

    cost = cdist(axes(numbers(pair.original)), axes(numbers(pair.released)))
    return pair.case(nearest(cost, pair.truth), "compare principal components, their signs by the skewness")


@case("structure")
def monotone_map(seed: int = 0) -> Case:
    """Every column is bent by a secret increasing curve, then a little noise: who is above whom stays nearly."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 6, rng, factors=1)
    ranks = x.argsort(0).argsort(0) / 499
    bent = 100 * (ranks ** np.array([3, 0.3, 5, 0.5, 2, 0.2])) + rng.normal(0, 0.3, x.shape)
    pair = publish(table(x), table(bent), rng)
    one, other = (numbers(frame).argsort(0).argsort(0) for frame in (pair.original, pair.released))
    return pair.case(nearest(cdist(one, other, "cityblock"), pair.truth), "compare ranks")


@case("structure")
def numbered_in_order(seed: int = 0) -> Case:
    """Names are replaced by numbers that were given in alphabetical order; income has noise of two sd."""
    rng = np.random.default_rng(seed)
    n = 400
    income = amounts(n, 1, rng)[:, 0]
    known = pl.DataFrame({"name": names(n, rng), "sex": rng.choice(["m", "f"], n), "income": income})
    number = known["name"].rank("ordinal").alias("number") + 5000
    noisy = pl.Series("income", np.round(income + rng.normal(0, 2 * income.std(), n), 2))
    pair = publish(known, known.select(number, "sex", noisy), rng)
    one = pair.original["name"].rank("ordinal").cast(pl.Float64).to_numpy()[:, None]
    other = pair.released["number"].rank("ordinal").cast(pl.Float64).to_numpy()[:, None]
    return pair.case(nearest(np.abs(one - other.T), pair.truth), "put the known names in order")


@case("structure")
def decimals_kept(seed: int = 0) -> Case:
    """Noise of two sd, but each cell keeps the number of decimals that its device writes: none, one or two."""
    rng = np.random.default_rng(seed)
    n, m = 400, 12
    digits = rng.integers(0, 3, (n, m))
    x = rng.normal(50, 10, (n, m))
    y = x + rng.normal(0, 20, (n, m))
    cut = [np.round(t * 10.0**digits) / 10.0**digits for t in (x, y)]
    pair = publish(table(cut[0]), table(cut[1]), rng)

    def decimals(frame: pl.DataFrame) -> np.ndarray:
        cents = np.round(numbers(frame) * 100).astype(int)
        return np.where(cents % 100 == 0, 0.0, np.where(cents % 10 == 0, 1.0, 2.0))

    cost = cdist(decimals(pair.original), decimals(pair.released), "cityblock")
    return pair.case(matched(cost, pair.truth), "compare the numbers of decimals, one to one")


@case("structure")
def letters_crossed_out(seed: int = 0) -> Case:
    """Free text with every letter replaced by x and every digit by 9: lengths of words and signs stay."""
    rng = np.random.default_rng(seed)
    n = 400
    base = register(n, rng)
    remarks = [
        f"{a}, {t} ({d}): {b}"
        for a, t, d, b in zip(base["name"], base["town"], base["days"], names(n, rng), strict=True)
    ]
    original = pl.DataFrame({"remark": remarks, "sex": base["sex"]})

    def write(known: pl.DataFrame) -> pl.DataFrame:
        crossed = pl.col("remark").str.replace_all(r"\p{Lu}", "X").str.replace_all(r"\p{Ll}", "x")
        return known.with_columns(crossed.str.replace_all(r"\d", "9"))

    return rewritten(original, write, rng, "cross out what is known")
