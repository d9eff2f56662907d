from __future__ import annotations

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def people() -> pl.DataFrame:
    """500 people: floats, integers with ties, missing values, words, a date, an ordered category."""
    rng = np.random.default_rng(7)
    n = 500
    age = rng.integers(18, 90, n)
    income = np.exp(rng.normal(10, 1, n)) + 100 * age
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": age,
            "income": income,
            "score": pl.Series(rng.normal(size=n)).set(pl.Series(rng.random(n) < 0.1), None),
            "town": pl.Series(rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])).set(
                pl.Series(rng.random(n) < 0.05), None
            ),
            "born": pl.Series(rng.integers(0, 20_000, n)).cast(pl.Int32).cast(pl.Date),
            "school": pl.Series(rng.choice(["low", "mid", "high"], n), dtype=pl.Enum(["low", "mid", "high"])),
        }
    )
