"""From a few known people to everybody: friends of people who are known in both networks are looked for among theirs.

The intruder knows who some people are in the release (a colleague, an account they made, somebody who told them). A
person of the original and one of the release get a mark for each known friend that they share. Who has most marks for
each other, clearly more than anybody else, are taken for the same, and become known themselves. Scores and clearness
are those of Narayanan and Shmatikov [NARAYANAN]_ section 5.2 (the spread is taken over candidates with a mark); with
marks alone it is percolation matching [YARTSEVA]_. All pairs of a round are decided together, by choice of both sides,
so no order of people matters; in the end everybody is looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from unmask.arrays import Codes, Flags, Floats, Ints
from unmask.errors import NothingToTryError, ParameterError
from unmask.evidence import Estimate, Progress, rate, silent
from unmask.kernels.networks import ALIKE, COSINE, PLAIN, best_fits
from unmask.networks.network import Network, Side

MARKS = 2  # a pair needs so many known friends in common
CLEAR = 0.5  # theta of the paper: standard deviations between the best and the second
AGAIN = 6  # looks at everybody in the end, at most
SETTLED = 0.001  # share of people whose partner changes, up to which it is the last
PRECISION = 0.95  # of the claims that the intruder is sure of
SEEDS = 50
SWEPT = (2, 5, 10, 20, 50, 100, 200)
DRAWS = 5  # of the known people, where that is quick
QUICK = 5_000_000  # marks given in one look at everybody up to which it is
STUDENT = 2.776  # two-sided 95 % of five draws


class Rules(NamedTuple):
    """How a pair is judged. ``labelled``: ties have to agree in what is said of them, and people too.

    ``bold``: where nobody fits any more, one mark is enough for people with like numbers of ties, so often.
    """

    scoring: int = COSINE
    marks: int = MARKS
    clear: float = CLEAR
    labelled: bool = False
    bold: int = 0


def propagate(network: Network, known: Ints, partners: Ints, rules: Rules, *, firm: bool = True) -> Ints:
    """Whom the intruder takes each person of the original for, or -1; they begin with ``known`` and their partners.

    ``firm``: the first ones are sure, and stay.
    """
    matching = _Matching(network, rules)
    matching.settle(known, partners)
    asked, left, everybody = matching.around(known), rules.bold, np.arange(network.original.n)
    while asked.size:
        one, two = matching.pairs(asked, rules)
        if not one.size and left:
            left -= 1
            asked = matching.around(np.flatnonzero(matching.image >= 0))
            one, two = matching.pairs(asked, BOLD._replace(labelled=rules.labelled))
        matching.settle(one, two)
        asked = matching.around(one)
    for _ in range(AGAIN):
        before = matching.image.copy()
        one, two = matching.pairs(everybody, rules._replace(scoring=COSINE, clear=CLEAR), anew=True)
        matching.forget()
        if firm:
            away = ~(np.isin(one, known) | np.isin(two, partners))
            one, two = np.concatenate([known, one[away]]), np.concatenate([partners, two[away]])
        matching.settle(one, two)
        if int((before != matching.image).sum()) <= SETTLED * everybody.size:
            break
    return matching.image.astype(np.int64)


BOLD = Rules(ALIKE, 1, 0.0)


STRATEGIES = (Rules(PLAIN, MARKS, 0.0, bold=3), Rules(), Rules(PLAIN, MARKS, 0.0), Rules(PLAIN, MARKS, 0.0, bold=10))
ENOUGH = 0.5  # share of the ties that are kept, from which no other way is tried


def best_attempt(network: Network, known: Ints, partners: Ints, *, firm: bool = True) -> Ints:
    """Propagate in several ways, and take the one under which most ties of the original are ties of the release.

    The intruder sees that without knowing who is who. What is said of ties and people is used where that keeps more.
    """
    told = network.directed or bool(network.said_of_ties or network.said_of_people)
    best, most = np.full(network.original.n, -1, dtype=np.int64), -1
    for rules in STRATEGIES:
        for labelled in (False, True) if told else (False,):
            image = propagate(network, known, partners, rules._replace(labelled=labelled), firm=firm)
            kept = kept_ties(network, image)
            if kept > most:
                best, most = image, kept
        if most > ENOUGH * min(network.original.n_ties, network.released.n_ties):
            break
    return best


@dataclass(frozen=True, slots=True)
class Step:
    """What so many known people lead to: people found among the others, and claims, right or wrong (means of draws).

    ``sure``: of the surest claims, as many as are right 19 times in 20: how many, and how many right.
    """

    seeds: int
    estimate: Estimate
    claims: float
    right: float
    sure: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Propagation:
    """The attack from known people, with their number swept."""

    seeds: int  # of the attack that is judged
    steps: tuple[Step, ...]
    credit: Floats = field(
        repr=False
    )  # of each person of the original: share of draws that find them; NaN: never asked
    draws: int

    @property
    def judged(self) -> Step:
        """The step that is judged."""
        return next(step for step in self.steps if step.seeds == self.seeds)


def seeds_of(network: Network, seeds: int) -> int:
    """Known people: no more than a fifth of those who are in both networks; 0: too few people to know some."""
    return min(seeds, int(network.there.sum()) // 5)


def attack_from_seeds(
    network: Network, *, seeds: int = SEEDS, swept: Sequence[int] = SWEPT, seed: int = 0, progress: Progress = silent
) -> Propagation:
    """Attack from ``seeds`` known people, drawn at random, and from the numbers ``swept`` besides."""
    if seeds < 1:
        raise ParameterError("propagation begins with known people", got=str(seeds), allowed="1 or more")
    most = seeds_of(network, seeds)
    if most < 1:
        raise NothingToTryError("fewer than five people are in both networks: nobody can be known beforehand")
    quick = int((network.original.degree**2).sum()) <= QUICK
    more = [k for k in swept if quick and k <= seeds_of(network, max(swept))]
    numbers = sorted({most, *more})
    draws = DRAWS if quick else 1
    steps, judged = [], np.full(network.own.size, np.nan)
    for done, number in enumerate(numbers):
        progress(done / len(numbers), f"from {number} known people")
        step, credit = _step(network, number, draws, seed)
        steps.append(step)
        judged = credit if number == most else judged
    return Propagation(most, tuple(steps), judged, draws)


def _step(network: Network, number: int, draws: int, seed: int) -> tuple[Step, Floats]:
    """The attack from some draws of so many known people."""
    there = np.flatnonzero(network.there)
    hits, asked = np.zeros(network.own.size), np.zeros(network.own.size)
    made: list[tuple[Floats, Flags]] = []
    shares = []
    for draw in range(draws):
        known = np.sort(_draw(there, number, (seed, number, draw)))
        image = best_attempt(network, known, network.own[known])
        rest = np.setdiff1d(there, known, assume_unique=True)
        found = image[rest] == network.own[rest]
        hits[rest] += found
        asked[rest] += 1
        claimed = image[rest] >= 0
        made.append((sureness(network, image)[rest][claimed], found[claimed]))
        shares.append(float(found.mean()))
    credit = np.where(asked > 0, hits / np.maximum(asked, 1), np.nan)
    estimate = _spread(rate(credit[asked > 0], chance=network.chance, seed=seed), shares)
    confident, right = (np.concatenate(part) for part in zip(*made, strict=True))
    sure = sure_claims(confident, right)
    return Step(
        number, estimate, right.size / draws, int(right.sum()) / draws, (sure[0] / draws, sure[1] / draws)
    ), credit  # fmt: skip


def _draw(people: Ints, number: int, stream: tuple[int, int, int]) -> Ints:
    return np.random.default_rng(stream).choice(people, number, replace=False)


def _spread(estimate: Estimate, shares: Sequence[float]) -> Estimate:
    """No narrower than the draws of known people differ: the same ones lead far or nowhere."""
    if len(shares) < 2:
        return estimate
    half = STUDENT * float(np.std(shares, ddof=1)) / np.sqrt(len(shares))
    low, high = estimate.value - half, estimate.value + half
    return replace(estimate, low=max(0.0, min(estimate.low, low)), high=min(1.0, max(estimate.high, high)))


class _Matching:
    """Who is taken for whom so far, and who fits whom by that."""

    def __init__(self, network: Network, rules: Rules) -> None:
        self.sides = (network.original, network.released)
        self.back = [side.backwards() if rules.labelled else side.labels.astype(np.int32) for side in self.sides]
        self.kinds = [_kinds(side, labelled=rules.labelled) for side in self.sides]
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.image, self.origin = (np.full(side.n, -1, dtype=np.int32) for side in self.sides)

    def settle(self, one: Ints, two: Ints) -> None:
        """Take people for each other."""
        self.image[one], self.origin[two] = two, one

    def around(self, people: Ints) -> Ints:
        """People of the original who are not taken for anybody and have one of these for a neighbour."""
        side = self.sides[0]
        if not people.size:
            return np.zeros(0, dtype=np.int64)
        near = np.concatenate([side.indices[side.start[u] : side.start[u + 1]] for u in people])
        return np.asarray(np.unique(near[self.image[near] < 0]), dtype=np.int64)

    def pairs(self, asked: Ints, rules: Rules, *, anew: bool = False) -> tuple[Ints, Ints]:
        """Pairs who fit each other best; ``anew``: also people who are taken for somebody."""
        chosen, fit = self._fits(0, asked, rules, anew=anew)
        if not fit.any():
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        one, two = asked[fit], chosen[fit]
        wanted = np.unique(two)
        returned, clear = self._fits(1, wanted, rules, anew=anew)
        answer = np.full(self.sides[1].n, -1, dtype=np.int64)
        answer[wanted[clear]] = returned[clear]
        both = answer[two] == one
        return one[both], two[both]

    def _fits(self, place: int, asked: Ints, rules: Rules, *, anew: bool) -> tuple[Ints, Flags]:
        """The best partner of each person asked about, and whether it is clear."""
        side, other = self.sides[place], self.sides[1 - place]
        image, taken = (self.image, self.origin) if place == 0 else (self.origin, self.image)
        kind = self.kinds[1 - place] if anew else np.where(taken >= 0, np.int32(-1), self.kinds[1 - place])
        best, marks, clear = best_fits(
            asked, side.start, side.indices, self.back[place], other.start, other.indices, other.labels,
            image, self.kinds[place], kind, int(rules.labelled), rules.scoring,
        )  # fmt: skip
        return best, np.asarray((marks >= rules.marks) & (clear >= rules.clear) & (clear > 0))


def _kinds(side: Side, *, labelled: bool) -> Codes:
    return side.kind if labelled else np.zeros(side.n, dtype=np.int32)


def kept_ties(network: Network, image: Ints) -> int:
    """How many ties of the original are ties of the release under a matching: what the intruder can see of it."""
    return int(_kept(network, image).sum()) // 2


def _kept(network: Network, image: Ints) -> Flags:
    """Entries of the original that are entries of the release under a matching."""
    side, other = network.original, network.released
    one, two = image[side.rows], image[side.indices]
    both = (one >= 0) & (two >= 0)
    there = other.rows * other.n + other.indices
    if there.size:
        asked = one[both] * other.n + two[both]
        both[both] = there[np.minimum(np.searchsorted(there, asked), there.size - 1)] == asked
    return both if there.size else np.zeros(both.size, dtype=bool)


def sureness(network: Network, image: Ints) -> Floats:
    """How sure the intruder is of each claim: ties that are kept, times their share of both people's ties; else 0."""
    side, other = network.original, network.released
    support = np.bincount(side.rows, _kept(network, image), minlength=side.n)
    ties = side.degree * np.where(image >= 0, other.degree[np.maximum(image, 0)], 0)
    return np.asarray(support**2 / np.sqrt(np.maximum(ties, 1)))


def sure_claims(sure: Floats, right: Flags) -> tuple[int, int]:
    """The most claims, the surest first, of which 19 in 20 are right, and how many of them are; equal ones together."""
    order = np.argsort(-sure, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(np.round(sure[order], 9)) != 0, np.True_)) if sure.size else order
    hits = np.cumsum(right[order])[ends] if sure.size else ends
    good = np.flatnonzero(hits >= PRECISION * (ends + 1) - 1e-9)
    return (int(ends[good[-1]]) + 1, int(hits[good[-1]])) if good.size else (0, 0)
