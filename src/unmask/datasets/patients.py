"""A hospital-like table: who, where, when, what for, and what it cost. Mixed kinds, realistic dependence, some gaps."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

DIAGNOSES = {  # code: (typical age, spread, weight for women, weight for men, median days, median cost)
    "O80 birth": (30, 5, 9.0, 0.0, 3, 3_900),
    "J18 pneumonia": (66, 20, 5.0, 6.0, 8, 5_200),
    "I21 heart attack": (69, 11, 3.0, 6.0, 6, 9_800),
    "I63 stroke": (74, 11, 4.0, 4.5, 9, 8_700),
    "S72 hip fracture": (81, 9, 5.5, 2.0, 12, 11_400),
    "E11 diabetes": (63, 12, 3.0, 3.5, 5, 4_100),
    "C50 breast cancer": (62, 13, 4.5, 0.05, 4, 7_600),
    "C61 prostate cancer": (70, 8, 0.0, 4.5, 5, 7_900),
    "F32 depression": (42, 15, 4.0, 2.5, 21, 8_300),
    "F10 alcohol": (46, 12, 1.2, 4.0, 9, 3_600),
    "K35 appendicitis": (28, 14, 2.5, 3.0, 4, 4_400),
    "J45 asthma": (24, 20, 2.0, 1.8, 3, 2_700),
    "B20 HIV": (44, 11, 0.2, 0.8, 7, 9_100),
    "G35 multiple sclerosis": (38, 9, 0.9, 0.35, 6, 6_900),
}
TOWNS = {  # name: (postcode area, longitude, latitude, weight, spread in degrees)
    "Altmark": (39, 11.85, 52.60, 1.0, 0.18),
    "Berg": (51, 7.15, 51.00, 3.0, 0.08),
    "Furt": (90, 11.00, 49.47, 2.2, 0.07),
    "Hafen": (20, 9.99, 53.55, 4.5, 0.10),
    "Moor": (26, 7.95, 53.15, 0.8, 0.20),
    "See": (78, 9.17, 47.68, 1.1, 0.12),
    "Wald": (94, 13.40, 48.60, 0.7, 0.22),
}


def patients(n: int = 1000, *, seed: int = 0) -> pl.DataFrame:
    """Generate ``n`` stays of different patients; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    female = rng.random(n) < 0.53
    codes, age = _diagnoses(rng, female)
    town = rng.choice(len(TOWNS), size=n, p=_shares([town[3] for town in TOWNS.values()]))
    postcode, longitude, latitude = _places(rng, town)
    admitted = rng.integers(0, 730, size=n)
    usual_days, usual_cost = (np.array([entry[column] for entry in DIAGNOSES.values()])[codes] for column in (4, 5))
    days = np.maximum(1, np.round(np.exp(np.log(usual_days) + rng.normal(0, 0.45, n)))).astype(int)
    cost = np.round(np.exp(np.log(usual_cost) + 0.35 * np.log(days / 5) + rng.normal(0, 0.3, n)), -1)
    adult = np.where(female, rng.normal(165, 6.5, n), rng.normal(178, 7.2, n))
    height = np.round(np.where(age < 18, 55 + (adult - 55) * age / 18, adult))
    bmi = np.clip(rng.normal(25.5, 4.2, n) + 0.03 * (age - 50) + 1.8 * (usual_cost == 4_100), 15, 55)
    smoker = rng.random(n) < np.where(age < 65, 0.31, 0.14)
    children = np.minimum(rng.poisson(np.select([age > 28, age > 17], [1.5, 0.4], 0.0)), 7)
    insurance = np.where(rng.random(n) < 0.11 + 0.1 * (cost > 8_000), "private", "statutory")
    table = pl.DataFrame(
        {
            "patient": [f"P{number:07d}" for number in rng.permutation(10 * n)[:n]],
            "sex": np.where(female, "female", "male"),
            "birth date": _dates(admitted - (365.25 * age).astype(int)),
            "town": np.array(list(TOWNS))[town],
            "postcode": postcode,
            "longitude": longitude,
            "latitude": latitude,
            "admitted": _dates(admitted),
            "days": days,
            "children": children,
            "smoker": smoker,
            "height": height,
            "bmi": np.round(bmi, 1),
            "insurance": insurance,
            "diagnosis": np.array(list(DIAGNOSES))[codes],
            "cost": cost,
        }
    )
    gaps = rng.random(n) < 0.04  # some were never measured
    return table.with_columns(pl.when(pl.Series(gaps)).then(None).otherwise(pl.col("bmi")).alias("bmi"))


def _diagnoses(rng: np.random.Generator, female: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    women, men = (_shares([entry[column] for entry in DIAGNOSES.values()]) for column in (2, 3))
    codes = np.where(
        female, rng.choice(len(DIAGNOSES), len(female), p=women), rng.choice(len(DIAGNOSES), len(female), p=men)
    )
    centre, spread = (np.array([entry[column] for entry in DIAGNOSES.values()])[codes] for column in (0, 1))
    return codes, np.clip(rng.normal(centre, spread), 0.1, 101)


def _places(rng: np.random.Generator, town: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Addresses around the town's centre; the postcode is the area and the square of the map around the address."""
    area, lon, lat, _, spread = (np.array([entry[column] for entry in TOWNS.values()])[town] for column in range(5))
    longitude, latitude = rng.normal(lon, 1.5 * spread), rng.normal(lat, spread)
    east = np.clip(np.round(3 * (longitude - lon) / (1.5 * spread)) + 5, 0, 9).astype(int)
    north = np.clip(np.round(3 * (latitude - lat) / spread) + 5, 0, 9).astype(int)
    postcode = [f"{int(a):02d}{e}{s}{e ^ s & 1}" for a, e, s in zip(area, east, north, strict=True)]
    return postcode, np.round(longitude, 5), np.round(latitude, 5)


def _dates(days: np.ndarray) -> pl.Series:
    return pl.Series([date.fromordinal(date(2025, 1, 1).toordinal() + int(day)) for day in days])


def _shares(weights: list[float]) -> np.ndarray:
    return np.asarray(np.array(weights) / np.sum(weights))
