"""Links: whom each person is taken for, by all records or by lists of candidates, one by one and one to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.linkage.channel.lists import Short, short_posterior, shortlist, together
from unmask.linkage.channel.posterior import most_likely_matching, one_to_one_posterior, plain_posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.linkage.channel.gather import Gathered
    from unmask.linkage.channel.select import Channel

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST_PAIRS = 36_000_000  # that are scored all at once: 6,000 people and records
BLOCK = 2_000_000
TIE = 1e-9


def score_rows(scene: Gathered, channels: list[Channel], part: Ints, rows: Ints) -> Floats:
    """Scores of some people with all records, each person's by the channel that others taught."""
    records = np.arange(scene.material.n_records)
    scores = np.empty((rows.size, records.size))
    for fold, channel in enumerate(channels):
        places = np.flatnonzero(part[rows] == fold)
        for block in np.array_split(places, max(1, places.size * records.size // BLOCK)):
            scores[block] = channel.score(rows[block][:, None], records[None, :])
    return scores


@dataclass(frozen=True, slots=True)
class Links:
    """What was found of each person asked for, in canonical order."""

    credit: Floats
    matched: Floats
    own: Floats
    top: Floats
    tied: Ints
    struck: Floats | None = None  # credit of who strikes out the records of the people they know


def link_people(scene: Gathered, channels: list[Channel], part: Ints, rows: Ints, seed: int) -> Links:
    """Link people by all records where these are not too many, else by lists of candidates."""
    if rows.size * scene.material.n_records <= MOST_PAIRS:
        scores = score_rows(scene, channels, part, rows)
        links = link_rows(scene, scores, rows)
        return replace(links, struck=_struck_out(scene, scores, part, rows)) if len(channels) > 1 else links
    pieces = [np.flatnonzero(part[rows] == fold) for fold in range(len(channels))]
    everybody = rows.size == scene.material.n_people
    shorts = [
        shortlist(scene, channel, rows[p], seed, everybody=everybody)
        for channel, p in zip(channels, pieces, strict=True)
        if p.size
    ]
    order = np.concatenate(pieces)
    links = _link_lists(scene, together(shorts), rows[order], everybody=everybody)
    back = np.argsort(order)
    return Links(links.credit[back], links.matched[back], links.own[back], links.top[back], links.tied[back])


def _link_lists(scene: Gathered, short: Short, rows: Ints, *, everybody: bool) -> Links:
    posterior, _ = short_posterior(short, everybody=everybody)
    truth = scene.material.truth[rows]
    wanted = np.where(truth >= 0, scene.alike_records[truth], -1)
    top = posterior.max(1)
    is_best = posterior >= top[:, None] * (1 - TIE)
    tied = (is_best * short.sizes[short.classes]).sum(1)
    is_own = short.classes == wanted[:, None]
    own = np.where(is_own, posterior, 0.0).max(1)
    credit = np.where((is_own & is_best).any(1), 1.0 / tied, 0.0)
    return Links(credit, credit, own, top, tied)


def link_rows(scene: Gathered, scores: Floats, rows: Ints) -> Links:
    """Best candidates by posterior, and the most likely matching if everybody is asked for."""
    truth = scene.material.truth[rows]
    everybody = rows.size == scene.material.n_people
    posterior = one_to_one_posterior(scores) if everybody else plain_posterior(scores)
    top = posterior.max(1)
    own = np.where(truth >= 0, posterior[np.arange(rows.size), truth], 0.0)
    tied = (posterior >= top[:, None] * (1 - TIE)).sum(1)
    credit = np.where((truth >= 0) & (own >= top * (1 - TIE)), 1.0 / tied, 0.0)
    matched = shared_credit(most_likely_matching(scores), scene) if everybody else credit
    return Links(credit, matched, own, top, tied)


def _struck_out(scene: Gathered, scores: Floats, part: Ints, rows: Ints) -> Floats:
    """Credit where each person's candidates are the records that belong to nobody who taught."""
    truth = scene.material.truth
    owner = np.full(scene.material.n_records, -1)
    owner[truth[truth >= 0]] = part[truth >= 0]
    credit = np.zeros(rows.size)
    for fold in np.unique(part[rows]):
        places = np.flatnonzero(part[rows] == fold)
        left = np.flatnonzero((owner < 0) | (owner == fold))
        posterior = one_to_one_posterior(scores[np.ix_(places, left)])
        own = left[None, :] == truth[rows[places]][:, None]
        best = posterior >= posterior.max(1, keepdims=True) * (1 - TIE)
        credit[places] = (own & best).sum(1) / best.sum(1)
    return credit


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
