"""Ways to add up differences of attributes into a distance whose parameters can be learnt [TORRA]_.

Definitions: docs/methods.md, section 5. Every one is linear in its parameters over features of the differences d_k
(squared, standardised):

- ``mean``: weights of attributes, w >= 0;
- ``owa``: weights of the largest, second largest, ... difference, w >= 0;
- ``choquet``: a 2-additive monotone measure, which is a non-negative combination of d_k, min(d_k, d_l), max(d_k, d_l);
- ``bilinear``: a positive semidefinite matrix on the signed differences of numbers (Mahalanobis is one of them), and
  weights of categories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.kernels.aggregation import Form, credit_of, hardest_of
from unmask.kernels.base import Space
from unmask.study import Index

MakeIndex = Callable[[Space], Index]

Aggregator = Literal["mean", "owa", "bilinear", "choquet"]
AGGREGATORS: tuple[str, ...] = get_args(Aggregator)


@dataclass(frozen=True, slots=True)
class Distance:
    """An aggregator with its parameters, in the order of its features."""

    kind: Aggregator
    weights: Floats

    def credit(self, space: Space, truth: Ints, index_of: MakeIndex = Index) -> Floats:
        """Credit of each query under this distance: exact, ties shared."""
        if self.kind in {"mean", "bilinear"}:
            return index_of(bend(space, self)).decide(truth).credit
        return credit_of(space, truth, _coefficients(space, self))

    def hardest(self, space: Space, truth: Ints, k: int, seed: int, index_of: MakeIndex = Index) -> Ints:
        """The nearest wrong points of each query; -1 where there are fewer than k."""
        if self.kind not in {"mean", "bilinear"}:
            return hardest_of(space, truth, _coefficients(space, self), k)
        rows, _ = index_of(bend(space, self)).nearest_k(min(k + 1, len(space.points)), seed=seed)
        wrong = rows != truth[:, None]
        order = np.argsort(~wrong, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(np.where(wrong, rows, -1), order, axis=1)
        return np.pad(found, ((0, 0), (0, k - found.shape[1])), constant_values=-1)


def shape(space: Space) -> tuple[int, int]:
    """Number of numeric and of nominal attributes."""
    return space.queries.shape[1], space.query_codes.shape[1]


def plain(space: Space, kind: Aggregator) -> Distance:
    """The parameters that give the plain Euclidean distance, with sum (or trace) 1."""
    p, q = shape(space)
    if kind == "bilinear":
        return Distance(kind, np.concatenate([pack(np.eye(p)), np.ones(q)]) / (p + q))
    weights = np.zeros(size(space, kind))
    weights[: p + q] = 1.0 / (p + q)
    return Distance(kind, weights)


def size(space: Space, kind: Aggregator) -> int:
    """Number of parameters."""
    p, q = shape(space)
    m = p + q
    return {"mean": m, "owa": m, "choquet": m * m, "bilinear": p * (p + 1) // 2 + q}[kind]


def differences(space: Space, i: Ints, j: Ints) -> Floats:
    """Squared differences of the attributes of pairs, (pairs, attributes)."""
    gap = space.queries[i] - space.points[j]
    numeric = np.where(np.isnan(gap), space.missing, gap * gap)
    a, b = space.query_codes[i], space.point_codes[j]
    nominal = np.where((a < 0) | (b < 0), space.code_missing, np.where(a == b, 0.0, space.step))
    return np.concatenate([numeric, nominal], axis=1)


def features(space: Space, kind: Aggregator, i: Ints, j: Ints) -> Floats:
    """What the parameters multiply, for pairs (i, j)."""
    d = differences(space, i, j)
    if kind == "mean":
        return d
    if kind == "owa":
        return -np.sort(-d, axis=1)
    if kind == "choquet":
        k, l = np.triu_indices(d.shape[1], 1)  # noqa: E741
        return np.concatenate([d, np.minimum(d[:, k], d[:, l]), np.maximum(d[:, k], d[:, l])], axis=1)
    p = shape(space)[0]
    gap = space.queries[i] - space.points[j]
    k, l = np.triu_indices(p)  # noqa: E741
    return np.concatenate([gap[:, k] * gap[:, l] * np.where(k == l, 1.0, 2.0), d[:, p:]], axis=1)


def pack(matrix: Floats) -> Floats:
    """Upper triangle of a symmetric matrix, row by row."""
    return matrix[np.triu_indices(len(matrix))]


def unpack(weights: Floats, p: int) -> Floats:
    """The symmetric matrix of an upper triangle."""
    matrix = np.zeros((p, p))
    k, l = np.triu_indices(p)  # noqa: E741
    matrix[k, l] = matrix[l, k] = weights[: len(k)]
    return matrix


def bend(space: Space, distance: Distance) -> Space:
    """The space in which the plain distance is this weighted or bilinear one."""
    p, q = shape(space)
    if distance.kind == "mean":
        w = np.maximum(distance.weights, 0.0)
        root = np.sqrt(w[:p])
        queries, points, missing, nominal = space.queries * root, space.points * root, space.missing * w[:p], w[p:]
    else:
        values, vectors = np.linalg.eigh(unpack(distance.weights, p)) if p else (np.empty(0), np.empty((0, 0)))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        queries, points, missing = space.queries @ root, space.points @ root, np.zeros(p)
        nominal = np.maximum(distance.weights[len(distance.weights) - q :], 0.0)
    largest = max(float(np.abs(side).max(initial=0.0, where=~np.isnan(side))) for side in (queries, points))
    return space._replace(
        queries=np.ascontiguousarray(queries),
        points=np.ascontiguousarray(points),
        missing=missing,
        step=space.step * nominal,
        code_missing=space.code_missing * nominal,
        floor=(1e-12 * largest) ** 2,
    )


def _coefficients(space: Space, distance: Distance) -> Form:
    """Linear weights, and for the Choquet integral the weight of each |d_k - d_l|."""
    m = sum(shape(space))
    if distance.kind == "owa":
        return Form(np.maximum(distance.weights, 0.0), np.empty(0), ordered=True)
    w = np.maximum(distance.weights, 0.0)
    pairs = m * (m - 1) // 2
    low, high = w[m : m + pairs], w[m + pairs :]
    linear = w[:m].copy()
    k, l = np.triu_indices(m, 1)  # noqa: E741
    np.add.at(linear, k, (low + high) / 2)
    np.add.at(linear, l, (low + high) / 2)
    return Form(linear, (high - low) / 2, ordered=False)


def importance(distance: Distance, space: Space) -> Floats:
    """Share of each attribute in the distance: weights, diagonal, or Shapley values, with sum 1."""
    p, q = shape(space)
    if distance.kind == "mean":
        found = distance.weights
    elif distance.kind == "bilinear":
        found = np.concatenate([np.diag(unpack(distance.weights, p)), distance.weights[len(distance.weights) - q :]])
    elif distance.kind == "choquet":
        found = _coefficients(space, distance).linear  # half of each interaction goes to either attribute
    else:
        return np.full(p + q, np.nan)
    found = np.maximum(found, 0.0)
    return found / max(float(found.sum()), 1e-300)


def interactions(distance: Distance, space: Space) -> dict[tuple[int, int], float]:
    """Pairs of attributes and how they act together, relative to the sum of importances.

    Choquet: positive when both must differ (min), negative when either suffices (max). Bilinear: the matrix entry.
    """
    p, q = shape(space)
    m = p + q
    if distance.kind == "choquet":
        linear, pairs, _ = _coefficients(space, distance)
        total = max(float(linear.sum()), 1e-300)
        places = zip(*np.triu_indices(m, 1), pairs, strict=True)
        return {(int(a), int(b)): float(-2 * g / total) for a, b, g in places}
    if distance.kind == "bilinear":
        matrix = unpack(distance.weights, p)
        total = max(float(np.trace(matrix)), 1e-300)
        return {(int(a), int(b)): float(matrix[a, b] / total) for a, b in zip(*np.triu_indices(p, 1), strict=True)}
    return {}
