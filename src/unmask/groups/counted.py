"""The measures of this room from counts of counts: where groups are too many to be brought here, their sizes are not.

The counts come from an engine (`engines`); the figures, and what is judged, come from the same functions as in memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Estimate, Evidence, Fact, rate, rate_of_counts, share_of, shared_rate, small_groups
from unmask.groups.counting import Sizes
from unmask.groups.knowledge_sweep import Knowledge, beyond_luck, sweep_evidence, worst_set
from unmask.groups.special_uniques import DEFAULT_FRACTION, Uniques, file_dis, msu_weights, special_evidence
from unmask.groups.uniqueness import GroupRisk, uniqueness_evidence

SPREAD = 5_000_000  # people of whom there is one entry each in memory
K = 5  # groups below it are counted in the sweep


class Counted(NamedTuple):
    """By the number of records of a group: groups, people with its values, and those whose own record is in it.

    ``alone``: groups whose values one person of the original has. Size 0: values that no record carries.
    """

    size: Ints
    groups: Ints
    people: Ints
    own: Ints
    alone: Ints

    @property
    def sizes(self) -> Sizes:
        """The groups of the release."""
        there = self.size > 0
        return Sizes(self.size[there], self.groups[there])

    @property
    def n_people(self) -> int:
        """People who have a record."""
        return int(self.people.sum())

    @property
    def nobody(self) -> int:
        """People whose values no record carries."""
        return int(self.people[self.size == 0].sum())

    @property
    def replicated(self) -> int:
        """People who are alone with their values in the original, where one record carries them (repU)."""
        return int(self.alone[self.size == 1].sum())

    @property
    def credits(self) -> Credits:
        """1 / crowd for people whose own record is in it, and 0 for the others."""
        return Credits.shared(self.size, self.own, self.n_people)


class Credits(NamedTuple):
    """Different credits, and how many people have each.

    Up to `SPREAD` people figures are made of one credit for each, so that they equal those in memory to the last digit;
    of more people no array is made.
    """

    values: Floats
    people: Ints

    @classmethod
    def shared(cls, crowd: Ints, own: Ints, people: int) -> Credits:
        """1 / crowd for as many people as are in a crowd with their own record, and 0 for the others."""
        values = np.concatenate([[0.0], 1.0 / np.maximum(crowd, 1)])
        return cls(values, np.concatenate([[people - int(own.sum())], own]))

    def rate(self, chance: float, seed: int) -> Estimate:
        """Mean credit, as `evidence.rate` has it."""
        if self.people.sum() <= SPREAD:
            return rate(np.repeat(self.values, self.people), chance=chance, seed=seed)
        return rate_of_counts(self.values, self.people, chance=chance, seed=seed)

    def shared_rate(self, chance: float) -> Estimate:
        """Mean credit, as `evidence.shared_rate` has it."""
        if self.people.sum() <= SPREAD:
            return shared_rate(np.repeat(self.values, self.people), chance)
        return share_of(float(self.values @ self.people), int(self.people.sum()), chance)


def group_risk_of(counted: Counted) -> GroupRisk:
    """The group counts of a release."""
    sizes = counted.sizes
    return GroupRisk(sizes.n_records, sizes.n_groups, int(sizes.groups[sizes.size == 1].sum()), sizes)


def counted_uniqueness(counted: Counted, seed: int) -> Evidence:
    """Exact match and uniqueness, with the replicated uniques."""
    told = "people alone with their values in the original that stand in one released record (repU)"
    more = (Fact("replicated uniques", counted.replicated, told),)
    risk, credits_ = group_risk_of(counted), counted.credits
    alone = Credits((credits_.values == 1.0).astype(np.float64), credits_.people)
    average, unique = (one.rate(1.0 / risk.n_records, seed) for one in (credits_, alone))
    return uniqueness_evidence(average, unique, counted.nobody, risk, more)


def counted_anonymity(counted: Counted) -> Evidence:
    """People in small groups; how small is for the policy to say."""
    order = np.stack([counted.own, counted.people - counted.own], axis=1).ravel()
    size = np.repeat(np.repeat(counted.size, 2), order).astype(np.int32)
    own = np.repeat(np.tile([True, False], len(counted.size)), order)
    sizes = counted.sizes
    observed = small_groups("anonymity.small", size, own, sizes.n_records)  # type: ignore[arg-type]  # half the memory
    return Evidence(
        observations=(observed,),
        facts=(Fact("k", float(sizes.size[0]), "size of the smallest group"),),
        notes=("l-diversity and t-closeness of confidential columns are not counted by this engine",),
    )


def sweep_of(names: tuple[str, ...], n: int, largest: int, counts: tuple[Ints, Ints, Ints, Ints]) -> Knowledge:
    """Counts of every set of keys: masks, groups, records alone, records in small groups."""
    return Knowledge(names, n, largest, K, *counts)


def most_promising(sweep: Knowledge, kept: Ints, agreeing: Floats, people: int) -> int:
    """The worst set: ``kept`` people whose record carries their value, ``agreeing`` pairs, for each key."""
    left = [
        beyond_luck(float(same) / people, float(pairs) / people**2, people)
        for same, pairs in zip(kept.tolist(), agreeing.tolist(), strict=True)
    ]
    return worst_set(sweep, np.array(left))


def counted_sweep(sweep: Knowledge, worst: int, counted: Counted) -> Evidence:
    """What the worst set finds; ``counted``: its groups."""
    chance = (counted.n_people - counted.nobody) / counted.n_people / sweep.n_records  # none is claimed of nobody
    return sweep_evidence(sweep, worst, counted.credits.shared_rate(chance))


class CountedUniques(NamedTuple):
    """Minimal sample uniques of each set, records that have one, and people by how many of these match them."""

    masks: Ints
    number: Ints
    n_special: int
    crowd: Ints
    people: Ints
    own: Ints


def counted_specials(found: CountedUniques, counted: Counted, names: tuple[str, ...], largest: int) -> Evidence:
    """What the special uniques find; ``counted``: the groups of all keys."""
    sizes, people = counted.sizes, counted.n_people
    ones, twos = (int(sizes.groups[sizes.size == k].sum()) for k in (1, 2))
    dis = file_dis(ones, 2 * twos, DEFAULT_FRACTION)
    weight = msu_weights(len(names), "elliot")[np.bitwise_count(found.masks)] * found.number
    total = float(weight.sum())
    shares = {
        name: float(weight[(found.masks >> k & 1) == 1].sum()) / total if total else 0.0 for k, name in enumerate(names)
    }
    uniques = Uniques(found.n_special, int(found.number.sum()), dis, DEFAULT_FRACTION, largest, shares)
    credits_ = Credits.shared(found.crowd, found.own, people)
    chance = int(found.people.sum()) / people / sizes.n_records
    return special_evidence(uniques, credits_.shared_rate(chance))
