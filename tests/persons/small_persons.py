"""Small tables with many rows a person, that all tests of the room share."""

from __future__ import annotations

import numpy as np
import polars as pl


def few_rows(n=24, most=4, seed=0, wards=4, days=12):
    """One to ``most`` rows for each of n people: sex (their own), day and ward."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rng.integers(1, most + 1, n))
    return pl.DataFrame(
        {
            "id": person + 101,  # so that their order as text is that of numbers
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)][person],
            "day": rng.integers(0, days, person.size).astype(float) + 0.5,
            "ward": np.array([f"w{k}" for k in range(wards)])[rng.integers(0, wards, person.size)],
            "secret": np.array(["a", "b", "c", "d", "e"])[rng.integers(0, 5, person.size)],
        }
    )


def disturbed(table, seed=1, kept=0.85, moved=0.15):
    """Some rows left out, and some days changed."""
    rng = np.random.default_rng(seed)
    rows = table.filter(pl.Series(rng.random(table.height) < kept))
    other = pl.Series(rng.permutation(rows["day"].to_numpy()))
    day = pl.when(pl.Series(rng.random(rows.height) < moved)).then(other).otherwise(pl.col("day")).alias("day")
    return rows.with_columns(day).sample(fraction=1, shuffle=True, seed=seed)
