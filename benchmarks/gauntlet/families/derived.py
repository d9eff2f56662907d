"""Made from several columns, rows or people: keys, ratios, lists, figures of a row, facts about a household."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import (
    FORBIDDEN,
    Case,
    case,
    differing,
    each,
    gaps,
    matched,
    nearest,
    numbers,
    publish,
    rewritten,
    table,
)
from unmask.datasets.gauntlet.people import register

ILLS = (
    "anaemia", "angina", "arthritis", "asthma", "copd", "diabetes", "eczema", "epilepsy", "gout", "migraine", "stroke",
    "ulcer",
)  # fmt: skip


@case("written")
def hash_as_a_number(seed: int = 0) -> Case:
    """Names are replaced by SHA-256 modulo a hundred million, a person number of eight digits."""
    rng = np.random.default_rng(seed)

    def key(name: str) -> int:
        return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10**8

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame([each(known, "name", key, "person"), known["sex"]])

    return rewritten(register(300, rng).select("name", "sex"), write, rng, "hash what is known, divide")


@case("written")
def checksum_of_rows(seed: int = 0) -> Case:
    """A checksum of the whole row, seven columns, stands beside the sex, so that changes are noticed."""
    rng = np.random.default_rng(seed)
    original = register(300, rng).select("name", "sex", "birth date", "town", "postcode", "job", "days")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        rows = [",".join(map(str, row)).encode() for row in known.rows()]
        sums = [hashlib.md5(row, usedforsecurity=False).hexdigest() for row in rows]
        return known.select("sex", pl.Series("checksum", sums))

    return rewritten(original, write, rng, "compute the checksum of what is known")


@case("written")
def rates_of_growth(seed: int = 0) -> Case:
    """Five yearly turnovers become four changes in whole percents with sign; the amounts are left out."""
    rng = np.random.default_rng(seed)
    x = np.exp(np.cumsum(rng.normal(0, 0.15, (300, 5)), axis=1) + rng.normal(9, 1.5, (300, 1)))

    def write(known: pl.DataFrame) -> pl.DataFrame:
        v = numbers(known)
        rates = 100 * (v[:, 1:] / v[:, :-1] - 1)
        return pl.DataFrame({f"change {k + 1}": [f"{rate:+.0f} %" for rate in rates[:, k]] for k in range(4)})

    return rewritten(table(x, 0), write, rng, "compute the changes of what is known")


def _ills(seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.random((300, len(ILLS))) < rng.uniform(0.15, 0.6, len(ILLS))


@case("written")
def answers_as_a_list(seed: int = 0) -> Case:
    """Twelve yes/no columns become one cell such as 'asthma; gout'."""
    rng, held = _ills(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        lists = ["; ".join(ill for ill, there in zip(ILLS, row, strict=True) if there) for row in known.rows()]
        return pl.DataFrame({"conditions": [text or "none" for text in lists]})

    return rewritten(pl.DataFrame(held, schema=list(ILLS)), write, rng, "list what is known")


@case("written")
def list_as_answers(seed: int = 0) -> Case:
    """A cell such as 'asthma; gout' becomes twelve columns of 0 and 1 under other names."""
    rng, held = _ills(seed)
    lists = ["; ".join(np.array(ILLS)[row]) or "none" for row in held]

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({f"c{k}": [int(ill in text) for text in known["conditions"]] for k, ill in enumerate(ILLS)})

    return rewritten(pl.DataFrame({"conditions": lists}), write, rng, "look what each list holds")


@case("structure")
def letters_drawn_anew(seed: int = 0) -> Case:
    """Every letter of names and towns is replaced by a random one: lengths of words, blanks and signs stay."""
    rng = np.random.default_rng(seed)
    original = register(300, rng).select("name", "town", "sex")

    def drawn(text: str) -> str:
        return "".join(chr(97 + int(rng.integers(26))) if letter.isalpha() else letter for letter in text)

    masked = pl.DataFrame([each(original, "name", drawn), each(original, "town", drawn), original["sex"]])
    pair = publish(original, masked, rng)
    crossed = pl.col("name", "town").str.replace_all(r"\p{L}", "x")
    both = pl.concat([frame.select(crossed, "sex") for frame in (pair.original, pair.released)])
    codes = both.select(pl.all().rank("dense")).to_numpy()
    return pair.case(nearest(differing(codes[:300], codes[300:]), pair.truth), "cross out the letters of both")


@case("structure")
def rows_on_a_scale_of_their_own(seed: int = 0) -> Case:
    """Eight readings of a person are published as a + b x in whole numbers, with a and b of that person."""
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 20, (300, 8))
    y = rng.normal(0, 500, (300, 1)) + np.exp(rng.normal(0, 0.7, (300, 1))) * x
    pair = publish(table(x, 0), table(y, 0), rng)
    scores = []
    for frame in (pair.original, pair.released):
        v = numbers(frame)
        scores.append((v - v.mean(1, keepdims=True)) / v.std(1, keepdims=True))
    return pair.case(matched(cdist(*scores), pair.truth), "score both within each row, one to one")


@case("noise")
def bed_times(seed: int = 0) -> Case:
    """Bed times of four nights, printed as 23:50, are moved by up to 25 minutes, across midnight too."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 90, (300, 4)).round().astype(int) % 1440
    y = (x + rng.integers(-25, 26, x.shape)) % 1440
    both = [
        pl.DataFrame({f"night {k + 1}": [f"{v // 60:02d}:{v % 60:02d}" for v in t[:, k]] for k in range(4)})
        for t in (x, y)
    ]
    pair = publish(both[0], both[1], rng)
    times = pl.all().str.slice(0, 2).cast(pl.Int64) * 60 + pl.all().str.slice(3).cast(pl.Int64)
    one, other = (numbers(frame.drop("id").select(times)) for frame in (pair.original, pair.released))
    apart = gaps(one, other)
    cost = FORBIDDEN * (np.minimum(apart, 1440 - apart) > 25).sum(2)
    return pair.case(matched(cost, pair.truth), "only times within 25 minutes, round the clock, one to one")


