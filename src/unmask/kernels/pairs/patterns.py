"""How often each pattern of agreement occurs among all pairs of two files: exactly, and without a list of pairs.

Two ways, which give the same whole numbers:

- *By groups*, for exact agreement: `sets.py`.
- *Pair by pair*, for any levels, here: a pass over all pairs that keeps one counter per pattern it meets.

A pattern is a number in mixed radix, the first attribute first; digit 0 is the closest agreement.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.pairs.sets import Patterns

DENSE = 1 << 20  # patterns up to which every one has its own counter
ALONE = 2_000_000  # pairs up to which starting threads takes longer than counting


@inner
def level_of(gap: float, edges: Floats, n_edges: int) -> int:
    """Level of one difference: the number of edges that it is beyond; one more than those for missing."""
    if gap != gap:  # noqa: PLR0124  NaN
        return n_edges + 1
    level = 0
    while level < n_edges and gap > edges[level]:
        level += 1
    return level


def patterns_by_pairs(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> Patterns:
    """Count the patterns over all pairs; NaN is missing, and ``edges`` (attributes, most) bound the levels."""
    found: list[tuple[Ints, Ints]] = []
    dense = float(np.prod(radix.astype(np.float64))) <= DENSE
    few = len(left) * len(right) <= ALONE

    def work(part: slice) -> None:
        if dense:
            counts = _count_all(left[part], right, edges, n_edges, radix, int(np.prod(radix)))
            code = np.flatnonzero(counts)
            found.append((code, counts[code]))
        else:
            found.append(_count_hashed(left[part], right, edges, n_edges, radix))

    in_chunks(work, len(left), chunk=len(left) if few else max(64, -(-len(left) // (4 * nb.get_num_threads()))))
    codes, counts = (np.concatenate(side) for side in zip(*found, strict=True))
    code, where = np.unique(codes, return_inverse=True)
    return Patterns(code, np.bincount(where, counts, minlength=len(code)).astype(np.int64))


@inner
def _pattern(a: Floats, b: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> int:
    code = 0
    for k in range(a.shape[0]):
        code = code * radix[k] + level_of(abs(a[k] - b[k]), edges[k], n_edges[k])
    return code


@kernel
def _count_all(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints, room: int) -> Ints:
    counts = np.zeros(room, dtype=np.int64)
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            counts[_pattern(left[i], right[j], edges, n_edges, radix)] += 1
    return counts


@kernel
def _count_hashed(left: Floats, right: Floats, edges: Floats, n_edges: Ints, radix: Ints) -> tuple[Ints, Ints]:
    bits, used = 12, 0
    keys = np.full(1 << bits, -1, dtype=np.int64)
    counts = np.zeros(1 << bits, dtype=np.int64)
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            used += _add(keys, counts, _pattern(left[i], right[j], edges, n_edges, radix), 1)
            if 2 * used > keys.shape[0]:
                old_keys, old_counts = keys, counts
                bits += 1
                keys = np.full(1 << bits, -1, dtype=np.int64)
                counts = np.zeros(1 << bits, dtype=np.int64)
                for s in range(old_keys.shape[0]):
                    if old_keys[s] >= 0:
                        _add(keys, counts, old_keys[s], old_counts[s])
    there = np.flatnonzero(keys >= 0)
    return keys[there], counts[there]


@kernel
def _add(keys: Ints, counts: Ints, key: int, amount: int) -> int:
    """Add to a key's counter; 1 if the key is new."""
    mask = keys.shape[0] - 1
    h = (key ^ (key >> 32)) & 0xFFFFFFFF
    h = (h * 0x45D9F3B) & 0xFFFFFFFF
    at = (h ^ (h >> 15)) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    counts[at] += amount
    if keys[at] >= 0:
        return 0
    keys[at] = key
    return 1
