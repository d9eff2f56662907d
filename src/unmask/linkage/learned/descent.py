"""A scalable stand-in for the exact program: keep each person's own record ahead of the hardest wrong ones.

The 0/1 loss becomes a smooth hinge: log(1 + sum_j exp(-(C_j - C_own))) over the wrong records j that are nearest under
the parameters so far, found by the nearest-record kernels; then the parameters are refitted, and so on until stable.
It is convex for all aggregators but the bilinear one, whose matrix is written L L'. What re-identifies most
of the people learnt from is kept, the plain distance among the choices: learning never loses in-sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.kernels.base import Space
from unmask.linkage.learned.distances import Aggregator, Distance, MakeIndex, features, pack, plain, shape, unpack
from unmask.study import Index
from unmask.threads import one_thread

ROUNDS = 3
HARDEST = 5  # wrong records of each person in each round
RIDGE = 1e-3  # pull towards the plain distance
STEPS = 40


class Lesson(NamedTuple):
    """Feature differences of wrong records, their people, and the number of people."""

    delta: Floats
    owner: Ints
    people: int


def learn(space: Space, truth: Ints, kind: Aggregator, *, seed: int = 0, index_of: MakeIndex = Index) -> Distance:
    """Learn from all queries that have a true record; ``index_of`` makes the index of a space, or has it."""
    rows = np.flatnonzero(truth >= 0)
    part, own = space.of(rows), truth[rows]
    tries = starts(space, kind)
    rated = [(_found(part, own, trial, index_of), trial) for trial in tries]
    best = max(rated, key=lambda entry: entry[0])
    current, pool, before = best[1], set[tuple[int, int]](), best[0]
    for _ in range(ROUNDS):
        wrong = current.hardest(part, own, min(HARDEST, len(space.points) - 1), seed, index_of)
        pairs = [(int(i), int(j)) for i, line in enumerate(wrong) for j in line if j >= 0]
        new = [pair for pair in pairs if pair not in pool]
        if not new:
            break
        pool.update(new)
        lesson = _lesson(part, own, kind, sorted(pool))
        if not len(lesson.delta):
            break
        current = Distance(kind, _fit(lesson, best[1] if kind == "bilinear" else tries[0], part))
        reached = _found(part, own, current, index_of)
        if reached > best[0]:
            best = (reached, current)
        if abs(reached - before) < 1e-12:
            break
        before = reached
    return best[1]


def starts(space: Space, kind: Aggregator) -> list[Distance]:
    """The plain distance, and for the bilinear form Mahalanobis too."""
    found = [plain(space, kind)]
    p, q = shape(space)
    if kind == "bilinear" and p and len(space.queries) > 1:
        sides = [side - side.mean(axis=0) for side in (space.queries, space.points)]
        covariance = sum(side.T @ side for side in sides) / max(1, sum(map(len, sides)) - 2)
        matrix = np.linalg.pinv(np.asarray(covariance), rcond=1e-10, hermitian=True)
        found.append(Distance(kind, np.concatenate([pack(matrix), np.ones(q)])))
    return found


def _found(space: Space, truth: Ints, distance: Distance, index_of: MakeIndex) -> float:
    return float(np.sort(distance.credit(space, truth, index_of)).sum())


def _lesson(space: Space, truth: Ints, kind: Aggregator, pairs: list[tuple[int, int]]) -> Lesson:
    i, j = np.array(pairs, dtype=np.int64).T
    delta = features(space, kind, i, j) - features(space, kind, i, truth[i])
    use = np.abs(delta).max(axis=1) > 0  # a copy of the own record teaches nothing
    return Lesson(delta[use], i[use], len(truth))


def _fit(lesson: Lesson, start: Distance, space: Space) -> Floats:

    with one_thread():  # the same bits on any machine, and no threads that wait for each other
        return _fit_alone(lesson, start, space)


def _fit_alone(lesson: Lesson, start: Distance, space: Space) -> Floats:
    gap = lesson.delta @ start.weights
    scale = 2.0 / max(float(np.median(np.abs(gap))), 1e-12)
    weights = start.weights * scale
    fitted = _fit_matrix(lesson, weights, space) if start.kind == "bilinear" else _fit_weights(lesson, weights)
    total = float(np.abs(fitted).sum())
    return fitted / total if total > 0 else start.weights


def loss(lesson: Lesson, weights: Floats) -> tuple[float, Floats]:
    """Mean over people of log(1 + sum over wrong records of exp(-margin)), and its gradient."""
    margin = np.clip(lesson.delta @ weights, -500, 500)
    raised = np.exp(-margin)
    sums = 1.0 + np.bincount(lesson.owner, weights=raised, minlength=lesson.people)
    share = raised / sums[lesson.owner]
    return float(np.log(sums).sum() / lesson.people), -(lesson.delta.T @ share) / lesson.people


def _fit_weights(lesson: Lesson, start: Floats) -> Floats:
    from scipy.optimize import minimize  # noqa: PLC0415 - heavy

    unit = float(start.max())

    def objective(scaled: Floats) -> tuple[float, Floats]:
        value, slope = loss(lesson, scaled * unit)
        pull = scaled - start / unit
        return value + RIDGE * float(pull @ pull), slope * unit + 2 * RIDGE * pull

    found = minimize(
        objective,
        start / unit,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(start),
        options={"maxiter": STEPS},
    )
    return np.asarray(found.x * unit)


def _fit_matrix(lesson: Lesson, start: Floats, space: Space) -> Floats:
    from scipy.optimize import minimize  # noqa: PLC0415 - heavy

    p, q = shape(space)
    k, l = np.triu_indices(p)  # noqa: E741
    size = len(k)
    values, vectors = np.linalg.eigh(unpack(start, p)) if p else (np.empty(0), np.empty((0, 0)))
    root = vectors * np.sqrt(np.maximum(values, 1e-6 * max(float(values.max(initial=0.0)), 1e-12)))
    begin = np.concatenate([root.ravel(), np.maximum(start[size:], 0.0)])

    def weights_of(flat: Floats) -> Floats:
        part = flat[: p * p].reshape(p, p)
        return np.concatenate([pack(part @ part.T), flat[p * p :]])

    def objective(flat: Floats) -> tuple[float, Floats]:
        value, slope = loss(lesson, weights_of(flat))
        matrix = np.zeros((p, p))
        matrix[k, l] = slope[:size] / np.where(k == l, 1.0, 2.0)
        matrix[l, k] = matrix[k, l]
        pull = flat - begin
        step = np.concatenate([(2 * matrix @ flat[: p * p].reshape(p, p)).ravel(), slope[size:]])
        norm = max(float(begin @ begin), 1e-300)
        return value + RIDGE * float(pull @ pull) / norm, step + 2 * RIDGE * pull / norm

    bounds = [(None, None)] * (p * p) + [(0.0, None)] * q
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    return weights_of(np.asarray(found.x))
