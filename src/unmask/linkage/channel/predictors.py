"""Predictions of a released number from what is known of a person, learnt from known people.

Each takes the known (x, y) in some space and returns the prediction for everybody. Those that remember people (the
line between neighbours, functions of many columns) also say what they would have foretold of the known people
themselves, had they not known them: the law of the residual is learnt from that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unmask.threads import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fit = Callable[[Floats, Floats, Floats], Floats]  # known x, known y, everybody's x -> everybody's prediction

PARTS = 5
ROUNDS, SETTLED = 60, 1e-6  # of a sum of columns and its targets by turns


def same(_x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell the value itself, cut to the range of the release (top and bottom coding)."""
    return np.clip(everybody, np.nanmin(y), np.nanmax(y))


def line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of a straight line that a few odd people do not bend."""
    weight = np.ones(x.size)
    slope, intercept = 0.0, float(np.mean(y))
    for _ in range(6):
        total = weight.sum()
        mx, my = float(weight @ x) / total, float(weight @ y) / total
        var = float(weight @ (x - mx) ** 2)
        slope = float(weight @ ((x - mx) * (y - my))) / var if var > 0 else 0.0
        intercept = my - slope * mx
        gap = np.abs(y - slope * x - intercept)
        scale = 1.4826 * float(np.median(gap))
        floor = 1e-12 * float(np.abs(y).max() + 1.0)
        if scale <= floor and float(gap.max()) <= floor:
            break
        weight = 1.0 / np.maximum(1.0, gap / max(2.0 * scale, floor))
    return slope, intercept


def affine(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by a straight line."""
    slope, intercept = line(x, y)
    return slope * everybody + intercept


def between(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by the line between the two nearest known people in the order of x."""
    different, inverse = np.unique(x, return_inverse=True)
    means = np.bincount(inverse, weights=y) / np.bincount(inverse)
    return np.asarray(np.interp(everybody, different, means, left=means[0], right=means[-1]))


def smooth(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by the mean of the known people around: a curve of any shape under noise."""
    order = np.argsort(x, kind="stable")
    window = max(3, int(1.5 * x.size**0.6))
    sums = np.concatenate(([0.0], np.cumsum(y[order])))
    centre = np.arange(x.size)
    low, high = np.maximum(0, centre - window // 2), np.minimum(x.size, centre + window // 2 + 1)
    return between(x[order], (sums[high] - sums[low]) / (high - low), everybody)


def floored(x: Floats, y: Floats, everybody: Floats, step: float) -> Floats:
    """Foretell floor(a x + b) in whole steps: rounding, ages at a date, units and rounding at once.

    The borders between labels lie between the known people on both sides: least sum of violations, a small program.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - heavy

    label = np.round(y / step)
    slope0, intercept0 = line(x, label + 0.5)
    mx, sx = float(x.mean()), float(x.std()) or 1.0
    z = (x - mx) / sx
    n = min(z.size, 250)
    pick = np.linspace(0, z.size - 1, n).astype(int)
    z, target = z[pick], label[pick]
    eye = np.eye(n)
    # target <= a z + b + s, a z + b - s <= target + 1 - margin
    rows = np.block([[-z[:, None], -np.ones((n, 1)), -eye], [z[:, None], np.ones((n, 1)), -eye]])
    sides = np.concatenate([-target, target + 1 - 1e-9])
    cost = np.concatenate([[0.0, 0.0], np.ones(n)])
    found = linprog(cost, A_ub=rows, b_ub=sides, bounds=[(None, None)] * 2 + [(0, None)] * n, method="highs-ds")
    slope, intercept = (found.x[0], found.x[1]) if found.status == 0 else (slope0 * sx, intercept0 + slope0 * mx)
    return np.floor(slope * (everybody - mx) / sx + intercept + 1e-9) * step


def linear(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by a linear function of all columns; shrunk where people are few."""
    mean, sd = x.mean(0), x.std(0)
    sd = np.where(sd > 1e-12 * (np.abs(mean) + 1e-300), sd, np.inf)
    z, middle = (x - mean) / sd, float(y.mean())
    ridge = 1e-9 if len(z) > 3 * z.shape[1] else 0.1
    gram = z.T @ z / len(z) + ridge * np.eye(z.shape[1])
    weights = np.linalg.solve(gram, z.T @ (y - middle) / len(z))
    return np.asarray((everybody - mean) / sd @ weights + middle)


def quadratic(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by a linear function of all columns and their products: an area, a net amount."""
    mean, sd = x.mean(0), x.std(0)
    sd = np.where(sd > 1e-12 * (np.abs(mean) + 1e-300), sd, np.inf)
    first, second = np.triu_indices(x.shape[1])
    known, all_of_them = ((side - mean) / sd for side in (x, everybody))
    both = [np.column_stack((z, z[:, first] * z[:, second])) for z in (known, all_of_them)]
    return linear(both[0], y, both[1])


def rooted(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by the root of such a function: a distance to some place."""
    return np.asarray(np.sqrt(np.maximum(quadratic(x, y**2, everybody), 0.0)))


def single(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by a straight line of the one column that goes with it most closely."""
    z, w = x - x.mean(0), y - y.mean()
    spread = np.sqrt((z**2).sum(0))
    best = int(np.argmax(np.abs(w @ z) / np.where(spread > 0, spread, np.inf)))
    return affine(x[:, best], y, everybody[:, best])


def index(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by a curve of any shape along one sum of columns: of logarithms, a ratio or a body mass index."""
    mean, sd = x.mean(0), x.std(0)
    sd = np.where(sd > 1e-12 * (np.abs(mean) + 1e-300), sd, np.inf)
    weights = order_kept((x - mean) / sd, y)
    return between((x - mean) / sd @ weights, y, (everybody - mean) / sd @ weights)


def order_kept(z: Floats, y: Floats) -> Floats:
    """Weights of the sum of columns along which y never falls, as far as one exists (Kruskal 1965, ties left free).

    By turns: the sum that is least squares from the targets, and the nearest targets that rise with y.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - heavy
    from scipy.special import ndtri  # noqa: PLC0415 - heavy

    place = np.unique(y, return_inverse=True)[1].ravel()
    size = np.bincount(place)
    target = ndtri(((np.cumsum(size) - size / 2) / y.size)[place])
    gram = z.T @ z + (1e-9 if len(z) > 3 * z.shape[1] else 0.1) * len(z) * np.eye(z.shape[1])
    weights = np.zeros(z.shape[1])
    for _ in range(ROUNDS):
        last, weights = weights, np.linalg.solve(gram, z.T @ target)
        along = z @ weights
        scale = float(along.std())
        if scale == 0 or np.abs(weights / scale - last).max() < SETTLED:
            break
        weights = weights / scale
        order = np.lexsort((along, place))
        target[order] = isotonic_regression(along[order] / scale).x
    return weights


def boosted(x: Floats, y: Floats, everybody: Floats) -> Floats:
    """Foretell by boosted trees over all columns."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 - heavy

    trees = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=12, min_samples_leaf=8, learning_rate=0.15, early_stopping=False
    )
    with one_thread():  # known people are few: threads only wait for each other
        return np.asarray(trees.fit(x, y).predict(everybody))


def unseen(fit: Fit, x: Floats, y: Floats, parts: int = PARTS) -> Floats:
    """What the predictor foretells of known people whom it was not taught."""
    if y.size < 2:  # nobody is left to teach it
        return fit(x, y, x)
    turn = np.arange(y.size) % parts
    foretold = np.empty(y.size)
    for part in range(parts):
        out = turn == part
        foretold[out] = fit(x[~out], y[~out], x[out])
    return foretold
