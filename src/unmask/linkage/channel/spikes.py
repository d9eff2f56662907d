"""Released numbers that many people share though most are rare: a cap, a floor, what stands for missing.

Whether a person's cell is one of these is evidence of its own, whatever becomes of the other values: it is told by
where the person stands among all (above the cap, below what is measured).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OFTEN, FEWEST, DIFFERENT = 0.05, 8, 20  # share of cells and number of them; different values of the column
ABOVE = 5.0  # times the usual number of cells of a value
SPLITS, SMALLEST, CLEAR = 3, 5, 4.0  # of the people; people on each side; nats that a split must gain


def spikes(values: Floats) -> Floats:
    """The values that so many cells have; none where there are few different values."""
    different, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if different.size < DIFFERENT:
        return np.zeros(0)
    least = max(FEWEST, OFTEN * values.size, ABOVE * float(np.median(counts)))
    return np.asarray(different[counts >= least])


def spiked(values: Floats) -> Ints:
    """Which of them each cell has; -1: none."""
    often = spikes(values)
    if not often.size:
        return np.full(values.size, -1)
    place = np.minimum(np.searchsorted(often, np.nan_to_num(values)), often.size - 1)
    return np.where(values == often[place], place, -1)


def segments(order: Floats, taught: Ints, state: Ints) -> Ints:
    """Parts of an order, one after the other, in which known people's states differ most; 0 without a place in it."""
    there = np.isfinite(order[taught])
    at, said = order[taught][there], np.unique(state[there], return_inverse=True)[1].ravel()
    by_place = np.argsort(at, kind="stable")
    ends: list[float] = []
    parts = [(at[by_place], said[by_place])]
    for _ in range(SPLITS):
        found = [(*_best_split(*part), k) for k, part in enumerate(parts)]
        gain, place, k = max(found, default=(0.0, 0, 0))
        if gain <= CLEAR:
            break
        x, y = parts.pop(k)
        ends.append(float(x[place - 1] + x[place]) / 2)
        parts += [(x[:place], y[:place]), (x[place:], y[place:])]
    return np.where(np.isfinite(order), 1 + np.searchsorted(np.sort(ends), order, "right"), 0)


def _best_split(x: Floats, y: Ints) -> tuple[float, int]:
    """Nats that the best split in two gains, and where it is."""
    n = x.size
    if n < 2 * SMALLEST:
        return 0.0, 0
    first = np.cumsum(np.eye(int(y.max()) + 1)[y], axis=0)
    places = np.flatnonzero(x[1:] > x[:-1]) + 1
    places = places[(places >= SMALLEST) & (places <= n - SMALLEST)]
    if not places.size:
        return 0.0, 0
    left = first[places - 1]
    gains = _nats(left) + _nats(first[-1] - left) - _nats(first[-1:])
    best = int(np.argmax(gains))
    return float(gains[best]), int(places[best])


def _nats(counts: Floats) -> Floats:
    """Log likelihood of counts by their own shares."""
    total = counts.sum(-1, keepdims=True)
    return np.asarray((counts * np.log(np.maximum(counts, 1e-12) / np.maximum(total, 1e-12))).sum(-1))
