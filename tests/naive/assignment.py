"""Slow, obvious twins of the global linkage kernels: every pair, every permutation."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
from scipy.optimize import linear_sum_assignment


def cost_matrix(space, *, squared=False):
    """Cost of every pair, attribute by attribute, as space.py defines it."""
    reduced = np.zeros((len(space.queries), len(space.points)))
    add = np.maximum if space.norm == 0 else np.add
    for k in range(space.queries.shape[1]):
        gap = np.abs(space.queries[:, k][:, None] - space.points[:, k][None, :])
        part = gap**2 if space.norm == 2 else gap
        reduced = add(reduced, np.where(np.isnan(gap), space.missing[k], part))
    for k in range(space.query_codes.shape[1]):
        a, b = space.query_codes[:, k][:, None], space.point_codes[:, k][None, :]
        part = np.where(a == b, 0.0, space.step[k])
        reduced = add(reduced, np.where((a < 0) | (b < 0), space.code_missing[k], part))
    return np.sqrt(reduced) if space.norm == 2 and not squared else reduced


def least_total(space, *, squared=False):
    """Total of SciPy's dense solver."""
    costs = cost_matrix(space, squared=squared)
    return math.fsum(costs[linear_sum_assignment(costs)])


def violation(space, matching, *, squared=False):
    """Worst violation of profits[i] - prices[j] <= cost over all pairs, and of the signs for unequal sizes."""
    costs = cost_matrix(space, squared=squared)
    worst = float((matching.profits[:, None] - matching.prices[None, :] - costs).max())
    n_queries, n_points = costs.shape
    if n_queries < n_points:
        worst = max(worst, -float(matching.prices.min()))
    if n_queries > n_points:
        worst = max(worst, float(matching.profits.max()))
    return worst


def shares(space, truth, *, tolerance=1e-9, squared=False):
    """Share of all optimal matchings that contain each true pair, by trying every one."""
    costs = cost_matrix(space, squared=squared)
    n_queries, n_points = costs.shape
    best, found = math.inf, []
    if n_queries <= n_points:
        every = (dict(enumerate(p)) for p in itertools.permutations(range(n_points), n_queries))
    else:
        every = ({i: j for j, i in enumerate(p)} for p in itertools.permutations(range(n_queries), n_points))
    for pairs in every:
        total = math.fsum(costs[i, j] for i, j in pairs.items())
        if total < best - tolerance:
            best, found = total, []
        if total <= best + tolerance:
            found.append(pairs)
    hits = Counter(i for pairs in found for i, j in pairs.items() if truth[i] == j)
    return np.array([hits[i] / len(found) for i in range(n_queries)])
