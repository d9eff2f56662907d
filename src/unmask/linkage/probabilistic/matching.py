"""One-to-one links of a Fellegi-Sunter model: nobody twice, the greatest total weight above a threshold, and a proof.

A link gains its weight less the threshold; whoever gains nothing stays alone. Where agreement is exact the bits lost
against full agreement are a distance between codes, and the matching is that of global linkage (`kernels.assignment`):
staying alone is a record that lies just at the threshold from everybody. With bands no such distance exists: "at most
this far" is not transitive. There all pairs that reach the threshold are listed and matched by SciPy. Either way the
answer is proven over *all* pairs: give each released record a price q_j and each person the profit p_i = max(0,
max_j gain_ij - q_j). No matching gains more than sum p + sum q, since pairs below the threshold gain less than nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.kernels.assignment import solve
from unmask.kernels.base import MANHATTAN, Space
from unmask.kernels.weighing import TIE, Scale, pairs_above
from unmask.linkage.probabilistic.levels import Comparison
from unmask.linkage.probabilistic.model import FellegiSunter

ROUNDS = 1000  # of raising prices; the bound holds after any number


class Match(NamedTuple):
    """For each person the record linked, or -1; and by how much of the total gain it may miss the optimum."""

    link: Ints
    gap: float


def code_space(comparison: Comparison, model: FellegiSunter) -> Space | None:
    """Bits lost against full agreement, as a sum over attributes; None where they are no distance between codes."""
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


def match_people(comparison: Comparison, model: FellegiSunter, lower: float, seed: int = 0) -> Match:
    """The one-to-one links of greatest total weight above ``lower`` (bits)."""
    space = code_space(comparison, model)
    reach = float(model.weights[:, 0].sum()) - lower if space is not None else 0.0
    if space is not None and reach > float(space.code_missing.sum()):
        return _by_assignment(space, reach, seed)
    return _by_list(comparison, model, lower)


def _by_assignment(space: Space, reach: float, seed: int) -> Match:
    """Global linkage among codes; a released record that is missing everywhere stands for staying alone."""
    n, n_right = len(space.query_codes), len(space.point_codes)
    flag = np.zeros((n + n_right, 1), dtype=np.int32)
    alone = np.full((n, space.point_codes.shape[1] + 1), -1, dtype=np.int32)
    alone[:, -1] = 1
    matching = solve(
        space._replace(
            queries=np.empty((n, 0)),
            points=np.empty((n_right + n, 0)),
            query_codes=np.ascontiguousarray(np.hstack([space.query_codes, flag[:n]])),
            point_codes=np.ascontiguousarray(np.vstack([np.hstack([space.point_codes, flag[n:]]), alone])),
            step=np.append(space.step, reach - space.code_missing.sum()),
            code_missing=np.append(space.code_missing, 0.0),
        ),
        seed=seed,
    )
    linked = (matching.cols < n_right) & (matching.costs < reach - TIE)
    gained = float((reach - matching.costs[linked]).sum())
    return Match(np.where(linked, matching.cols, -1), (matching.total - matching.dual) / max(gained, 1e-300))


def _by_list(comparison: Comparison, model: FellegiSunter, lower: float) -> Match:
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415

    n, n_right = len(comparison.left), len(comparison.right)
    scale = Scale(comparison.edges, comparison.n_edges, model.weights)
    rows, points, weights = pairs_above(comparison.left, comparison.right, scale, lower)
    gain = weights - lower
    top = float(gain.max(initial=0.0)) + 1.0
    cost = np.concatenate([top - gain, np.full(n, top)])  # a record may stay alone, at the price of no gain
    places = np.concatenate([rows, np.arange(n)]), np.concatenate([points, n_right + np.arange(n)])
    left, right = min_weight_full_bipartite_matching(csr_array((cost, places), shape=(n, n_right + n)))
    link = np.full(n, -1, dtype=np.int64)
    link[left] = np.where(right < n_right, right, -1)
    gained = np.zeros(n)
    mine = link[rows] == points
    gained[rows[mine]] = gain[mine]
    bound = proven_bound(rows, points, gain, link, gained, n_right)
    return Match(link, max(0.0, bound - gained.sum()) / max(float(gained.sum()), 1e-300))


def proven_bound(rows: Ints, points: Ints, gain: Floats, link: Ints, gained: Floats, n_right: int) -> float:
    """No one-to-one links gain more: prices are raised until nobody would rather have another's record."""
    price, linked = np.zeros(n_right), np.flatnonzero(link >= 0)
    for _ in range(ROUNDS):
        profit = np.zeros(len(link))
        profit[linked] = np.maximum(gained[linked] - price[link[linked]], 0.0)
        raised = price.copy()
        np.maximum.at(raised, points, gain - profit[rows])
        if (raised <= price + TIE).all():
            break
        price = raised
    profit = np.zeros(len(link))
    np.maximum.at(profit, rows, gain - price[points])
    return float(profit.sum() + price.sum())
