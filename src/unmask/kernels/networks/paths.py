"""Shortest paths from some people to everybody."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import kernel


@kernel
def count_distances(start: Ints, indices: Codes, sources: Ints) -> Ints:
    """How many people are 1, 2, 3 .. steps away from the sources, added up; place 0 counts those out of reach."""
    n = len(start) - 1
    counts = np.zeros(n + 1, np.int64)
    away, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    for s in sources:
        away[:] = -1
        away[s], queue[0] = 0, s
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for a in range(start[u], start[u + 1]):
                v = indices[a]
                if away[v] < 0:
                    away[v] = away[u] + 1
                    counts[away[v]] += 1
                    queue[tail] = v
                    tail += 1
        counts[0] += n - tail
    return counts
