"""Candidates beyond the lists: thousands that are each unlikely may together be likelier than the best one on a list.

They are counted by samples that are the coarser the farther away they are. Of every 8th point the nearest ones stand
for 8 each, of every 64th those that are farther away for 64, and so on until a sample is so small that it is looked
at as a whole. Points come in the order of a hash, so every 8th one is a sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Space
from unmask.kernels.search import nearest_k

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Few = NDArray[np.int32]

STEP = 8  # how much coarser each sample is than the one before
NEAR = 16  # points of a sample that are looked at


class Sampled(NamedTuple):
    """Pairs of a query and a point that is not on its list, and the logarithm of how many points it stands for."""

    query: Few
    point: Few
    weight: Floats


def beyond(space: Space, lists: Ints, seed: int) -> Sampled:
    """Sample the points that are not on the list of each query (-1: none).

    The nearest of a sample, but for the last of them, estimate without bias what lies within that last one's distance.
    """
    n, m = len(space.queries), len(space.points)
    listed = np.sort((np.arange(n)[:, None] * m + lists)[lists >= 0])
    parts: list[Sampled] = []
    step, inner, whole = STEP, np.full(n, -np.inf), lists.shape[1] >= m
    while not whole:
        whole = m < 2 * NEAR * step
        step = max(1, m // NEAR) if whole else step
        sample = np.arange(step // 2, m, step)
        there = space._replace(points=space.points[sample], point_codes=space.point_codes[sample])
        near, distance = nearest_k(there, sample.size if whole else NEAR, seed=seed)
        kept = distance >= inner[:, None]
        if not whole:
            kept &= distance < distance[:, -1:]
        query, place = np.nonzero(kept)
        point = sample[near[query, place]]
        fresh = ~_among(query * m + point, listed)
        weight = np.full(int(fresh.sum()), np.log(m / sample.size))
        parts.append(Sampled(query[fresh].astype(np.int32), point[fresh].astype(np.int32), weight))
        inner, step = np.maximum(inner, distance[:, -1]), step * STEP
    return Sampled(*(np.concatenate(side) for side in zip(*parts, strict=True))) if parts else NOTHING


NOTHING = Sampled(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0))


def _among(keys: Ints, listed: Ints) -> NDArray[np.bool_]:
    """Which keys are among sorted ones."""
    place = np.minimum(np.searchsorted(listed, keys), listed.size - 1)
    return np.asarray(listed[place] == keys)
