"""Here, on this machine: blocks of the distance matrix, never the whole of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.kernels.space import CHEBYSHEV, EUCLIDEAN, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

BLOCK = 4_000_000  # cells of the distance matrix held at once: 32 MB
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Nearest(NamedTuple):
    """For each query a nearest point (drawn among ties), the least and the next reduced distance, the ties."""

    row: Ints
    least: Floats
    second: Floats
    ties: Ints


def nearest(space: Space, *, seed: int = 0, progress: Callable[[float, str], None] | None = None) -> Nearest:
    """Find the nearest points of every query, all ties counted."""
    n = space.queries.shape[0]
    index, ties = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    least, second = np.empty(n), np.empty(n)
    for start, block in _blocks(space):
        rows = slice(start, start + len(block))
        least[rows] = block.min(axis=1)
        tied = block <= (least[rows] * (1 + space.tolerance) + space.floor)[:, None]
        ties[rows] = tied.sum(axis=1)
        second[rows] = np.where(tied, np.inf, block).min(axis=1)
        index[rows] = np.where(tied, _lots(start, block.shape, seed), np.uint64(2**64 - 1)).argmin(axis=1)
        if progress:
            progress((start + len(block)) / n, "nearest records")
    return Nearest(index, least, second, ties)


def credit(space: Space, truth: Ints) -> Floats:
    """Probability that each link is right, ties shared: 1/|T| if the true point is among the |T| nearest, else 0."""
    result = np.zeros(space.queries.shape[0])
    for start, block in _blocks(space):
        rows = np.arange(start, start + len(block))
        limit = block.min(axis=1) * (1 + space.tolerance) + space.floor
        true = np.where(truth[rows] >= 0, block[np.arange(len(block)), truth[rows]], np.inf)
        result[rows] = np.where(true <= limit, 1.0 / (block <= limit[:, None]).sum(axis=1), 0.0)
    return result


def distance_to(space: Space, truth: Ints) -> Floats:
    """Reduced distance of each query to its own point; infinite where it has none."""
    has = np.flatnonzero(truth >= 0)
    result = np.full(truth.size, np.inf)
    for rows in np.array_split(has, max(1, has.size // 100_000)):
        partners = truth[rows]
        parts = [
            _numeric(space.queries[rows, k], space.points[partners, k], space, k) for k in range(space.queries.shape[1])
        ]
        parts += [
            _nominal(space.query_codes[rows, k], space.point_codes[partners, k], space, k)
            for k in range(space.query_codes.shape[1])
        ]
        total = np.zeros(rows.size)
        for part in parts:
            total = np.maximum(total, part) if space.norm == CHEBYSHEV else total + part
        result[rows] = total
    return result


def _blocks(space: Space) -> Iterator[tuple[int, Floats]]:
    n, m = space.queries.shape[0], space.points.shape[0]
    size = max(1, BLOCK // max(1, m))
    for start in range(0, n, size):
        yield start, _distances(space, slice(start, min(n, start + size)))


def _distances(space: Space, rows: slice) -> Floats:
    """Reduced distances of some queries to all points, attribute after attribute in a fixed order."""
    total = np.zeros((space.queries[rows].shape[0], space.points.shape[0]))
    for k in range(space.queries.shape[1]):
        part = _numeric(space.queries[rows, k][:, None], space.points[:, k][None, :], space, k)
        total = np.maximum(total, part, out=total) if space.norm == CHEBYSHEV else np.add(total, part, out=total)
    for k in range(space.query_codes.shape[1]):
        part = _nominal(space.query_codes[rows, k][:, None], space.point_codes[:, k][None, :], space, k)
        total = np.maximum(total, part, out=total) if space.norm == CHEBYSHEV else np.add(total, part, out=total)
    return total


def _numeric(a: Floats, b: Floats, space: Space, k: int) -> Floats:
    part = a - b
    part = part * part if space.norm == EUCLIDEAN else np.abs(part)
    return np.where(np.isnan(part), space.missing[k], part)


def _nominal(a: NDArray[np.int32], b: NDArray[np.int32], space: Space, k: int) -> Floats:
    return np.where((a < 0) | (b < 0), space.code_missing[k], np.where(a == b, 0.0, space.step[k]))


def _lots(start: int, shape: tuple[int, ...], seed: int) -> NDArray[np.uint64]:
    """A number drawn for every pair, by hashing: which of several tied records an intruder would pick at random."""
    rows = np.arange(start, start + shape[0], dtype=np.uint64)[:, None]
    columns = np.arange(shape[1], dtype=np.uint64)[None, :]
    with np.errstate(over="ignore"):
        x = (rows * np.uint64(0xD1B54A32D192ED03) + columns + np.uint64(seed)) * GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
