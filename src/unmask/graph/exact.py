"""The paper's attack, solved: the union of all maximum cliques of the product graph, with a certificate.

Small product graphs become rows of bits; larger ones are first thinned by hashed signatures, never held whole. The same
machinery answers the calibration's question: would files without anyone in common show a clique of this size?
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.graph.distances import Place, label_codes
from unmask.kernels.cliques.agreement import all_pairs
from unmask.kernels.cliques.cliques import Cliques, improve, largest, maximum_cliques, silent
from unmask.kernels.cliques.hashed import greedy_from, thin
from unmask.kernels.cliques.product import Sides, Window, adjacency, consistency, matching_bounds, sides, vertices
from unmask.kernels.cliques.truss import prune
from unmask.study.ask import check_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unmask.kernels.base.bits import Words
    from unmask.kernels.cliques.cliques import Tell

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

DENSE = 66_000  # vertices whose rows of bits take half a gigabyte


@dataclass(frozen=True, slots=True)
class Problem:
    """Two files in the order of the kernels: grouped by label, then by content."""

    target: Place
    identification: Place
    order1: Ints  # kernel record -> row of the target file
    order2: Ints
    start1: Ints  # (labels + 1,)
    start2: Ints
    couples: Ints  # labels that may match
    window: Window

    @property
    def n_vertices(self) -> int:
        """Pairs of records that may match by their labels."""
        a, b = np.diff(self.start1), np.diff(self.start2)
        return int((a[self.couples[:, 0]] * b[self.couples[:, 1]]).sum())

    @property
    def label1(self) -> Ints:
        """Label of every target record, in `order1`."""
        return _labels(self.start1)

    @property
    def label2(self) -> Ints:
        """Label of every identification record, in `order2`."""
        return _labels(self.start2)

    def distances_to(self, rows: Ints, cols: Ints) -> tuple[Floats, Floats]:
        """Distances of everybody to some records of either file, side by side."""
        one, two = self.target.rows(self.order1[rows]), self.identification.rows(self.order2[cols])
        return np.ascontiguousarray(one[:, self.order1].T), np.ascontiguousarray(two[:, self.order2].T)

    def copies(self) -> tuple[Ints, Ints]:
        """One number for all records of a file that nothing can tell apart: the same label, the same distances."""
        return _copies(self.target, self.order1, self.label1), _copies(self.identification, self.order2, self.label2)

    @property
    def memory(self) -> int:
        """Bytes that the exact attack takes: sorted distances of both files, vertices, and rows of bits twice."""
        n1, n2, bits = self.target.n, self.identification.n, min(self.n_vertices, DENSE)
        return 20 * (n1**2 + n2**2) + 24 * max(n1, n2) ** 2 + 16 * self.n_vertices + bits**2 // 4

    def sides(self, *, joins: bool = True) -> Sides:
        """Both files as the kernels want them, ready for window joins or not."""
        d1, d2 = self.target.block(self.order1), self.identification.block(self.order2)
        return sides(d1, d2, self.start1, self.start2, self.couples, self.window, joins=joins)

    def exact_sides(self) -> Sides:
        """Both files ready for `solve` and `reaches`: product graphs that fit in rows of bits need no window joins."""
        return self.sides(joins=self.n_vertices > DENSE)


def pose(target: Place, identification: Place, window: Window, label_distance: Mapping[str, float] | None) -> Problem:
    """Code the labels, order both files, and say which labels may match."""
    codes1, codes2, values = label_codes(target, identification)
    order1, order2 = target.order(codes1), identification.order(codes2)
    n_labels = int(max(codes1.max(), codes2.max())) + 1
    edges = np.arange(n_labels + 1)
    start1, start2 = np.searchsorted(codes1[order1], edges), np.searchsorted(codes2[order2], edges)
    held1, held2 = np.flatnonzero(np.diff(start1)), np.flatnonzero(np.diff(start2))
    if not label_distance:
        same = np.intersect1d(held1, held2)
        couples = np.column_stack([same, same])
    else:
        check_memory(24 * len(held1) * len(held2), "comparing all labels with all", "round them, or no label distance")
        near = np.ones((len(held1), len(held2)), dtype=bool)
        for name, value in zip(target.labels.columns, values, strict=True):
            gap = np.abs(value[held1][:, None] - value[held2])
            near &= (gap <= label_distance.get(name, 0.0)) | (np.isnan(value[held1])[:, None] & np.isnan(value[held2]))
        i, j = np.nonzero(near)
        couples = np.column_stack([held1[i], held2[j]])
    return Problem(target, identification, order1, order2, start1, start2, couples.astype(np.int64), window)


def greedy_clique(s: Sides, rows: Shorts, cols: Shorts, roofs: Shorts, starts: int) -> Shorts:
    """Return a greedy clique through the vertices that agree with most of the files."""
    out = np.empty(min(len(s.d1), len(s.d2)) + 1, dtype=np.int32)
    first = np.argsort(-roofs, kind="stable")[:starts].astype(np.int32)
    return np.sort(out[: greedy_from(s, rows, cols, first, 0, out)])


def _roof(s: Sides) -> int:
    """No more matches than each label has people in the smaller file (and no more than either file has)."""
    n1, n2 = np.diff(s.start1)[s.couples[:, 0]], np.diff(s.start2)[s.couples[:, 1]]
    return min(len(s.d1), len(s.d2), int(np.minimum(n1, n2).sum()))


def _labels(start: Ints) -> Ints:
    """Label of each record of a file that is sorted by labels."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def _copies(place: Place, order: Ints, label: Ints) -> Ints:
    """One number for all records of one label at one place (of a matrix: with the same distances to everybody)."""
    if place.points is not None:
        return _classes(label, place.points[order])
    return _classes(label, (place.rows(order[k : k + 1])[0, order] for k in range(len(order))))


