"""Identical records, grouped: a search works on distinct records and on how often each occurs.

Microaggregation, rounding and codes make many equal records. Equal records have equal distances to everything, so one
of them is searched for all; without this a file of equal rows would cost n comparisons per query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.compiling import inner, kernel

__all__ = ["Groups", "identical", "label_rows", "label_values", "labels"]


ZERO = np.iinfo(np.int64).min  # the bits of -0.0: no number has lower ones


class Groups(NamedTuple):
    """Groups of identical rows, ordered by their first row; members ascend within a group."""

    first: Ints  # (g,) the lowest row of each group: its name
    label: Ints  # (n,) the group of each row
    start: Ints  # (g + 1,) where each group's members start
    members: Ints  # (n,)


def labels(values: Floats, codes: Codes) -> tuple[Ints, Ints]:
    """First row and label of each group of rows whose values (NaN equals NaN, 0.0 equals -0.0) and codes all agree."""
    words = np.ascontiguousarray(values).view(np.int64)
    if words.size and (words.min() == ZERO or np.isnan(values.max())):  # else no copy is needed, which takes as long
        words = (values + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0
        words[np.isnan(values)] = -1  # no finite number has these bits
    return label_rows(words, codes)


def identical(values: Floats, codes: Codes) -> Groups:
    """Group the rows that agree in everything, with the members of each group."""
    first, label = labels(values, codes)
    counts = np.bincount(label, minlength=len(first))
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    if len(first) == len(label):
        return Groups(first, label, start, first)
    return Groups(first, label, start, np.argsort(label, kind="stable").astype(np.int64))


@inner
def _same(words: Ints, codes: Codes, i: int, j: int) -> bool:
    for k in range(words.shape[1]):
        if words[i, k] != words[j, k]:
            return False
    for k in range(codes.shape[1]):  # noqa: SIM110  numba has no generator expressions
        if codes[i, k] != codes[j, k]:
            return False
    return True


@inner
def _slot(words: Ints, codes: Codes, i: int, factors: Ints, bits: int) -> int:
    """A sum of products, which do not wait for one another; bits beyond 64 are lost, or not, with equal results."""
    h, width = 0, words.shape[1]
    for k in range(width):
        w = int(words[i, k])
        h += (w ^ (w >> 32)) * int(factors[k])
    for k in range(codes.shape[1]):
        h += int(codes[i, k]) * int(factors[width + k])
    return (h >> 32) & ((1 << bits) - 1)


@inner
def _fill_factors(factors: Ints) -> None:
    """One odd number of 61 bits for each column, by a linear congruence in 31 bits."""
    state = 0x2C1B3C6D
    for k in range(factors.shape[0]):
        high = (state * 0x297A2D39 + 0x3C6EF35F) & 0x7FFFFFFF
        state = (high * 0x297A2D39 + 0x3C6EF35F) & 0x7FFFFFFF
        factors[k] = (high << 30) ^ state | 1


@kernel
def label_values(values: Ints) -> tuple[Ints, int]:
    """The group of each of many whole numbers, numbered as they come, and how many groups there are.

    As `label_rows` of one column, several times faster: each place of the table holds its number, so that one look
    there is enough.
    """
    n = values.shape[0]
    bits = 4
    while (1 << bits) < 2 * n and bits < 31:
        bits += 1
    mask = (1 << bits) - 1
    table = np.full(1 << bits, -1, dtype=np.int64)
    kept = np.empty(1 << bits, dtype=np.int64)
    label = np.empty(n, dtype=np.int64)
    found = 0
    for i in range(n):
        w = int(values[i])
        h = ((w & 0xFFFFFFFF) * 0x2C1B3C6D) & 0xFFFFFFFF
        h = (((h ^ (h >> 15)) ^ ((w >> 32) & 0xFFFFFFFF)) * 0x297A2D39) & 0xFFFFFFFF
        at = (h ^ (h >> 15)) & mask
        while table[at] >= 0 and kept[at] != w:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = found
            kept[at] = w
            found += 1
        label[i] = table[at]
    return label, found


@kernel
def label_rows(words: Ints, codes: Codes) -> tuple[Ints, Ints]:
    """First row and label of each group of equal rows, numbered as they come: open addressing over the rows so far."""
    n = words.shape[0]
    bits = 4
    while (1 << bits) < 2 * n and bits < 31:
        bits += 1
    table = np.full(1 << bits, -1, dtype=np.int32)
    factors = np.empty(words.shape[1] + codes.shape[1], dtype=np.int64)
    _fill_factors(factors)
    first = np.empty(n, dtype=np.int64)
    label = np.empty(n, dtype=np.int64)
    found = 0
    for i in range(n):
        at = _slot(words, codes, i, factors, bits)
        while table[at] >= 0 and not _same(words, codes, first[table[at]], i):
            at = (at + 1) & ((1 << bits) - 1)
        if table[at] < 0:
            table[at] = found
            first[found] = i
            found += 1
        label[i] = table[at]
    return first[:found].copy(), label
