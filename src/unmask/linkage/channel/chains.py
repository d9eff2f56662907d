"""Chains: a released number given those before it, where noise that columns share would be counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.numbers import Chain, Number
from unmask.linkage.channel.trial import Trial

Floats = NDArray[np.float64]


def chains(trial: Trial, recipe: Any, chosen: Sequence[Any]) -> list[Chain]:  # noqa: ANN401 - any recipe
    """The column given those before it whose residuals go with its own."""
    if not isinstance(recipe, Number) or recipe.scale != "one" or recipe.spiked:
        return []
    before = [entry.own if isinstance(entry, Chain) else entry for entry in chosen]
    before = [other for other in before if isinstance(other, Number) and other.scale == "one" and not other.spiked]
    if not before:
        return []
    gaps = np.column_stack([_gap(trial, other) for other in (recipe, *before)])
    there = np.isfinite(gaps).all(1)
    if there.sum() < 8:
        return []
    ranks = np.argsort(np.argsort(gaps[there], axis=0), axis=0)
    strength = np.abs(np.nan_to_num(np.asarray(np.corrcoef(ranks.T))[0, 1:]))
    related = np.flatnonzero(strength > 2.5 / np.sqrt(there.sum()))
    if not related.size:
        return []
    nearest = before[int(related[np.argmax(strength[related])])]
    options = [Chain(recipe, (nearest,), None)]
    if nearest.space == recipe.space:
        options += [Chain(recipe, (nearest,), (1.0,)), Chain(recipe, (nearest,), (-1.0,))]
    if related.size > 1:
        options.append(Chain(recipe, tuple(before[int(k)] for k in related), None))
    return options


def _gap(trial: Trial, recipe: Number) -> Floats:
    factor, learners = trial.fit(recipe, 0), trial.parts[0][0]
    return np.asarray(factor.value[trial.material.truth[learners]] - factor.predicted[learners])
