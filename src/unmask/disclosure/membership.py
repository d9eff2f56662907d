"""Membership inference: is this person in the release?

The intruder scores people by how much nearer the closest released row is than the closest record of a reference
population. When they know how the release was masked, they learn from shadow releases of their own; from a model, by
shadow models [TORRA]_ (algorithm mia), [SHOKRI]_. The share of members recognised while 1 % of strangers are wrongly
accused stands beside the AUC, which hides the few who are surely recognised [CARLINI]_.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import polars as pl

from unmask.arrays import Floats, Rows
from unmask.disclosure.outside import Scene, in_order, needs_outsiders, set_scene
from unmask.disclosure.roc import Membership, centred, summarise
from unmask.disclosure.shadow import learn_membership, shadow_scores
from unmask.errors import ParameterError, RoleError
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, Progress, Series, largest, measure, silent
from unmask.study import Study, as_study, spread
from unmask.tables import Release

RARE_ALARMS = "share of people; needs 1,000 people outside to be told apart from 1 %"
SPLIT = 40  # people from whom a control can be split off


class Masking(Protocol):
    """Whatever masks a table, such as ``unmask.parse_masking("noise(0.5)")``."""

    def apply(self, table: pl.DataFrame, seed: int) -> pl.DataFrame:
        """Return the masked table."""
        ...


def membership_inference(
    release: Release | Study,
    *,
    masking: Masking | None = None,
    shadows: int = 8,
    seed: int = 0,
    progress: Progress = silent,
) -> Membership:
    """Tell people in a release from people outside it.

    Parameters
    ----------
    release
        The tables; ``control``, or people of the original who were not released. Without either and with ``masking``,
        half of the original is split off as control and the other half is masked anew.
    masking
        How the release was made, if the intruder knows: they then learn from shadow releases, and use what they have
        learnt for each figure that it makes larger than the distance alone does. None: the distance to the
        closest record, against a reference population (half of the people outside, the other half is attacked, and
        the other way round).
    shadows
        Number of shadow releases.
    seed, progress
        Seeds the halves, the shadow releases and the bootstrap; called with the fraction done and a word.

    """
    if shadows < 1:
        raise ParameterError("the number of shadow releases is not allowed", got=str(shadows), allowed="from 1")
    study = as_study(release)
    n = study.release.original.height
    rows = np.arange(n)
    if masking is not None and needs_outsiders(study.release):
        study, rows = _split_off(study, masking, seed)
    scene = set_scene(study)
    plain = _of_scores(scene, closest_record_scores(scene, seed, progress), (n, rows), seed, learnt=False)
    if masking is None:
        return plain
    scores = shadow_scores(study, scene, masking.apply, shadows, seed, progress)
    learnt = _of_scores(scene, scores, (n, rows), seed, learnt=True)
    return better(plain, learnt)


def better(plain: Membership, learnt: Membership) -> Membership:
    """For each figure the better of two attacks: who knows the masking may ignore it."""
    best = learnt if learnt.auc.value >= plain.auc.value else plain
    surer = learnt if learnt.tpr_at_1_percent.value >= plain.tpr_at_1_percent.value else plain
    return replace(
        best,
        auc=largest((plain.auc, learnt.auc)),
        tpr_at_1_percent=largest((plain.tpr_at_1_percent, learnt.tpr_at_1_percent)),
        tpr_at_01_percent=largest((plain.tpr_at_01_percent, learnt.tpr_at_01_percent)),
        per_record=surer.per_record,
    )


def _of_scores(scene: Scene, scores: Floats, place: tuple[int, Rows], seed: int, *, learnt: bool) -> Membership:
    """Sum up the scores of members, then strangers; ``place``: people of the original, and the rows of the scene."""
    n, rows = place
    mine, others = scores[: scene.members.size], scores[scene.members.size :]
    if not learnt:  # distances have no natural limit; learnt odds have: 0
        mine, others = centred(mine, others)
    alarm = np.sort(others)[-1 - others.size // 100]  # 1 % of strangers are above, and no more
    accused = spread((mine > alarm).astype(np.float64), rows[scene.members], n, np.nan)
    return replace(summarise(mine, others, accused, seed), learnt=learnt)


def closest_record_scores(scene: Scene, seed: int, progress: Progress = silent) -> Floats:
    """Log of the distance to the reference population over that to the release: members first, then strangers.

    Everybody is held against one half of the strangers; a stranger against the half that they are not in.
    """
    rng = np.random.default_rng(seed)
    strangers = scene.strangers[in_order(scene.of(scene.strangers))]
    half = np.zeros(strangers.size, dtype=np.int64)
    half[rng.permutation(strangers.size)[: strangers.size // 2]] = 1
    members = scene.members[in_order(scene.of(scene.members))]
    side = rng.integers(0, 2, members.size)
    everybody, sides = np.concatenate([members, strangers]), np.concatenate([side, 1 - half])
    people = scene.of(everybody)
    to_release = scene.ruler.nearest(people, scene.encoding.released, progress).least
    to_reference = np.empty(everybody.size)
    for number in (0, 1):
        asks = np.flatnonzero(sides == number)
        reference = scene.of(strangers[half == number])
        to_reference[asks] = scene.ruler.nearest(people.take(asks), reference).least
    scores = log_ratio(to_reference, to_release)
    return _back(scores, scene, members, strangers)


def _back(scores: Floats, scene: Scene, members: Rows, strangers: Rows) -> Floats:
    """Bring scores from canonical order back to the order of the scene."""
    place = np.full(int(max(scene.members.max(), scene.strangers.max())) + 1, -1, dtype=np.int64)
    place[np.concatenate([members, strangers])] = np.arange(scores.size)
    return np.asarray(scores[place[np.concatenate([scene.members, scene.strangers])]])


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Log of a ratio of squared distances in which 0 is very near, not infinitely near."""
    scale = np.median(np.concatenate([above, below])) or 1.0
    return np.asarray(np.log(above + 1e-9 * scale) - np.log(below + 1e-9 * scale))


