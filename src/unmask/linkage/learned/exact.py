"""The worst case, exactly: the mixed-integer program of [TORRA]_ for the parameters that re-identify the most people.

Minimise sum K_i subject to C(diff(a_i, b_j)) - C(diff(a_i, b_i)) + M K_i >= epsilon for all j, K_i in {0, 1}. With n^2
constraints it would not fit: it is solved with a few of them, those that its answer breaks are added, and so on until
none is broken. The bound of each stage holds for the whole, because leaving constraints out can only help. A positive
semidefinite matrix is reached the same way: by cuts v'Mv >= 0 for the v that show that it is not one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError, ParameterError, check_name
from unmask.kernels.base import Space
from unmask.linkage.learned.descent import learn
from unmask.linkage.learned.distances import (
    AGGREGATORS,
    Aggregator,
    Distance,
    features,
    pack,
    plain,
    shape,
    size,
    unpack,
)
from unmask.shown import Shown

EPSILON = 1e-5  # a link is right when the true record is nearer by this much (of weights that sum to 1)
MOST = 1000  # people; beyond, use the surrogate
FIRST = 3  # nearest wrong records of each person to begin with


@dataclass(frozen=True, slots=True)
class Optimum(Shown):
    """The best parameters found, and a proof of how far they can be from the best there are."""

    distance: Distance
    credit: Floats
    wrong: int  # people not linked strictly to their own record (duplicates of it aside)
    bound: int  # no parameters leave fewer wrong
    constraints: int
    seconds: float

    @property
    def gap(self) -> int:
        """People between what was found and what is proven possible; 0: optimal."""
        return self.wrong - self.bound

    @property
    def optimal(self) -> bool:
        """Whether no parameters re-identify more."""
        return self.gap == 0


def solve_worst_case(space: Space, truth: Ints, kind: Aggregator = "mean", *, time_limit: float = 60.0) -> Optimum:
    """Find the parameters that re-identify the most people, within a time limit in seconds."""
    check_name(kind, AGGREGATORS, f"no aggregator {kind!r}")
    if not time_limit > 0:
        raise ParameterError("a time limit is a number of seconds", got=str(time_limit), allowed="above 0")
    people = np.flatnonzero(truth >= 0)
    if len(people) > MOST:
        raise EngineError(
            "the exact program is for small tables", got=f"{len(people)} people", allowed=f"up to {MOST}",
            hint="link_learned(release) uses a surrogate that scales",
        )  # fmt: skip
    if kind == "bilinear" and (np.isnan(space.queries).any() or np.isnan(space.points).any()):
        raise ParameterError("a bilinear distance is not defined with missing numbers", hint="use aggregator='mean'")
    return _Program(space, truth, kind, people).run(time.monotonic() + time_limit)


class _Program:
    """The constraints so far, and the best answer so far."""

    def __init__(self, space: Space, truth: Ints, kind: Aggregator, people: Ints) -> None:
        self.space, self.truth, self.kind, self.people = space, truth, kind, people
        self.own = features(space, kind, people, truth[people])
        self.rows: list[Floats] = []  # feature differences of the constraints
        self.owner: list[int] = []  # place in people
        self.cuts: list[Floats] = []
        self.seen: set[tuple[int, int]] = set()
        self.best: tuple[int, Floats] | None = None

    def run(self, deadline: float) -> Optimum:
        begun = time.monotonic()
        start = plain(self.space, self.kind).weights
        self._look(start, FIRST, everything=True)
        self._look(learn(self.space, self.truth, self.kind).weights, FIRST, everything=True)
        bound = 0
        while True:
            left = deadline - time.monotonic()
            weights, low, proven = self._solve(max(left, 0.1))
            bound = max(bound, low)
            if weights is None:
                break
            cut = self._cut(weights)
            broken = self._look(weights, FIRST)
            if not (cut or broken) and (proven or left <= 0):
                break
            if time.monotonic() > deadline or (self.best is not None and self.best[0] <= bound):
                break
        if self.best is None:
            raise EngineError("the program found no answer in its time", hint="give it more (time_limit=)")
        wrong, chosen = self.best
        distance = Distance(self.kind, chosen)
        return Optimum(
            distance, distance.credit(self.space, self.truth), wrong, min(bound, wrong), len(self.rows),
            time.monotonic() - begun,
        )  # fmt: skip

    def _look(self, weights: Floats, most: int, *, everything: bool = False) -> bool:
        """Count the people left wrong, and add the constraints that are broken the most."""
        projected = self._feasible(weights)
        wrong, new = 0, False
        points = np.arange(len(self.space.points))
        for place, person in enumerate(self.people):
            delta = features(self.space, self.kind, np.full(len(points), person), points) - self.own[place]
            other = np.abs(delta).max(axis=1) > 0  # copies of the own record cannot be told from it
            gain = delta @ weights
            wrong += bool((delta[other] @ projected < EPSILON * 0.999).any())
            order = np.argsort(np.where(other, gain, np.inf), kind="stable")[:most]
            for j in order:
                if not other[j] or (place, int(j)) in self.seen or (gain[j] >= EPSILON * 0.999 and not everything):
                    continue
                self.seen.add((place, int(j)))
                self.rows.append(delta[j])
                self.owner.append(place)
                new = True
        if self.best is None or wrong < self.best[0]:
            self.best = (wrong, projected)
        return new

    def _feasible(self, weights: Floats) -> Floats:
        """The nearest allowed parameters: eigenvalues from 0, sum or trace 1."""
        p, q = shape(self.space)
        if self.kind != "bilinear":
            clean = np.maximum(weights, 0.0)
            return np.asarray(clean / clean.sum())
        values, vectors = np.linalg.eigh(unpack(weights, p)) if p else (np.empty(0), np.empty((0, 0)))
        matrix = (vectors * np.maximum(values, 0.0)) @ vectors.T
        clean = np.concatenate([pack(matrix), np.maximum(weights[len(weights) - q :], 0.0)])
        return clean / max(float(np.trace(matrix) + clean[len(clean) - q :].sum()), 1e-300)

    def _cut(self, weights: Floats) -> bool:
        p = shape(self.space)[0]
        if self.kind != "bilinear" or not p:
            return False
        values, vectors = np.linalg.eigh(unpack(weights, p))
        bad = np.flatnonzero(values < -1e-7)
        k, l = np.triu_indices(p)  # noqa: E741
        for b in bad:
            v = vectors[:, b]
            cut = np.zeros(size(self.space, self.kind))
            cut[: len(k)] = v[k] * v[l] * np.where(k == l, 1.0, 2.0)
            self.cuts.append(cut)
        return bool(bad.size)

    def _solve(self, seconds: float) -> tuple[Floats | None, int, bool]:
        """Solve with the constraints so far: weights, a bound on the people left wrong, and whether it is proven."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - heavy
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415

        f, n = size(self.space, self.kind), len(self.people)
        rows = np.array(self.rows).reshape(-1, f)
        slack = np.array([EPSILON - self._least(row) for row in rows])
        places = (np.arange(len(rows)), np.array(self.owner, dtype=np.int64))
        relief = csr_array((np.maximum(slack, 0.0), places), shape=(len(rows), n))
        total = np.concatenate([self._total(f), np.zeros(n)])
        constraints = [LinearConstraint(total[None, :], 1.0, 1.0)]
        if len(rows):
            constraints.append(LinearConstraint(hstack([csr_array(rows), relief]), EPSILON, np.inf))
        if self.cuts:
            cuts = np.hstack([np.array(self.cuts), np.zeros((len(self.cuts), n))])
            constraints.append(LinearConstraint(cuts, 0.0, np.inf))
        low, high = self._box(f)
        found = milp(
            np.concatenate([np.zeros(f), np.ones(n)]),
            constraints=constraints,
            integrality=np.concatenate([np.zeros(f), np.ones(n)]),
            bounds=Bounds(np.concatenate([low, np.zeros(n)]), np.concatenate([high, np.ones(n)])),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        dual = getattr(found, "mip_dual_bound", None)
        bound = int(np.ceil(dual - 1e-6)) if dual is not None and np.isfinite(dual) else 0
        return (None if found.x is None else found.x[:f]), max(bound, 0), found.status == 0

    def _least(self, row: Floats) -> float:
        """The least that any allowed weights make of a difference of features."""
        p, q = shape(self.space)
        if self.kind != "bilinear":
            return float(row.min())
        k, l = np.triu_indices(p)  # noqa: E741
        matrix = unpack(row[: len(k)] / np.where(k == l, 1.0, 2.0), p)
        least = float(np.linalg.eigvalsh(matrix)[0]) if p else np.inf
        return min(least, float(row[len(row) - q :].min(initial=np.inf)))

    def _total(self, f: int) -> Floats:
        """Sum of the weights; for a matrix its trace."""
        if self.kind != "bilinear":
            return np.ones(f)
        p, q = shape(self.space)
        return np.concatenate([pack(np.eye(p)), np.ones(q)])

    def _box(self, f: int) -> tuple[Floats, Floats]:
        """Weights from 0 to 1; off the diagonal of a matrix with trace 1, from -1/2 to 1/2."""
        if self.kind != "bilinear":
            return np.zeros(f), np.ones(f)
        p, q = shape(self.space)
        off = pack(1.0 - np.eye(p)) > 0
        low, high = np.where(off, -0.5, 0.0), np.where(off, 0.5, 1.0)
        return np.concatenate([low, np.zeros(q)]), np.concatenate([high, np.ones(q)])
