"""Without knowing anybody: who has the like profile, and the ties that follow from the clearest pairs.

The profile of a person is how their own number of ties, those of their friends, and the ties among these are spread
[DING]_. It survives some added or deleted ties, where equal signatures do not. People are matched by it one to one, at
the least total distance, by the solver of one-to-one linkage; in small networks also by the eigenvectors of both
networks [FAN]_. The clearest pairs are then taken for known people, doubtful ones, and the intruder goes on from
them as from seeds (`propagation`), keeping the attempt under which most ties of the one are ties of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Counts, Floats, Ints
from unmask.evidence import Estimate, Progress, rate, silent
from unmask.kernels.assignment import credits as shares_of_optima
from unmask.kernels.assignment import solve
from unmask.kernels.base import EUCLIDEAN, Space
from unmask.kernels.search import nearest
from unmask.networks.network import Network, Side
from unmask.networks.propagation import best_attempt, kept_ties, sure_claims, sureness
from unmask.networks.signatures import common_ties

EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)
FIRST = (10, 50, 250)  # clearest pairs to begin with
MOST_MATCHED = 2_000  # people up to whom all are matched one to one
MOST_SPECTRAL = 1_000
ENOUGH = 0.5  # share of the ties that are kept, from which no other start is tried
ETA = 0.2  # bandwidth of the spectral weights, as in the paper's experiments


def profiles(side: Side, common: Counts) -> Floats:
    """One row a person: their number of ties, those of friends in quantiles, triangles, and means one step further."""
    degree, rows = side.degree.astype(np.float64), side.rows
    own = np.log1p(degree)
    some = degree > 0
    first, count = side.start[:-1][some], degree[some]
    near = own[side.indices]
    order = np.lexsort((near, rows))
    ranked, found = near[order], np.zeros((side.n, 9))
    found[:, 0] = own
    for k, q in enumerate(EDGES):
        found[some, 1 + k] = ranked[first + np.floor(q * (count - 1) + 0.5).astype(np.int64)]
    mean = _means(side, near)
    found[:, 6], found[:, 7] = mean, _means(side, mean[side.indices])
    found[:, 8] = np.log1p(np.bincount(rows, common, minlength=side.n) / 2)
    return found


def _means(side: Side, values: Floats) -> Floats:
    total = np.zeros(side.n)
    some = side.degree > 0
    if some.any():
        total[some] = np.add.reduceat(values, side.start[:-1][some]) / side.degree[some]
    return total


def space_of(one: Floats, two: Floats) -> Space:
    """Profiles of both networks, each figure in units of its spread in the release."""
    spread = two.std(axis=0)
    used = spread > 1e-9
    scale = 1.0 / spread[used]
    blank = np.zeros((0,))
    return Space(
        np.ascontiguousarray(one[:, used] * scale), np.ascontiguousarray(two[:, used] * scale),
        np.zeros((len(one), 0), dtype=np.int32), np.zeros((len(two), 0), dtype=np.int32),
        EUCLIDEAN, np.ones(int(used.sum())), blank, blank,
    )  # fmt: skip


def clearest(space: Space) -> tuple[Ints, Ints]:
    """Pairs who are nearest to each other and to nobody else, the clearest first."""
    there, back = nearest(space), nearest(space.swapped())
    mutual = back.row[there.row] == np.arange(len(there.row))
    one = np.flatnonzero((there.ties == 1) & mutual & (back.ties[there.row] == 1))
    two = there.row[one]
    ratio = np.sqrt(np.minimum(there.second[one], back.second[two])) - np.sqrt(there.least[one])
    order = np.lexsort((one, -ratio))
    return one[order], two[order]


@dataclass(frozen=True, slots=True)
class ProfileMatch:
    """What an intruder finds who knows nobody. Credits are of the people of the original who are in the release."""

    matched: Floats | None = field(repr=False)  # by profiles one to one; None: too many people
    propagated: Floats = field(repr=False)  # from the clearest pairs
    image: Ints = field(repr=False)  # whom these lead to take each person of the original for, or -1
    estimates: tuple[Estimate, ...]  # of each
    claims: int  # made by propagation, right or wrong
    right: int
    sure: tuple[int, int]  # of the surest claims as many as are right 19 times in 20, and how many are
    kept: int  # ties of the original that are ties of the release under them

    @property
    def credit(self) -> Floats:
        """Of the way that finds most."""
        if self.matched is not None and self.matched.mean() > self.propagated.mean():
            return self.matched
        return self.propagated


def attack_without_seeds(network: Network, *, seed: int = 0, progress: Progress = silent) -> ProfileMatch:
    """Match profiles one to one, then go on from the clearest pairs."""
    sides = (network.original, network.released)
    progress(0.0, "profiles")
    space = space_of(*(profiles(side, common_ties(side)) for side in sides))
    matched = _one_to_one(network, space, seed) if max(side.n for side in sides) <= MOST_MATCHED else None
    starts = [tuple(part[:number] for part in clearest(space)) for number in FIRST] if space.queries.shape[1] else []
    if max(side.n for side in sides) <= MOST_SPECTRAL and min(side.n_ties for side in sides):
        starts.append(spectral_pairs(network))
    best, most = np.full(network.original.n, -1, dtype=np.int64), -1
    for done, (one, two) in enumerate(starts):
        progress(0.3 + 0.7 * done / len(starts), "from the clearest pairs")
        image = best_attempt(network, one, two, firm=False)
        if (kept := kept_ties(network, image)) > most:
            best, most = image, kept
        if most > ENOUGH * min(side.n_ties for side in sides):
            break
    own, taken = network.own[network.there], best[network.there]
    found = (taken == own).astype(np.float64)
    ways = [found] if matched is None else [matched, found]
    estimates = tuple(rate(way, chance=network.chance, seed=seed) for way in ways)
    return ProfileMatch(
        matched, found, best, estimates, int((taken >= 0).sum()),
        int(found.sum()), sure_claims(sureness(network, best)[network.there][taken >= 0], found[taken >= 0] > 0),
        max(0, most),
    )  # fmt: skip


def _one_to_one(network: Network, space: Space, seed: int) -> Floats:
    """Share of the optimal matchings of profiles that contain each person's own pair."""
    if not space.queries.shape[1]:  # everybody has the same profile
        return np.full(int(network.there.sum()), network.chance)
    matching = solve(space, seed=seed)
    return np.asarray(shares_of_optima(space, matching, network.own, seed=seed).credit[network.there])