def membership_of_model(
    fit: Callable[[Floats, Rows], object],
    members: tuple[Floats, Rows],
    strangers: tuple[Floats, Rows],
    reference: tuple[Floats, Rows],
    *,
    shadows: int = 8,
    seed: int = 0,
) -> Membership:
    """Attack a model by shadow models (Torra, algorithm mia): was this person among those it was learnt from?

    Parameters
    ----------
    fit
        Learns a model from known attributes and classes: ``fit(X, y)`` returns an object with ``predict_proba`` (or
        with ``predict`` for a number).
    members, strangers
        (X, y) of the people the model is learnt from, and of people it never sees: success is counted on these.
    reference
        (X, y) of other people of the same population, whom the intruder has: half of them trains a shadow model, the
        other half shows how strangers look.
    shadows
        Number of shadow models.
    seed
        Seeds the halves, the attack and the bootstrap.

    """
    sizes = [len(side[1]) for side in (members, strangers, reference)]
    if min(sizes) < 10:
        raise ParameterError("each group needs ten people or more", got=f"{sizes[0]}, {sizes[1]} and {sizes[2]} people")
    attack = learn_membership(fit, reference, shadows, seed)
    target = fit(*members)
    mine, others = attack(target, *members), attack(target, *strangers)
    return summarise(mine, others, np.asarray(mine > 0, dtype=np.float64), seed)


def _split_off(study: Study, masking: Masking, seed: int) -> tuple[Study, Rows]:
    """Mask one half of the original and keep the other half outside; tell the rows of the masked half."""
    release = study.release
    order = in_order(study.encoding().original)
    if order.size < SPLIT:
        raise RoleError(
            "there are too few people to split off a control", got=f"{order.size}", allowed=f"{SPLIT} or more"
        )
    lot = np.random.default_rng(seed).permutation(order.size)
    inside = order[np.sort(lot[: order.size // 2])]  # in canonical order: a masking draws row by row
    outside = order[np.sort(lot[order.size // 2 :])]
    table = release.original.select(release.quasi)
    kept = table[inside]
    kinds = {name: release.kind(name) for name in release.quasi}
    masked = masking.apply(kept, seed)
    return Study(Release(kept, masked, control=table[outside], quasi=release.quasi, kinds=kinds)), inside


def _applies(release: Release) -> str | None:
    """Outsiders are needed, or a known masking, with which half of the people can be released anew."""
    known = _known_masking(release) is not None and release.original.height >= SPLIT
    return None if known else needs_outsiders(release)


def _known_masking(release: Release) -> Masking | None:
    """The masking that the intruder knows; `assess` has read it from its text."""
    return release.masking if hasattr(release.masking, "apply") else None


@measure(
    "membership",
    title="Membership inference",
    story="To be in the data is the secret. The intruder compares how near the closest released row is with how near "
    "the closest person of a reference population is, and accuses those who are too near to the release.",
    keys=("membership.auc", "membership.tpr"),
    applies=_applies,
    pairs=False,
)
def assess_membership(study: Study, context: Context) -> Evidence:
    """Score members and strangers, and tell how well they are told apart; shadow releases, if the masking is known."""
    release = study.release
    found = membership_inference(study, masking=_known_masking(release), seed=context.seed, progress=context.progress)
    return Evidence(
        observations=(
            Observation(
                "membership.auc",
                "A person of the release and a person outside are told apart by the distance to the closest record "
                f"{found.auc.value:.0%} of the time.",
                found.auc,
            ),
            Observation(
                "membership.tpr",
                f"{found.tpr_at_1_percent.value:.1%} of {found.tpr_at_1_percent.n:,} people are recognised as being in "
                "the release while 1 % of outsiders are wrongly accused.",
                found.tpr_at_1_percent,
            ),
        ),
        per_record=np.nan_to_num(found.per_record),
        identity=False,
        facts=tuple(
            Fact(name, round(figure.value, 4), f"{figure.low:.3g} to {figure.high:.3g}; {words}")
            for name, figure, words in (
                ("recall", found.recall, "of the people in the release are accused"),
                ("precision", found.precision, "of the accused are in the release, if half of all people were"),
                ("F1", found.f1, "harmonic mean of recall and precision"),
                ("recognised at 0.1 % false alarms", found.tpr_at_01_percent, RARE_ALARMS),
            )
        ),
        figures=(_figure(found),),
        notes=(f"{found.n_strangers:,} people outside the release were compared with", *_told(release, found)),
    )


def _told(release: Release, found: Membership) -> tuple[str, ...]:
    """Which of the two attacks it was, where the masking is known and both were tried."""
    if _known_masking(release) is None:
        return ()
    better = "what was learnt from them" if found.learnt else "the distance to the closest record alone"
    return (f"the masking is known: shadow releases were tried, and {better} tells more people apart",)


def _figure(found: Membership) -> Figure:
    return Figure(
        shape="line",
        title="Members recognised against outsiders accused",
        caption="The further the curve rises above the diagonal at the left, the more surely some "
        "people are recognised.",
        alt=f"ROC curve with AUC {found.auc.value:.3f}; {found.tpr_at_1_percent.value:.1%} recognised "
        "at 1 % false alarms.",
        x_label="outsiders accused",
        y_label="members recognised",
        series=(
            Series("attack", tuple(found.curve[0].tolist()), tuple(found.curve[1].tolist())),
            Series("blind guess", (0.0, 1.0), (0.0, 1.0)),
        ),
        percent=(True, True),
    )
