"""How far a masked value is from its own original among the ranks of the originals: one number for every width at once.

For each record, twice the half-width of the smallest window of ranks around the masked value that reaches the original.
Whoever asks for twenty widths compares this one number with twenty limits.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import kernel

__all__ = ["count_reached", "rank_gaps"]

NEVER = np.iinfo(np.int64).max  # no window reaches it: the masked value is missing


@kernel
def _gaps(values: Floats, rows: Ints, masked: Floats, masked_rows: Ints) -> tuple[Ints, Ints]:
    """Walk along both sorted columns together. Positions are doubled: between two ranks there is a half."""
    n, present = values.shape[0], masked.shape[0]
    gap = np.empty(n, dtype=np.int64)
    gap[:] = NEVER
    position = np.empty(present, dtype=np.int64)
    left, right = 0, 0
    for k in range(present):
        value = masked[k]
        while left < n and values[left] < value:
            left += 1
        right = max(left, right)
        while right < n and values[right] <= value:
            right += 1
        position[k] = min(max(left + right - 1, 0), 2 * (n - 1))
        gap[masked_rows[k]] = position[k]
    first = 0
    while first < n:
        last = first
        while last + 1 < n and values[last + 1] == values[first]:
            last += 1
        for k in range(first, last + 1):
            at = gap[rows[k]]
            if at != NEVER:
                gap[rows[k]] = max(at - 2 * last, 2 * first - at, 0)
        first = last + 1
    return gap, position


def rank_gaps(values: Floats, masked: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Return each record's doubled gap, the masked values' doubled positions, ascending, and both columns sorted.

    ``values`` has no NaN; the gap is NEVER where ``masked`` is NaN. A value that stands several times has the middle of
    its ranks as position; one that is not there stands between its neighbours.
    """
    rows, masked_rows = np.argsort(values), np.argsort(masked)
    present = int(masked.size - np.isnan(masked).sum())
    ordered, masked_ordered = values[rows], masked[masked_rows[:present]]
    gap, position = _gaps(ordered, rows, masked_ordered, masked_rows)
    return gap, position, ordered, masked_ordered


def count_reached(gaps: Floats | Ints, limits: Floats | Ints, total: Ints, histogram: Ints) -> None:
    """Add to ``total`` how many of the ascending ``limits`` reach each gap, and count records by that number.

    A gap of NaN, or of NEVER, is reached by none.
    """
    reached = len(limits) - np.searchsorted(limits, gaps)
    total += reached
    histogram += np.bincount(reached, minlength=len(histogram))
