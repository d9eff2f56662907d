"""Aggregation: values are coarser, blanked, or means of several people. Who re-runs a fixed method knows the groups."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import Case, case, gaps, matched, nearest, numbers, publish, rewritten, table
from unmask.datasets.gauntlet.people import amounts, register
from unmask.datasets.gauntlet.quick import Groups, mdav, means


def runs(values: np.ndarray, k: int) -> Groups:
    """Group in order of one value, ``k`` at a time."""
    order = values.argsort(kind="stable")
    return list(np.split(order, range(k, len(order) - k + 1, k)))


@case("aggregation")
def mdav_in_two_blocks(seed: int = 0) -> Case:
    """Groups of five by three columns, and other groups of five by the other three: the groups cross."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        x = numbers(known)
        return table(np.hstack([means(part, mdav(part, 5)) for part in (x[:, :3], x[:, 3:])]))

    return rewritten(table(amounts(500, 6, rng)), write, rng, "re-run the method on each block")


@case("aggregation")
def one_column_at_a_time(seed: int = 0) -> Case:
    """Each of six columns is averaged by itself, in runs of ten."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        x = numbers(known)
        return table(np.column_stack([means(x[:, j], runs(x[:, j], 10)) for j in range(6)]))

    return rewritten(table(amounts(500, 6, rng)), write, rng, "re-run the method on each column")


@case("aggregation")
def projection(seed: int = 0) -> Case:
    """Records are ordered by their first principal component and averaged three at a time."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        x = numbers(known)
        z = (x - x.mean(0)) / x.std(0)
        return table(means(x, runs(z @ np.linalg.eigh(np.cov(z.T))[1][:, -1], 3)))

    return rewritten(table(amounts(501, 5, rng)), write, rng, "re-run the method on what is known: one in three")


@case("aggregation")
def rounded(seed: int = 0) -> Case:
    """Ages to tens, amounts to the nearest thousand, measures to fives."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select(pl.Series("age", rng.integers(18, 90, 500)), "income", "height", "weight")
    base = {"age": 10, "income": 1000, "height": 5, "weight": 5}

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select((pl.col(c) / b).round() * b for c, b in base.items())

    return rewritten(original, write, rng, "round what is known")


@case("aggregation")
def random_rounding(seed: int = 0) -> Case:
    """Counts are rounded up or down to a multiple of five at random, without bias."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(20, (500, 9)).astype(float)
    low, rest = x // 5 * 5, x % 5
    pair = publish(table(x, 0), table(low + 5 * (rng.random(x.shape) < rest / 5), 0), rng)
    away = gaps(numbers(pair.original), numbers(pair.released))
    cost = -np.log(np.maximum(1 - away / 5, 1e-9)).sum(2)
    return pair.case(matched(cost, pair.truth), "the chance of each rounding, one to one")


@case("aggregation")
def tail_means(seed: int = 0) -> Case:
    """The upper tenth and the lower tenth of every amount are replaced by their mean; the rest to two digits."""
    rng = np.random.default_rng(seed)
    original = table(amounts(500, 4, rng))

    def write(known: pl.DataFrame) -> pl.DataFrame:
        x = numbers(known)
        y = np.round(x, -2)
        for j in range(x.shape[1]):
            order = x[:, j].argsort(kind="stable")
            for tail in (order[:50], order[-50:]):
                y[tail, j] = x[tail, j].mean()
        return table(y)

    return rewritten(original, write, rng, "cut what is known at the same ends")


@case("aggregation")
def blanked_cells(seed: int = 0) -> Case:
    """Four cells in ten are blanked at random, the others are published as they are."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.integers(0, k, 500) for k in (60, 2, 15, 8, 25, 6, 12)]).astype(float)
    y = np.where(rng.random(x.shape) < 0.4, np.nan, x)
    pair = publish(table(x, 0), table(y, 0), rng)
    x, y = numbers(pair.original), numbers(pair.released)
    wrong = ((x[:, None] != y[None]) & ~np.isnan(y)[None]).any(2)
    cost = wrong * 1e3 - (~np.isnan(y)).sum(1)[None, :] * 1.0
    return pair.case(matched(cost, pair.truth), "records that contradict nothing, one to one")


@case("aggregation")
def mondrian(seed: int = 0) -> Case:
    """People are halved again and again into groups of three or four; each cell holds the group's range."""
    rng = np.random.default_rng(seed)
    x = rng.normal(50, 15, (400, 4)).round()

    def halves(rows: np.ndarray) -> Groups:
        if len(rows) < 6:
            return [rows]
        widest = (np.ptp(x[rows], 0) / x.std(0)).argmax()
        order = rows[x[rows, widest].argsort(kind="stable")]
        return halves(order[: len(rows) // 2]) + halves(order[len(rows) // 2 :])

    ranges = [[""] * 4 for _ in range(400)]
    for group in halves(np.arange(400)):
        text = [f"[{low:.0f}-{high:.0f}]" for low, high in zip(x[group].min(0), x[group].max(0), strict=True)]
        for row in group:
            ranges[row] = text
    names = ["age", "pulse", "score", "hours"]
    pair = publish(table(x, 0, names), pl.DataFrame(ranges, schema=names, orient="row"), rng)
    ends = np.array(
        [[[float(e) for e in t[1:-1].rsplit("-", 1)] for t in row] for row in pair.released.drop("id").rows()]
    )
    outside = ((x[:, None] < ends[None, :, :, 0]) | (x[:, None] > ends[None, :, :, 1])).sum(2)
    return pair.case(nearest(outside.astype(float), pair.truth), "ranges that hold what is known")


@case("aggregation")
def deciles(seed: int = 0) -> Case:
    """Amounts are replaced by the name of their decile, D1 to D10."""
    rng = np.random.default_rng(seed)
    original = table(amounts(500, 5, rng))

    def write(known: pl.DataFrame) -> pl.DataFrame:
        tenth = (numbers(known).argsort(0).argsort(0) * 10) // known.height + 1
        return pl.DataFrame({c: [f"D{v}" for v in tenth[:, j]] for j, c in enumerate(known.columns)})

    return rewritten(original, write, rng, "put what is known into deciles")


@case("aggregation")
def months_to_quarters(seed: int = 0) -> Case:
    """Twelve monthly amounts are published as four quarterly sums, to the nearest thousand, under new names."""
    rng = np.random.default_rng(seed)
    original = table(amounts(400, 12, rng), 2, [f"month{j:02d}" for j in range(1, 13)])

    def write(known: pl.DataFrame) -> pl.DataFrame:
        sums = numbers(known).reshape(known.height, 4, 3).sum(2)
        return table(np.round(sums, -3), 0, ["spring", "summer", "autumn", "winter"])

    return rewritten(original, write, rng, "add up what is known")


@case("aggregation")
def averaged_with_neighbour(seed: int = 0) -> Case:
    """Every record is the mean of its own values and those of one random other person."""
    rng = np.random.default_rng(seed)
    n = 400
    x = rng.normal(100, 20, (n, 10))
    pair = publish(table(x, 1), table((x + x[rng.permutation(n)]) / 2, 1), rng)
    x, y = numbers(pair.original), numbers(pair.released)
    rest = 2 * y[None] - x[:, None]  # who the other must have been, if the record is this person's
    near = np.array([cdist(row, x, "sqeuclidean").min(1) for row in rest])
    return pair.case(nearest(near, pair.truth), "records from which a second known person is left over")
