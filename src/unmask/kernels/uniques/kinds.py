"""Rows that are equal, counted; and values numbered anew, those of the records only, so that tables of them are small.

Rows lie one behind the other here: all that is known of a record is read at once, wherever the record lies.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, lean
from unmask.kernels.uniques.sides import Flags


class Kinds(NamedTuple):
    """The different rows of a table: the first of each, in their order, what it says, and how many are equal to it."""

    first: Codes
    table: Codes
    counts: Ints


class Numbered(NamedTuple):
    """Records and people with values 0, 1, ... of the records; columns of fewest values first, and their old places.

    The last two places of a record are 31 bits each of a word that tells on which attributes it is unique by itself;
    all its bits are set where another record is equal.
    """

    records: Codes
    people: Codes  # a value that no record has is a number above all
    columns: tuple[Codes, Codes]  # the same of both, attributes x rows
    cards: Ints  # values of each column
    order: Ints


def group_rows(table: Codes) -> Kinds:
    """Find the different rows of a table (rows x attributes)."""
    table = np.ascontiguousarray(table, np.int32)
    n = len(table)
    places = np.zeros(1 << max(4, (2 * n - 1).bit_length()), np.int64)
    first, counts = np.empty(n, np.int32), np.empty(n, np.int64)
    many = _group(table, places, first, counts)
    first, counts = first[:many].copy(), counts[:many].copy()
    return Kinds(first, table if len(first) == len(table) else table[first], counts)


def number_values(kinds: Kinds, people: Codes, apart: Collection[int] = ()) -> Numbered:
    """Number the values of each column; of columns in ``apart`` people have none of the records' values."""
    records, people = kinds.table, np.ascontiguousarray(people, np.int32)
    widths = np.maximum(records.max(axis=0, initial=0), people.max(axis=0, initial=0)).astype(np.int64) + 1
    offset = np.concatenate(([0], np.cumsum(widths)))
    numbers = np.zeros(offset[-1], np.int32)
    _count(records, offset, numbers)
    cards = np.array([np.count_nonzero(numbers[a:b]) for a, b in pairwise(offset.tolist())])
    absent = int(cards.max())
    for a, b in pairwise(offset.tolist()):
        part = numbers[a:b]
        part[:] = np.where(part, 2 * np.cumsum(part > 0) - 2 + (part == 1), 2 * absent)
    order, m = np.argsort(cards, kind="stable"), records.shape[1]
    sides = _rows_in_lines(len(records), m + 2), _rows_in_lines(len(people), m)
    columns = np.empty((m, len(records)), np.int32), np.empty((m, len(people)), np.int32)
    _renumber(records, kinds.counts == 1, offset, order, numbers, sides[0], columns[0])
    _renumber(people, np.empty(0, np.bool_), offset, order, numbers, sides[1], columns[1])
    for place in np.flatnonzero([column in apart for column in order]):
        sides[1][:, place] = columns[1][place] = absent
    return Numbered(*sides, columns, cards[order], order)


def _rows_in_lines(rows: int, width: int) -> Codes:
    """Room for rows of at least this width, in lines of the memory of their own: each is fetched at once."""
    width = -(-width // 16) * 16 if width > 8 else 8
    room = np.empty(rows * width + 16, np.int32)
    first = -room.ctypes.data % 64 // 4
    return room[first : first + rows * width].reshape(rows, width)


@lean
def _count(table: Codes, offset: Ints, seen: Codes) -> None:
    """Count the values of each column, one column's behind the other's."""
    for row in range(table.shape[0]):
        for k in range(table.shape[1]):
            seen[offset[k] + table[row, k]] += 1


@lean
def _renumber(
    table: Codes, alone: Flags, offset: Ints, order: Ints, numbers: Codes, rows: Codes, columns: Codes
) -> None:
    """Write the numbers of a table's values, column ``order[k]`` at place k; and of records where they are unique.

    ``numbers`` are twice the new ones, and 1 more where only one row has the value. ``alone``: no row is equal; nothing
    of people.
    """
    last = rows.shape[1] - 1
    for row in range(table.shape[0]):
        single = np.int64(0)
        for k in range(table.shape[1]):
            number = numbers[offset[order[k]] + table[row, order[k]]]
            rows[row, k] = columns[k, row] = number >> 1
            single |= np.int64(number & 1) << k
        if alone.shape[0]:
            if not alone[row]:
                single = np.int64(-1)
            rows[row, last - 1], rows[row, last] = single & 0x7FFFFFFF, single >> 31


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


@lean
def _group(table: Codes, kinds: Ints, first: Codes, counts: Ints) -> int:
    """Write the first row of each kind, and how many there are; return how many kinds.

    ``kinds`` is a table by hash, of a power of two places that are empty before: 31 bits of the hash above a kind's
    number and 1.
    """
    last, many = kinds.shape[0] - 1, 0
    for row in range(table.shape[0]):
        h = _hash(table, row)
        at = h & last
        while kinds[at] and not (kinds[at] >> 32 == h and _same(table, first[(kinds[at] & 0xFFFFFFFF) - 1], row)):
            at = (at + 1) & last
        if kinds[at]:
            counts[(kinds[at] & 0xFFFFFFFF) - 1] += 1
        else:
            first[many], counts[many] = row, 1
            many += 1
            kinds[at] = (h << 32) | many
    return many
