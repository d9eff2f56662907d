"""One match per person: likelihoods of all pairs, scaled until rows and columns add up to one.

A matrix of likelihoods times row and column factors is doubly stochastic in one way only (Sinkhorn). The factors also
bound its permanent, the likelihood summed over all one-to-one matchings, from below (Gurvits and Samorodnitsky: perm P
>= prod (1 - p)^(1 - p) for doubly stochastic P). Sinkhorn's shares are too modest as posteriors; ``sharp`` takes them
most of the way to those of posterior.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SWEEPS = 20
STEPS = 3
SMALL = 1e-3  # share up to which two terms of a series do
TINY = 1e-300
LEAST_LOG = -200.0  # of a likelihood relative to the best: less is nothing, and subnormal numbers are slow


class Scaled(NamedTuple):
    """Responsibilities of a pair of *records* of two classes, and the log-permanent from below."""

    share: Floats  # (classes, classes)
    value: float
    error: float  # how far sums are from 1


def scale(
    weights: Floats,
    x_size: Floats,
    y_size: Floats,
    *,
    sweeps: int = SWEEPS,
    tolerance: float = 3e-3,
    sharp: bool = False,
) -> Scaled:
    """Scale rows and columns until each record has one match; who is left over in the larger file has none."""
    shape = weights.shape
    weights, x_size, y_size = with_spare(weights, x_size, y_size)
    top = weights.max(axis=0)
    share = weights - top
    best = share.max(axis=1)
    share -= best[:, None]  # now every row and column has a 0, and no sum vanishes
    np.exp(np.maximum(share, LEAST_LOG, out=share), out=share)
    u, v, error = np.zeros(len(x_size)), np.ones(len(y_size)), np.inf
    for _ in range(sweeps):
        total = np.maximum(share @ (y_size * v), TINY)
        error = float(np.abs(u * total - 1.0).max())
        u = 1.0 / total
        if error < tolerance:
            break
        v = 1.0 / np.maximum((x_size * u) @ share, TINY)
    u = 1.0 / np.maximum(share @ (y_size * v), TINY)
    share *= u[:, None]
    share *= v
    value = float(x_size @ (best - np.log(u)) + y_size @ (top - np.log(v))) + _slack(share, x_size, y_size)
    share = _sharpen(share, x_size, y_size) if sharp else share
    return Scaled(share[: shape[0], : shape[1]], value, error)


def _sharpen(share: Floats, x_size: Floats, y_size: Floats) -> Floats:
    """A few steps from Sinkhorn's shares towards p (1 - p)^(1/2) = u_i v_j w_ij."""
    raised = share
    for _ in range(STEPS):
        raised = share / np.sqrt(np.maximum(1.0 - raised, 1e-9))
        v = np.ones(len(y_size))
        for _ in range(STEPS):
            u = 1.0 / np.maximum(raised @ (y_size * v), TINY)
            v = 1.0 / np.maximum((x_size * u) @ raised, TINY)
        raised *= u[:, None]
        raised *= v
    return raised


def _slack(share: Floats, x_size: Floats, y_size: Floats) -> float:
    """Sum of (1 - p) log (1 - p) over all pairs of records; -p + p^2 / 2 where p is small."""
    rows, cols = np.nonzero(share > SMALL)
    p, count = np.minimum(share[rows, cols], 1.0 - 1e-15), x_size[rows] * y_size[cols]
    exact = float(count @ ((1.0 - p) * np.log1p(-p) + p - p * p / 2))
    squares = float(x_size @ np.einsum("ij,ij,j->i", share, share, y_size))
    return exact + squares / 2 - float(x_size @ (share @ y_size))


def with_spare(weights: Floats, x_size: Floats, y_size: Floats) -> tuple[Floats, Floats, Floats]:
    """Add a class of nobody to the smaller file, as large as what is left over in the other."""
    spare = float(x_size.sum() - y_size.sum())
    if spare > 0:
        return np.hstack([weights, np.zeros((len(weights), 1))]), x_size, np.append(y_size, spare)
    if spare < 0:
        return np.vstack([weights, np.zeros((1, weights.shape[1]))]), np.append(x_size, -spare), y_size
    return weights, x_size, y_size
