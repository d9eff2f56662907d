"""Nearest points of every query: found, listed, or only decided about. Never n × n numbers in memory.

Ties are points whose reduced distance d obeys d <= least (1 + tolerance) + floor. All results are exact, decided by
distance.pair, and the same for any order of the rows (but for draws among ties, which go by row number), any number of
threads. The points are in the tree and the queries search it: where a task can be
put either way round, let the noisier file ask, since noise fills all dimensions and boxes around it exclude little.

All functions take the Tree of an earlier call on the same Space, so that several questions share one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Floats, Ints, Space
from unmask.kernels.compiling import in_chunks
from unmask.kernels.groups import labels
from unmask.kernels.search.best import Best, blank, expand, winners
from unmask.kernels.search.distance import distance_of_pairs
from unmask.kernels.search.few import MOST_MET, meet_all, sift
from unmask.kernels.search.lists import Lists, k_part, spread, tied_part
from unmask.kernels.search.ranks import draw_part, find_part
from unmask.kernels.search.together import decide_part
from unmask.kernels.search.tree import Tree, plant
from unmask.kernels.search.truth import Met, nobody_met, rank_part
from unmask.kernels.search.walk import leaf_order, new_buffer, order_of, search_order
from unmask.kernels.search.wide import decide_wide, find_best_wide, is_open, widen

Progress = Callable[[float], None] | None

GLANCE = 4096  # queries that are looked at for copies
TOGETHER = 2048  # queries that walk a tree together


class Nearest(NamedTuple):
    """One entry per query."""

    row: Ints  # one of the nearest points, by draw
    least: Floats  # reduced distance of the nearest
    second: Floats  # the smallest reduced distance that is not a tie; inf if there is none
    ties: Ints  # number of nearest points


class Decision(NamedTuple):
    """One entry per query."""

    closer: NDArray[np.bool_]  # some point is closer than the true one, or there is no true one
    ties: Ints  # size of the tie that the true point is in; 0 if it is in none

    @property
    def credit(self) -> Floats:
        """The share of the link that is right: 1 / ties, or 0."""
        return np.where(self.closer, 0.0, 1.0 / np.maximum(self.ties, 1))


def nearest(
    space: Space, *, seed: int = 0, tree: Tree | None = None, progress: Callable[[float], None] | None = None
) -> Nearest:
    """Find for each query a nearest point, the least and the second-best reduced distance, and the number of ties."""
    tree = plant(space) if tree is None else tree
    if _has_copies(space.queries, space.query_codes):  # equal queries are searched once
        first, label = labels(space.queries, space.query_codes)
        best = expand(_search(space, tree, first, progress), label)
    else:
        best = _search(space, tree, np.arange(len(space.queries)), progress)
    several = np.flatnonzero(best.ties > tree.weight[best.place])
    order = several[search_order(tree, several)]
    in_chunks(lambda part: draw_part(space, tree, order[part], seed, best), len(order))
    return Nearest(winners(tree, best, seed), best.least, best.second, best.ties)


def _search(space: Space, tree: Tree, queries: Ints, progress: Callable[[float], None] | None = None) -> Best:
    best, wide = blank(queries), widen(tree)
    if len(wide.tiles):
        find_best_wide(space, tree, wide, best, progress)
        return best
    order, leaves = leaf_order(tree, queries)
    in_chunks(lambda part: find_part(space, tree, order[part], leaves[part], best), len(order), progress=progress)
    return best


def nearest_k(space: Space, k: int, *, seed: int = 0, tree: Tree | None = None) -> tuple[Ints, Floats]:
    """Find the k nearest points of each query: rows and reduced distances, (n_queries, k), ascending.

    Equal distances are ordered by draw. With fewer than k points the rest is -1 and inf.
    """
    tree = plant(space) if tree is None else tree
    n = len(space.queries)
    lists = Lists(np.full((n, k), np.inf), np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64))
    order = search_order(tree, np.arange(n))
    in_chunks(lambda part: k_part(space, tree, order[part], seed, lists, new_buffer()), n)
    rows, distances = spread(tree, lists, seed)
    return rows, distances


def decide(
    space: Space, truth: Ints, *, tree: Tree | None = None, progress: Callable[[float], None] | None = None
) -> Decision:
    """Decide for each query whether some point is closer than the true one (row truth[i], or -1), and count its tie.

    The credits equal those of a full search, which costs ten times as much: closer means d (1 + tolerance) + floor <
    d_true, which is to say that the true point is not among the ties of the nearest.
    """
    distances, truth = _true_distances(space, truth), np.asarray(truth)
    if not _has_copies(space.queries, space.query_codes):
        met = _met(space, truth, distances, tree, progress)
        return Decision(met.closer, np.where(met.closer, 0, met.ties))
    asking, label = labels(space.queries, space.query_codes)
    shortest = np.full(len(asking), np.inf)
    np.minimum.at(shortest, label, distances)
    own = np.flatnonzero(distances == shortest[label])
    asking[label[own]] = own  # the one whose true point is nearest asks for all who are equal
    few = None if tree is None else tree._replace(probes=tree.probes[asking])
    met = _met(space.of(queries=asking), truth[asking], distances[asking], few, progress)
    least = np.where(met.closer, -np.inf, met.least)  # closer than the nearest true point: than all of them
    return _decided(space, distances, least[label], met.ties[label])


def _has_copies(values: Floats, codes: Codes) -> bool:
    """Whether some of a few rows are equal: results do not depend on it."""
    some = slice(None, None, -(-len(values) // GLANCE) or 1)
    first, label = labels(values[some], codes[some])
    return len(first) < len(label)


def _met(space: Space, truth: Ints, distances: Floats, tree: Tree | None, progress: Progress) -> Met:
    """What each query meets within its true distance."""
    tree = plant(space, apart=not _has_copies(space.points, space.point_codes)) if tree is None else tree
    met = nobody_met(distances, np.where(truth < 0, -1, tree.position[truth]))
    _decide_all(space, tree, order_of(tree, truth), met, progress)
    return met


def _decide_all(space: Space, tree: Tree, queries: Ints, met: Met, progress: Progress) -> None:
    wide = widen(tree)
    if len(wide.tiles) and is_open(space, tree, met.truth):
        decide_wide(space, tree, wide, queries, met, progress)
        return
    in_chunks(
        lambda part: decide_part(space, tree, queries[part], met), len(queries), chunk=TOGETHER, progress=progress
    )


def decision_of(space: Space, truth: Ints, found: Nearest, *, rows: Ints | None = None) -> Decision:
    """Read off nearest points what decide() would say; ``rows``: the queries that they are of, all when None."""
    return _decided(space, _true_distances(space, truth, rows), found.least, found.ties)


def _decided(space: Space, distances: Floats, least: Floats, ties: Ints) -> Decision:
    """Compare true distances with the least."""
    closer = ~np.isfinite(distances) | (least * (1.0 + space.tolerance) + space.floor < distances)
    return Decision(closer, np.where(closer, 0, ties))


def decide_few(space: Space, truth: Ints, *, most: float = MOST_MET) -> Decision:
    """The same for few queries among very many points: a tree is planted if more than ``most`` pairs stay open."""
    distances = _true_distances(space, truth)
    closer = sift(space, distances)
    left = np.flatnonzero(~closer)
    if len(left) * len(space.points) > most:
        found = decide(space.of(left), truth[left])
        closer[left], ties = found.closer, np.zeros(len(closer), dtype=np.int64)
        ties[left] = found.ties
        return Decision(closer, ties)
    closer, ties = meet_all(space, distances, closer)
    return Decision(closer, np.where(closer, 0, ties))


def rank_of_truth(space: Space, truth: Ints, cap: int, *, tree: Tree | None = None) -> Ints:
    """Count the points strictly closer than the true one (beyond the tolerance), up to `cap`; -1 without a true one."""
    tree = plant(space) if tree is None else tree
    return _ranked(space, tree, _true_distances(space, truth), cap, order_of(tree, np.asarray(truth)))


def count_closer(space: Space, distances: Floats, cap: int, *, tree: Tree | None = None) -> Ints:
    """Count for each query the points strictly closer than some reduced distance (beyond the tolerance), up to `cap`.

    The true point need not be among them: counts over parts of a file add up.
    """
    tree = plant(space) if tree is None else tree
    return _ranked(space, tree, distances, cap, search_order(tree, np.arange(len(distances))))


def _ranked(space: Space, tree: Tree, distances: Floats, cap: int, order: Ints) -> Ints:
    rank = np.where(np.isfinite(distances), 0, -1)
    in_chunks(lambda part: rank_part(space, tree, order[part], distances, cap, new_buffer(), rank), len(rank))
    return rank


def tied(space: Space, queries: Ints | None = None, *, tree: Tree | None = None) -> tuple[Ints, Ints]:
    """List the ties (anonymity sets) of chosen queries as (indptr, indices): rows ascend within a query."""
    tree = plant(space) if tree is None else tree
    chosen = np.arange(len(space.queries)) if queries is None else np.asarray(queries, dtype=np.int64)
    best = _search(space, tree, chosen)
    start = np.concatenate(([0], np.cumsum(best.ties))).astype(np.int64)
    rows = np.empty(start[-1], dtype=np.int64)
    order = search_order(tree, chosen)
    in_chunks(lambda part: tied_part(space, tree, order[part], best, start, rows, new_buffer()), len(order))
    return start, rows


def _true_distances(space: Space, truth: Ints, rows: Ints | None = None) -> Floats:
    known = np.flatnonzero(np.asarray(truth) >= 0)
    distances = np.full(len(truth), np.inf)
    distances[known] = distance_of_pairs(space, known if rows is None else rows[known], truth[known])
    return distances
