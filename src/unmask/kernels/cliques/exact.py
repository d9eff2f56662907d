"""The union of all maximum cliques of a product graph with a certificate, and whether a clique of some size exists.

Small product graphs become rows of bits; larger ones are first thinned by hashed signatures, never held whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.cliques.bits import Words
from unmask.kernels.cliques.cliques import Cliques, Tell, improve, largest, maximum_cliques, silent
from unmask.kernels.cliques.hashed import greedy_from, thin
from unmask.kernels.cliques.product import Sides, adjacency, consistency, matching_bounds, vertices
from unmask.kernels.cliques.truss import prune

DENSE = 66_000  # vertices whose rows of bits take half a gigabyte


def greedy_clique(s: Sides, starts: int) -> tuple[Codes, Codes]:
    """Return the records of a greedy clique through the vertices that agree with most of the files."""
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    clique = _greedy(s, rows, cols, matching_bounds(s, rows, cols), starts)
    return rows[clique], cols[clique]


def _greedy(s: Sides, rows: Codes, cols: Codes, uppers: Codes, starts: int) -> Codes:
    """Return a greedy clique through the vertices that agree with most of the files."""
    out = np.empty(min(len(s.d1), len(s.d2)) + 1, dtype=np.int32)
    first = np.argsort(-uppers, kind="stable")[:starts].astype(np.int32)
    return np.sort(out[: greedy_from(s, rows, cols, first, 0, out)])


def _upper_bound(s: Sides) -> int:
    """No more matches than each label has people in the smaller file (and no more than either file has)."""
    n1, n2 = np.diff(s.start1)[s.couples[:, 0]], np.diff(s.start2)[s.couples[:, 1]]
    return min(len(s.d1), len(s.d2), int(np.minimum(n1, n2).sum()))


def label_of(start: Ints) -> Ints:
    """Label of each record of a file that is sorted by labels."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def copies(start: Ints, rows: Iterable[Floats]) -> Ints:
    """One number for all records of equal labels and rows."""
    seen: dict[tuple[int, bytes], int] = {}
    keys = ((int(a), blake2b(row.tobytes()).digest()) for a, row in zip(label_of(start), rows, strict=True))
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def _orbits(s: Sides, rows: Codes, cols: Codes) -> Codes:
    """One number for all vertices that exchanging twins takes into each other: all or none lie in a maximum clique."""
    one, two = copies(s.start1, s.d1), copies(s.start2, s.d2)
    pairs = one[rows] * (int(two.max(initial=0)) + 1) + two[cols]
    return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int32)


def solve(s: Sides, *, budget: int, tell: Tell = silent) -> tuple[Cliques, Codes, Codes]:
    """Solve the product graph. Returns its cliques over the vertices kept, and their records on both sides."""
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    bound, upper, certain = np.zeros(0, dtype=np.int32), _upper_bound(s), True
    if len(rows) > DENSE:
        uppers = matching_bounds(s, rows, cols)
        clique, upper = _greedy(s, rows, cols, uppers, 8), int(uppers.max(initial=0))
        keep = _thinned(s, rows, cols, uppers, len(clique))
        certain = len(keep) <= DENSE
        keep = keep if certain else clique  # nothing was proven: what greed found is all there is to say
        rows, cols, bound = rows[keep], cols[keep], np.searchsorted(keep, clique).astype(np.int32)
    bits, same = adjacency(s, rows, cols), _orbits(s, rows, cols)
    found = maximum_cliques(bits, rows, cols, bound=bound, orbit=same, upper=upper, budget=budget, tell=tell)
    return found._replace(certified=found.certified and certain), rows, cols


def _thinned(s: Sides, rows: Codes, cols: Codes, uppers: Codes, need: int) -> Codes:
    """Vertices that may lie in a clique of ``need`` members, thinned if they are still too many."""
    keep = np.flatnonzero(uppers >= need).astype(np.int32)
    return keep if len(keep) <= DENSE else keep[thin(s, keep, rows[keep], cols[keep], need)]


def reaches(s: Sides, need: int, *, budget: int) -> tuple[int, bool]:
    """Size of a clique found with little effort, and whether one of ``need`` members exists (or was not excluded)."""
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    if len(rows) == 0 or _upper_bound(s) < need:
        return 0, False
    known = 0
    if len(rows) > DENSE:
        uppers = matching_bounds(s, rows, cols)
        known = len(_greedy(s, rows, cols, uppers, 8))
        if known >= need or int(uppers.max()) < need:
            return known, known >= need
        keep = _thinned(s, rows, cols, uppers, need)
        if len(keep) > DENSE:
            return known, True
        rows, cols = rows[keep], cols[keep]
    size, met = _decide(adjacency(s, rows, cols), rows, cols, need, budget)
    return max(size, known), met


def _decide(bits: Words, rows: Codes, cols: Codes, need: int, budget: int) -> tuple[int, bool]:
    """Size of a clique met, and whether one of ``need`` members exists (or was not excluded within the budget)."""
    some = len(improve(bits, np.zeros(0, dtype=np.int32), np.arange(len(bits), dtype=np.int32), 8))
    if some >= need:
        return some, True
    bits, _ = prune(bits, rows, cols, need)
    if len(bits) < need:
        return some, False
    out = np.empty(len(bits) + 1, dtype=np.int32)
    size, work = largest(bits, need - 1, budget, out)
    return max(size, some), size >= need or work > budget


def quasi(s: Sides, rows: Codes, cols: Codes, gamma: float) -> tuple[Codes, Codes]:
    """Extend matches to a gamma-quasi-clique: pairs that agree with at least that share of the matches, one to one.

    Conflicts go to the pair that agrees with more; what two pairs claim equally nobody gets: row order never decides.
    """
    all_rows, all_cols = vertices(s.start1, s.start2, s.couples, s.first)
    share = consistency(s, all_rows, all_cols, rows, cols)
    taken = np.zeros(len(share), dtype=bool)
    free_row, free_col = np.ones(len(s.d1), dtype=bool), np.ones(len(s.d2), dtype=bool)
    free_row[rows], free_col[cols] = False, False
    candidates = np.flatnonzero((share >= gamma) & free_row[all_rows] & free_col[all_cols])
    for level in -np.unique(-share[candidates]):
        now = candidates[(share[candidates] == level) & free_row[all_rows[candidates]] & free_col[all_cols[candidates]]]
        alone = (np.bincount(all_rows[now], minlength=len(s.d1))[all_rows[now]] == 1) & (
            np.bincount(all_cols[now], minlength=len(s.d2))[all_cols[now]] == 1
        )
        taken[now[alone]] = True
        free_row[all_rows[now]], free_col[all_cols[now]] = False, False
    return np.concatenate([rows, all_rows[taken]]), np.concatenate([cols, all_cols[taken]])
