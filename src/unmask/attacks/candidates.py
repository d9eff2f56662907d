"""Patterns, best candidates and one-to-one links of a Fellegi-Sunter model, never with n^2 numbers in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.engines.local import decide_truth, find_nearest, plant_tree
from unmask.errors import EngineError
from unmask.evidence.measure import silent
from unmask.kernels.patterns import Patterns, patterns_by_groups, patterns_by_pairs
from unmask.kernels.space import MANHATTAN, Space
from unmask.kernels.weighing import TIE, Weighing, pairs_above, weigh

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.attacks.comparison import Comparison
    from unmask.attacks.fellegi_sunter import FellegiSunter

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST_PAIRS = 20_000_000_000  # beyond that an exhaustive pass takes too long to begin without being asked
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
    comparison: Comparison, model: FellegiSunter, truth: Ints, seed: int, tell: Callable[[float], None] | None
) -> Found:
    """The tree where agreement is exact (weights are then distances between codes), else a pass over all pairs."""
    space = _space(comparison, model)
    if space is not None and len(comparison.left) * len(comparison.right) >= GROUPS_FROM:
        return _by_tree(space, model, truth, seed)
    _check_pairs(len(comparison.left) * len(comparison.right))
    found = weigh(
        comparison.left,
        comparison.right,
        comparison.edges,
        comparison.n_edges,
        model.weights / BITS,
        truth,
        seed,
        tell,
    )
    return _read(found)


def _read(found: Weighing) -> Found:
    credit = np.where(found.true >= found.best - TIE, 1.0 / np.maximum(found.ties, 1), 0.0)
    second = np.where(found.second <= -1e299, -np.inf, found.second) * BITS
    posterior = np.exp(found.best - found.total)
    return Found(found.row, found.best * BITS, second, found.ties, credit, posterior)


def _space(comparison: Comparison, model: FellegiSunter) -> Space | None:
    """Bits lost against full agreement, as a sum over attributes; None where a missing value tells more than a hit."""
    if not comparison.exact:
        return None
    weights = model.weights
    step = weights[:, 0] - weights[:, 1]
    missing = np.where(comparison.gaps, weights[:, 0] - weights[:, -1], 0.0)
    if (step < 0).any() or (missing < 0).any():
        return None
    left, right = comparison.codes()
    none = np.empty(0)
    return Space(
        np.empty((len(left), 0)), np.empty((len(right), 0)), left, right, MANHATTAN, none, step, missing, TIE, TIE
    )


def _by_tree(space: Space, model: FellegiSunter, truth: Ints, seed: int) -> Found:
    tree = plant_tree(space, silent)
    decision = decide_truth(space, truth, tell=silent, tree=tree)
    nearest = find_nearest(space, seed=seed, tell=silent, tree=tree)
    top = float(model.weights[:, 0].sum())
    weight = top - nearest.least
    posterior = np.minimum(model.posterior(weight), 1.0 / nearest.ties)
    return Found(nearest.row, weight, top - nearest.second, nearest.ties, decision.credit, posterior)


def match_one_to_one(comparison: Comparison, model: FellegiSunter, truth: Ints, lower: float, found: Found) -> Found:
    """The one-to-one links of greatest total weight above ``lower``, exactly, over all pairs that reach it."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415

    n, n_right = len(comparison.left), len(comparison.right)
    rows, points, weights = pairs_above(
        comparison.left, comparison.right, comparison.edges, comparison.n_edges, model.weights / BITS, lower / BITS
    )
    gain = weights * BITS - lower
    top = float(gain.max(initial=0.0)) + 1.0
    cost = np.concatenate([top - gain, np.full(n, top)])  # a record may stay alone, at the price of no gain
    graph = csr_array(
        (cost, (np.concatenate([rows, np.arange(n)]), np.concatenate([points, n_right + np.arange(n)]))),
        shape=(n, n_right + n),
    )
    left, right = min_weight_full_bipartite_matching(graph)
    link = np.full(n, -1, dtype=np.int64)
    link[left] = np.where(right < n_right, right, -1)
    own = np.zeros(n)
    linked = np.flatnonzero(link >= 0)
    levels = comparison.levels(linked, link[linked])
    own[linked] = sum(model.weights[k, levels[:, k]] for k in range(levels.shape[1]))
    weight = np.where(link >= 0, own, np.nan)
    credit = ((link >= 0) & (link == truth)).astype(np.float64)
    margin = np.where(found.row == link, found.second, found.weight)
    return Found(link, weight, margin, (link >= 0).astype(np.int64), credit, found.posterior)