@case("aggregation")
def counts_in_brackets(seed: int = 0) -> Case:
    """Twenty purchases of a person become six numbers: how many were below 10, from 10 to 20, ... above 160."""
    rng = np.random.default_rng(seed)
    original = table(np.exp(rng.normal(3.5, 1, (200, 20)) + rng.normal(0, 0.5, (200, 1))))
    ends = [0, 10, 20, 40, 80, 160, np.inf]

    def write(known: pl.DataFrame) -> pl.DataFrame:
        v = numbers(known)
        return pl.DataFrame({f"from {a}": ((v >= a) & (v < b)).sum(1) for a, b in pairwise(ends)})

    return rewritten(original, write, rng, "count what is known")


@case("aggregation")
def smallest_largest_mean(seed: int = 0) -> Case:
    """Ten measurements of a person become the smallest, the largest, the mean and the median, in whole numbers."""
    rng = np.random.default_rng(seed)
    original = table(rng.normal(120, 15, (300, 1)) + rng.normal(0, 8, (300, 10)), 0)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        v = numbers(known)
        figures = np.column_stack([v.min(1), v.max(1), v.mean(1), np.median(v, axis=1)])
        return table(figures, 0, ["low", "high", "mean", "median"])

    return rewritten(original, write, rng, "compute the same of what is known")


@case("households")
def facts_about_households(seed: int = 0) -> Case:
    """Each person's sex and decade of age, the number of people at home and the age of the oldest; no household."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(110), rng.integers(1, 6, 110))
    n = home.size
    original = pl.DataFrame({"home": home, "age": rng.integers(0, 90, n), "sex": rng.choice(["m", "f"], n)})

    def write(known: pl.DataFrame) -> pl.DataFrame:
        oldest = pl.col("age").max().over("home").alias("oldest")
        return known.select(
            (pl.col("age") // 10).alias("decade"), "sex", pl.len().over("home").alias("at home"), oldest
        )

    return rewritten(original, write, rng, "compute the same of the known households")
