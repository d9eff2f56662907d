"""Membership inference: is this person in the release?

The intruder suspects some people, of whom some are in the release and some are not. They hold everybody against its
rows and against each other: by one-to-one matching, by the ratio of densities, by the closest record (`candidates`);
and, where they know how it was made, against shadow releases of their own (`shadow`, `lira`). From a model, by shadow
models [TORRA]_ (algorithm mia), [SHOKRI]_. The best attack is chosen by an inner split (`inner`). The share of members
recognised while 1 % of strangers are wrongly accused stands beside the AUC, which hides the few who are surely
recognised [CARLINI]_.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.arrays import Floats, Ints, Rows
from unmask.disclosure.candidates import DIGITS, Held, hold, looks, scores_of
from unmask.disclosure.inner import best_of, halves
from unmask.disclosure.membership_words import facts_of, figures_of
from unmask.disclosure.one_run import held_to_claim
from unmask.disclosure.outside import Ruler, Scene, draw, in_order, needs_outsiders, set_scene
from unmask.disclosure.roc import Membership, summarise
from unmask.disclosure.shadow import Maker, Plan, as_maker, learn_membership, shadow_scores
from unmask.errors import ParameterError, RoleError
from unmask.evidence import Context, Evidence, Observation, Progress, largest, measure, silent
from unmask.shares import percent
from unmask.study import Study, as_study, spread
from unmask.tables import Encoded, Encoding, Release

Against = Callable[[Encoded], tuple[Held, Floats]]  # people, to what rows say of them and their least distances
SPLIT = 40  # people from whom a control can be split off
MOST_ASKED = 1_000  # members, and strangers, who are compared with every row and with each other


def membership_inference(
    release: Release | Study,
    *,
    masking: Any = None,  # noqa: ANN401 - whatever makes releases
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
        How the release was made, if the intruder knows: a masking, a ``Synthesiser``, or any function of a table and a
        seed. They then make shadow releases of their own, of people they know to be inside or not, and no figure is
        smaller for it. None: they look at the release alone, and at the people whom they suspect.
    shadows
        Number of shadow releases; made in pairs, so an odd one is one more.
    seed, progress
        Seeds the halves, the shadow releases and the bootstrap; called with the fraction done and a word.

    """
    if shadows < 1:
        raise ParameterError("the number of shadow releases is not allowed", got=str(shadows), allowed="from 1")
    study = as_study(release)
    n = study.release.original.height
    if n < 2:
        raise RoleError("there is only one person to tell from people outside", hint=ONE_PERSON)
    rows = np.arange(n)
    maker = None if masking is None else as_maker(masking)
    if maker is not None and needs_outsiders(study.release):
        study, rows = _split_off(study, maker, seed)
    whole = set_scene(study)
    scene = _some_of(whole, seed)
    blind = blind_scores(scene, seed, progress)
    plain = _of_attacks(scene, blind, (n, rows), seed)
    if maker is None:
        return plain
    people = np.concatenate([whole.members, whole.strangers])
    plan = Plan(people[in_order(whole.of(people))], (shadows + 1) // 2, seed)
    learnt = shadow_scores(study, scene, maker, plan, progress)
    return better(plain, _of_attacks(scene, {**learnt, **blind}, (n, rows), seed))


def membership_of_rows(people: Encoding, n_members: int, ruler: Ruler, rows: Against, seed: int) -> Evidence:
    """The same of some people, members first, against rows that are elsewhere (``rows``): the release alone is known.

    ``people``: their records, as the original of an encoding.
    """
    n = len(people.original)
    scene = Scene(people, np.arange(n_members), np.arange(n_members, n), ruler)
    return evidence_of(_of_attacks(scene, blind_scores(scene, seed, rows=rows), (n, np.arange(n)), seed))


def _some_of(scene: Scene, seed: int) -> Scene:
    """As many members and strangers as are compared with every row and with each other, by lot."""
    sides = [
        side if side.size <= MOST_ASKED else side[draw(scene.of(side), MOST_ASKED, seed + number)]
        for number, side in enumerate((scene.members, scene.strangers))
    ]
    return scene._replace(members=sides[0], strangers=sides[1])


def better(plain: Membership, learnt: Membership) -> Membership:
    """For each figure the better of two attacks: who knows the masking may ignore it."""
    best = learnt if learnt.auc.value >= plain.auc.value else plain
    surer = learnt if learnt.tpr_at_1_percent.value >= plain.tpr_at_1_percent.value else plain
    return replace(
        best,
        epsilon=max(plain.epsilon, learnt.epsilon, key=lambda one: one.low),
        guesses=(*plain.guesses, *learnt.guesses),
        attacks=surer.attacks,
        auc=largest((plain.auc, learnt.auc)),
        tpr_at_1_percent=largest((plain.tpr_at_1_percent, learnt.tpr_at_1_percent)),
        tpr_at_01_percent=largest((plain.tpr_at_01_percent, learnt.tpr_at_01_percent)),
        per_record=surer.per_record,
    )


def _of_attacks(scene: Scene, attacks: dict[str, Floats], place: tuple[int, Rows], seed: int) -> Membership:
    """Sum up the best of some attacks; ``place``: people of the original, and the rows of the scene."""
    n, rows = place
    rng = np.random.default_rng([seed, 3])
    members, strangers = (_split(scene.of(side), rng) for side in (scene.members, scene.strangers))
    found = best_of(attacks, (members, strangers), seed)
    return replace(found, per_record=spread(found.per_record, rows[scene.members], n, np.nan))


def _split(side: Encoded, rng: np.random.Generator) -> Ints:
    """Halves by lot over the canonical order."""
    half = np.empty(len(side), dtype=np.int64)
    half[in_order(side)] = halves(len(side), rng)
    return half


def blind_scores(
    scene: Scene, seed: int, progress: Progress = silent, rows: Against | None = None
) -> dict[str, Floats]:
    """Scores of members, then strangers, by the name of the attack, of who knows nothing but tables.

    ``rows``: how people are held against the rows of the release; None: against those of the scene.
    """
    people = np.concatenate([scene.members, scene.strangers])
    order = in_order(scene.of(people))
    ours = looks(scene.of(people[order]), scene.ruler.mean, scene.ruler.sd)
    held, least = (rows or _rows_here(scene, progress))(scene.of(people[order]))
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    scores = {name: values[back] for name, values in scores_of(ours, held).items()}
    scores["closest record"] = np.round(closest_record_scores(scene, least[back], seed), DIGITS)
    scores["no record near"] = np.round(least[back], DIGITS)  # rows too near to a member were thrown away
    return scores


def _rows_here(scene: Scene, progress: Progress) -> Against:
    """People held against the rows of a scene."""
    rows = scene.encoding.released.take(in_order(scene.encoding.released))

    def ask(people: Encoded) -> tuple[Held, Floats]:
        ours, theirs = (looks(side, scene.ruler.mean, scene.ruler.sd) for side in (people, rows))
        return hold(ours, theirs, progress), scene.ruler.nearest(people, rows, progress).least

    return ask


def closest_record_scores(scene: Scene, to_release: Floats, seed: int) -> Floats:
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
    to_reference = np.empty(everybody.size)
    for number in (0, 1):
        asks = np.flatnonzero(sides == number)
        reference = scene.of(strangers[half == number])
        to_reference[asks] = scene.ruler.nearest(people.take(asks), reference).least
    return log_ratio(_back(to_reference, scene, members, strangers), to_release)


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


def _split_off(study: Study, maker: Maker, seed: int) -> tuple[Study, Rows]:
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
    masked = maker(kept, seed)
    return Study(Release(kept, masked, control=table[outside], quasi=release.quasi, kinds=kinds)), inside


def _applies(release: Release) -> str | None:
    """Outsiders are needed, or a known masking, with which half of the people can be released anew."""
    if release.original.height < 2:
        return ONE_PERSON
    known = _known_masking(release) is not None and release.original.height >= SPLIT
    return None if known else needs_outsiders(release)


ONE_PERSON = "it chooses its attack on half of the people: two at least are needed in the original"


def _known_masking(release: Release) -> Maker | None:
    """How the release was made, if the intruder knows; `assess` has read a masking from its text."""
    return None if release.masking is None or isinstance(release.masking, str) else as_maker(release.masking)


@measure(
    "membership",
    title="Membership inference",
    story="To be in the data is the secret. The intruder suspects some people, of whom only some are in the release. "
    "They compare everybody with its rows and with each other, and accuse those whom rows fit better than anybody.",
    keys=("membership.auc", "membership.tpr", "membership.claim"),
    applies=_applies,
    pairs=False,
)
def assess_membership(study: Study, context: Context) -> Evidence:
    """Score members and strangers, and tell how well they are told apart; shadow releases, if the masking is known."""
    release = study.release
    found = membership_inference(study, masking=_known_masking(release), seed=context.seed, progress=context.progress)
    told = evidence_of(found, held_to_claim(found.guesses, release.epsilon, release.delta))
    return replace(told, notes=(*told.notes, *_told(release, found)))


def evidence_of(found: Membership, claim: tuple[Observation, ...] = ()) -> Evidence:
    """What a report tells of members and strangers who were told apart."""
    return Evidence(
        observations=(
            Observation(
                "membership.auc",
                f"A person of the release and a person outside are told apart {percent(found.auc.value)} of the time.",
                found.auc,
            ),
            Observation(
                "membership.tpr",
                f"{percent(found.tpr_at_1_percent.value)} of {found.tpr_at_1_percent.n:,} people are recognised as "
                f"being in "
                "the release while 1 % of outsiders are wrongly accused.",
                found.tpr_at_1_percent,
            ),
            *claim,
        ),
        per_record=found.per_record,
        identity=False,
        facts=facts_of(found),
        figures=figures_of(found),
        notes=(f"{found.n_strangers:,} people outside the release were compared with",),
    )


def _told(release: Release, found: Membership) -> tuple[str, ...]:
    """What was learnt from shadow releases, where they could be made; and who was asked, where not everybody was."""
    asked = int((~np.isnan(found.per_record)).sum())
    n = release.original.height if release.synthetic else len(release.paired_rows)
    drawn = (f"{asked:,} of {n:,} people were drawn by lot and looked for",) if asked < n else ()
    if _known_masking(release) is None:
        return drawn
    better = "what was learnt from them" if found.learnt else "the release alone"
    return (*drawn, f"how it was made is known: shadow releases were tried, and {better} tells more people apart")
