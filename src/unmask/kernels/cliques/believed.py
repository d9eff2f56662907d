"""Votes: which pairs of records agree with a set of matches that is believed already?

Each record is described by its distances to the k believed matches; a pair is a candidate when enough of its k
distances agree. Pairs that do not belong together fail at the first few, so that millions of pairs cost little more
than being named.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.cliques.product import Window
from unmask.kernels.compiling import kernel


@kernel
def agreeing(
    e1: Floats, e2: Floats, start1: Ints, start2: Ints, couples: Ints, window: Window, misses: int
) -> tuple[Codes, Codes, Codes]:  # fmt: skip
    """Pairs that disagree with at most ``misses`` of the k believed matches, and with how many each agrees.

    ``e1`` (n1, k) and ``e2`` (n2, k): distances of each record to the believed matches, side by side.
    """
    low, high, low_slope, high_slope = window
    k = e1.shape[1]
    rows, cols, counts = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)
    n = 0
    for c in range(len(couples)):
        a, b = couples[c]
        for v in range(start1[a], start1[a + 1]):
            for w in range(start2[b], start2[b + 1]):
                missed = 0
                for i in range(k):
                    d1, d2 = e1[v, i], e2[w, i]
                    missed += not (d2 - low_slope * d1 > low and d2 - high_slope * d1 < high)
                    if missed > misses:
                        break
                if missed > misses:
                    continue
                if n == len(rows):
                    more = np.empty(n, np.int32)
                    rows, cols = np.concatenate((rows, more)), np.concatenate((cols, more))
                    counts = np.concatenate((counts, more))
                rows[n], cols[n], counts[n] = v, w, k - missed
                n += 1
    return rows[:n], cols[:n], counts[:n]


@kernel
def misfit(
    e1: Floats, e2: Floats, who1: Ints, who2: Ints, own1: Ints, own2: Ints, window: Window, unit: float, most: float
) -> Floats:  # fmt: skip
    """How far each record of one file is from fitting each of the other: mean square deviation of its distances.

    Deviations are from the middle of the window, in ``unit`` of its half width, and no square counts for more than
    ``most``. ``e1`` (n1, k), ``e2`` (n2, k): distances to the believed matches. A match does not vote on its own
    records (nor on their copies): ``who1``, ``who2`` say who the records are, ``own1``, ``own2`` who the matches are.
    """
    low, high, low_slope, high_slope = window
    out = np.full((len(e1), len(e2)), most)
    for v in range(len(e1)):
        for w in range(len(e2)):
            total, asked = 0.0, 0
            for k in range(len(own1)):
                if own1[k] == who1[v] or own2[k] == who2[w]:
                    continue
                d1, d2 = e1[v, k], e2[w, k]
                bottom, top = low + low_slope * d1, high + high_slope * d1
                off, reach = abs(2 * d2 - bottom - top), unit * (top - bottom)
                total += min(most, (off / reach) ** 2) if reach > 0 else most * (off > 0)
                asked += 1
            if asked:
                out[v, w] = total / asked
    return out
