"""The attack: learn the channel from some people, look for the others, each person by what others taught."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError, ParameterError
from unmask.evidence.estimate import rate
from unmask.evidence.measure import silent
from unmask.linkage.channel.gather import Gathered, gather
from unmask.linkage.channel.known import claims
from unmask.linkage.channel.posterior import most_likely_matching, one_to_one_posterior
from unmask.linkage.channel.result import ChannelLinkage, Point, Told
from unmask.linkage.channel.select import Channel, learn
from unmask.linkage.channel.words import tell_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.evidence.measure import Progress
    from unmask.tables.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEWEST = 4  # people that must teach
SIZES = (10, 30, 100, 300, 1000, 3000)
TIE = 1e-9


def link_channel(
    release: Release,
    *,
    folds: int = 2,
    people: int | None = None,
    seed: int = 0,
    curve: bool = True,
    progress: Progress = silent,
) -> ChannelLinkage:
    """Learn from some people how the release was made, and look for the others.

    Parameters
    ----------
    release
        The two tables and the roles of their columns.
    folds
        Parts that the people are split into; each part is attacked by what the others taught. 2: the intruder knows
        half of the people.
    people
        People to ask for, drawn at random. None: all.
    seed
        Seeds the split and what is drawn.
    curve
        Whether to ask as well what 10, 30, 100, ... known people would suffice for.
    progress
        Called with the fraction done and a word.

    Returns
    -------
    ChannelLinkage
        The candidates of everybody are all released records, also those of people who taught: so the rate compares
        with that of every other attack and with the size of groups. (Whoever strikes out the records of the people
        they know has fewer candidates left, and finds at least as many.)

    """
    if folds < 2:
        raise ParameterError("people are attacked by what others taught", got=f"{folds} folds", allowed="from 2")
    scene = gather(release, seed)
    there = np.flatnonzero(scene.material.truth >= 0)
    if there.size < max(folds, FEWEST):
        raise EngineError(
            f"{there.size} people are in both files: too few to learn from some and attack others",
            allowed=f"from {max(folds, FEWEST)}",
        )
    classes = np.unique(scene.alike[there])
    part = np.searchsorted(classes, scene.alike) % folds
    channels: list[Channel] = []
    for fold in range(folds):
        taught = there[part[there] != fold]
        channels.append(_learn(scene, taught, seed, progress, (fold / folds * 0.7, 0.7 / folds)))
    scores = score_all(scene, channels, part)
    progress(0.75, "one-to-one")
    return _found(release, scene, scores, channels, seed)


def _learn(scene: Gathered, taught: Ints, seed: int, progress: Progress, span: tuple[float, float]) -> Channel:
    if taught.size < FEWEST:
        return Channel((), (), 1.0)
    return learn(scene.material, taught, seed, lambda done: progress(span[0] + span[1] * done, "learning the channel"))


def score_all(scene: Gathered, channels: list[Channel], part: Ints) -> Floats:
    """Scores of all people with all records, each person's by the channel that others taught."""
    records = np.arange(scene.material.n_records)
    scores = np.empty((scene.material.n_people, scene.material.n_records))
    for fold, channel in enumerate(channels):
        rows = np.flatnonzero(part == fold)
        for block in np.array_split(rows, max(1, rows.size * records.size // 2_000_000)):
            scores[block] = channel.score(block[:, None], records[None, :])
    return scores


def _found(release: Release, scene: Gathered, scores: Floats, channels: list[Channel], seed: int) -> ChannelLinkage:
    material, n = scene.material, scene.material.n_people
    there = material.truth >= 0
    posterior = one_to_one_posterior(scores)
    top = posterior.max(1)
    own = np.where(there, posterior[np.arange(n), material.truth], 0.0)
    tied = (posterior >= top[:, None] * (1 - TIE)).sum(1)
    credit = np.where(there & (own >= top * (1 - TIE)), 1.0 / tied, 0.0)
    matched = shared_credit(most_likely_matching(scores), scene)
    claimed = claims(top, credit, there, seed) & (tied == 1)
    back = np.empty(n, dtype=np.int64)
    back[scene.people] = np.arange(n)
    asked = there[back]
    return ChannelLinkage(
        asked=asked, credit=credit[back], matched=matched[back], posterior=own[back], best=top[back], claimed=(claimed & there)[back],
        n_candidates=material.n_records, taught=int(there.sum() // 2), columns=tell_columns(material, channels), learning=(), seed=seed,
    )


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
