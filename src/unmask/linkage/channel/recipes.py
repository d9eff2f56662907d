"""Which of several recipes for a column to take: the plainest that tells about as much as the best, then refined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.classes import Class, classes
from unmask.linkage.channel.material import spread_ranks
from unmask.linkage.channel.numbers import Number, everything
from unmask.linkage.channel.shifts import Shifted
from unmask.linkage.channel.trial import Trial, error_of, gains

Floats = NDArray[np.float64]
Tried = tuple[Any, list[Floats], Floats]  # a recipe, its scores of held-out people, what they gained

MOST_GROUPS = 6  # columns by which residuals may differ that are tried
HALF = 0.5  # of it: from there on one column says it
DIGITS = 9  # of errors: another unit changes the last bits of a number
MOST_MULTIPLIED = 8  # columns of numbers whose products are tried
GROWING = 3.0  # standard errors of the rank correlation of errors with a known number
BETTER = 0.5  # standard errors that a more complex recipe must gain
PLAINNESS = (
    "same",
    "floored",
    "affine",
    "between",
    "smooth",
    "linear",
    "loglinear",
    "quadratic",
    "rooted",
    "index",
    "logindex",
    "boosted",
)


def quick(trial: Trial, recipe: Any) -> float:  # noqa: ANN401 - any recipe
    """What a recipe tells about the held-out people of the first part."""
    return float(gains(trial.scores(recipe, slice(0, 1))).mean())


def plainest(tried: list[Tried]) -> Tried | None:
    """The plainest recipe that does not clearly tell less than the best."""
    if not tried:
        return None
    best = max(tried, key=lambda entry: float(entry[2].mean()))
    for entry in sorted(tried, key=lambda entry: _complexity(entry[0])):
        less = best[2] - entry[2]
        if float(less.mean()) <= BETTER * error_of(less):
            return entry
    return best


def _complexity(recipe: Any) -> int:  # noqa: ANN401 - any recipe
    if isinstance(recipe, Shifted):
        return len(PLAINNESS) + 1
    return PLAINNESS.index(recipe.how) + 1 if isinstance(recipe, Number) else 0


def refine(trial: Trial, target: int, best: Tried | None) -> Tried | None:
    """Let residuals differ by level or by group, if that clearly tells more; many columns if one tells little."""
    recipe, told = (None, 0.0) if best is None else (best[0], float(best[2].mean()))
    options: list[Any] = []
    names = {column.name.casefold() for column in trial.material.people}
    derived = trial.material.records[target].name.casefold() not in names
    if isinstance(recipe, Number):
        scales = ["level", *(f"group:{k}" for k in trial.material.levels[:MOST_GROUPS]), *_grows(trial, recipe)]
        options = [replace(recipe, scale=scale) for scale in scales]
        if derived and len(trial.material.people) > 1:
            much = told > HALF * np.log(max(2, trial.parts[0][1].size))
            few = material_width(trial) <= MOST_MULTIPLIED
            hows = [
                *(() if much or not few else ("quadratic", "rooted")),
                *(() if much else ("index", "logindex")),
                *(("boosted",) if told < 1.0 else ()),
            ]
            options += [Number(target, None, "value", how) for how in hows]
    for option in [*options, *(classes(trial.material, target, told) if derived else [])]:
        now = 0.0 if best is None else float(best[2].mean())
        if isinstance(option, Class) and not classes(trial.material, target, now):
            continue
        if best is not None and quick(trial, option) <= float(gains(best[1][:1]).mean()):
            continue
        tables = trial.scores(option)
        gain = gains(tables)
        difference = gain if best is None else gain - best[2]
        if difference.mean() > max(BETTER, 1.0) * error_of(difference):
            best = option, tables, gain
    return best


def material_width(trial: Trial) -> int:
    """How many columns of numbers functions of all columns are made of."""
    material = trial.material
    return int(material.once(("all", False), lambda: everything(material, logs=False)).shape[1])


def _grows(trial: Trial, recipe: Number) -> list[str]:
    """The known number with which errors clearly grow or shrink, if there is one."""
    factor, learners = trial.fit(recipe, 0), trial.parts[0][0]
    error = np.abs(factor.value[trial.material.truth[learners]] - factor.predicted[learners])
    error = spread_ranks(np.round(error / max(np.nanmax(error, initial=0.0), 1e-300), DIGITS))
    told = {place: _going_with(column.number[learners], error) for place, column in enumerate(trial.material.people)}
    best = max(told, key=lambda place: told[place], default=-1)
    return [f"number:{best}"] if told and told[best] > GROWING / np.sqrt(learners.size) else []


def _going_with(known: Floats, ranks: Floats) -> float:
    """Rank correlation, whatever its sign; 0 where it cannot be told."""
    there = np.isfinite(known) & np.isfinite(ranks)
    one, other = spread_ranks(known[there]) - 0.5, ranks[there] - ranks[there].mean() if there.any() else ranks[there]
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return abs(float(one @ other)) / size if size > 0 and there.mean() > HALF else 0.0
