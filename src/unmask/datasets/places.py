"""People at places in Germany: the data of the graph attack's experiments, made, not looked up [KROLL]_ (section 5).

The paper drew addresses from the telephone book and gave each a gender and one of eleven age classes in the shares of
the 2011 census. Here a point is either uniform over the country's outline, or *populated*: a city drawn by its
inhabitants and scattered around its centre, or (for the share of people who live elsewhere) uniform. Outline, cities
and shares are rounded public knowledge; nobody is at any of these points.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats

# Each city: longitude and latitude, then thousands of inhabitants in 2011, all rounded.
CITIES = np.array(
    [
        (13.40, 52.52, 3292), (9.99, 53.55, 1707), (11.58, 48.14, 1348), (6.96, 50.94, 1006), (8.68, 50.11, 668),
        (9.18, 48.78, 586), (6.78, 51.23, 586), (7.47, 51.51, 571), (7.01, 51.46, 566), (8.81, 53.08, 543),
        (13.74, 51.05, 512), (12.37, 51.34, 502), (9.73, 52.37, 506), (11.08, 49.45, 487), (6.76, 51.43, 488),
        (7.22, 51.48, 363), (7.15, 51.26, 343), (8.53, 52.02, 327), (7.10, 50.73, 305), (7.63, 51.96, 290),
        (8.40, 49.01, 289), (8.47, 49.49, 291), (10.90, 48.37, 267), (8.24, 50.08, 270), (7.10, 51.51, 258),
        (6.44, 51.19, 255), (10.52, 52.27, 243), (12.92, 50.83, 241), (6.08, 50.78, 236), (10.14, 54.32, 236),
        (11.97, 51.48, 230), (11.63, 52.13, 229), (6.56, 51.33, 222), (7.85, 48.00, 210), (6.85, 51.47, 210),
        (10.69, 53.87, 210), (11.03, 50.98, 201), (8.27, 50.00, 200), (12.10, 54.09, 200), (9.48, 51.31, 191),
        (7.46, 51.36, 187), (6.99, 49.23, 176), (7.82, 51.68, 177), (6.88, 51.43, 167), (8.44, 49.48, 157),
        (8.22, 53.14, 158), (8.05, 52.28, 154), (8.69, 49.41, 147), (7.08, 51.18, 155), (13.06, 52.40, 157),
        (8.65, 49.87, 145), (9.94, 49.79, 125), (12.10, 49.02, 135), (11.42, 48.76, 125), (9.22, 49.14, 116),
        (9.99, 48.40, 117), (10.79, 52.42, 120), (9.93, 51.53, 116), (8.58, 53.55, 109), (9.21, 48.49, 110),
        (8.75, 51.72, 143), (7.60, 50.36, 107), (6.64, 49.76, 105), (11.59, 50.93, 105), (11.01, 49.60, 103),
        (12.08, 50.88, 96), (12.49, 50.72, 94), (14.33, 51.76, 100), (11.41, 53.63, 92), (13.38, 54.09, 54),
        (9.43, 54.78, 83), (7.21, 53.37, 50), (10.32, 47.73, 65), (13.46, 48.57, 49), (14.99, 51.15, 55),
        (9.17, 47.66, 79), (10.88, 49.90, 70), (11.57, 49.95, 71), (9.68, 50.55, 64), (8.67, 50.58, 77),
    ]
)  # fmt: skip
OUTLINE = np.array(
    [
        (6.0, 51.0), (6.2, 51.9), (7.0, 52.3), (7.2, 53.4), (8.6, 53.9), (8.7, 54.9), (9.9, 54.8), (11.0, 54.2),
        (12.4, 54.4), (13.7, 54.3), (14.3, 53.3), (14.6, 52.4), (15.0, 51.2), (14.3, 51.0), (12.3, 50.2), (12.6, 49.4),
        (13.8, 48.7), (12.9, 47.7), (11.0, 47.4), (10.2, 47.4), (7.6, 47.6), (8.1, 49.0), (6.5, 49.4), (6.2, 50.2),
    ]
)  # fmt: skip
AGES = ("under 3", "3-5", "6-14", "15-17", "18-24", "25-29", "30-39", "40-49", "50-64", "65-74", "75 and over")
AGE_SHARES = np.array([0.025, 0.025, 0.080, 0.030, 0.080, 0.060, 0.118, 0.165, 0.207, 0.111, 0.099])
URBAN = 0.45  # share of the populated sampler's people drawn around cities; the rest live anywhere


def _inside(points: Floats, outline: Floats) -> Flags:
    """Even-odd rule: whether each point lies inside the outline."""
    x, y = points[:, :1], points[:, 1:]
    x1, y1 = outline.T
    x2, y2 = np.roll(outline, -1, axis=0).T
    left = ((x - x1) * (y2 - y1) < (x2 - x1) * (y - y1)) ^ (y2 < y1)
    crosses = ((y1 <= y) != (y2 <= y)) & left
    return np.asarray(crosses.sum(axis=1) % 2 == 1)


def uniform_points(n: int, rng: np.random.Generator) -> Floats:
    """Return n longitudes and latitudes, uniform over the country's outline (by area)."""
    low, high = OUTLINE.min(axis=0), OUTLINE.max(axis=0)
    found = np.empty((0, 2))
    while len(found) < n:
        south, north = np.sin(np.deg2rad([low[1], high[1]]))
        sines = rng.uniform(south, north, size=2 * n + 16)
        trial = np.column_stack([rng.uniform(low[0], high[0], size=len(sines)), np.rad2deg(np.arcsin(sines))])
        found = np.vstack([found, trial[_inside(trial, OUTLINE)]])
    return found[:n]


def populated_points(n: int, rng: np.random.Generator, *, urban: float = URBAN) -> Floats:
    """Return n longitudes and latitudes where people live: around cities by size, or anywhere."""
    points = uniform_points(n, rng)
    city = rng.choice(len(CITIES), size=n, p=CITIES[:, 2] / CITIES[:, 2].sum())
    spread = 0.02 + 0.04 * np.sqrt(CITIES[city, 2] / 1000.0)  # degrees of latitude
    scatter = rng.standard_normal((n, 2)) * spread[:, None] * np.array([1.55, 1.0])
    return np.where(rng.random(n)[:, None] < urban, CITIES[city, :2] + scatter, points)


def people(n: int, rng: np.random.Generator, *, urban: float = URBAN) -> pl.DataFrame:
    """Return n people: sex, age (eleven classes), lon, lat. ``urban`` 0: uniform over the country."""
    points = populated_points(n, rng, urban=urban)
    return pl.DataFrame(
        {
            "sex": np.where(rng.random(n) < 0.512, "f", "m"),
            "age": np.array(AGES)[rng.choice(len(AGES), size=n, p=AGE_SHARES)],
            "lon": points[:, 0],
            "lat": points[:, 1],
        }
    )
