"""Common neighbours of two people who are tied: how many, and sums over them."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import kernel


@kernel
def sum_over_common(start: Ints, indices: Codes, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """For each entry (u, w): how many x are tied to both, and the sums of ``low`` and ``high`` of the entries (u, x).

    Halves of a 64-bit number are added apart, so that no sum overflows.
    """
    n = len(start) - 1
    count, sum_low, sum_high = np.zeros_like(low), np.zeros_like(low), np.zeros_like(high)
    at = np.full(n, -1, np.int64)  # the entry (u, x) of each x
    for u in range(n):
        for a in range(start[u], start[u + 1]):
            at[indices[a]] = a
        for a in range(start[u], start[u + 1]):
            w = indices[a]
            for b in range(start[w], start[w + 1]):
                there = at[indices[b]]
                if there >= 0:
                    count[a] += 1
                    sum_low[a] += low[there]
                    sum_high[a] += high[there]
        for a in range(start[u], start[u + 1]):
            at[indices[a]] = -1
    return count, sum_low, sum_high
