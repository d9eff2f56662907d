"""Questions to a space: the nearest records, and whether the true one is among them, with a look at the memory first.

An `Index` is a space and the tree over its points. The tree is planted when the first question comes and serves all
later ones, whoever asks and for however many of the people.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.kernels import search
from unmask.kernels.base import Space
from unmask.kernels.search import Decision, Nearest, Tree, plant
from unmask.study.memory import check_search, fits, memory_of_search
from unmask.threads import one_thread

Progress = Callable[[float, str], None]

WIDE = 30  # attributes from which on a tree asks OpenBLAS, whose other threads wait busily after each small product
MANY, FEW = 100_000, 5_000  # points from which on a tree is not planted for a decision about so few people

PREPARING = "preparing (kernels are compiled once, on the first run)"


def quiet(_fraction: float, _words: str) -> None:
    """Tell nobody."""


def _planted(space: Space) -> Tree:
    if space.points.shape[1] < WIDE:
        return plant(space)
    with one_thread():
        return plant(space)


class Index:
    """A space and the tree over its points. ``rows`` of a question: the queries that ask, all of them when None."""

    __slots__ = ("_tree", "space")

    def __init__(self, space: Space) -> None:
        self.space = space
        self._tree: Tree | None = None

    @property
    def size_in_memory(self) -> int:
        """Bytes, with the tree, whether it is planted or not."""
        return memory_of_search(self.space)

    def tree(self, tell: Progress = quiet) -> Tree:
        """The tree over the points, if it fits."""
        if self._tree is None:
            tell(0.0, PREPARING)
            check_search(self.space)
            self._tree = _planted(self.space)
        return self._tree

    def _asked(self, rows: Rows | None, tell: Progress = quiet) -> tuple[Space, Tree]:
        if rows is None:
            return self.space, self.tree(tell)
        asking = self.space.of(rows)
        if self._tree is None and not fits(self.space):  # a sample may still fit
            check_search(asking)
            return asking, _planted(asking)
        return asking, self.tree(tell)._replace(probes=np.ascontiguousarray(self.tree().probes[rows]))

    def nearest(self, *, seed: int, rows: Rows | None = None, tell: Progress = quiet) -> Nearest:
        """Find the nearest points, all ties counted."""
        space, tree = self._asked(rows, tell)
        return search.nearest(space, seed=seed, tree=tree, progress=lambda done: tell(done, "nearest records"))

    def least(self, *, rows: Rows | None = None, tell: Progress = quiet) -> Floats:
        """Find how far the nearest point is, and nothing else."""
        space, tree = self._asked(rows, tell)
        return search.least_distances(space, tree=tree, progress=lambda done: tell(done, "nearest records"))

    def nearest_k(self, k: int, *, seed: int, rows: Rows | None = None) -> tuple[Rows, Floats]:
        """Find the k nearest points: rows and reduced distances."""
        space, tree = self._asked(rows)
        return search.nearest_k(space, k, seed=seed, tree=tree)

    def decide(self, truth: Rows, *, rows: Rows | None = None, tell: Progress = quiet) -> Decision:
        """Decide only whether the true point is among the nearest, and in how large a tie: far cheaper.

        ``truth`` has one entry for each query that asks.
        """
        if rows is not None and self._tree is None and len(rows) <= FEW and len(self.space.points) >= MANY:
            return search.decide_few(self.space.of(rows), truth)
        space, tree = self._asked(rows, tell)
        return search.decide(
            space, truth, tree=tree, progress=lambda done: tell(done, "true records against nearer ones")
        )

    def decision_of(self, truth: Rows, found: Nearest, *, rows: Rows | None = None) -> Decision:
        """Read the same off the nearest points of those who ask."""
        return search.decision_of(self.space, truth, found, rows=rows)

    def rank_of_truth(self, truth: Rows, cap: int, *, rows: Rows | None = None) -> Rows:
        """Count the points that are strictly closer than the true one, up to ``cap``."""
        space, tree = self._asked(rows)
        return search.rank_of_truth(space, truth, cap, tree=tree)

    def tied(self, rows: Rows | None = None) -> tuple[Rows, Rows]:
        """List the nearest points of each query: where each one's start, and all of them."""
        space, tree = self._asked(rows)
        return search.tied(space, tree=tree)
