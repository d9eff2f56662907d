"""A census-like table: thirteen money attributes, correlated, skewed, partly tied.

It imitates what makes the CASC "Census" file interesting for linkage: attributes that nearly follow from each other
(taxes from income), zeros shared by many, amounts rounded to hundreds, a contribution capped at a ceiling.
"""

from __future__ import annotations

import numpy as np
import polars as pl

CEILING = 3_825.0  # social contribution at which the base is capped
BRACKETS = ((0.0, 0.15), (34_000.0, 0.28), (82_000.0, 0.31), (170_000.0, 0.36))


def census(n: int = 1080, *, seed: int = 0) -> pl.DataFrame:
    """Generate ``n`` records of thirteen money attributes; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=n)  # what earnings, savings and employers' contributions have in common
    age = np.clip(rng.normal(43, 12, size=n), 18, 80)
    works = rng.random(n) < 0.93
    earnings = np.where(works, np.exp(10.35 + 0.62 * ability + 0.012 * (age - 43) + rng.normal(0, 0.25, n)), 0.0)
    earnings = _round(earnings, np.where(rng.random(n) < 0.7, 500, 1))  # most people report round sums
    self_employed = np.where(
        rng.random(n) < 0.08, np.minimum(earnings, _round(earnings * rng.uniform(0.1, 1, n), 100)), 0.0
    )
    wages = earnings - self_employed
    wealth = np.exp(0.9 * ability + 0.03 * (age - 43) + rng.normal(0, 1.2, n))
    interest = np.where(rng.random(n) < 0.75, np.floor(180 * wealth), 0.0)
    transfers = np.where(rng.random(n) < 0.25, np.floor(np.exp(rng.normal(7.2, 1.1, n))), 0.0)
    other = interest + transfers
    total = earnings + other
    spouse = np.where(rng.random(n) < 0.55, np.exp(9.9 + 0.3 * ability + rng.normal(0, 0.7, n)), 0.0)
    gross = np.floor(total + spouse)
    taxable = np.maximum(0.0, gross - _round(rng.normal(9_500, 2_500, n), 50))
    federal = np.floor(np.maximum(0.0, _tax(taxable) - np.where(rng.random(n) < 0.3, 1_100, 0)))
    rate = rng.choice([0.0, 0.02, 0.035, 0.05, 0.065], size=n, p=[0.16, 0.2, 0.28, 0.24, 0.12])
    state = np.floor(rate * taxable)
    contribution = np.where(works, np.floor(np.exp(7.3 + 0.35 * ability + rng.normal(0, 0.6, n))), 0.0)
    social = np.floor(np.minimum(0.0765 * earnings, CEILING))
    weight = np.floor(np.exp(rng.normal(12.1, 0.45, n)))
    columns = {
        "sample_weight": weight,
        "gross_income": gross,
        "employer_contribution": contribution,
        "federal_tax": federal,
        "total_income": total,
        "state_tax": state,
        "taxable_income": taxable,
        "other_income": other,
        "interest": interest,
        "earned_income": earnings,
        "social_contribution": social,
        "wages": wages,
        "self_employment": self_employed,
    }
    return pl.DataFrame({name: np.floor(values).astype(np.int64) for name, values in columns.items()})


def _round(values: np.ndarray, step: float | np.ndarray) -> np.ndarray:
    return np.asarray(np.round(values / step) * step)


def _tax(income: np.ndarray) -> np.ndarray:
    """Progressive tax: each bracket's rate on what lies above its start."""
    due, previous = np.zeros_like(income), 0.0
    for start, rate in BRACKETS:
        due += (rate - previous) * np.maximum(0.0, income - start)
        previous = rate
    return due
