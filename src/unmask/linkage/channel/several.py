"""Several releases of the same people at once: what each says of who a row was made from, added up.

The channel of every release is learnt by itself, from the same people. Given the person, noise that is drawn anew in
each release is independent, so that log likelihoods add, as in an average of the releases; sets of candidates
intersect. Rows of another release count for the rows of the first that they are laid beside, as far as that can be
relied on; and who is known to be in one of the releases only has a row that the other lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.linkage.channel.attack import Taught, result_of, teach
from unmask.linkage.channel.gather import Gathered
from unmask.linkage.channel.helper import Helper
from unmask.linkage.channel.linking import MOST_PAIRS, link_scores, score_rows
from unmask.linkage.channel.words import tell_columns
from unmask.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.evidence import Progress
    from unmask.linkage.channel.result import ChannelLinkage
    from unmask.tables import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

FOLDS = 2
LEAST = 1e-6  # share that is never ruled out


@dataclass(frozen=True, slots=True)
class Laid:
    """Another release of the same people, and its row that is laid beside each row of the first; -1: none.

    ``adding``: the same without the columns that say what the first says already, which would count twice; None where
    there is nothing else in it.
    """

    release: Release
    rows: Ints
    adding: Release | None


@dataclass(frozen=True, slots=True)
class Several:
    """What was found by the first release alone, by each other one alone, and by all of them."""

    first: ChannelLinkage
    others: tuple[ChannelLinkage, ...]
    together: ChannelLinkage


def link_several(release: Release, others: Sequence[Laid], seed: int, progress: Progress) -> Several:
    """Look for people in the first release by all of them, everybody by what others taught."""
    with one_thread(), Helper(release.original.height) as helper:
        steps = len(others) + 2
        first = teach(release, FOLDS, seed, _part(progress, 0, steps), helper)
        alone, singly = _linked(first, seed), []
        taught: list[tuple[Taught, Ints]] = []
        for number, other in enumerate(others, 1):
            tell = _part(progress, number, steps)
            one = teach(other.release, FOLDS, seed, tell, helper, first.by_row)
            singly.append(_linked(one, seed))
            if other.adding is not None:
                same = other.adding is other.release
                more = one if same else teach(other.adding, FOLDS, seed, tell, helper, first.by_row)
                if _tells(more):
                    taught.append((more, other.rows))
        progress((steps - 1) / steps, "looking for everybody in all releases")
        return Several(alone, tuple(singly), _together(first, taught, seed) if taught else alone)


def _part(progress: Progress, number: int, steps: int) -> Progress:
    return lambda done, words: progress((number + done) / steps, words)


def _linked(taught: Taught, seed: int) -> ChannelLinkage:
    """What one release gives by itself."""
    rows = _asked(taught, seed)
    links = link_scores(taught.scene, _scores(taught, rows), taught.part, rows, several=True)
    return result_of(taught, links, rows, seed)


def _tells(taught: Taught) -> bool:
    """Whether some column tells known people apart by more than chance may: else it would only add noise."""
    return any(told.nats > 0 and told.clear for told in tell_columns(taught.scene.material, taught.channels))


def _scores(taught: Taught, rows: Ints) -> Floats:
    """Scores of some people with all records; records that are alike have the same one.

    A record of who taught is scored by what others taught, which differs a little: it must not tell alike records
    apart.
    """
    scores, alike = score_rows(taught.scene, taught.channels, taught.part, rows), taught.scene.alike_records
    starts = np.flatnonzero(np.diff(alike, prepend=-1))
    if starts.size == alike.size:
        return scores
    mean = np.add.reduceat(scores, starts, axis=1) / np.diff(np.append(starts, alike.size))
    return np.asarray(mean[:, alike])


def _asked(taught: Taught, seed: int) -> Ints:
    """Everybody, or as many people of the release, by lot, as can be looked for at once."""
    n, most = taught.scene.material.n_people, max(1, MOST_PAIRS // taught.scene.material.n_records)
    if n <= most:
        return np.arange(n)
    there = np.flatnonzero(taught.scene.material.truth >= 0)
    return np.sort(np.random.default_rng([seed, 5]).permutation(there)[:most])


def _together(first: Taught, taught: Sequence[tuple[Taught, Ints]], seed: int) -> ChannelLinkage:
    rows, scene = _asked(first, seed), first.scene
    scores, alike = _scores(first, rows), scene.alike_records
    for one, laid in taught:
        beside = _in_order(scene, one.scene, laid)
        scores += _added(first, one, beside, rows)
        own = np.where(beside >= 0, one.scene.alike_records[beside], -1)
        alike = np.unique(np.column_stack([alike, own]), axis=0, return_inverse=True)[1].ravel()
    joined = replace(first, scene=replace(scene, alike_records=alike))
    return result_of(joined, link_scores(joined.scene, scores, first.part, rows, several=True), rows, seed)


def _in_order(scene: Gathered, other: Gathered, rows: Ints) -> Ints:
    """Record of the other release beside each record of this one, both in the order of their scenes; -1: none."""
    place = np.empty(other.records.size + 1, dtype=np.int64)
    place[other.records], place[-1] = np.arange(other.records.size), -1
    return np.asarray(place[rows[scene.records]])


def _added(first: Taught, other: Taught, beside: Ints, rows: Ints) -> Floats:
    """What the other release adds to the scores of some people with all records of the first."""
    place = np.empty(other.scene.people.size, dtype=np.int64)
    place[other.scene.people] = np.arange(place.size)
    them = place[first.scene.people]  # the same people in the order of the other scene
    scores = _scores(other, them[rows])
    laid, added = np.flatnonzero(beside >= 0), np.zeros((rows.size, beside.size))
    truth, own = first.scene.material.truth, other.scene.material.truth[them]
    for fold in range(FOLDS):
        of = np.flatnonzero(first.part[rows] == fold)
        known = (truth >= 0) & (first.part != fold)
        relied = _relied_on(beside, truth[known & (own >= 0)], own[known & (own >= 0)])
        told = _mixed(scores[np.ix_(of, beside[laid])], relied)
        here = (own[rows[of]] >= 0)[:, None]  # who is not in the other release has no row there that could tell
        added[np.ix_(of, laid)] = np.where(here, told, 0.0)
        added[of] += _membership(beside >= 0, (truth[known], own[known] >= 0), own[rows[of]] >= 0, relied)
    return added


def _relied_on(beside: Ints, truth: Ints, own: Ints) -> float:
    """How often the row that is laid beside a known person's is theirs."""
    found = beside[truth]
    return float((found[found >= 0] == own[found >= 0]).mean()) if (found >= 0).any() else 0.0


def _mixed(scores: Floats, relied: float) -> Floats:
    """Log likelihood ratio where the row beside is the person's own with this probability, and else anybody's."""
    if relied >= 1.0:
        return scores
    return np.logaddexp(np.log1p(-relied), np.log(relied) + scores) if relied > 0 else np.zeros_like(scores)


def _membership(laid: Flags, known: tuple[Ints, Flags], inside: Flags, relied: float) -> Floats:
    """What it says of a person that a record has a row beside it: people who are in both releases mostly have one.

    ``known``: records of known people, and whether these are in the other release; ``inside``: whether people are.
    Who is not in the other release has a row beside theirs by mistake only, which the ``relied`` on seldom are.
    """
    truth, there = known
    overall = (laid.sum() + 0.5) / (laid.size + 1.0)
    found = np.zeros((inside.size, laid.size))
    if there.all() and inside.all():
        return found
    for side, expected in ((True, overall), (False, overall * (1.0 - relied))):
        of = laid[truth[there == side]]
        share = np.clip((of.sum() + expected) / (of.size + 1.0), LEAST, 1.0 - LEAST)
        found[inside == side] = np.where(laid, np.log(share / overall), np.log((1 - share) / (1 - overall)))
    return found
