"""Ints of every attribute set up to a size: groups, records alone, records in groups smaller than k.

The lattice of sets is walked depth first from partitions of the classes that occur (see ``partition``). A group that
is down to one class cannot be split any more: what it adds to the counts is the same for every larger set, so it is
settled once and dropped, and deep sets cost next to nothing.
"""

from __future__ import annotations

from math import comb

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, kernel
from unmask.kernels.uniques.partition import Levels, Scratch, by_cardinality, new_levels, new_scratch, restore, split


def subset_counts(codes: Codes, counts: Ints, *, max_size: int, k: int) -> tuple[Ints, Ints]:
    """Return masks and, for each mask, (groups, records alone, records in groups of fewer than k).

    ``codes`` (classes x attributes) are the distinct key combinations and ``counts`` their numbers of records; bit j
    of a mask stands for column j. Masks come in increasing order; the empty set is not among them.
    """
    m = codes.shape[1]
    max_size = min(max_size, m)
    total = sum(comb(m, size) for size in range(1, max_size + 1))
    columns, order, n_codes = by_cardinality(codes)
    n = len(codes)
    levels, scratch = new_levels(n, max_size), new_scratch(n, n_codes)
    masks, table = _walk(columns, counts.astype(np.int64), max_size, k, total, levels, scratch)
    restored = restore(masks, order)
    by = np.argsort(restored)
    return restored[by], table[by]


@inner
def _refine(
    column: Codes, counts: Ints, k: int, levels: Levels, depth: int, groups: int, settled: Ints, scratch: Scratch
) -> tuple[int, int]:
    """Split every group by one column; settle what is down to one class; return (kept, below k) of the rest."""
    rows, starts = levels.rows[depth - 1], levels.starts[depth - 1]
    out, ends, edges = levels.rows[depth], levels.starts[depth], scratch.edges
    at, kept, below = 0, 0, 0
    for g in range(groups):
        parts = split(column, rows, starts[g], starts[g + 1], out, at, scratch)
        for p in range(parts):
            begin, end = edges[p], edges[p + 1]
            if end - begin == 1:
                size = counts[out[begin]]
                settled[0] += 1
                settled[1] += size == 1
                settled[2] += size if size < k else 0
                continue
            size = 0
            ends[kept] = at
            kept += 1
            for i in range(begin, end):
                size += counts[out[i]]
                out[at] = out[i]
                at += 1
            below += size if size < k else 0
    ends[kept] = at
    return kept, below


@kernel
def _walk(
    columns: Codes, counts: Ints, max_size: int, k: int, total: int, levels: Levels, scratch: Scratch
) -> tuple[Ints, Ints]:
    m, n = columns.shape
    masks, table = np.empty(total, np.int64), np.empty((total, 3), np.int64)
    settled = np.zeros((max_size + 1, 3), np.int64)  # what the sets on the path have settled so far
    kept, chain = np.zeros(max_size + 1, np.int64), np.zeros(max_size + 1, np.int64)
    kept[0] = 1
    if n == 1:  # one class only: nothing is left to split
        kept[0] = 0
        settled[0, 0], settled[0, 1], settled[0, 2] = 1, counts[0] == 1, counts[0] if counts[0] < k else 0
    at, depth, mask = 0, 1, np.int64(1)
    chain[0] = m
    while depth > 0:
        for j in range(3):  # a copy of a slice compiles numba's text functions, for an error that cannot be
            settled[depth, j] = settled[depth - 1, j]
        kept[depth], below = _refine(
            columns[chain[depth]], counts, k, levels, depth, kept[depth - 1], settled[depth], scratch
        )
        masks[at] = mask
        table[at, 0] = settled[depth, 0] + kept[depth]
        table[at, 1] = settled[depth, 1]
        table[at, 2] = settled[depth, 2] + below
        at += 1
        if depth < max_size and chain[depth] > 0:
            depth += 1
            chain[depth] = 0
            mask |= np.int64(1)
            continue
        while depth > 0:
            mask ^= np.int64(1) << chain[depth]
            chain[depth] += 1
            if chain[depth] < chain[depth - 1]:
                mask |= np.int64(1) << chain[depth]
                break
            depth -= 1
    return masks, table
