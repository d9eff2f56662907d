"""Rank swapping in linear time: the unswapped ranks of the window in a list with constant-time removal."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import inner, kernel


@kernel
def swap_ranks(n: int, window: int, uniform: Floats) -> Ints:
    """Return for each rank the rank it trades with (itself where no partner is left); draws come in `uniform`."""
    partner = np.arange(n)
    free = np.empty(n, np.intp)  # unswapped ranks in (i, i + window], in no order
    place = np.full(n, -1, np.intp)  # where a rank stands in `free`, -1 when it is not there
    count, entered = 0, 1
    for i in range(n):
        while entered <= min(i + window, n - 1):
            free[count], place[entered] = entered, count
            count, entered = count + 1, entered + 1
        if i > 0 and place[i] < 0:
            continue  # swapped by an earlier rank
        if i > 0:
            count = _drop(free, place, i, count)
        if count == 0:
            continue
        j = free[min(int(uniform[i] * count), count - 1)]
        count = _drop(free, place, j, count)
        partner[i], partner[j] = j, i
    return partner


@inner
def _drop(free: Ints, place: Ints, rank: int, count: int) -> int:
    """Remove a rank from the list by putting the last one in its place."""
    last = free[count - 1]
    free[place[rank]], place[last] = last, place[rank]
    place[rank] = -1
    return count - 1
