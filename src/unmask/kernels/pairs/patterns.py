"""How often each pattern of agreement occurs among all pairs of two files: exactly, and without a list of pairs.

Two ways, which give the same whole numbers:

- *By groups*, for exact agreement: `sets.py`.
- *Pair by pair*, for any levels, here: the pattern of every pair, for some of the records at a time.

A pattern is a number in mixed radix, the first attribute first; digit 0 is the closest agreement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.pairs.sets import Patterns

DENSE = 1 << 20  # patterns up to which every one has its own counter
PAIRS = 1 << 21  # whose patterns are held at a time


@inner
def level_of(gap: float, edges: Floats, n_edges: int) -> int:
    """Level of one difference: the number of edges that it is beyond; one more than those for missing.

    Edges are inf beyond the last: looking at all of them is faster than stopping.
    """
    if gap != gap:  # noqa: PLR0124  NaN
        return n_edges + 1
    if n_edges == 1:
        return int(gap > edges[0])
    level = 0
    for edge in edges:
        level += gap > edge
    return level


def patterns_by_pairs(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> Patterns:
    """Count the patterns over all pairs; NaN is missing, and ``edges`` (attributes, most) bound the levels."""
    found: list[Patterns] = []
    dense = float(np.prod(radix.astype(np.float64))) <= DENSE

    def work(part: slice) -> None:
        codes = all_patterns(left[part], right, edges, n_edges, radix)
        if dense:
            counts = np.bincount(codes)
            there = np.flatnonzero(counts)
            found.append(Patterns(there, counts[there]))
        else:
            found.append(Patterns(*np.unique(codes, return_counts=True)))

    in_chunks(work, len(left), chunk=max(1, PAIRS // len(right)))
    codes, counts = (np.concatenate(side) for side in zip(*found, strict=True))
    code, where = np.unique(codes, return_inverse=True)
    return Patterns(code, np.bincount(where, counts, minlength=len(code)).astype(np.int64))


def levels_of(code: Ints, radix: Ints) -> NDArray[np.uint8]:
    """Levels of each pattern, (patterns, attributes)."""
    levels = np.empty((len(code), len(radix)), dtype=np.uint8)
    rest = code
    for k in range(len(radix) - 1, -1, -1):
        rest, digit = np.divmod(rest, radix[k])
        levels[:, k] = digit
    return levels


@kernel
def all_patterns(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> Ints:
    """The pattern of every pair."""
    codes = np.empty((left.shape[0], right.shape[0]), dtype=np.int64)
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            code = 0
            for k in range(left.shape[1]):
                code = code * radix[k] + level_of(abs(left[i, k] - right[j, k]), edges[k], n_edges[k])
            codes[i, j] = code
    return codes.ravel()
