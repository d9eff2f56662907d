"""Communities: groups of people with more ties among them than their numbers of ties would give [BLONDEL]_."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.compiling import kernel


@kernel
def move_people(start: Ints, indices: Codes, weights: Floats, loops: Floats, most: int) -> Ints:
    """One level of Louvain: everybody moves to the neighbouring community of largest gain, until nobody does.

    ``weights`` of entries and ``loops`` of people (twice the ties within, where a person stands for several). People
    are taken in their order, at most ``most`` times each.
    """
    n = len(start) - 1
    strength = loops.copy()
    for u in range(n):
        for a in range(start[u], start[u + 1]):
            strength[u] += weights[a]
    total = strength.sum()
    community, sums = np.arange(n), strength.copy()
    links, touched = np.zeros(n), np.empty(n, np.int64)
    for _ in range(most):
        moved = 0
        for u in range(n):
            found = 0
            for a in range(start[u], start[u + 1]):
                c = community[indices[a]]
                if links[c] == 0.0:
                    touched[found] = c
                    found += 1
                links[c] += weights[a]
            own = community[u]
            sums[own] -= strength[u]
            best, gain = own, links[own] - strength[u] * sums[own] / total
            for j in range(found):
                c = touched[j]
                more = links[c] - strength[u] * sums[c] / total
                if more > gain + 1e-12:
                    best, gain = c, more
            sums[best] += strength[u]
            moved += best != own
            community[u] = best
            for j in range(found):
                links[touched[j]] = 0.0
        if moved == 0:
            break
    return community
