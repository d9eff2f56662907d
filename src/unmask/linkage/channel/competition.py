"""What competition adds to the attack of an intruder who learns the channel: see unmask/linkage/competing.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.evidence import claims
from unmask.linkage.channel import linking
from unmask.linkage.channel.gather import Gathered
from unmask.linkage.channel.linking import Links, best_attack, link_people
from unmask.linkage.channel.select import Channel
from unmask.linkage.competing import FEWER, Added, Pair, added

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

TOGETHER = 40_000  # people, with their records, who are looked for all at once: more than other attacks can do with
GROUPED = 5000  # the same where people are published together, which only all pairs show


@dataclass(frozen=True, slots=True)
class Competition:
    """What competition may add to the people found, and to those known for sure."""

    found: Added
    known: Added
    people: int  # among whom it was measured
    one_by_one: bool = True  # False: everybody was looked for at once, but not with those they are published with


def competition(scene: Gathered, channels: list[Channel], part: Ints, seed: int, *, competing: bool) -> Competition:
    """Measure on fewer people what is found beyond an attack by lists, on people one by one or ``competing``."""
    n = scene.material.n_people
    most = min(TOGETHER if scene.material.groups is None else GROUPED, n)
    order = _drawn(scene, seed)
    parts = [
        _both(scene, channels, part, people, seed, competing=competing)
        for people in (*np.array_split(order[:most], FEWER if most >= FEWER else 1), order[:most])
    ]
    fewer, more = zip(*parts[:-1], strict=True), parts[-1]
    steps = float(np.log(n / most) / np.log(FEWER))
    found, known = (added(*pairs, steps, seed) for pairs in zip(fewer, more, strict=True))
    return Competition(found, known, most, not competing)


def _drawn(scene: Gathered, seed: int) -> Ints:
    """People in the order in which they are drawn, those who are published together one after the other."""
    unit = np.unique(scene.units, return_inverse=True)[1].ravel()
    place = np.random.default_rng([seed, 8]).permutation(int(unit.max()) + 1)[unit]
    return np.argsort(place, kind="stable")


def _both(
    scene: Gathered, channels: list[Channel], part: Ints, people: Ints, seed: int, *, competing: bool
) -> tuple[Pair, Pair]:
    """Credits of people found, and known: looked for as the many are, and with everything that few people allow."""
    few, own, taught = _fewer(scene, channels, part, np.sort(people), seed)
    rows, pairs = np.arange(few.material.n_people), few.material.n_people * few.material.n_records
    whole = scene.material.n_people * scene.material.n_records
    as_all = few.material.groups is not None or whole <= linking.MOST_PAIRS  # all pairs are scored of all people too
    links = (
        link_people(few, taught, own, rows, seed, most=0, competing=competing),
        link_people(few, taught, own, rows, seed, most=pairs if as_all else 0),
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
    scene: Gathered, channels: list[Channel], part: Ints, people: Ints, seed: int
) -> tuple[Gathered, Ints, list[Channel]]:
    """These people with their records, of the records of nobody as large a share; and what they teach."""
    draw, material = np.random.default_rng([seed, 9]), scene.material
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
    return replace(channel, factors=factors, without=tuple)
