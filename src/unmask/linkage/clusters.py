"""Households matched as a whole: who is published together is looked for together.

The intruder knows who lives with whom (or which visits are one person's), and the release keeps people together, under
whatever number. One person may resemble many; four of one household together rarely do. They compare whole clusters:
the distance of two clusters is that of the best one-to-one pairing of their members, and the clusters themselves are
matched one to one at the least total distance. Both levels are solved exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment

from unmask.arrays import Floats, Rows
from unmask.errors import NothingToTryError, RoleError
from unmask.evidence import Context, Estimate, Evidence, Fact, Observation, Progress, measure, rate, silent
from unmask.kernels.base import Space
from unmask.kernels.search import distance_of_pairs
from unmask.shown import Shown
from unmask.study import Metric, Study, as_study
from unmask.tables import Encoded, Release

MOST_PAIRS = 2_000_000  # pairs of clusters that are compared; beyond, some clusters are looked for
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


# --- on a release -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClusterLinkage(Shown):
    """Who was found by matching whole clusters. Arrays have one entry per original record; NaN: was not looked for."""

    household: Floats = field(repr=False)  # credit: the person's cluster was matched to its own
    person: Floats = field(repr=False)  # credit: the person's own record inside it, too
    n_clusters: int = 0
    n_found: float = 0.0  # clusters matched rightly, ties shared
    chance: float = 0.0
    seed: int = 0

    def rate(self, which: Literal["household", "person"]) -> Estimate:
        """Share of people whose cluster, or whose own record, is found."""
        credit = self.household if which == "household" else self.person
        return rate(credit[~np.isnan(credit)], chance=self.chance, seed=self.seed)


def link_clusters(
    release: Release | Study, *, metric: Metric = "manhattan", seed: int = 0, progress: Progress = silent
) -> ClusterLinkage:
    """Match whole households (or visits of one person) of both files, exactly at both levels.

    The column named in ``household=`` says in both files who belongs together; its values need not be the same.
    At more than ``MOST_PAIRS`` pairs of clusters a part of them, drawn by content, is looked for among all.
    """
    study = as_study(release)
    release = study.release
    reason = no_clusters(release)
    if reason:
        raise RoleError("there are no clusters to match", hint=reason)
    encoding = study.encoding()
    space = study.index(metric=metric).space
    sides = (release.original, encoding.original), (release.released, encoding.released)
    ours, theirs = (_clusters(table[str(release.household)], side) for table, side in sides)
    truth = _true_clusters(ours, theirs, release)
    there = np.flatnonzero(truth >= 0)
    if not there.size:
        raise NothingToTryError("nobody who has a household in the original has one in the release")
    asked = _drawn(there, len(theirs), seed)
    match = match_clusters(
        lambda rows, columns: _distances(space, rows, columns), [ours[i] for i in asked], theirs, truth[asked],
        tell=progress,
    )  # fmt: skip
    credit = max(match.nearest, match.matched, key=lambda each: float(np.sort(each).sum()))
    household = np.full(release.original.height, np.nan)
    person = household.copy()
    for place, i in enumerate(asked):
        rows = ours[i][release.truth[ours[i]] >= 0]
        household[rows] = credit[place]
        person[rows] = (match.member[rows] == release.truth[rows]) * match.matched[place]
    return ClusterLinkage(household, person, len(asked), float(np.sort(credit).sum()), 1.0 / len(theirs), seed)


def no_clusters(release: Release) -> str | None:
    """Why there is nothing to match as a whole, or None."""
    name = release.household
    if name is None:
        return "no column says who belongs together (household=)"
    if name not in release.released.columns:
        return f"the release does not keep {name!r}: nobody can see who is published together"
    if release.original[name].n_unique() == release.original.height:
        return "everybody is alone in their household"
    return None


def _clusters(column: pl.Series, side: Encoded) -> list[Rows]:
    """Rows of each cluster, in the order of their content: file order must not break ties."""
    label = column.rank("dense").fill_null(0).cast(int).to_numpy().astype(np.int64)
    rows = np.flatnonzero(label > 0)
    content = np.column_stack([side.numeric, side.codes])
    place = np.unique(np.nan_to_num(content, nan=np.inf), axis=0, return_inverse=True)[1].ravel()
    rows = rows[np.lexsort((place[rows], label[rows]))]
    found = np.split(rows, np.flatnonzero(np.diff(label[rows])) + 1)
    return sorted(found, key=lambda members: (len(members), place[members].tolist()))


def _true_clusters(ours: list[Rows], theirs: list[Rows], release: Release) -> Rows:
    """The released cluster that most members of each are in, -1 where nobody is released with one."""
    truth, home = release.truth, np.full(release.released.height, -1, dtype=np.int64)
    for number, rows in enumerate(theirs):
        home[rows] = number
    found = []
    for rows in ours:
        there = home[truth[rows][truth[rows] >= 0]]
        there = there[there >= 0]
        found.append(int(np.bincount(there).argmax()) if there.size else -1)
    return np.array(found, dtype=np.int64)


def _drawn(there: Rows, n_theirs: int, seed: int) -> Rows:
    most = max(1, MOST_PAIRS // max(1, n_theirs))
    if there.size <= most:
        return there
    return np.sort(np.random.default_rng(seed).choice(there, most, replace=False))


def _distances(space: Space, rows: Rows, columns: Rows) -> Floats:
    """Distances of some people to some records, as the metric has them."""
    left, right = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    return distance_of_pairs(space, left, right).reshape(len(rows), len(columns))


# --- as a measure -----------------------------------------------------------------------------------------------------


@measure(
    "clusters",
    title="Households matched as a whole",
    story="The intruder knows who lives with whom, and the release keeps people of a household together. They compare "
    "whole households, pair their members as well as can be, and match all households one to one.",
    keys=("clusters.rate", "clusters.people"),
    applies=no_clusters,
)
def assess_clusters(study: Study, context: Context) -> Evidence:
    """Match the households of both files and tell who is found."""
    found = link_clusters(study, seed=context.seed, progress=context.progress)
    households, people = found.rate("household"), found.rate("person")
    whole = found.n_clusters
    return Evidence(
        observations=(
            Observation.of_people(
                "clusters.rate", households, "are in a household that is found by comparing whole households."
            ),
            Observation.of_people("clusters.people", people, "are found themselves, inside their household."),
        ),
        per_record=np.nan_to_num(found.person) if not np.isnan(found.person[study.release.paired_rows]).any() else None,
        facts=(
            Fact("households looked for", whole, "those with a released member"),
            Fact("households found", round(found.n_found, 1), "matched to their own, ties shared"),
        ),
    )
