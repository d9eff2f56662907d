"""Recipes for released numbers: which feature, in which space, by which predictor, with which law of the residual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel import predictors
from unmask.linkage.channel.factors import Given, Residual, fit_states
from unmask.linkage.channel.material import Key, Material
from unmask.linkage.channel.residuals import fit_law, log_density
from unmask.linkage.channel.spikes import segments, spiked

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REMEMBERING = {
    "between": 5,
    "smooth": 5,
    "linear": 5,
    "loglinear": 5,
    "quadratic": 5,
    "rooted": 5,
    "index": 3,
    "logindex": 3,
    "boosted": 2,
}
LOGS = {"loglinear": "linear", "logindex": "index"}  # of logarithms
LEVELS = 8
MOST_STATES = 4  # of a released cell: a number, missing, without a number in this space, a word
FEWEST_IN_GROUP = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A released number foretold from one feature, or (None) from all columns together."""

    target: int
    feature: Key | None
    space: str
    how: str
    scale: str = "one"  # residuals alike for all; by the size of the prediction: "level"; by column k, whose words are
    # groups: "group:k"; by the number in column k: "number:k"
    spiked: bool = False  # whether values that many cells have are told by where people stand, apart from the others

    def fit(self, material: Material, taught: Ints) -> Residual:
        """Learn the prediction and the law of its residual from known people."""
        made = material.truth[taught]
        value, often = self._value(material)
        known = self._inputs(material)
        there = np.asarray(np.isfinite(known.reshape(len(known), -1)).all(axis=1))
        rows = taught[there[taught] & np.isfinite(value[made])]
        theirs = self._record_states(material, value) + often
        ours = self._person_states(material, there)
        if self.spiked:
            ours = segments(known, taught, theirs[made])
        states = fit_states(ours, theirs, taught, made)
        if rows.size < 3:
            flat = fit_law(np.zeros(0), reach=1.0, step=1.0)
            return Residual(np.full(material.n_people, np.nan), value, np.zeros(value.size), flat, states)
        x, y = known[rows], value[material.truth[rows]]
        function = self._function(material)
        predicted = np.full(material.n_people, np.nan)
        predicted[there] = function(x, y, known[there])
        parts = REMEMBERING.get(self.how, 0)
        foretold = predictors.unseen(function, x, y, parts) if parts and rows.size >= 2 * parts else predicted[rows]
        return self._law(material, predicted, (rows, y - foretold), value, states)

    def _law(
        self, material: Material, predicted: Floats, known: tuple[Ints, Floats], value: Floats, states: object
    ) -> Residual:
        rows, residual = known
        step = self.step(material, value)
        reach = float(np.nanmax(value) - np.nanmin(value)) + float(np.nanmax(predicted) - np.nanmin(predicted))
        key = ("density", self.target, self.space, step, self.spiked)
        marginal = material.once(key, lambda: log_density(value, step))
        precision = self._precision(material, predicted, rows, residual)
        if precision is not None:
            residual = residual * precision[rows]
            factor = float(np.nanmedian(precision))
            step, reach = step * factor * 1e-3, reach * factor
        law = fit_law(residual, reach=reach, step=step)
        return Residual(predicted, value, marginal, law, states, precision)  # type: ignore[arg-type]

    def _value(self, material: Material) -> tuple[Floats, Ints]:
        """The released values, those that many cells have taken out; and which of these a record has (4, 5, ...)."""
        value = material.record(self.target, self.space)
        if not self.spiked:
            return value, np.zeros(value.size, dtype=np.int64)
        which = spiked(material.records[self.target].number)
        return np.where(which >= 0, np.nan, value), np.where(which >= 0, MOST_STATES + which, 0)

    def step(self, material: Material, value: Floats) -> float:
        """Resolution of the residual."""
        if self.space == "rank":
            return 0.5 / value.size
        if self.space not in {"value", "size"}:
            return 1e-9 * float(np.nanmax(value) - np.nanmin(value) + 1e-300)
        own = material.records[self.target].step
        return min(own, material.steps(self.feature)) if self.how == "same" and self.feature is not None else own

    def _inputs(self, material: Material) -> Floats:
        if self.feature is None:
            logs = self.how in LOGS
            return material.once(("all", logs), lambda: everything(material, logs=logs))
        return material.person(self.feature, self.space)

    def _function(self, material: Material) -> predictors.Fit:
        if self.how == "floored":
            return partial(predictors.floored, step=material.records[self.target].step)
        return getattr(predictors, LOGS.get(self.how, self.how))  # type: ignore[no-any-return]

    def _person_states(self, material: Material, there: NDArray[np.bool_]) -> Ints:
        if self.feature is None:
            return np.where(there, 0, 1)
        values = material.feature(self.feature).values
        return np.where(np.isnan(values), 1, np.where(there, 0, 2))

    def _record_states(self, material: Material, value: Floats) -> Ints:
        column = material.records[self.target]
        return np.where(np.isfinite(value), 0, np.where(column.missing, 1, np.where(np.isfinite(column.number), 2, 3)))

    def _precision(self, material: Material, predicted: Floats, rows: Ints, residual: Floats) -> Floats | None:
        if self.scale == "one":
            return None
        if self.scale == "level":
            return _by_level(predicted, rows, residual)
        kind, _, place = self.scale.partition(":")
        column = material.people[int(place)]
        return _by_group(column.code, rows, residual) if kind == "group" else _by_level(column.number, rows, residual)


