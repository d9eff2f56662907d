"""Partitions of classes of equal records, refined one attribute at a time.

A *class* is a combination of key values that occurs; ``counts`` says how many records share it. A partition lists the
classes group by group: group g is ``rows[starts[g]:starts[g + 1]]``. Refining by one more attribute splits each group
by a counting sort that touches only the group's own members, so a walk over the lattice of attribute sets costs what
is left of the partition and not the table (stripped partitions, as in Manning, Haglin, Keane 2008 and in TANE).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner


class Scratch(NamedTuple):
    """Room for a counting sort: a counter for each code (all zero between uses), codes seen, edges of the parts."""

    tally: Codes
    touched: Codes
    edges: Codes


class Levels(NamedTuple):
    """Partitions along the path from the empty set to the set at hand: by its d highest attributes at place d."""

    rows: Codes
    starts: Codes


def new_scratch(n: int, n_codes: int) -> Scratch:
    """Allocate for n classes."""
    return Scratch(np.zeros(n_codes, np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int32))


def new_levels(n: int, max_size: int) -> Levels:
    """Allocate for n classes; the partition by no attribute is one group."""
    levels = Levels(np.empty((max_size + 1, n), np.int32), np.empty((max_size + 1, n // 2 + 2), np.int32))
    levels.rows[0], levels.starts[0, :2] = np.arange(n), (0, n)
    return levels


def by_cardinality(codes: Codes) -> tuple[Codes, Ints, int]:
    """Columns as rows, those of fewest values first, in few bytes; their old places; and the most values of any."""
    cards = codes.max(axis=0).astype(np.int64) + 1
    order = np.argsort(cards, kind="stable")
    narrow = np.uint8 if cards.max() <= 256 else np.int32  # a column that fits the cache is read twice as fast
    columns = np.empty((codes.shape[1], len(codes)), narrow)
    for place, column in enumerate(order):
        columns[place] = codes[:, column]
    return columns, order, int(cards.max())


def restore(masks: Ints, order: Ints) -> Ints:
    """Bits in the order of the walk back to bits in the caller's order of columns."""
    restored = np.zeros_like(masks)
    for position, column in enumerate(order):
        restored |= ((masks >> position) & 1) << np.int64(column)
    return restored


@inner
def split(column: Codes, rows: Codes, begin: int, end: int, out: Codes, at: int, scratch: Scratch) -> int:
    """Order ``rows[begin:end]`` by their code into ``out[at:]``; write where parts begin; return how many there are.

    ``edges[p]`` is the beginning of part p within ``out`` and ``edges[parts]`` the end. ``tally`` (one cell for each
    code, all zero) is left all zero; ``touched`` is scratch.
    """
    tally, touched, edges = scratch
    if end - begin == 2:
        first, second = rows[begin], rows[begin + 1]
        out[at], out[at + 1] = first, second
        edges[0] = at
        if column[first] == column[second]:
            edges[1] = at + 2
            return 1
        edges[1], edges[2] = at + 1, at + 2
        return 2
    parts = 0
    for i in range(begin, end):
        code = column[rows[i]]
        if tally[code] == 0:
            touched[parts] = code
            parts += 1
        tally[code] += 1
    place = at
    for p in range(parts):
        edges[p] = place
        place += tally[touched[p]]
        tally[touched[p]] = edges[p]
    edges[parts] = place
    for i in range(begin, end):
        code = column[rows[i]]
        out[tally[code]] = rows[i]
        tally[code] += 1
    for p in range(parts):
        tally[touched[p]] = 0
    return parts
