"""Ties broken by lot: a hash of seed, query and point, never the position of a row.

Each tied group of identical points draws an exponential waiting time whose rate is the group's size; the shortest wins,
so that every point of the tie has the same chance. A draw depends on (seed, query, point) alone: neither the order in
which a search meets the points nor the number of threads matters.
"""

from __future__ import annotations

import math

from unmask.kernels.compiling import kernel

MASK = 0xFFFFFFFF


@kernel
def mix(h: int) -> int:
    """Scramble 32 bits; products stay below 2**63, so plain Python gives the same numbers."""
    h = ((h ^ (h >> 16)) * 0x45D9F3B) & MASK
    h = ((h ^ (h >> 16)) * 0x45D9F3B) & MASK
    return h ^ (h >> 16)


@kernel
def draw(seed: int, query: int, point: int, salt: int) -> int:
    """32 bits that look random."""
    h = mix((seed & MASK) ^ 0x9E3779B1)
    h = mix(h ^ ((seed >> 32) & MASK))
    h = mix((h + salt) & MASK)
    h = mix(h ^ (query & MASK))
    h = mix(h ^ ((query >> 32) & MASK))
    h = mix(h ^ (point & MASK))
    return mix(h ^ ((point >> 32) & MASK))


@kernel
def wait(seed: int, query: int, point: int, weight: int) -> float:
    """Waiting time of a group of `weight` identical points named by `point`."""
    high, low = draw(seed, query, point, 1), draw(seed, query, point, 2)
    return -math.log((high * 4294967296.0 + low + 1.0) / 18446744073709551616.0) / weight


@kernel
def may_win(seed: int, query: int, point: int, weight: int, waited: float) -> bool:
    """Tell, for a third of the price, whether wait() may be at most `waited`: -log(u) is at least 1 - u."""
    high = draw(seed, query, point, 1)
    return (1.0 - (high + 1.0) / 4294967296.0) / weight <= waited * (1.0 + 1e-12)


@kernel
def pick(seed: int, query: int, point: int, weight: int) -> int:
    """Which of a group's `weight` members wins."""
    return draw(seed, query, point, 3) % weight
