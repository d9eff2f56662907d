"""One axis through all numbers along which masking kept the order: records sorted by a sum of columns and averaged.

Microaggregation along a projection, or an index of several columns, hides every column by itself; the sum a'x of the
person and the sum b'y of the record still stand in nearly the same order. The pair of axes is the first canonical one,
by weighted least squares that gives people far off less and less weight (Cauchy's): where people are dense the order is
kept to a place or two, and a few in the tails must not turn the axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel import predictors
from unmask.linkage.channel.factors import Residual, fit_states
from unmask.linkage.channel.material import Material, spread_ranks
from unmask.linkage.channel.residuals import fit_law, log_density

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 15
PARTS = 3
FEWEST_EACH = 4  # known people for each column of both files


@dataclass(frozen=True, slots=True)
class Axis:
    """The place of a record along one axis, foretold from the person's place along another."""

    people: tuple[int, ...]
    records: tuple[int, ...]
    how: str  # "same": the places themselves; "between": known people on both sides
    columns: tuple[tuple[int, int], ...] = ()  # columns that need not enter any more: none
    target: int = -2

    def fit(self, material: Material, taught: Ints) -> Residual:
        """Learn the axes, and the law of what the places differ by: from people who did not teach the axes."""
        x, y = material.once(("axis", self.people, self.records), lambda: self._points(material))
        made = material.truth[taught]
        predicted, value = self._places(x, y, taught, made)
        foretold, turn = np.zeros(taught.size), np.arange(taught.size) % PARTS
        for part in range(PARTS):
            out = turn == part
            place, own = self._places(x, y, taught[~out], made[~out])
            foretold[out] = own[made[out]] - place[taught[out]]
        step = 0.5 / value.size
        states = fit_states(np.zeros(len(x), dtype=np.int64), np.zeros(len(y), dtype=np.int64), taught, made)
        law = fit_law(foretold, reach=2.0, step=step)
        return Residual(predicted, value, log_density(value, step), law, states)

    def _places(self, x: Floats, y: Floats, taught: Ints, made: Ints) -> tuple[Floats, Floats]:
        """Places of people as foretold and of records, between 0 and 1."""
        a, b = axes(x[taught], y[made])
        along, value = x @ a, spread_ranks(y @ b)
        if self.how == "same" or not taught.size:
            return spread_ranks(along), value
        return predictors.between(along[taught], value[made], along), value

    def _points(self, material: Material) -> tuple[Floats, Floats]:
        sides = (material.people, self.people), (material.records, self.records)
        return tuple(np.column_stack([_standard(side[k].number) for k in places]) for side, places in sides)  # type: ignore[return-value]


def _standard(values: Floats) -> Floats:
    centred = values - np.nanmean(values)
    return np.where(np.isfinite(centred), centred, 0.0) / (np.nanstd(values) or 1.0)


def axes(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The pair of axes along which known people and their records go together most closely."""
    if len(x) < PARTS:  # too few to say anything
        return np.ones(x.shape[1]), np.ones(y.shape[1])
    weight = np.ones(len(x))
    for _ in range(ROUNDS):
        a, b = _canonical(x, y, weight / weight.sum())
        one, other = x @ a, y @ b
        slope, shift = predictors.line(other, one)
        off = np.abs(one - slope * other - shift)
        weight = 1.0 / (1.0 + (off / max(float(np.median(off)), 1e-9)) ** 2)
    return a, b


def _canonical(x: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
    root = np.sqrt(weight)[:, None]
    u, size, axis = np.linalg.svd(root * (x - weight @ x), full_matrices=False)
    v, height, other = np.linalg.svd(root * (y - weight @ y), full_matrices=False)
    left, _, right = np.linalg.svd(_scaled(u, size).T @ _scaled(v, height))
    return axis.T @ (left[:, 0] * _inverse(size)), other.T @ (right[0] * _inverse(height))


def _scaled(u: Floats, size: Floats) -> Floats:
    return u * (_inverse(size) > 0)


def _inverse(size: Floats) -> Floats:
    """One over the length of an axis; 0 where columns repeat each other."""
    long = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
    return np.where(long, 1.0 / np.where(long, size, 1.0), 0.0)


def all_axes(people: list[int], records: list[int], known: int) -> list[Axis]:
    """The axes worth trying over these columns of both files, with so many known people."""
    if len(people) < 2 or not records or known < FEWEST_EACH * (len(people) + len(records)):
        return []
    return [Axis(tuple(people), tuple(records), how) for how in ("same", "between")]
