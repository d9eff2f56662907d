"""The bits of one word."""

from __future__ import annotations

import numpy as np

from unmask.kernels.compiling.decorators import machine


@machine
def popcount(word: np.uint64) -> int:
    """Count the ones of a word."""
    left, count = word, 0
    while left != np.uint64(0):
        left &= left - np.uint64(1)
        count += 1
    return count


@machine
def lowest(word: np.uint64 | int) -> int:
    """Return the position of the lowest one of a word that has one."""
    left, place = np.uint64(word), 0
    while not left & np.uint64(1):
        left >>= np.uint64(1)
        place += 1
    return place
