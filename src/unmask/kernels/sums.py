"""Numbers added as whole ones, which lose nothing in any order: the inner loop of tables/sums.py, far faster."""

from __future__ import annotations

import math

import numpy as np

from unmask.kernels.base import Floats
from unmask.kernels.compiling import lean

__all__ = ["added"]

MOST = 1000  # a power of two of this exponent is a number, and so is its inverse


def added(values: Floats, shift: int, rest: int) -> tuple[int, int]:
    """The sums of the whole parts of numbers times 2**shift, and of 2**rest times what is left of each.

    Two powers of two in place of one: a single one may be too large for a number, while what is scaled by it is not.
    """
    part = max(-MOST, min(MOST, shift))
    values = np.ascontiguousarray(values)
    high, low = _added(values, math.ldexp(1.0, part), math.ldexp(1.0, shift - part), math.ldexp(1.0, rest))
    return int(high), int(low)


@lean
def _added(values: Floats, one: float, other: float, rest: float) -> tuple[int, int]:
    high = low = 0
    for value in values:
        scaled = value * one * other
        whole = math.floor(scaled)
        high += int(whole)
        low += int((scaled - whole) * rest)
    return high, low
