"""The two files of a graph attack in the order of the kernels, and what every attack on them is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Progress
from unmask.graph.distances import Place, label_codes
from unmask.graph.null import Calibration, Null, calibrate
from unmask.kernels.cliques import DENSE, Sides, Window, copies, label_of, sides
from unmask.study import check_memory

Maps = tuple[Floats, Floats]
Play = Callable[["Problem"], tuple[float, bool]]  # what is found in a problem, and whether it is as much


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
        return label_of(self.start1)

    @property
    def label2(self) -> Ints:
        """Label of every identification record, in `order2`."""
        return label_of(self.start2)

    def distances_to(self, rows: Ints, cols: Ints) -> tuple[Floats, Floats]:
        """Distances of everybody to some records of either file, side by side."""
        one, two = self.target.rows(self.order1[rows]), self.identification.rows(self.order2[cols])
        return np.ascontiguousarray(one[:, self.order1].T), np.ascontiguousarray(two[:, self.order2].T)

    def copies(self) -> tuple[Ints, Ints]:
        """One number for all records of a file that nothing can tell apart: the same label, the same distances."""
        one, two = self.target.content(self.order1), self.identification.content(self.order2)
        return copies(self.start1, one), copies(self.start2, two)

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


@dataclass(frozen=True, slots=True)
class Task:
    """A problem, and what every attack on it is told."""

    problem: Problem
    null: Null | None
    strangers: Callable[[Callable[[], Maps], np.random.Generator], Problem]  # the same problem with nobody in common
    budget: int
    seed: int
    tell: Progress
    why: str  # why this attack
    noise: float = 0.0  # of one place, for the geometric attack
    everybody: bool = False  # the same: guess a partner for everybody
    gamma: float | None = None  # for the exact attack

    def by_chance(self, observed: float, maps: Callable[[], Maps], play: Play) -> Calibration | None:
        """Play the attack on files with nobody in common; ``maps``: both files on one map, as the answer lays them."""
        if self.null is None:
            return None
        return calibrate(
            observed,
            lambda rng: play(self.strangers(maps, rng)),
            self.null,
            self.seed,
            lambda done: self.tell(done, "null"),
        )
