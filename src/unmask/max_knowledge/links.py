"""Nearest released records under the permutation distance: what the tests ask of the engine, and nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.evidence.measure import silent
from unmask.study import ask as local

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.evidence.measure import Progress
    from unmask.kernels.base import Space

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def least_distances(space: Space, tell: Progress = silent) -> Floats:
    """Return each query's distance to its nearest point."""
    return local.find_nearest(space, seed=0, tell=tell).least


def part(tell: Progress, start: float, end: float) -> Progress:
    """Let a task tell its progress as a part of a longer one."""
    return lambda done, text: tell(start + done * (end - start), text)


def nearest_points(space: Space, seed: int) -> Ints:
    """Return a nearest point of each query, drawn by lot among ties (by the positions of query and point)."""
    return local.find_nearest(space, seed=seed, tell=silent)[0]


def right_credit(space: Space, truth: Ints) -> Floats:
    """Return 1 / ties where the true point is among the nearest, else 0; the search stops at the first closer one."""
    return local.decide_truth(space, truth, tell=silent).credit
