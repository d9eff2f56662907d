"""A network of friends, made, not collected: people meet in circles (school, work, street), and some know many.

Everybody belongs to two circles of about twelve people; two people of a circle are friends with probability 0.3.
Besides, people make friends anywhere, those who are sociable more of them: a few have dozens of ties, most
about nine.
"""

from __future__ import annotations

import numpy as np
import polars as pl

CIRCLE = 12  # people
WITHIN = 0.3  # two of a circle are friends
CIRCLES = 2  # of each person
ANYWHERE = 2.0  # friends outside the circles, for each person on average
SPREAD = 1.0  # of the logarithm of how sociable people are


def friends(n: int, seed: int = 0) -> pl.DataFrame:
    """Return the ties of n people, one row each: person, friend (numbers from 1, the smaller first)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(CIRCLES):
        order = rng.permutation(n)
        for step in range(1, CIRCLE):
            here, there = order[: n - step], order[step:]
            same = (np.arange(n - step) // CIRCLE) == (np.arange(step, n) // CIRCLE)
            met = same & (rng.random(n - step) < WITHIN)
            found.append(np.column_stack([here[met], there[met]]))
    sociable = rng.lognormal(0.0, SPREAD, n)
    found.append(rng.choice(n, (int(n * ANYWHERE / 2), 2), p=sociable / sociable.sum()))
    ties = np.sort(np.concatenate(found), axis=1)
    ties = np.unique(ties[ties[:, 0] != ties[:, 1]], axis=0) + 1
    return pl.DataFrame({"person": ties[:, 0], "friend": ties[:, 1]})