def _twins(distances: Floats, start: Ints) -> Ints:
    """One number for all records of a label that nothing can tell apart: the same distances to everybody."""
    return _classes(_labels(start), distances)


def _classes(label: Ints, rows: Iterable[Floats]) -> Ints:
    """One number for all records of equal labels and rows."""
    seen: dict[tuple[int, bytes], int] = {}
    keys = ((int(a), blake2b(row.tobytes()).digest()) for a, row in zip(label, rows, strict=True))
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def orbits(s: Sides, rows: Shorts, cols: Shorts) -> Shorts:
    """One number for all vertices that exchanging twins takes into each other: all or none lie in a maximum clique."""
    one, two = _twins(s.d1, s.start1), _twins(s.d2, s.start2)
    pairs = one[rows] * (int(two.max(initial=0)) + 1) + two[cols]
    return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int32)


def solve(s: Sides, *, budget: int, tell: Tell = silent) -> tuple[Cliques, Shorts, Shorts]:
    """Solve the product graph. Returns its cliques over the vertices kept, and their records on both sides."""
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    if len(rows) <= DENSE:
        bits = all_pairs(s, rows, cols)
        none = np.zeros(0, dtype=np.int32)
        same = orbits(s, rows, cols)
        found = maximum_cliques(bits, rows, cols, bound=none, orbit=same, roof=_roof(s), budget=budget, tell=tell)
        return found, rows, cols
    roofs = matching_bounds(s, rows, cols)
    clique = greedy_clique(s, rows, cols, roofs, 8)
    keep = np.flatnonzero(roofs >= len(clique)).astype(np.int32)
    if len(keep) > DENSE:
        keep = keep[thin(s, keep, rows[keep], cols[keep], len(clique))]
    if len(keep) > DENSE:  # nothing was proven: what greed found is all there is to say
        keep, certain = clique, False
    else:
        certain = True
    roof = int(roofs.max(initial=0))
    bits = adjacency(s, keep, rows[keep], cols[keep])
    bound = np.searchsorted(keep, clique).astype(np.int32)
    same = orbits(s, rows[keep], cols[keep])
    found = maximum_cliques(bits, rows[keep], cols[keep], bound=bound, orbit=same, roof=roof, budget=budget, tell=tell)
    return found._replace(certified=found.certified and certain), rows[keep], cols[keep]


def reaches(s: Sides, need: int, *, budget: int) -> tuple[int, bool]:
    """Size of a clique found with little effort, and whether one of ``need`` members exists (or was not excluded)."""
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    if len(rows) == 0 or _roof(s) < need:
        return 0, False
    if len(rows) <= DENSE:
        return _decide(all_pairs(s, rows, cols), rows, cols, need, budget)
    roofs = matching_bounds(s, rows, cols)
    clique = greedy_clique(s, rows, cols, roofs, 8)
    if len(clique) >= need or int(roofs.max()) < need:
        return len(clique), len(clique) >= need
    keep = np.flatnonzero(roofs >= need).astype(np.int32)
    if len(keep) > DENSE:
        keep = keep[thin(s, keep, rows[keep], cols[keep], need)]
    if len(keep) > DENSE:
        return len(clique), True
    size, met = _decide(adjacency(s, keep, rows[keep], cols[keep]), rows[keep], cols[keep], need, budget)
    return max(size, len(clique)), met


def _decide(bits: Words, rows: Shorts, cols: Shorts, need: int, budget: int) -> tuple[int, bool]:
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


def quasi(s: Sides, rows: Shorts, cols: Shorts, gamma: float) -> tuple[Shorts, Shorts]:
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
