"""Rows of bits: a set of k things is ``ceil(k / 64)`` unsigned words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes
from unmask.kernels.compiling import kernel, lowest, popcount

Words = NDArray[np.uint64]

ONE = np.uint64(1)
ZERO = np.uint64(0)


@kernel
def words_for(k: int) -> int:
    """Words that hold k bits."""
    return (k + 63) >> 6


@kernel
def put(row: Words, k: int) -> None:
    """Add k to the set."""
    row[k >> 6] |= ONE << np.uint64(k & 63)


@kernel
def drop(row: Words, k: int) -> None:
    """Take k out of the set."""
    row[k >> 6] &= ~(ONE << np.uint64(k & 63))


@kernel
def has(row: Words, k: int) -> bool:
    """Say whether k is in the set."""
    return bool((row[k >> 6] >> np.uint64(k & 63)) & ONE)


@kernel
def size(row: Words) -> int:
    """Count the members of the set."""
    total = 0
    for i in range(len(row)):
        total += popcount(row[i])
    return total


@kernel
def shared(a: Words, b: Words) -> int:
    """Count what two sets have in common."""
    total = 0
    for i in range(len(a)):
        total += popcount(a[i] & b[i])
    return total


@kernel
def members(row: Words, out: Codes) -> int:
    """Write the members in rising order; return how many."""
    k = 0
    for i in range(len(row)):
        word = row[i]
        while word != ZERO:
            out[k] = (i << 6) + lowest(word)
            k += 1
            word &= word - ONE
    return k


@kernel
def _turn(block: Words) -> None:
    """Transpose a square of 64 x 64 bits: halves of its halves change places, six times."""
    span, mask = 32, np.uint64(0x00000000FFFFFFFF)
    while span > 0:
        shift = np.uint64(span)
        k = 0
        while k < 64:
            swap = ((block[k] >> shift) ^ block[k + span]) & mask
            block[k + span] ^= swap
            block[k] ^= swap << shift
            k = (k + span + 1) & ~span
        span >>= 1
        mask ^= mask << np.uint64(max(span, 1))


@kernel
def mirror(bits: Words) -> None:
    """Add to an upper half of a square of bits its lower half."""
    n = len(bits)
    block = np.empty(64, dtype=np.uint64)
    for i in range(words_for(n)):
        height = min(64, n - 64 * i)
        for j in range(i, words_for(n)):
            some = ZERO
            block[:] = ZERO
            for r in range(height):
                block[r] = bits[64 * i + r, j]
                some |= block[r]
            if some == ZERO:
                continue
            _turn(block)
            for r in range(min(64, n - 64 * j)):
                bits[64 * j + r, i] |= block[r]