def spectral_pairs(network: Network) -> tuple[Ints, Ints]:
    """Pairs who are each other's best by the eigenvectors of both networks: GRAMPA, eq. 3 and 4 of [FAN]_."""
    (values, vectors), (others, there) = (
        np.linalg.eigh(_centred(side)) for side in (network.original, network.released)
    )
    weights = 1.0 / ((values[:, None] - others[None, :]) ** 2 + ETA**2)
    alike = vectors @ (weights * np.outer(vectors.sum(axis=0), there.sum(axis=0))) @ there.T
    one, two = np.arange(len(alike)), alike.argmax(axis=1)
    clear = np.partition(alike, -2, axis=1)[:, -2:] if alike.shape[1] > 1 else np.array([[-np.inf, 1.0]] * len(alike))
    alone = clear[:, 1] - clear[:, 0] > 1e-9 * np.abs(clear[:, 1])
    both = alone & (alike.argmax(axis=0)[two] == one)
    return one[both], two[both]


def _centred(side: Side) -> Floats:
    """The matrix of ties less its mean, in the unit in which its eigenvalues stay of order one."""
    matrix = np.zeros((side.n, side.n))
    matrix[side.rows, side.indices] = 1.0
    density = float(matrix.mean())
    return np.asarray((matrix - density) / np.sqrt(max(side.n * density * (1 - density), 1e-12)))
