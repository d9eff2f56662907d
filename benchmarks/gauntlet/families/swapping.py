"""Swapping: every released value is a true one, of somebody."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import (
    FORBIDDEN,
    Case,
    case,
    gaps,
    matched,
    nearest,
    numbers,
    publish,
    rarity,
    same,
    table,
)
from unmask.datasets.gauntlet.people import amounts, register, survey
from unmask.datasets.gauntlet.quick import codes


def rank_swap(x: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Swap each value with a free one at most ``share`` of the ranks above it."""
    n, y = len(x), x.copy()
    width = int(share * n)
    for j in range(x.shape[1]):
        by_rank, free = np.argsort(x[:, j]), np.ones(n, bool)
        for i in range(n):
            others = np.flatnonzero(free[i + 1 : i + 1 + width]) + i + 1
            if free[i] and len(others):
                k = rng.choice(others)
                a, b = by_rank[i], by_rank[k]
                y[a, j], y[b, j], free[i], free[k] = x[b, j], x[a, j], False, False
    return y


def _rank_swapped(seed: int, share: float, n: int, m: int) -> Case:
    rng = np.random.default_rng(seed)
    x = np.round(np.exp(rng.normal(8, 1, (n, m))), 2)
    pair = publish(table(x), table(rank_swap(x, share, rng)), rng)
    one, other = (numbers(frame).argsort(0).argsort(0).astype(float) for frame in (pair.original, pair.released))
    gap = gaps(one, other)
    cost = gap.sum(2) + FORBIDDEN * ~(gap <= int(share * n)).all(2)
    return pair.case(matched(cost, pair.truth), "only records within the window in every column, one to one")


@case("swapping")
def rank_swap_5(seed: int = 0) -> Case:
    """Rank swapping within 5 % of the ranks, not told to the tool; three columns."""
    return _rank_swapped(seed, 0.05, 600, 3)


@case("swapping")
def rank_swap_15(seed: int = 0) -> Case:
    """Rank swapping within 15 % of the ranks, not told to the tool; eight columns."""
    return _rank_swapped(seed, 0.15, 600, 8)


@case("swapping")
def rank_swap_30(seed: int = 0) -> Case:
    """Rank swapping within 30 % of the ranks, not told to the tool; twelve independent columns."""
    return _rank_swapped(seed, 0.30, 800, 12)


@case("swapping")
def three_percent_untouched(seed: int = 0) -> Case:
    """24 of 800 rows are published as they are, the others' columns shuffled: these 24 are known with certainty."""
    rng = np.random.default_rng(seed)
    n, k = 800, 24
    x = np.round(np.exp(rng.normal(8, 1, (n, 8))), 2)
    y = np.concatenate([x[:k], rng.permuted(x[k:], axis=0)])
    pair = publish(table(x), table(y), rng)
    return pair.case(same(pair.original.drop("id"), pair), "equal rows: every claim is right")


@case("swapping")
def swapped_within_regions(seed: int = 0) -> Case:
    """Half of all cells are swapped with somebody of the same region; the region stays."""
    rng = np.random.default_rng(seed)
    n = 500
    region = rng.integers(0, 8, n)
    x = np.column_stack([rng.integers(0, 60, n) for _ in range(8)]).astype(float)
    y = x.copy()
    for r in range(8):
        for j in range(8):
            rows = np.flatnonzero((region == r) & (rng.random(n) < 0.5))
            y[rows, j] = x[rng.permutation(rows), j]
    frames = [table(np.column_stack([region, t]), 0, ["region", *(f"v{j}" for j in range(8))]) for t in (x, y)]
    pair = publish(frames[0], frames[1], rng)
    cost = rarity(numbers(pair.original), numbers(pair.released))
    return pair.case(matched(cost, pair.truth), "count equal cells by how rare they are, one to one")


