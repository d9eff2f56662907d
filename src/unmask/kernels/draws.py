"""Draws that break ties at random: a hash of seed, query and point, never the position of a row.

Each tied group of identical points draws an exponential waiting time whose rate is the group's size; the shortest wins,
so that every point of the tie has the same chance. A draw depends on (seed, query, point) alone: neither the order in
which a search meets the points nor the number of threads matters.
"""

from __future__ import annotations

import math

from unmask.kernels.base import LEAF, Ints
from unmask.kernels.compiling import inlined, inner, machine

__all__ = ["bar", "draw", "high_branches", "pick", "stem", "wait"]

MASK = 0xFFFFFFFF
SCRAMBLE = 0x45D9F3B


@inner
def mix(h: int) -> int:
    """Scramble 32 bits; products stay below 2**63, so plain Python gives the same numbers."""
    h = ((h ^ (h >> 16)) * SCRAMBLE) & MASK
    h = ((h ^ (h >> 16)) * SCRAMBLE) & MASK
    return h ^ (h >> 16)


@inner
def stem(seed: int, query: int, salt: int) -> int:
    """The part of draw() that is the same for all points."""
    h = mix((seed & MASK) ^ 0x9E3779B1)
    h = mix(h ^ ((seed >> 32) & MASK))
    h = mix((h + salt) & MASK)
    h = mix(h ^ (query & MASK))
    return mix(h ^ ((query >> 32) & MASK))


@inlined
def branch(h: int, point: int) -> int:
    """32 bits that look random, of a stem and a point."""
    h = mix(h ^ (point & MASK))
    return mix(h ^ ((point >> 32) & MASK))


@inner
def draw(seed: int, query: int, point: int, salt: int) -> int:
    """32 bits that look random."""
    return branch(stem(seed, query, salt), point)


@inlined
def wait(high: int, low: int, point: int, weight: int) -> float:
    """Waiting time of a group of `weight` identical points named by `point`; stems of salt 1 and 2."""
    uniform = (branch(high, point) * 4294967296.0 + branch(low, point) + 1.0) / 18446744073709551616.0
    return -math.log(uniform) / weight


@inlined
def bar(time: float, weight: int) -> int:
    """Who waits no longer than this has at least this branch of the stem of salt 1; `weight` is the largest there is.

    That branch is the larger half of the uniform number. What rounding does to it is far less than the two taken off.
    """
    return max(0, int(math.exp(-time * weight) * 4294967296.0) - 2)


@machine
def high_branches(rows: Ints, first: int, mask: int, h: int, least: int) -> int:
    """Those bits of a mask whose points, rows[first] and on, have at least this branch of a stem.

    All 48 rows of a leaf are read, whatever the mask.
    """
    found = 0
    for j in range(LEAF):
        found |= int(branch(h, rows[first + j]) >= least) << j
    return found & mask


@inlined
def pick(h: int, point: int, weight: int) -> int:
    """Which of a group's `weight` members wins; the stem of salt 3."""
    return branch(h, point) % weight
