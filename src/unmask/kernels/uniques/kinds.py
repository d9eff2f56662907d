"""Rows that are equal, counted; and values numbered anew, those of the records only, so that tables of them are small.

Rows lie one behind the other here: all that is known of a record is read at once, wherever the record lies.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, kernel, lean


class Kinds(NamedTuple):
    """The different rows of a table: the first of each, in their order, what it says, and how many are equal to it."""

    first: Codes
    table: Codes
    counts: Ints


class Numbered(NamedTuple):
    """Records and people with values 0, 1, ... of the records; columns of fewest values first, and their old places."""

    records: Codes
    people: Codes  # a value that no record has is a number above all
    cards: Ints  # values of each column
    order: Ints


def group_rows(table: Codes) -> Kinds:
    """Find the different rows of a table (rows x attributes)."""
    table = np.ascontiguousarray(table, np.int32)
    first, counts = _group(table)
    return Kinds(first, table if len(first) == len(table) else table[first], counts)


def number_values(records: Codes, people: Codes, apart: Collection[int] = ()) -> Numbered:
    """Number the values of each column; of columns in ``apart`` people have none of the records' values."""
    people = np.ascontiguousarray(people, np.int32)
    widths = np.maximum(records.max(axis=0, initial=0), people.max(axis=0, initial=0)).astype(np.int64) + 1
    offset = np.concatenate(([0], np.cumsum(widths)))
    numbers = np.zeros(offset[-1], np.int32)
    _mark(records, offset, numbers)
    cards = np.array([numbers[a:b].sum() for a, b in pairwise(offset.tolist())])
    absent = int(cards.max())
    for a, b in pairwise(offset.tolist()):
        part = numbers[a:b]
        part[:] = np.where(part, np.cumsum(part) - 1, absent)
    order = np.argsort(cards, kind="stable")
    sides = np.empty(records.shape, np.int32), np.empty(people.shape, np.int32)
    for side, numbered in zip((records, people), sides, strict=True):
        _renumber(side, offset, order, numbers, numbered)
    sides[1][:, [column in apart for column in order]] = absent
    return Numbered(*sides, cards[order], order)


@lean
def _mark(table: Codes, offset: Ints, seen: Codes) -> None:
    """Mark the values of each column, one column's behind the other's."""
    for row in range(table.shape[0]):
        for k in range(table.shape[1]):
            seen[offset[k] + table[row, k]] = 1


@lean
def _renumber(table: Codes, offset: Ints, order: Ints, numbers: Codes, out: Codes) -> None:
    """Write the numbers of a table's values, column ``order[k]`` at place k."""
    for row in range(table.shape[0]):
        for k in range(table.shape[1]):
            out[row, k] = numbers[offset[order[k]] + table[row, order[k]]]


@inner
def _hash(table: Codes, row: int) -> int:
    """31 bits of a row's values: steps of 32 bits, so that plain Python gives the same numbers."""
    h = 0x9E3779B1
    for k in range(table.shape[1]):
        h = ((h ^ int(table[row, k])) * 0x2C1B3C6D) & 0xFFFFFFFF
        h ^= h >> 15
    h = (h * 0x297A2D39) & 0xFFFFFFFF
    return (h ^ (h >> 15)) >> 1


@inner
def _same(table: Codes, row: int, other: int) -> bool:
    """Whether two rows are equal."""
    for k in range(table.shape[1]):  # noqa: SIM110 - numba has no generators without memory of their own
        if table[row, k] != table[other, k]:
            return False
    return True


@kernel
def _group(table: Codes) -> tuple[Codes, Ints]:
    """First row of each kind, and how many there are: a table by hash, 31 bits of it above a kind's number and 1."""
    n = table.shape[0]
    size = 16
    while size < 2 * n:
        size *= 2
    kinds = np.zeros(size, np.int64)
    first, counts = np.empty(n, np.int32), np.empty(n, np.int64)
    many = 0
    for row in range(n):
        h = _hash(table, row)
        at = h & (size - 1)
        while kinds[at] and not (kinds[at] >> 32 == h and _same(table, first[(kinds[at] & 0xFFFFFFFF) - 1], row)):
            at = (at + 1) & (size - 1)
        if kinds[at]:
            counts[(kinds[at] & 0xFFFFFFFF) - 1] += 1
        else:
            first[many], counts[many] = row, 1
            many += 1
            kinds[at] = (h << 32) | many
    return first[:many].copy(), counts[:many].copy()
