"""Visits to a hospital, several for most people: what an id that repeats looks like. Made, not collected.

Sex, year of birth and town stay a person's own; most people come back for what they came for first. Half of the people
have one to three visits, a few have dozens.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.datasets.patients import DIAGNOSES, TOWNS, _dates, _diagnoses, _shares

DAYS = 1095  # three years
AGAIN = 0.6  # a later visit is for what the first was for
WARDS = ("surgery", "medicine", "neurology", "psychiatry", "day clinic", "emergency")


def visits(n: int = 300, *, seed: int = 0) -> pl.DataFrame:
    """Generate the visits of ``n`` people, four each on average; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    female = rng.random(n) < 0.53
    first, age = _diagnoses(rng, female)
    town = rng.choice(len(TOWNS), size=n, p=_shares([town[3] for town in TOWNS.values()]))
    times = 1 + np.minimum(rng.negative_binomial(1.2, 0.28, n), 60)
    person = np.repeat(np.arange(n), times)
    rows = person.size
    other = _diagnoses(rng, female[person])[0]
    begins = np.cumsum(times) - times
    again = rng.random(rows) < AGAIN
    again[begins] = True
    codes = np.where(again, first[person], other)
    usual_days, usual_cost = (np.array([entry[column] for entry in DIAGNOSES.values()])[codes] for column in (4, 5))
    days = np.maximum(1, np.round(usual_days * np.exp(rng.normal(0, 0.5, rows)))).astype(int)
    table = pl.DataFrame(
        {
            "patient": np.array([f"P{number:06d}" for number in rng.permutation(10 * n)[:n]])[person],
            "sex": np.where(female, "female", "male")[person],
            "born": (2025 - age).astype(int)[person],
            "town": np.array(list(TOWNS))[town[person]],
            "admitted": _dates(rng.integers(0, DAYS, rows)),
            "ward": np.array(WARDS)[(codes * 7 + (rng.random(rows) < 0.3)) % len(WARDS)],
            "days": days,
            "diagnosis": np.array(list(DIAGNOSES))[codes],
            "cost": np.round(usual_cost * np.exp(0.4 * np.log(days / 5) + rng.normal(0, 0.3, rows)), -1),
        }
    )
    return table.sort("patient", "admitted", maintain_order=True)
