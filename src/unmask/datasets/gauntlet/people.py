"""People to be released: a survey, and a register with names, dates and places. Nobody stands behind a row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

import numpy as np
import polars as pl

FIRST = dt.date(2015, 1, 1)
TOWNS = (
    "Århus", "Besançon", "Córdoba", "Düren", "Évora", "Fécamp", "Gävle", "Höxter", "Îles d'Or", "Jönköping",
    "Köln", "León", "Málaga", "Nîmes", "Öland", "Plauen", "Quimper", "Røros", "São Brás", "Tübingen",
)  # fmt: skip
SYLLABLES = (
    "an", "bel", "cor", "da", "el", "fin", "gor", "hal", "is", "jo", "ka", "lin", "mar", "no", "ol", "per", "ran",
    "sol", "ti", "ul", "ver", "win", "yor", "zan",
)  # fmt: skip


def survey(n: int, seed: int) -> pl.DataFrame:
    """Ages, sexes, regions and dependent amounts, and an illness that comes with age."""
    rng = np.random.default_rng(seed)
    mix = np.array([[1, 0.5, 0.2, 0], [0, 1, 0.4, 0.3], [0, 0, 1, 0.3], [0, 0, 0, 1]])
    z = rng.normal(size=(n, 4)) @ mix.T
    age = np.clip(np.round(45 + 15 * z[:, 0]), 18, 95).astype(int)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["m", "f"], n),
            "region": rng.choice(list("ABCDEFGHIJ"), n),
            "edu": np.clip(np.round(3 + 1.2 * z[:, 1]), 1, 6).astype(int),
            "income": np.round(np.exp(10 + 0.6 * z[:, 1]), -1),
            "debt": np.round(np.exp(8 + z[:, 2]), -1),
            "spending": np.round(np.exp(7 + 0.5 * z[:, 3])),
            "illness": np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 60) / 8)), "yes", "no"),
        }
    )


def coarse_survey(n: int, seed: int) -> pl.DataFrame:
    """Sex, region, age in steps of twenty years, and the illness."""
    return survey(n, seed).select((pl.col("age") // 20 * 20).alias("age"), "sex", "region", "illness")


def register(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Names, birth dates, towns, postcodes, jobs, stays and measures, as an office holds them."""
    return pl.DataFrame(
        {
            "name": names(n, rng),
            "sex": rng.choice(["m", "f"], n),
            "birth date": days(rng.integers(-33000, 0, n)),
            "town": rng.choice(TOWNS, n),
            "postcode": [f"{code:05d}" for code in rng.integers(10000, 30000, n)],
            "job": [f"J{code:02d}" for code in rng.integers(0, 60, n)],
            "admitted": days(rng.integers(0, 1095, n)),
            "days": rng.poisson(6, n) + 1,
            "income": np.round(np.exp(rng.normal(10.3, 0.7, n)), 2),
            "height": np.round(rng.normal(171, 10, n), 1),
            "weight": np.round(rng.normal(76, 14, n), 1),
        }
    )


def names(n: int, rng: np.random.Generator) -> list[str]:
    """Draw first names and surnames of two to four syllables."""

    def word() -> str:
        return "".join(rng.choice(SYLLABLES, rng.integers(2, 5))).capitalize()

    return [f"{word()} {word()}" for _ in range(n)]


def days(numbers: Iterable[int]) -> list[dt.date]:
    """Return the dates so many days after the first of January 2015."""
    return [FIRST + dt.timedelta(days=int(number)) for number in numbers]


def amounts(n: int, columns: int, rng: np.random.Generator, *, factors: int = 2) -> np.ndarray:
    """Draw dependent, skewed amounts with cents."""
    z = rng.normal(size=(n, factors)) @ rng.normal(size=(factors, columns)) * 0.5 + rng.normal(size=(n, columns))
    return np.asarray(np.round(np.exp(7 + 0.8 * z), 2))
