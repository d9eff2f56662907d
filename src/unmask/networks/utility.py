"""What is left of a network: numbers of ties, clustering, distances between people, communities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from unmask.arrays import Counts, Floats, Ints
from unmask.evidence import Fact
from unmask.kernels.networks import count_distances, move_people
from unmask.networks.network import Network, Side
from unmask.networks.propagation import kept_ties
from unmask.networks.signatures import common_ties
from unmask.shown import Shown

SOURCES = 100  # people from whom distances are taken
PASSES = 20  # of one level of communities
LEVELS = 10


@dataclass(frozen=True, slots=True)
class Shape:
    """Figures of one network."""

    people: int
    ties: int
    mean_degree: float
    clustering: float  # mean over people of the share of pairs of friends who are friends, 0 with one friend or none
    transitivity: float  # share of all such pairs
    distance: float  # mean number of steps between people who can reach each other
    reached: float  # share of pairs who can
    communities: int
    modularity: float


@dataclass(frozen=True, slots=True)
class NetworkUtility(Shown):
    """What is left of a network in the release."""

    original: Shape
    released: Shape
    kept: float  # share of the original's ties that are in the release
    new: float  # share of the release's ties that are not in the original
    degrees: float  # largest difference between the distributions of numbers of ties (KS)
    communities: float  # modularity that the original's communities have in the release: the original's own, if kept

    def facts(self) -> tuple[Fact, ...]:
        """The same for a report."""
        one, two = self.original, self.released
        return (
            Fact("ties kept", self.kept, "share of the original's ties that are in the release"),
            Fact("ties that are new", self.new, "share of the release's ties that are not in the original"),
            Fact("numbers of ties", self.degrees, "largest difference between their distributions: 0 the same"),
            Fact("clustering", two.clustering, f"share of friends who are friends; originally {one.clustering:.3g}"),
            Fact("distance", two.distance, f"mean steps between two people; originally {one.distance:.3g}"),
            Fact("reached", two.reached, f"share of pairs who reach each other; originally {one.reached:.3g}"),
            Fact(
                "communities", self.communities,
                f"modularity of the original's communities in the release; originally {one.modularity:.3g}",
            ),
            Fact("modularity", two.modularity, "of communities looked for in the release alone"),
        )  # fmt: skip


def network_utility(network: Network, *, seed: int = 0) -> NetworkUtility:
    """Compare the shape of both networks, over the people who are in both where people are compared."""
    sides = (network.original, network.released)
    groups = [communities(side) for side in sides]
    shapes = [_shape(side, group, seed) for side, group in zip(sides, groups, strict=True)]
    moved = np.arange(network.released.n) + network.original.n  # who is new is alone
    moved[network.own[network.there]] = groups[0][network.there]
    same = kept_ties(network, network.own)
    return NetworkUtility(
        shapes[0], shapes[1], same / max(1, network.original.n_ties), 1 - same / max(1, network.released.n_ties),
        _largest_difference(*(side.degree for side in sides)),
        modularity(network.released, moved),
    )  # fmt: skip


def _shape(side: Side, group: Ints, seed: int) -> Shape:
    degree = side.degree
    triangles = np.bincount(side.rows, common_ties(side), minlength=side.n) / 2  # pairs of friends who are friends
    pairs = degree * (degree - 1) / 2
    local = np.divide(triangles, pairs, out=np.zeros(side.n), where=pairs > 0)
    sources = np.random.default_rng(seed).permutation(side.n)[:SOURCES]
    counts = count_distances(side.start, side.indices, np.sort(sources))
    steps = np.arange(1, counts.size)
    reached = int(counts[1:].sum())
    return Shape(
        side.n, side.n_ties, float(degree.mean()), float(local.mean()), float(triangles.sum() / max(1.0, pairs.sum())),
        float(counts[1:] @ steps / reached) if reached else 0.0, reached / max(1, reached + int(counts[0])),
        int(np.unique(group).size), modularity(side, group),
    )  # fmt: skip


def _largest_difference(one: Counts, two: Counts) -> float:
    size = int(max(one.max(initial=0), two.max(initial=0))) + 1
    shares = [np.cumsum(np.bincount(degree, minlength=size)) / degree.size for degree in (one, two)]
    return float(np.abs(shares[0] - shares[1]).max())


def modularity(side: Side, group: Ints) -> float:
    """Share of ties within groups less what numbers of ties would give."""
    if not side.n_ties:
        return 0.0
    within = float((group[side.rows] == group[side.indices]).mean())
    sums = np.bincount(np.unique(group, return_inverse=True)[1], side.degree) / (2 * side.n_ties)
    return within - float((sums**2).sum())


def communities(side: Side) -> Ints:
    """The community of each person, by Louvain: people move, then communities as if they were people."""
    matrix = sparse.csr_matrix((np.ones(side.indices.size), side.indices, side.start), shape=(side.n, side.n))
    of, loops = np.arange(side.n), np.zeros(side.n)
    for _ in range(LEVELS):
        if not matrix.nnz:
            break
        parts = _parts(matrix, loops)
        n = int(parts.max()) + 1
        of = parts[of]
        if n == matrix.shape[0]:
            break
        to = sparse.csr_matrix((np.ones(parts.size), (np.arange(parts.size), parts)), shape=(parts.size, n))
        joined = sparse.csr_matrix(to.T @ matrix @ to)
        loops = np.bincount(parts, loops, minlength=n) + joined.diagonal()
        joined.setdiag(0)
        joined.eliminate_zeros()
        joined.sort_indices()
        matrix = joined
    return np.asarray(of, dtype=np.int64)


def _parts(matrix: sparse.csr_matrix, loops: Floats) -> Ints:
    """One level, with communities numbered from 0."""
    start, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    found = move_people(start, indices, matrix.data.astype(np.float64), loops, PASSES)
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)
