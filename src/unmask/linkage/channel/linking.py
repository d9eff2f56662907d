"""Links: whom each person is taken for, by all records or by lists of candidates, one by one and one to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from unmask.evidence import Estimate, largest, rate
from unmask.linkage.channel.gather import Gathered
from unmask.linkage.channel.groups import as_groups
from unmask.linkage.channel.lists import Short, short_posterior, shortlist, together
from unmask.linkage.channel.posterior import most_likely_matching, one_to_one_posterior, plain_posterior
from unmask.linkage.channel.select import Channel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SOON = 2000  # people who are matched in a moment
HOPELESS = 0.01  # share of people found, and expected to be, below which more of them are not matched: it takes minutes
MOST_PAIRS = 36_000_000  # that are scored all at once: 6,000 people and records
BLOCK = 2_000_000
TIE = 1e-9
BEFORE = 0.35  # posterior among all records that a claim needs: a little above one of three


def score_rows(scene: Gathered, channels: list[Channel], part: Ints, rows: Ints) -> Floats:
    """Scores of some people with all records, each person's by the channel that others taught."""
    records = scene.material.n_records
    scores = np.empty((rows.size, records))
    for fold, channel in enumerate(channels):
        places = np.flatnonzero(part[rows] == fold)
        for block in np.array_split(places, max(1, places.size * records // BLOCK)):
            scores[block] = channel.score_all(rows[block], records)
    return scores


@dataclass(frozen=True, slots=True)
class Links:
    """What was found of each person asked for, in canonical order."""

    credit: Floats
    matched: Floats
    own: Floats
    top: Floats
    tied: Ints
    best: Ints  # which candidate is the most probable one: the first of those that tie
    alone: Floats  # credit if people do not compete for records: of each the likeliest record
    struck: Floats | None = None  # credit of who strikes out the records of the people they know
    sure: Floats | None = None  # posterior of the best record then; 0: no claim
    record: Ints | None = None  # the most probable record; -1: several tie

    @property
    def attacks(self) -> tuple[Floats, Floats, Floats]:
        """Credits of the three attacks that the intruder may choose from."""
        return self.credit, self.matched, self.alone


def best_attack(attacks: Sequence[Floats], asked: Flags) -> Floats:
    """Credits of the attack that finds most of the people asked for."""
    return max(attacks, key=lambda attack: float(np.sort(attack[asked]).sum()))


def best_rate(attacks: Sequence[Floats], asked: Flags, chance: float, seed: int) -> Estimate:
    """Share of people found by the best of several attacks, with an interval that allows for the choice among them."""
    different = [a for k, a in enumerate(attacks) if not any(np.array_equal(a, b) for b in attacks[:k])]
    return largest([rate(attack[asked], chance=chance, seed=seed) for attack in different])


def link_people(  # noqa: PLR0913 - whom, by what was learnt, and how
    scene: Gathered,
    channels: list[Channel],
    part: Ints,
    rows: Ints,
    seed: int,
    *,
    most: int | None = None,
    competing: bool = True,
) -> Links:
    """Link people by all records where these are not too many (``most`` pairs), else by lists of candidates.

    Everybody at once competes for records; some of them do not, nor anybody by lists if not ``competing``.
    """
    if rows.size * scene.material.n_records <= (MOST_PAIRS if most is None else most):
        return link_scores(scene, score_rows(scene, channels, part, rows), part, rows, several=len(channels) > 1)
    pieces = [np.flatnonzero(part[rows] == fold) for fold in range(len(channels))]
    everybody = competing and rows.size == scene.material.n_people
    shorts = [
        shortlist(scene, channel, rows[p], seed, everybody=everybody)
        for channel, p in zip(channels, pieces, strict=True)
        if p.size
    ]
    order, short = np.concatenate(pieces), together(shorts)
    links = _link_lists(scene, short, rows[order], everybody=everybody)
    if len(channels) > 1:
        links = _strike_lists(scene, links, short, part, rows[order], everybody=everybody)
    back = np.argsort(order)
    sorted_ = {f.name: getattr(links, f.name)[back] for f in fields(Links) if getattr(links, f.name) is not None}
    return replace(links, **sorted_)


def link_scores(scene: Gathered, scores: Floats, part: Ints, rows: Ints, *, several: bool) -> Links:
    """Link people by their scores with all records; with ``several`` parts, without the records of who taught too."""
    if scene.material.groups is not None and rows.size == scene.material.n_people:
        scores = as_groups(scores, scene.material.groups)
    links = link_rows(scene, scores, rows)
    return _strike_out(scene, links, scores, part, rows) if several else links


def _link_lists(scene: Gathered, short: Short, rows: Ints, *, everybody: bool) -> Links:
    posterior = short_posterior(short, everybody=everybody)
    wanted = _wanted(scene, rows)
    top = posterior.max(1)
    is_best = posterior >= top[:, None] * (1 - TIE)
    tied = (is_best * short.sizes[short.classes]).sum(1)
    is_own = short.classes == wanted[:, None]
    own = np.where(is_own, posterior, 0.0).max(1)
    credit = np.where((is_own & is_best).any(1), 1.0 / tied, 0.0)
    likeliest = short.scores >= short.scores.max(1, keepdims=True) - TIE
    alone = (is_own & likeliest).any(1) / (likeliest * short.sizes[short.classes]).sum(1)
    best = is_best.argmax(1)
    first = np.searchsorted(scene.alike_records, short.classes[np.arange(rows.size), best])  # classes ascend
    return Links(credit, credit, own, top, tied, best, alone, record=np.where(tied == 1, first, -1))


def _wanted(scene: Gathered, rows: Ints) -> Ints:
    """Class of the true record of each person; -1: none."""
    truth = scene.material.truth[rows]
    return np.where(truth >= 0, scene.alike_records[truth], -1)


def link_rows(scene: Gathered, scores: Floats, rows: Ints) -> Links:
    """Best candidates by posterior, and the most likely matching if everybody is asked for."""
    truth = scene.material.truth[rows]
    everybody = rows.size == scene.material.n_people
    posterior = one_to_one_posterior(scores) if everybody else plain_posterior(scores)
    top = posterior.max(1)
    own = np.where(truth >= 0, posterior[np.arange(rows.size), truth], 0.0)
    is_best = posterior >= top[:, None] * (1 - TIE)
    tied = is_best.sum(1)
    credit = np.where((truth >= 0) & (own >= top * (1 - TIE)), 1.0 / tied, 0.0)
    matched = credit
    if everybody and (rows.size <= SOON or max(top.sum(), credit.sum()) >= HOPELESS * rows.size):
        matched = shared_credit(most_likely_matching(scores), scene)
    likeliest = scores >= scores.max(1, keepdims=True) - TIE
    alone = np.where((truth >= 0) & likeliest[np.arange(rows.size), truth], 1.0 / likeliest.sum(1), 0.0)
    best = is_best.argmax(1)
    return Links(credit, matched, own, top, tied, best, alone, record=np.where(tied == 1, best, -1))


# --- without the records of the people they know ----------------------------------------------------------------------


def _strike_out(scene: Gathered, links: Links, scores: Floats, part: Ints, rows: Ints) -> Links:
    """Take away the records of those who taught: what is found among the others, and how sure of the best they are."""
    truth, owner = scene.material.truth, _owners(scene, part)
    credit, sure = np.zeros(rows.size), np.zeros(rows.size)
    for fold in np.unique(part[rows]):
        places = np.flatnonzero(part[rows] == fold)
        left = np.flatnonzero((owner < 0) | (owner == fold))
        posterior = one_to_one_posterior(scores[np.ix_(places, left)])
        own = left[None, :] == truth[rows[places]][:, None]
        best = posterior >= posterior.max(1, keepdims=True) * (1 - TIE)
        credit[places] = (own & best).sum(1) / best.sum(1)
        place = np.full(scene.material.n_records, -1)
        place[left] = np.arange(left.size)
        sure[places] = _still(posterior, place[links.best[places]])
    return replace(links, struck=credit, sure=_claimable(links, sure))


def _strike_lists(scene: Gathered, links: Links, short: Short, part: Ints, rows: Ints, *, everybody: bool) -> Links:
    """The same by lists: of each class of equal records those are left that belong to nobody who taught."""
    owner, wanted = _owners(scene, part), _wanted(scene, rows)
    credit, sure = np.zeros(rows.size), np.zeros(rows.size)
    for fold in np.unique(part[rows]):
        left = np.bincount(scene.alike_records[(owner < 0) | (owner == fold)], minlength=short.sizes.size)
        places = np.flatnonzero(part[rows] == fold)
        open_ = (short.classes[places] >= 0) & (left[short.classes[places]] > 0)
        places, open_ = places[open_.any(1)], open_[open_.any(1)]
        classes = short.classes[places]
        posterior = short_posterior(short.only(places, left), everybody=everybody)
        best = open_ & (posterior >= posterior.max(1, keepdims=True) * (1 - TIE))
        own = classes == wanted[places][:, None]
        credit[places] = (own & best).any(1) / np.maximum((best * left[classes]).sum(1), 1)
        sure[places] = _still(np.where(open_, posterior, -1.0), links.best[places])
    return replace(links, struck=credit, sure=_claimable(links, sure))


def _owners(scene: Gathered, part: Ints) -> Ints:
    """Part of the people that each record belongs to; -1: to nobody."""
    truth = scene.material.truth
    owner = np.full(scene.material.n_records, -1)
    owner[truth[truth >= 0]] = part[truth >= 0]
    return owner


def _still(posterior: Floats, chosen: Ints) -> Floats:
    """Posterior of the chosen candidate (-1: struck out) where it is still the best; else 0."""
    value = np.where(chosen >= 0, posterior[np.arange(chosen.size), chosen], 0.0)
    return np.where(value >= posterior.max(1) * (1 - TIE), np.maximum(value, 0.0), 0.0)


def _claimable(links: Links, sure: Floats) -> Floats:
    """Claims are about the one record they would name anyway, and never by elimination alone.

    Among k records that are all alike to them, those of the other k - 1 people may by chance belong to people whom they
    know. Groups of three or more are no claim: the record must have had a posterior above that before.
    """
    return np.where((links.tied == 1) & (links.top >= BEFORE), sure, 0.0)


def shared_credit(links: Ints, scene: Gathered) -> Floats:
    """Credit of a matching, shared among people who are alike and among records that are alike."""
    truth = scene.material.truth
    sizes = np.bincount(scene.alike_records)
    kind = np.where(links >= 0, scene.alike_records[links], -1)
    wanted = np.where(truth >= 0, scene.alike_records[truth], -2)
    people = np.bincount(scene.alike)
    base = scene.alike_records.max() + 2
    pair = scene.alike * base + kind + 1
    keys, counts = np.unique(pair, return_counts=True)
    asked = scene.alike * base + wanted + 1
    place = np.clip(np.searchsorted(keys, asked), 0, keys.size - 1)
    hits = np.where((keys[place] == asked) & (truth >= 0), counts[place], 0)
    return hits / people[scene.alike] / np.where(truth >= 0, sizes[scene.alike_records[truth]], 1)
