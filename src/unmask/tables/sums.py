"""Sums that no order of rows changes, without sorting: numbers are added as whole ones, which lose nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unmask.arrays import Floats

BITS = 61  # of the whole numbers that are added; their sum fits into 64 with its sign
BLOCK = 16_384  # numbers at a time: what is made of them stays in the cache

Adding = Callable[[Floats, int, int], tuple[int, int]]


def added(values: Floats, shift: int, rest: int) -> tuple[int, int]:
    """The sums of the whole parts of numbers times 2**shift, and of 2**rest times what is left of each."""
    high = low = 0
    for start in range(0, values.size, BLOCK):
        scaled = np.ldexp(values[start : start + BLOCK], shift)
        whole = np.floor(scaled)
        high += int(whole.astype(np.int64).sum())
        low += int(((scaled - whole) * 2.0**rest).astype(np.int64).sum())
    return high, low


def total(values: Floats, adding: Adding = added) -> float:
    """The sum of finite numbers: the same bits for any order of them.

    Each is scaled by one power of two and cut into two whole numbers, as long as n of them can be added exactly. What
    is cut off is below 2**(2 log2 n - 121) of the largest number, far less than the last bit of their sum can hold.
    ``adding`` does what `added` does: rooms that may use kernels have a faster one (kernels/sums.py).
    """
    if values.size == 0:
        return 0.0
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if largest == 0 or not math.isfinite(largest):
        return float(values.sum())
    length = int(values.size).bit_length()
    shift, rest = BITS - length - math.frexp(largest)[1], BITS - length
    high, low = adding(values, shift, rest)
    try:
        return math.ldexp((high << rest) + low, -shift - rest)
    except OverflowError:
        return math.copysign(math.inf, high)


def centre_and_spread(column: Floats, adding: Adding = added) -> tuple[float, float]:
    """Mean and sample sd of the present values: the same bits for any row order."""
    missing = np.isnan(column)
    values = column[~missing] if missing.any() else column
    if values.size == 0:
        return 0.0, 0.0
    first = float(values[0])
    if values[-1] == first and (values == first).all():  # a mean that is rounded would leave them a spread
        return first, 0.0
    mean = total(values, adding) / values.size
    squares = values - mean
    squares *= squares
    return mean, math.sqrt(total(squares, adding) / (values.size - 1))
