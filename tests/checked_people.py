"""People, a noisy release of them, and rows in another order: what the tests of intake share."""

from __future__ import annotations

import numpy as np
import polars as pl

N = 300


def people(seed=0, n=N):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": age,
            "income": np.round(rng.lognormal(10, 0.6, n) * (1 + age / 200), 2),
            "sex": rng.choice(["m", "f"], n),
            "town": rng.choice([f"town {k}" for k in range(12)], n),
        }
    )


def noisy(table, sd=0.5, seed=1):
    rng = np.random.default_rng(seed)
    spread = {name: float(table[name].std()) for name in ("age", "income")}
    return table.with_columns(pl.col(name) + sd * spread[name] * rng.normal(size=len(table)) for name in spread)


def shuffled(table, seed=2):
    return table[np.random.default_rng(seed).permutation(len(table))]
