"""The bits of one word; and a line of memory that is needed soon."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
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


@machine
def fetch(table: Codes, row: int) -> None:
    """Ask for the beginning of a row, which is read soon: it is on its way while other work is done."""
