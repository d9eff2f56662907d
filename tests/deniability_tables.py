"""Small tables for the maximum-knowledge tests."""

from __future__ import annotations

import numpy as np
import polars as pl


def frame(values):
    return pl.DataFrame({"abcdefgh"[k]: np.asarray(values)[:, k] for k in range(np.shape(values)[1])})


def correlated(n, m=4, seed=0):
    rng = np.random.default_rng(seed)
    return frame(rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, m)))


def shuffled(table, seed=2):
    """Every column permuted by itself."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: table[name].gather(rng.permutation(table.height)) for name in table.columns})
