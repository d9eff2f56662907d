"""Patterns, best candidates and one-to-one links of a Fellegi-Sunter model, never with n^2 numbers in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError
from unmask.kernels.base import Space
from unmask.kernels.pairs import Patterns, patterns_by_groups, patterns_by_pairs, sums_by_groups
from unmask.kernels.weighing import TIE, Scale, weigh
from unmask.linkage.probabilistic.levels import Comparison
from unmask.linkage.probabilistic.matching import code_space, match_people
from unmask.linkage.probabilistic.model import FellegiSunter
from unmask.study import Index

MOST_PAIRS = 20_000_000_000  # beyond that an exhaustive pass takes too long to begin without being asked
GROUPS_FROM = 4_000_000  # pairs from which group-bys and trees beat a pass over all pairs
BITS = float(np.log2(np.e))
MARGIN = 24.0  # bits: a next best that is farther below the best counts as that far


def count_patterns(comparison: Comparison) -> Patterns:
    """Count the patterns of all pairs: by group-bys where agreement is exact and pairs are many, else pair by pair."""
    pairs = len(comparison.left) * len(comparison.right)
    if comparison.exact and pairs >= GROUPS_FROM:
        return patterns_by_groups(*comparison.codes())
    _check_pairs(pairs)
    return patterns_by_pairs(
        comparison.left, comparison.right, comparison.edges, comparison.n_edges, comparison.radix.astype(np.int64)
    )


def _check_pairs(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise EngineError(
            "too many pairs to compare one by one",
            got=f"{pairs:.3g}",
            allowed=f"up to {MOST_PAIRS:.3g}",
            hint="ask fewer people (sample=), or compare numbers exactly (numbers='exact')",
        )


# --- best candidates --------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """One entry per record asked for; weights in bits."""

    row: Ints
    weight: Floats
    second: Floats
    ties: Ints
    credit: Floats
    posterior: Floats


def best_candidates(
    comparison: Comparison,
    model: FellegiSunter,
    truth: Ints,
    seed: int,
    tell: Callable[[float], None] | None,
) -> Found:
    """A tree where agreement is exact and pairs are many, else a pass over all of them."""
    n_right = len(comparison.right)
    space = code_space(comparison, model)
    if space is not None and len(comparison.left) * n_right >= GROUPS_FROM:
        return _by_tree(comparison, space, model, truth, seed)
    scale = Scale(comparison.edges, comparison.n_edges, model.weights / BITS)
    found = weigh(comparison.left, comparison.right, scale, truth, seed, tell)
    credit = np.where(found.true >= found.best - TIE, 1.0 / np.maximum(found.ties, 1), 0.0)
    second = np.where(found.ties < n_right, np.maximum(found.second, found.best - MARGIN / BITS), -np.inf) * BITS
    posterior = np.exp(found.best - found.total)
    return Found(found.row, found.best * BITS, second, found.ties, credit, posterior)


def _by_tree(comparison: Comparison, space: Space, model: FellegiSunter, truth: Ints, seed: int) -> Found:
    index = Index(space)
    nearest = index.nearest(seed=seed)
    decision = index.decision_of(truth, nearest)
    top = float(model.weights[:, 0].sum())
    weight = top - nearest.least
    posterior = np.exp2(-nearest.least) / _sums(comparison, model)
    second = np.where(nearest.ties < len(space.point_codes), np.maximum(top - nearest.second, weight - MARGIN), -np.inf)
    return Found(nearest.row, weight, second, nearest.ties, decision.credit, posterior)


def _sums(comparison: Comparison, model: FellegiSunter) -> Floats:
    """For each person the sum of 2^(weight - full agreement) over the whole release."""
    below = np.zeros((len(model.names), 3))
    below[:, : model.weights.shape[1]] = model.weights - model.weights[:, :1]
    return sums_by_groups(*comparison.codes(), np.exp2(below))


def match_one_to_one(
    comparison: Comparison, model: FellegiSunter, truth: Ints, lower: float, found: Found
) -> tuple[Found, float]:
    """The one-to-one links of greatest total weight above ``lower``, and by how much they may miss the optimum."""
    match = match_people(comparison, model, lower)
    link = match.link
    weight = np.full(len(link), np.nan)
    linked = np.flatnonzero(link >= 0)
    levels = comparison.levels(linked, link[linked])
    weight[linked] = sum(model.weights[k, levels[:, k]] for k in range(levels.shape[1]))
    credit = ((link >= 0) & (link == truth)).astype(np.float64)
    margin = np.where(found.row == link, found.second, found.weight)
    return Found(link, weight, margin, (link >= 0).astype(np.int64), credit, found.posterior), match.gap
