"""What the intruder who learns the channel found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unmask.evidence import Estimate, rate
from unmask.linkage.channel.competition import Competition
from unmask.linkage.channel.linking import best_attack, best_rate
from unmask.shown import Shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Told:
    """What was learnt about one released column, or about several together."""

    column: str  # or what the several columns are, in words
    words: str  # "is `income` and noise", a whole clause
    nats: float  # by how much it told held-out people apart, per person; 0: nothing was learnt
    several: bool = False
    clear: bool = True  # whether that is more than the best of many guesses may tell by chance


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the learning curve: this many known people, so many of those asked for found."""

    known: int
    found: Estimate


def rising(points: Sequence[Point], most: Estimate) -> tuple[Point, ...]:
    """The curve as it is told: who knows more people may forget some, so it never falls, nor rises above the end.

    What a smaller number of known people finds beyond that is the luck of whom they are.
    """
    told: list[Point] = []
    for point in points:
        least = told[-1].found.value if told else 0.0
        value = min(max(point.found.value, least), most.value)
        ends = min(point.found.low, value), max(point.found.high, value)
        told.append(replace(point, found=replace(point.found, value=value, low=ends[0], high=ends[1])))
    return tuple(told)


@dataclass(frozen=True, slots=True)
class ChannelLinkage(Shown):
    """Links of people by a learnt channel. Arrays have one entry per original record, in the order of the table.

    ``credit``: 1/|T| when the person's record is among the |T| most probable ones, else 0. ``matched``: the same of the
    most likely one-to-one matching, shared among people and records that are alike. ``alone``: as ``credit``, if people
    do not compete for records.
    """

    asked: Flags  # whom the intruder looked for, among those who are in the release
    credit: Floats
    matched: Floats
    posterior: Floats  # of the true link
    best: Floats  # of the most probable link
    claimed: Flags  # so sure, without the records of those who taught, that such claims about others are 19 in 20 right
    n_candidates: int
    taught: int  # people from whom each was attacked
    columns: tuple[Told, ...]
    learning: tuple[Point, ...]  # never falling
    seed: int = 0
    linked: Ints | None = (
        None  # row of the release that is the most probable one of each; -1: several are, or not asked
    )
    alone: Floats | None = None
    struck: Floats | None = None  # credit of an intruder who strikes out the records of those who taught
    known_again: tuple[float, float] | None = None  # share known where some people stand for all: of draws of these
    competition: Competition | None = None  # what it may add; None: everybody was looked for at once

    @property
    def struck_out(self) -> float | None:
        """Share of people found if the records of those who taught are struck out."""
        return None if self.struck is None else float(np.sort(self.struck[self.asked]).mean())

    @property
    def chance(self) -> float:
        """A blind guess: one record drawn at random."""
        return 1.0 / self.n_candidates

    @property
    def estimate(self) -> Estimate:
        """Share of people found by taking the most probable record."""
        return rate(self.credit[self.asked], chance=self.chance, seed=self.seed)

    @property
    def one_to_one(self) -> Estimate:
        """Share of people found by the most likely one-to-one matching."""
        return rate(self.matched[self.asked], chance=self.chance, seed=self.seed)

    @property
    def found(self) -> Estimate:
        """The best of the attacks, which are all at hand: the interval allows for the choice among them.

        Where people were asked for one by one, it is raised by what is expected to be found beyond if everybody is
        looked for at once, and the upper end holds what that may be.
        """
        found = best_rate(self._attacks, self.asked, self.chance, self.seed)
        if self.competition is None:
            return found
        added = self.competition.found
        return added.raise_to(found) if self.competition.one_by_one else added.widen(found)

    @property
    def per_record(self) -> Floats:
        """One risk for each original record: of the best attack; NaN for those not asked for."""
        return np.where(self.asked, best_attack(self._attacks, self.asked), np.nan)

    @property
    def _attacks(self) -> list[Floats]:
        return [attack for attack in (self.credit, self.matched, self.alone) if attack is not None]

    @property
    def known_people(self) -> Floats:
        """Credit of the claims: who is claimed and rightly so."""
        return np.where(self.claimed, self.credit, 0.0)

    @property
    def known(self) -> Estimate:
        """Share of people about whom the intruder is sure, and right."""
        known = rate(self.known_people[self.asked], chance=0.0, seed=self.seed)
        if self.known_again is not None:
            low, high = self.known_again
            known = replace(known, low=min(known.low, low), high=max(known.high, high))
        return known if self.competition is None else self.competition.known.widen(known)

    @property
    def precision(self) -> float:
        """Share of claims that are right; NaN when there is none."""
        claims = self.claimed & self.asked
        return float(np.sort(self.credit[claims]).mean()) if claims.any() else float("nan")
