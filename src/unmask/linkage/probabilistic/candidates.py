"""Patterns, best candidates and one-to-one links of a Fellegi-Sunter model, never with n^2 numbers in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError
from unmask.kernels.pairs import Patterns, patterns_by_groups, patterns_by_pairs, sums_by_groups
from unmask.kernels.weighing import MARGIN, TIE, Weighing, cut_blocks, scale_of, weigh, weigh_blocks
from unmask.linkage.probabilistic.matching import Match, code_space, match_people
from unmask.study import Index

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.kernels.base import Space
    from unmask.linkage.probabilistic.levels import Comparison
    from unmask.linkage.probabilistic.model import FellegiSunter


MOST_PAIRS = 20_000_000_000  # beyond that an exhaustive pass takes too long to begin without being asked
BLOCKS_FROM = 400_000_000  # pairs (20,000 people) from which blocks are searched
GROUPS_FROM = 4_000_000  # pairs from which group-bys and trees beat a pass over all pairs
BITS = float(np.log2(np.e))


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
    """A tree where agreement is exact, blocks where pairs are many, a pass over all of them where they are few."""
    pairs = len(comparison.left) * len(comparison.right)
    space = code_space(comparison, model)
    if space is not None and pairs >= GROUPS_FROM:
        return _by_tree(comparison, space, model, truth, seed)
    if pairs >= BLOCKS_FROM:
        return _by_blocks(comparison, model, truth, seed, tell)
    scale = scale_of(comparison.edges, comparison.n_edges, model.weights / BITS)
    return _read(weigh(comparison.left, comparison.right, scale, truth, seed, tell), len(comparison.right))


def _read(found: Weighing, n_right: int) -> Found:
    """In bits; a next best that is farther than MARGIN counts as that far."""
    credit = np.where(found.true >= found.best - TIE, 1.0 / np.maximum(found.ties, 1), 0.0)
    second = np.where(found.ties < n_right, np.maximum(found.second, found.best - MARGIN), -np.inf) * BITS
    posterior = np.exp(found.best - found.total)
    return Found(found.row, found.best * BITS, second, found.ties, credit, posterior)


def _by_blocks(
    comparison: Comparison,
    model: FellegiSunter,
    truth: Ints,
    seed: int,
    tell: Callable[[float], None] | None,
) -> Found:
    """Blocks that cannot reach the best are left out; so the posterior is at most 1 % of itself too high (SLACK)."""
    scale = scale_of(comparison.edges, comparison.n_edges, model.weights / BITS)
    found = weigh_blocks(comparison.left, cut_blocks(comparison.right, scale), scale, truth, seed, tell)
    return _read(found, len(comparison.right))


def _by_tree(comparison: Comparison, space: Space, model: FellegiSunter, truth: Ints, seed: int) -> Found:
    index = Index(space)
    decision, nearest = index.decide(truth), index.nearest(seed=seed)
    top = float(model.weights[:, 0].sum())
    weight = top - nearest.least
    posterior = np.exp2(-nearest.least) / _sums(comparison, model)
    second = np.where(
        nearest.ties < len(space.point_codes), np.maximum(top - nearest.second, weight - MARGIN * BITS), -np.inf
    )
    return Found(nearest.row, weight, second, nearest.ties, decision.credit, posterior)


def _sums(comparison: Comparison, model: FellegiSunter) -> Floats:
    """For each person the sum of 2^(weight - full agreement) over the whole release."""
    below = np.zeros((len(model.names), 3))
    below[:, : model.weights.shape[1]] = model.weights - model.weights[:, :1]
    return sums_by_groups(*comparison.codes(), np.exp2(below))


def match_one_to_one(
    comparison: Comparison, model: FellegiSunter, truth: Ints, lower: float, found: Found
) -> tuple[Found, Match]:
    """The one-to-one links of greatest total weight above ``lower``, with the proof."""
    match = match_people(comparison, model, lower)
    link = match.link
    weight = np.full(len(link), np.nan)
    linked = np.flatnonzero(link >= 0)
    levels = comparison.levels(linked, link[linked])
    weight[linked] = sum(model.weights[k, levels[:, k]] for k in range(levels.shape[1]))
    credit = ((link >= 0) & (link == truth)).astype(np.float64)
    margin = np.where(found.row == link, found.second, found.weight)
    return Found(link, weight, margin, (link >= 0).astype(np.int64), credit, found.posterior), match
