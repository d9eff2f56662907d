"""One numeric attribute: both files in sorted order are matched, and prices follow from neighbours alone.

On a line the cost of two pairs never falls when they are crossed (convex costs of a difference are Monge),
so the k-th smallest values belong together. An auction would find it too, though slowly: on a line everybody's second
choice is next door, and prices have to climb all the way.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Floats, Ints, Space


def is_line(space: Space) -> bool:
    """Tell whether two files of equal size have one numeric attribute without missing values, and nothing else."""
    if len(space.queries) != len(space.points) or space.queries.shape[1] != 1 or space.query_codes.shape[1]:
        return False
    return not (np.isnan(space.queries).any() or np.isnan(space.points).any())


def match_line(space: Space, rng: np.random.Generator, *, squared: bool) -> tuple[Ints, Ints, Floats]:
    """Return matched rows and columns and the prices of these columns. Equal values are matched at random.

    The price of the next point lies between what keeps the last query from preferring it and what keeps its own query
    from preferring the last point. By the Monge property neighbours are the only ones to be kept apart.
    """
    rows, cols = (_sorted(side[:, 0], rng) for side in (space.queries, space.points))
    a, b = space.queries[rows, 0], space.points[cols, 0]

    def cost(x: Floats, y: Floats) -> Floats:
        return (x - y) ** 2 if squared else np.abs(x - y)

    least = cost(a[:-1], b[:-1]) - cost(a[:-1], b[1:])
    most = cost(a[1:], b[:-1]) - cost(a[1:], b[1:])
    return rows, cols, np.concatenate(([0.0], np.cumsum(0.5 * (least + most))))


def _sorted(values: Floats, rng: np.random.Generator) -> Ints:
    lots = rng.permutation(len(values))
    return lots[np.argsort(values[lots], kind="stable")]