def everything(material: Material, *, logs: bool) -> Floats:
    """All number columns (or the logarithms of those that have them) and indicators of columns of few levels."""
    from unmask.linkage.channel.material import in_space  # noqa: PLC0415 - a loop otherwise

    columns = []
    for column in material.people:
        values = in_space(column.number, "log") if logs else column.number
        share = np.isfinite(values).mean()
        if share > 0.5:
            columns.append(np.where(np.isfinite(values), values, np.nanmean(values)))
        elif 1 < len(column.words) <= 12:
            columns += [(column.code == k).astype(float) for k in range(1, len(column.words))]
    return np.column_stack(columns) if columns else np.zeros((material.n_people, 1))


def _by_level(level: Floats, rows: Ints, residual: Floats) -> Floats:
    """One over the typical residual at a level, such as that of the prediction, in steps of equally many people."""
    parts = int(np.clip(rows.size // 20, 2, LEVELS))
    edges = np.unique(np.nanquantile(level[rows], np.linspace(0, 1, parts + 1)[1:-1]))
    return _scales(np.searchsorted(edges, np.nan_to_num(level), "right"), rows, residual, edges.size + 1)


def _by_group(code: Ints, rows: Ints, residual: Floats) -> Floats:
    return _scales(np.where(code < 0, int(code.max()) + 1, code), rows, residual, int(code.max()) + 2)


def _scales(group: Ints, rows: Ints, residual: Floats, groups: int) -> Floats:
    overall = float(np.sqrt(np.mean(residual**2))) or 1.0
    counts = np.bincount(group[rows], minlength=groups)
    squares = np.bincount(group[rows], weights=residual**2, minlength=groups)
    shrunk = np.sqrt((squares + FEWEST_IN_GROUP * overall**2) / (counts + FEWEST_IN_GROUP))
    return np.asarray(1.0 / np.maximum(shrunk, 1e-9 * overall)[group])


@dataclass(frozen=True, slots=True)
class Chain:
    """A released number given the residuals of columns before it: noise that columns share is counted once."""

    own: Number
    before: tuple[Number, ...]
    slopes: tuple[float, ...] | None  # None: learnt

    @property
    def target(self) -> int:
        """The released column that this is about."""
        return self.own.target

    def fit(self, material: Material, taught: Ints) -> Given:
        """Learn all columns, then join them."""
        return self.join(material, taught, [recipe.fit(material, taught) for recipe in (self.own, *self.before)])

    def join(self, material: Material, taught: Ints, learnt: list[Residual]) -> Given:
        """Learn what is left of the residual when those before it are known."""
        own, *others = learnt
        made = material.truth[taught]
        gaps = np.column_stack([f.value[made] - f.predicted[taught] for f in (own, *others)])
        there = np.isfinite(gaps).all(1)
        slopes = self.slopes if self.slopes is not None else _slopes(gaps[there])
        value = own.value - sum(s * f.value for s, f in zip(slopes, others, strict=True))
        predicted = own.predicted - sum(s * f.predicted for s, f in zip(slopes, others, strict=True))
        remainder = value[made] - predicted[taught]
        if there.sum() < 3:
            return Given(own, own)
        step = self.own.step(material, own.value)
        reach = float(np.nanmax(value) - np.nanmin(value)) + float(np.nanmax(predicted) - np.nanmin(predicted))
        law = fit_law(remainder, reach=reach, step=step if self.slopes is not None else step * 1e-3)
        return Given(
            replace(own, precision=own.precision), Residual(predicted, value, log_density(value, step), law, own.states)
        )


def _slopes(gaps: Floats) -> tuple[float, ...]:
    """Regress the first residual on the others, a little shrunk."""
    y, x = gaps[:, 0] - gaps[:, 0].mean(), gaps[:, 1:] - gaps[:, 1:].mean(0)
    scale = np.maximum(x.std(0), 1e-300)
    z = x / scale
    weights = np.linalg.solve(z.T @ z + 2.0 * np.eye(z.shape[1]), z.T @ y) / scale
    return tuple(float(w) for w in weights)