@case("swapping")
def places_swapped(seed: int = 0) -> Case:
    """Four people in ten have their postcode and town swapped with others; the rest of the record is true."""
    rng = np.random.default_rng(seed)
    n = 500
    original = register(n, rng).select(
        pl.Series("age", rng.integers(18, 80, n)), "sex", "job", "days", "town", pl.col("postcode").str.slice(0, 3)
    )
    moved, order = np.flatnonzero(rng.random(n) < 0.4), np.arange(n)
    order[moved] = rng.permutation(moved)
    masked = original.select("age", "sex", "job", "days").hstack(original.select("town", "postcode")[order])
    pair = publish(original, masked, rng)
    return pair.case(matched(rarity(*codes(pair)), pair.truth), "equal cells by how rare they are, one to one")


@case("swapping")
def blocks_swapped(seed: int = 0) -> Case:
    """All amounts of a person move together to somebody else of the same sex; the description stays behind."""
    rng = np.random.default_rng(seed)
    n = 500
    who = register(n, rng).select("sex", "town", pl.Series("age", rng.integers(18, 80, n)), "days")
    money = table(amounts(n, 6, rng))
    order = np.arange(n)
    for sex in ("m", "f"):
        rows = np.flatnonzero(who["sex"].to_numpy() == sex)
        order[rows] = rng.permutation(rows)
    pair = publish(who.hstack(money), who.hstack(money[order]), rng)
    return pair.case(same(pair.original.select(who.columns), pair), "an exact match on the description alone")


@case("swapping")
def one_column_forgotten(seed: int = 0) -> Case:
    """Eleven columns are shuffled; the twelfth, with as many values as people, was forgotten."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(1000, 200, (400, 12)), 1)
    y = rng.permuted(x, axis=0)
    y[:, 7] = x[:, 7]
    pair = publish(table(x, 1), table(y, 1), rng)
    return pair.case(same(pair.original.select("v07"), pair), "an exact match on the column that was forgotten")


@case("swapping")
def pram_to_neighbours(seed: int = 0) -> Case:
    """Grades from A to I on fourteen questions, seven in ten of them moved to a neighbouring grade."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, (500, 14))
    step = rng.choice([-1, 1], x.shape) * (rng.random(x.shape) < 0.7)
    y = np.where((x + step < 0) | (x + step > 8), x - step, x + step)
    letters = np.array(list("ABCDEFGHI"))
    frames = [pl.DataFrame({f"q{j:02d}": letters[t[:, j]] for j in range(14)}) for t in (x, y)]
    pair = publish(frames[0], frames[1], rng)
    cost = (gaps(*codes(pair)) > 1).sum(2).astype(float)
    return pair.case(matched(cost, pair.truth), "only records whose grades are at most one apart, one to one")


@case("swapping")
def data_shuffling(seed: int = 0) -> Case:
    """Income, debt and spending are shuffled given the other columns; age, sex, region and education stay."""
    rng = np.random.default_rng(seed)
    original = survey(600, seed).drop("illness")
    kept = ["age", "sex", "region", "edu"]
    masked = original.select(kept)
    design = np.column_stack([np.ones(600), original["age"], original["edu"]])
    for c in ("income", "debt", "spending"):
        log = np.log(original[c].to_numpy())
        fit = design @ np.linalg.lstsq(design, log, rcond=None)[0]
        drawn = fit + rng.normal(0, (log - fit).std(), 600)
        masked = masked.with_columns(pl.Series(c, np.sort(original[c].to_numpy())[drawn.argsort().argsort()]))
    pair = publish(original, masked, rng)
    return pair.case(same(pair.original.select(kept), pair), "an exact match on what was not shuffled")


@case("swapping")
def shuffled_by_similar(seed: int = 0) -> Case:
    """Each column is shuffled among the ten people who are most alike in it, drawn anew for each column."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 6, rng)
    y = x.copy()
    for j in range(6):
        order = np.argsort(x[:, j])
        for block in np.array_split(order, 50):
            y[block, j] = x[rng.permutation(block), j]
    pair = publish(table(x), table(y), rng)
    one, other = (numbers(frame).argsort(0).argsort(0) // 10 for frame in (pair.original, pair.released))
    return pair.case(nearest(cdist(one, other, "cityblock"), pair.truth), "compare the tens of the ranks")
