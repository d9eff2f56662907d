"""Numbers changed by noise that columns share: one law for all of them, with a full covariance.

y = x + e, or y = A x + b + e, in values, logarithms or normal scores. In whitened coordinates the score of a pair is a
function of one squared distance, so that it costs a product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel import predictors
from unmask.linkage.channel.axes import all_axes
from unmask.linkage.channel.material import Material, in_space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 2  # columns
PRODUCTS = "products"  # columns beside their products: what a turn of the map leaves as it is
EACH, MOST_MULTIPLIED = 3, 8  # people for each column and product; columns
MOST_MISSING = 0.05
SHRINKAGES = (1.0, 0.3, 0.05, 0.002, 1e-5, 0.0)  # none: sums of columns that masking kept to the last digit
SHRINKAGES_OF_FEW = (1.0, 0.7, 0.5, 0.3, 0.1)  # people, for so many columns
FIXED = 0.002  # for the law of all records, who are many
TAILS = (np.inf, 12.0, 4.0)  # degrees of freedom


@dataclass(frozen=True, slots=True)
class Cloud:
    """Predicted and released points in whitened coordinates; the law of their distance."""

    predicted: Floats
    value: Floats
    marginal: Floats  # log density of each released point
    freedom: float  # of Student's law; infinite: normal
    constant: float

    def log(self, i: Ints, j: Ints) -> Floats:
        """Log density of the distance, over that of the record among all."""
        if i.ndim == 2 and i.shape[1] == 1 and j.ndim == 2 and j.shape[0] == 1:
            left, right = self.predicted[i[:, 0]], self.value[j[0]]
            squares = (left**2).sum(1)[:, None] + (right**2).sum(1) - 2.0 * left @ right.T
        else:
            squares = ((self.value[j] - self.predicted[i]) ** 2).sum(-1)
        return self._law(np.maximum(squares, 0.0)) - self.marginal[j]

    def _law(self, squares: Floats) -> Floats:
        if np.isinf(self.freedom):
            return self.constant - 0.5 * squares
        half = 0.5 * (self.freedom + self.predicted.shape[1])
        return np.asarray(self.constant - half * np.log1p(squares / self.freedom))


class Lesson(NamedTuple):
    """What known people teach of all numbers together."""

    predicted: Floats  # for everybody, in the space of the residuals
    root: Floats  # from released numbers to that space
    squares: Floats  # of the residuals


@dataclass(frozen=True, slots=True)
class Joint:
    """All released numbers that have an original of their name, foretold together; or all from all, by no name."""

    columns: tuple[tuple[int, int], ...]  # of the person (-1: none of that name), of the record
    space: str
    how: str  # "same", "linear" (of all sources) or "single" (of the source that goes with it most closely)
    target: int = -2
    sources: tuple[int, ...] = ()  # columns of the person; by default those of the same names

    def fit(self, material: Material, taught: Ints) -> Cloud:
        """Learn the prediction, the covariance of its residuals and how heavy their tails are."""
        return self.seen(material, self.learn(material, taught))

    def seen(self, material: Material, learnt: Lesson) -> Cloud:
        """What was learnt, beside the records as they are."""
        return _cloud(learnt.predicted, self._both(material)[1] @ learnt.root, learnt.squares)

    def _both(self, material: Material) -> tuple[Floats, Floats]:
        return material.once(("joint", self.columns, self.space, self.sources), lambda: self._points(material))

    def learn(self, material: Material, taught: Ints) -> Lesson:
        """What known people teach; records of others have no part in it."""
        x, y = self._both(material)
        made = material.truth[taught]
        if self.how == "same":
            shift = np.mean(y[made] - x[taught], axis=0)
            predicted = x + shift
            residual = y[made] - predicted[taught]
        else:
            columns, predict = range(y.shape[1]), predictors.linear if self.how == "linear" else predictors.single
            predicted = np.column_stack([predict(x[taught], y[made][:, k], x) for k in columns])
            out = [predictors.unseen(predict, x[taught], y[made][:, k]) for k in columns]
            residual = y[made] - np.column_stack(out)
        root, _ = whitening(residual)
        root = root @ _span(predicted @ root, x.shape[1])
        return Lesson(predicted @ root, root, (residual @ root) ** 2)

    def _points(self, material: Material) -> tuple[Floats, Floats]:
        sources = self.sources or [a for a, _ in self.columns]
        space = "value" if self.space == PRODUCTS else self.space
        people = np.column_stack([_filled(in_space(material.people[a].number, space)) for a in sources])
        records = np.column_stack([_filled(in_space(material.records[b].number, space)) for _, b in self.columns])
        return (_with_products(people), _with_products(records)) if self.space == PRODUCTS else (people, records)


def _with_products(points: Floats) -> Floats:
    """Columns, their squares and the products of any two."""
    spread = points.std(0)
    z = (points - points.mean(0)) / np.where(spread > 0, spread, 1.0)
    first, second = np.triu_indices(z.shape[1])
    return np.column_stack((z, z[:, first] * z[:, second]))


def _span(points: Floats, most: int) -> Floats:
    """Axes of the space that predictions lie in: what a record says across them is the same of everybody."""
    if most >= points.shape[1]:
        return np.eye(points.shape[1])
    return np.asarray(np.linalg.svd(points - points.mean(0), full_matrices=False)[2][:most].T)


def _filled(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nanmean(values))


def whitening(residual: Floats, weight: float | None = None) -> tuple[Floats, float]:
    """Root of the inverse covariance, shrunk to the diagonal as far as halves foretell best; its log determinant."""
    spread = residual.std(0)
    spread = np.where(spread > 0, spread, max(float(spread.max()), 1e-12) * 1e-6)
    z = (residual - residual.mean(0)) / spread
    weight = _shrinkage(z) if weight is None else weight
    values, vectors = np.linalg.eigh(_shrunk(z, weight))
    values = np.maximum(values, 1e-10 * max(float(values.max()), 1e-6))
    root = (vectors / np.sqrt(values)) @ vectors.T / spread[:, None]
    return root, float(-0.5 * np.log(values).sum() - np.log(spread).sum())


def _shrunk(z: Floats, weight: float) -> Floats:
    covariance = z.T @ z / len(z)
    return np.asarray((1 - weight) * covariance + weight * np.diag(np.diagonal(covariance)))


def _shrinkage(z: Floats) -> float:
    """How far to shrink: what foretells one half of the people from the other best."""
    if len(z) < 2:
        return 1.0
    few = len(z) < 4 * z.shape[1]
    halves, best, chosen = (z[::2], z[1::2]), -np.inf, 1.0
    for weight in SHRINKAGES_OF_FEW if few else SHRINKAGES:
        score = 0.0
        for taught, asked in (halves, halves[::-1]):
            values, vectors = np.linalg.eigh(_shrunk(taught, weight))
            values = np.maximum(values, 1e-12 * max(float(values.max()), 1e-6))
            score += float(-0.5 * np.log(values).sum() - 0.5 * ((asked @ vectors) ** 2 / values).sum(1).mean())
        if score > best:
            best, chosen = score, weight
    return chosen


def _cloud(ours: Floats, theirs: Floats, squares: Floats) -> Cloud:
    from scipy.special import gammaln  # noqa: PLC0415 - heavy

    size = ours.shape[1]
    total = squares.sum(1)
    best: tuple[float, float, float] = (-np.inf, np.inf, 0.0)
    for freedom in TAILS:
        if np.isinf(freedom):
            constant = -0.5 * size * np.log(2 * np.pi)
            score = constant - 0.5 * total
        else:
            constant = gammaln(0.5 * (freedom + size)) - gammaln(0.5 * freedom) - 0.5 * size * np.log(freedom * np.pi)
            score = constant - 0.5 * (freedom + size) * np.log1p(total / freedom)
        best = max(best, (float(score.mean()), freedom, float(constant)))
    return Cloud(ours, theirs, _normal_density(theirs), best[1], best[2])


def _normal_density(points: Floats) -> Floats:
    """Log density of each point under one normal law of all."""
    centred = points - points.mean(0)
    root, scale = whitening(centred, FIXED)
    return np.asarray(scale - 0.5 * ((centred @ root) ** 2).sum(1) - 0.5 * points.shape[1] * np.log(2 * np.pi))


def joints(material: Material) -> list[Any]:
    """The joint laws worth trying: numbers of one name with hardly one missing, then all whatever their names."""
    people, records = _numbers(material)
    names = {material.people[k].name.casefold(): k for k in people}
    own = {k: names.get(material.records[k].name.casefold(), -1) for k in records}
    pairs = tuple((own[k], k) for k in records if own[k] >= 0)
    found: list[Any] = []
    if len(pairs) >= FEWEST:
        spaces = _spaces(material, *zip(*pairs, strict=True))
        found = [Joint(pairs, space, how) for space in spaces for how in ("same", "linear")]
    if min(len(people), len(records)) >= FEWEST and len(pairs) < len(records):
        every, sources = tuple((own[k], k) for k in records), tuple(people)
        spaces = _spaces(material, sources, records)
        found += [Joint(every, space, how, sources=sources) for space in spaces for how in ("linear", "single")]
    return found + all_axes(people, records, int((material.truth >= 0).sum()) // 3)


def of_products(material: Material) -> Joint | None:
    """The joint law of all numbers and their products from all of these, if people are many enough to teach it."""
    people, records = _numbers(material)
    wide, learners = max(len(people), len(records)), int((material.truth >= 0).sum()) // 3
    few = min(len(people), len(records)) >= FEWEST and wide <= MOST_MULTIPLIED
    if not few or material.is_view or learners < EACH * wide * (wide + 3) // 2:
        return None
    names = {material.people[k].name.casefold(): k for k in people}
    pairs = tuple((names.get(material.records[k].name.casefold(), -1), k) for k in records)
    return Joint(pairs, PRODUCTS, "linear", sources=tuple(people))


def _numbers(material: Material) -> tuple[list[int], list[int]]:
    """Places of the numbers of people, and of records, with hardly one missing."""
    people, records = (
        [k for k, column in enumerate(side) if _complete(column.number)] for side in (material.people, material.records)
    )
    return people, records


def _spaces(material: Material, people: Sequence[int], records: Sequence[int]) -> list[str]:
    sides = (material.people, people), (material.records, records)
    positive = all((side[k].number > 0).mean() > 0.95 for side, places in sides for k in places)
    return ["value", "probit", *(["log"] if positive else [])]


def _complete(values: Floats) -> bool:
    there = values[np.isfinite(values)]
    return there.size >= (1 - MOST_MISSING) * values.size and np.unique(there).size > 2
