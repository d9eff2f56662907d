"""What competition adds: of very many people some are asked for one by one, though all of them want records.

Whoever looks for everybody at once finds more, since a record that suits somebody else better is nobody else's. Among
fewer people, drawn at random with their records, both can be had: the same people asked for one by one, and all at
once. What that adds rises from nothing, where everybody is found anyway, ever more slowly with the logarithm of their
number, and falls again as people get lost in the crowd. So it is at most what it would be if it went on rising as it
does last, or if it falls, what it was; and more people are found no oftener than fewer are, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.evidence import Z95, claims, rate
from unmask.linkage.channel.gather import Gathered
from unmask.linkage.channel.linking import Links, best_attack, link_people
from unmask.linkage.channel.select import Channel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.evidence import Estimate
    from unmask.linkage.channel.material import Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

TOGETHER = 20_000  # people, with their records, who are looked for all at once
GROUPED = 5000  # the same where people are published together, which only all pairs show
FEWER = 4  # times: to see whether what is added falls


@dataclass(frozen=True, slots=True)
class Added:
    """What competition may add to a share of people, and the share of fewer people that is found with it."""

    most: float  # upper end of what is added
    together: float  # upper end of what is found of fewer people, all at once

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate, its upper end raised by what competition may add."""
        high = min(estimate.high + self.most, self.together)
        return replace(estimate, high=min(1.0, max(estimate.high, high)))


@dataclass(frozen=True, slots=True)
class Competition:
    """What competition may add to the people found, and to those known for sure."""

    found: Added
    known: Added
    people: int  # among whom it was measured
    one_by_one: bool = True  # False: everybody was looked for at once, but not with those they are published with


def competition(scene: Gathered, channels: list[Channel], part: Ints, seed: int, *, competing: bool) -> Competition:
    """Measure on fewer people what is found beyond an attack by lists, on people one by one or ``competing``."""
    n, most = scene.material.n_people, TOGETHER if scene.material.groups is None else GROUPED
    sizes = max(1, min(most, n) // FEWER), min(most, n)
    fewer, more = (_both(scene, channels, part, size, seed, competing=competing) for size in sizes)
    steps = np.log(n / sizes[1]) / np.log(FEWER)
    found, known = (_added(*pairs, steps, seed) for pairs in zip(fewer, more, strict=True))
    return Competition(found, known, sizes[1], not competing)


Pair = tuple["Floats", "Floats"]  # credits of the same people: as they were asked for, and by the whole attack


def _added(fewer: Pair, more: Pair, steps: float, seed: int) -> Added:
    before, now = (whole - plain for plain, whole in (fewer, more))
    highest = max(0.0, float(now.mean() + Z95 * now.std() / np.sqrt(now.size)))
    rising = max(0.0, float(now.mean() - before.mean())) * steps
    return Added(highest + rising, rate(more[1], chance=0.0, seed=seed).high)


def _both(
    scene: Gathered, channels: list[Channel], part: Ints, size: int, seed: int, *, competing: bool
) -> tuple[Pair, Pair]:
    """Credits of people found, and known: looked for as the many are, and with everything that few people allow."""
    few, own, taught = _fewer(scene, channels, part, size, seed)
    rows, pairs = np.arange(few.material.n_people), few.material.n_people * few.material.n_records
    links = (
        link_people(few, taught, own, rows, seed, most=0, competing=competing),
        link_people(few, taught, own, rows, seed, most=0 if few.material.groups is None else pairs),
    )
    plain, best = (_credits(few, way, seed) for way in links)
    return (plain[0], best[0]), (plain[1], best[1])


def _credits(scene: Gathered, links: Links, seed: int) -> Pair:
    """Credits of the best attack and of the claims, of those who are in the release."""
    there = scene.material.truth >= 0
    sure = np.zeros(there.size) if links.sure is None else links.sure
    best = best_attack(links.attacks, there)
    return best[there], np.where(claims(sure, links.credit, there, seed), links.credit, 0.0)[there]


def _fewer(
    scene: Gathered, channels: list[Channel], part: Ints, size: int, seed: int
) -> tuple[Gathered, Ints, list[Channel]]:
    """Some people with their records, of the records of nobody as large a share; and what these people teach."""
    draw, material = np.random.default_rng([seed, 8]), scene.material
    unit = np.unique(scene.units, return_inverse=True)[1].ravel()
    place = draw.permutation(int(unit.max()) + 1)[unit]
    people = np.sort(np.argsort(place, kind="stable")[:size])
    truth = material.truth
    nobodys = np.setdiff1d(np.arange(material.n_records), truth[truth >= 0])
    spare = draw.permutation(nobodys)[: round(nobodys.size * people.size / material.n_people)]
    records = np.union1d(truth[people][truth[people] >= 0], spare)
    few = material.sample(people, records)
    alike, alike_records = (
        np.unique(side, return_inverse=True)[1].ravel() for side in (scene.alike[people], scene.alike_records[records])
    )
    own, there = part[people], np.flatnonzero(few.truth >= 0)
    taught = [_again(channel, few, there[own[there] != fold]) for fold, channel in enumerate(channels)]
    return Gathered(few, scene.people[people], scene.records[records], alike, alike_records), own, taught


def _again(channel: Channel, few: Material, taught: Ints) -> Channel:
    """The same recipes, learnt from fewer people."""
    factors = tuple(entry.recipe.fit(few, taught) for entry in channel.learnt)
    return replace(channel, factors=factors, without=())
