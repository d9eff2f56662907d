"""Releases that are called synthetic, of which it is known whether they remember people."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask import datasets, parse_masking


def numbers(table):
    return table.to_numpy().astype(float)


def like(table, values):
    return pl.DataFrame(np.round(values).astype(np.int64), schema=table.columns)


def people(n=300, seed=0):
    """Members, and as many people outside."""
    both = datasets.census(2 * n, seed=seed)
    return both[:n], both[n:]


def shuffled(table, rng):
    return table[rng.permutation(table.height)]


def moved(table, rng):
    """Every row moved by one sd in one column."""
    x = numbers(table).copy()
    column = rng.integers(0, x.shape[1], len(x))
    x[np.arange(len(x)), column] += x.std(axis=0)[column]
    return like(table, x[rng.permutation(len(x))])


def memorised(table, rng, share, jitter=0.0):
    """A copula's rows, of which a share is people of the original."""
    made, x = numbers(copula(table, rng)), numbers(table)
    known = rng.permutation(len(x))[: round(share * len(x))]
    made[: known.size] = x[known] + jitter * rng.normal(size=(known.size, x.shape[1])) * x.std(axis=0)
    return like(table, made)


def bootstrap(table, rng, jitter=0.05):
    x = numbers(table)[rng.integers(0, table.height, table.height)]
    return like(table, x + jitter * rng.normal(size=x.shape) * x.std(axis=0))


def smote(table, rng, neighbours=5):
    """Rows between a person and one of their nearest neighbours."""
    from scipy.spatial import cKDTree

    x = numbers(table)
    z, first = (x - x.mean(axis=0)) / x.std(axis=0), rng.integers(0, len(x), len(x))
    second = cKDTree(z).query(z[first], neighbours + 1)[1][np.arange(len(x)), rng.integers(1, neighbours + 1, len(x))]
    place = rng.random((len(x), 1))
    return like(table, x[first] * place + x[second] * (1 - place))


def copula(table, rng):
    return parse_masking("synthetic(copula)").apply(table, int(rng.integers(2**31)))


def marginals(table, rng):
    """Marginals only: every column drawn by itself from its own distribution, in values between those of people."""
    n = table.height
    return pl.DataFrame({name: np.quantile(table[name].to_numpy(), rng.random(n)) for name in table.columns})


def dealt(table, rng):
    """Every column drawn by itself from people's own values: whoever alone has a value is known to be in the file."""
    return pl.DataFrame(
        {name: table[name].gather(rng.integers(0, table.height, table.height)) for name in table.columns}
    )


def independent(table, rng):
    return datasets.census(table.height, seed=int(rng.integers(2**31)))


def private_histogram(table, rng, epsilon=1.0, bins=4):
    """Marginals of every column, each a histogram with noise: together differentially private with this epsilon."""
    made = {}
    for name in table.columns:
        values = table[name].to_numpy().astype(float)
        edges = np.linspace(0.0, 200_000.0, bins + 1)  # known to everybody
        counts = np.histogram(np.clip(values, 0, 200_000), edges)[0] + rng.laplace(0, 2 * table.width / epsilon, bins)
        share = np.clip(counts, 0, None) + 1e-9
        place = rng.choice(bins, table.height, p=share / share.sum())
        made[name] = np.round(edges[place] + rng.random(table.height) * np.diff(edges)[place]).astype(np.int64)
    return pl.DataFrame(made)
