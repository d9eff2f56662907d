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
def _slot(words: Ints, codes: Codes, i: int, bits: int) -> int:
    """Multiplicative hash in 32-bit steps: products stay below 2**63, so plain Python gives the same numbers."""
    h = 0x9E3779B1
    for k in range(words.shape[1]):
        w = int(words[i, k])
        h = ((h ^ (w & 0xFFFFFFFF)) * 0x2C1B3C6D) & 0xFFFFFFFF
        h = (((h ^ (h >> 15)) ^ ((w >> 32) & 0xFFFFFFFF)) * 0x297A2D39) & 0xFFFFFFFF
    for k in range(codes.shape[1]):
        h = (((h ^ (h >> 15)) ^ (int(codes[i, k]) & 0xFFFFFFFF)) * 0x2C1B3C6D) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 0x297A2D39) & 0xFFFFFFFF
    return (h ^ (h >> 15)) & ((1 << bits) - 1)


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
    table = np.empty(1 << bits, dtype=np.int64)
    table[:] = -1
    first = np.empty(n, dtype=np.int64)
    label = np.empty(n, dtype=np.int64)
    found = 0
    for i in range(n):
        at = _slot(words, codes, i, bits)
        while table[at] >= 0 and not _same(words, codes, first[table[at]], i):
            at = (at + 1) & ((1 << bits) - 1)
        if table[at] < 0:
            table[at] = found
            first[found] = i
            found += 1
        label[i] = table[at]
    return first[:found].copy(), label
