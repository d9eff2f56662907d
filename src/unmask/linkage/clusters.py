"""Households matched as a whole: who is published together is looked for together.

The intruder knows who lives with whom (or which visits are one person's), and the release keeps people together, under
whatever number. One person may resemble many; four of one household together rarely do. They compare whole clusters:
the distance of two clusters is that of the best one-to-one pairing of their members, and the clusters themselves are
matched one to one at the least total distance. Both levels are solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.evidence.measure import Progress

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

TIE = 1e-9  # clusters this near, relative to the least distance, are equally near


@dataclass(frozen=True, slots=True)
class ClusterMatch:
    """Matching of clusters, and of the members within: ``cost`` has one row per cluster of the first file."""

    nearest: Floats  # credit of taking the nearest cluster, ties shared, one entry per cluster
    matched: Floats  # credit of the one-to-one matching of clusters
    partner: Rows  # the cluster that the matching gives to each
    member: Rows  # the record that each person is paired with inside the partner, -1 for none
    cost: Floats = field(repr=False)


def match_clusters(
    distance: Callable[[Rows, Rows], Floats], ours: list[Rows], theirs: list[Rows], truth: Rows, *, tell: Progress
) -> ClusterMatch:
    """Match clusters of rows of two files by the optimal pairing of their members.

    ``distance(rows, columns)`` gives the distances of some people to some records; ``truth`` the cluster of the second
    file that each of the first is, -1 where there is none. Where sizes are the same in both files, a cluster is
    compared with those of its size; else with all, and a member without a partner costs what two strangers differ by.
    """
    sizes = np.array([len(rows) for rows in ours]), np.array([len(rows) for rows in theirs])
    same = sorted(sizes[0]) == sorted(sizes[1])
    stranger = 0.0 if same else _stranger(distance, ours, theirs)
    cost = np.full((len(ours), len(theirs)), np.inf)
    everyone = np.concatenate(theirs)
    ends = np.concatenate([[0], np.cumsum(sizes[1])])
    for i, rows in enumerate(ours):
        candidates = np.flatnonzero(sizes[1] == sizes[0][i]) if same else np.arange(len(theirs))
        block = distance(rows, everyone)
        for j in candidates:
            cost[i, j] = _paired(block[:, ends[j] : ends[j + 1]], stranger)
        tell(0.9 * (i + 1) / len(ours), "clusters")
    return _match(distance, ours, theirs, truth, cost)


def _paired(block: Floats, stranger: float) -> float:
    """Least total distance of a one-to-one pairing of members; who is left over costs as much as a stranger."""
    if block.shape == (1, 1):
        return float(block[0, 0])
    pairs = linear_sum_assignment(block)
    left_over = abs(block.shape[0] - block.shape[1])
    return float(block[pairs].sum() + stranger * left_over)


def _stranger(distance: Callable[[Rows, Rows], Floats], ours: list[Rows], theirs: list[Rows]) -> float:
    rows, columns = np.concatenate(ours), np.concatenate(theirs)
    block = distance(rows[:: max(1, len(rows) // 200)], columns[:: max(1, len(columns) // 200)])
    return float(np.sort(block, axis=None).mean())


def _match(
    distance: Callable[[Rows, Rows], Floats], ours: list[Rows], theirs: list[Rows], truth: Rows, cost: Floats
) -> ClusterMatch:
    least = cost.min(axis=1, keepdims=True)
    ties = cost <= least + TIE * (np.abs(least) + 1e-300)
    there = truth >= 0
    own = np.zeros(len(ours), dtype=bool)
    own[there] = ties[np.flatnonzero(there), truth[there]]
    nearest = np.where(own, 1.0 / ties.sum(axis=1), 0.0)
    finite = np.where(np.isfinite(cost), cost, 1e6 * (1.0 + np.max(cost[np.isfinite(cost)], initial=0.0)))
    rows, columns = linear_sum_assignment(finite)
    partner = np.full(len(ours), -1, dtype=np.int64)
    partner[rows] = columns
    member = np.full(max(int(r.max()) for r in ours) + 1, -1, dtype=np.int64)
    for i, j in zip(rows, columns, strict=True):
        a, b = linear_sum_assignment(distance(ours[i], theirs[j]))
        member[ours[i][a]] = theirs[j][b]
    twins = _twins(cost)
    matched = np.where(there & (partner >= 0), _shared(twins, partner, truth), 0.0)
    return ClusterMatch(nearest, matched, partner, member, cost)


def _twins(cost: Floats) -> Rows:
    """Number the clusters of the second file so that those with equal distances to everybody have one number."""
    _, number = np.unique(cost.T, axis=0, return_inverse=True)
    return np.asarray(number).ravel().astype(np.int64)


def _shared(twins: Rows, partner: Rows, truth: Rows) -> Floats:
    """1 for the right cluster; among clusters that nothing tells apart the success is shared."""
    crowd = np.bincount(twins)[twins]
    return np.where(twins[partner] == twins[truth], 1.0 / crowd[truth], 0.0)
