"""What can be told of a person without a name: their number of ties, those of their friends, the ties among these.

A signature is anything that renaming does not change. The intruder works it out for the person they look for in the
original, and for everybody in the release; whoever has the same one is a candidate, and each as likely as the others.
Signatures are 64-bit numbers made from sums that depend on no order: two that differ are taken for the same once in
10^19 times.

Colour refinement [WL]_: everybody begins with one colour; in each round a person gets a new one from their own and
those of their neighbours. Round 1 tells the number of ties, round 2 those of the neighbours, round 3 those of theirs;
when a round splits no class, none will. Every signature that is made of ties and numbers of ties, to any distance, is
the same within a class, so the classes bound all of them. Ties may carry a number of common friends, which also tells
triangles apart, and which plain refinement does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Counts, Flags, Floats
from unmask.evidence import Progress, silent
from unmask.kernels.networks import sum_over_common
from unmask.networks.network import Network, Side

Colours = NDArray[np.uint64]
GOLDEN, FIRST, SECOND = (np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
HALF = np.uint64(32)
MOST_WORK = 2_000_000_000  # entries read by all rounds of refinement together
EGO_ROUNDS = 3  # of refinement within the neighbourhood of a person


@dataclass(frozen=True, slots=True)
class Candidates:
    """For each person who is in both networks: how many of the release have their signature, and if they do."""

    size: Counts = field(repr=False)
    own: Flags = field(repr=False)

    @property
    def credit(self) -> Floats:
        """The share of the guess that is right: one in so many candidates, 0 where the person is not among them."""
        return np.where(self.own, 1.0 / np.maximum(self.size, 1), 0.0)


@dataclass(frozen=True, slots=True)
class Refinement:
    """Colour refinement of both networks: candidates after each round, from the first."""

    words: str  # what the intruder uses besides ties
    rounds: tuple[Candidates, ...] = field(repr=False)
    classes: int  # of the release, in the end
    stable: bool  # no further round would split a class


def mix(words: Any) -> Colours:  # noqa: ANN401 - an array of whole numbers
    """Scatter 64-bit numbers (splitmix64): close ones become far ones, different ones stay different."""
    with np.errstate(over="ignore"):
        found = (np.asarray(words).astype(np.uint64) + GOLDEN).astype(np.uint64)
        found = (found ^ (found >> np.uint64(30))) * FIRST
        found = (found ^ (found >> np.uint64(27))) * SECOND
        return np.asarray(found ^ (found >> np.uint64(31)), dtype=np.uint64)


def candidates(network: Network, of: Colours, there: Colours) -> Candidates:
    """Candidates by signature: ``of`` the people of the original, ``there`` those of the release."""
    values, count = np.unique(there, return_counts=True)
    asked = of[network.there]
    place = np.minimum(np.searchsorted(values, asked), values.size - 1)
    size = np.where(values[place] == asked, count[place], 0)
    return Candidates(size.astype(np.int64), np.asarray(there[network.own[network.there]] == asked))


def refine(network: Network, words: str, labels: Sequence[Any], kinds: Sequence[Any]) -> Refinement:
    """Refine both networks together until no class splits."""
    sides = (network.original, network.released)
    found, stable, most = [], False, 0
    work = max(1, sum(side.indices.size + side.n for side in sides))
    walks = [_rounds(side, label, kind) for side, label, kind in zip(sides, labels, kinds, strict=True)]
    one, two = (next(walk) for walk in walks)
    most = np.unique(np.concatenate([one, two])).size
    if np.unique(np.concatenate(kinds)).size > 1:
        found.append(candidates(network, one, two))
    while not found or (len(found) + 1) * work <= MOST_WORK:
        one, two = (next(walk) for walk in walks)
        classes = np.unique(np.concatenate([one, two])).size
        if classes == most and found:
            stable = True
            break
        most = classes
        found.append(candidates(network, one, two))
    return Refinement(words, tuple(found), int(np.unique(two).size), stable)


def _rounds(side: Side, labels: NDArray[Any], kind: NDArray[Any]) -> Iterator[Colours]:
    """Colours of one network: as they begin, and after each round."""
    code, colour = mix(labels), mix(kind)
    while True:
        yield colour
        with np.errstate(over="ignore"):
            colour = mix(colour * FIRST + _sums(side, mix(colour[side.indices] ^ code)))


def _sums(side: Side, words: Colours) -> Colours:
    """Sums over the neighbours of each person, in 64 bits."""
    total = np.zeros(side.n, dtype=np.uint64)
    some = side.degree > 0
    if some.any():
        total[some] = np.add.reduceat(words, side.start[:-1][some])
    return total


def common_ties(side: Side) -> Counts:
    """Of each entry, how many people are tied to both."""
    zeros = np.zeros(side.indices.size, dtype=np.int64)
    return sum_over_common(side.start, side.indices, zeros, zeros)[0]


def neighbourhoods(side: Side, common: Counts) -> Colours:
    """A signature of the ties among the neighbours of each person [ZHOU]_, by refinement within the neighbourhood."""
    colour = mix(common)
    for _ in range(EGO_ROUNDS):
        words = mix(colour)
        low, high = (words & np.uint64(0xFFFFFFFF)).astype(np.int64), (words >> HALF).astype(np.int64)
        _, low, high = sum_over_common(side.start, side.indices, low, high)
        with np.errstate(over="ignore"):
            colour = mix(colour * FIRST + mix(low) + mix(mix(high)))
    return mix(_sums(side, mix(colour)) + side.degree.astype(np.uint64))


@dataclass(frozen=True, slots=True)
class Signatures:
    """Candidates of everybody by all signatures."""

    degree: Candidates
    friends: Candidates  # by the numbers of ties of the friends
    friends_of_friends: Candidates
    neighbourhood: Candidates  # by the ties among the friends
    refinements: tuple[Refinement, ...]


def signatures(network: Network, progress: Progress = silent) -> Signatures:
    """Work out all signatures of both networks, and who has the same."""
    sides = (network.original, network.released)
    nothing = tuple(np.zeros(side.indices.size, dtype=np.int64) for side in sides)
    nobody = tuple(np.zeros(side.n, dtype=np.int64) for side in sides)
    progress(0.0, "number of ties")
    plain = refine(network, "ties alone", nothing, nobody)
    progress(0.3, "ties among friends")
    common = tuple(common_ties(side) for side in sides)
    ego = [neighbourhoods(side, shared) for side, shared in zip(sides, common, strict=True)]
    progress(0.7, "refining colours")
    found = [plain, refine(network, "ties and common friends", common, nobody)]
    if network.directed or network.said_of_ties or network.said_of_people:
        labels, kinds = tuple(side.labels for side in sides), tuple(side.kind for side in sides)
        words = "direction of ties" if network.directed else ""
        said = ", ".join([word for word in (words, *network.said_of_ties, *network.said_of_people) if word])
        found.append(refine(network, f"ties and {said}", labels, kinds))
        both = tuple(mix(label) ^ mix(shared) for label, shared in zip(labels, common, strict=True))
        found.append(refine(network, f"ties, common friends and {said}", both, kinds))
    depth = plain.rounds
    return Signatures(
        depth[0], depth[min(1, len(depth) - 1)], depth[min(2, len(depth) - 1)], candidates(network, ego[0], ego[1]),
        tuple(found),
    )  # fmt: skip
