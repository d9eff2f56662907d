"""Nearest released records under the permutation distance: the search kernels, imported when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.kernels.space import Space

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def least_distances(space: Space) -> Floats:
    """Return each query's distance to its nearest point."""
    from unmask.kernels.nearest import nearest  # noqa: PLC0415 - imports numba

    return nearest(space).least


def nearest_points(space: Space, seed: int) -> Ints:
    """Return a nearest point of each query, drawn by lot among ties (by the positions of query and point)."""
    from unmask.kernels.nearest import nearest  # noqa: PLC0415 - imports numba

    return nearest(space, seed=seed)[0]


def right_credit(space: Space, truth: Ints) -> Floats:
    """Return 1 / ties where the true point is among the nearest, else 0; the search stops at the first closer one."""
    from unmask.kernels.nearest import decide  # noqa: PLC0415 - imports numba

    return decide(space, truth).credit
