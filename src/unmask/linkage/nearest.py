"""Nearest-record linkage (DBRL): the intruder links each person they know to the closest published record.

They hold the original records (or the attributes of them that they are said to know), take the release, and for each
person pick the record at the least distance. Success is counted against the truth that the protector has; where
several records are equally near they must guess among them, so the credit is shared [TORRA]_, [HERRANZ]_.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from unmask.arrays import Rows
from unmask.errors import ParameterError
from unmask.evidence import Context, Estimate, Evidence, Fact, Observation, Progress, measure, silent
from unmask.linkage.result import Linkage, why_more
from unmask.shares import percent
from unmask.study import (
    Direction,
    How,
    Index,
    Scale,
    Scene,
    Study,
    as_study,
    draw,
    in_order,
    of_attributes,
    readable,
    set_scene,
)
from unmask.tables import Encoding, Release

MOST_ATTRIBUTES = 100  # beyond, one by one would take longer than the attack and fill no readable chart
NEAR = 10
SAMPLE_FOR_ATTRIBUTES = 2000  # intruders asked when one attribute after the other is taken away
CLEARLY = 2.0  # standard deviations of a difference of counts
WHOM = f"share of people (of a random {SAMPLE_FOR_ATTRIBUTES:,} if more)"


def link_nearest(
    release: Release | Study,
    *,
    direction: Direction = "to_release",
    sample: int | Rows | None = None,
    decision_only: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    **how: Unpack[How],
) -> Linkage:
    """Link every record to its nearest candidates (DBRL).

    Parameters
    ----------
    direction
        "to_release": each original record looks for its nearest released one. "to_original": the paper's direction.
    sample
        Ask for so many people only, drawn at random, or for those in these rows of the original; the interval tells
        what that costs. None: all.
    decision_only
        Find out only whether the true record is among the nearest, which is far cheaper: ``credit`` and the estimate
        are the same, ``links`` are -1, ``distances`` and ``margin`` NaN, ``tie_sizes`` 0 where the link is wrong.
    seed
        Seeds the draw among tied candidates, the sample and the bootstrap; no risk depends on the draw among ties.
    **how
        ``metric``: "euclidean" (standardised), "manhattan", "chebyshev", "mahalanobis", "gower", or "permutation"
        (Chebyshev on ranks). ``scale``: standardise each file by its "own" mean and sd, both by the
        "original"'s or the "released"'s, or "none". ``weights``: weight of attributes, 1 for those not named.
        ``ranks`` of equal values for "permutation": "average" and "dense" keep ties, which are then shared; "ordinal"
        tells them apart by a seeded lot, as the paper's tables do.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"age": [20, 30, 40, 50], "income": [1.0, 2.0, 4.0, 8.0]})
    >>> unmask.link_nearest(unmask.Release(people, people)).estimate.value
    1.0

    """
    scene = set_scene(as_study(release), direction, sample, seed, how)
    return link_in(scene, direction, seed, progress, decision_only=decision_only)


def link_in(
    scene: Scene, direction: Direction, seed: int, progress: Progress = silent, *, decision_only: bool = False
) -> Linkage:
    """Link those who ask in a scene: its tree serves several questions."""
    n = len(scene.rows)
    distances = margin = np.full(n, np.nan)
    if decision_only:
        decision = scene.decide(tell=progress)
        rows, ties = np.full(n, -1, dtype=np.int64), decision.ties
    else:
        found = scene.nearest(seed=seed, tell=progress)
        decision = scene.decision_of(found)
        rows, ties = found.row, found.ties
        distances = readable(found.least, scene.space.norm)
        margin = np.where(found.ties > 1, 0.0, readable(found.second, scene.space.norm) - distances)
    return Linkage(
        links=scene.spread(rows, -1),
        distances=scene.spread(distances, np.nan),
        credit=scene.spread(decision.credit, 0.0),
        tie_sizes=scene.spread(ties, 0),
        margin=scene.spread(margin, np.nan),
        total_distance=float(np.sort(distances).sum()),
        optimal=True,
        truth=scene.spread(scene.truth, -1),
        n_candidates=int(scene.space.points.shape[0]),
        direction=direction,
        seed=seed,
        asked=scene.asked,
        gap=0.0,
    )


def true_ranks(
    release: Release | Study,
    *,
    cap: int = 100,
    direction: Direction = "to_release",
    sample: int | None = None,
    seed: int = 0,
    **how: Unpack[How],
) -> Rows:
    """Count, for each record, the candidates that are strictly closer than its true one: exact up to ``cap``.

    0 means that the nearest-record attack finds it (or ties); -1 that it has no true record, or that it is not in the
    ``sample`` (the same people as ``link_nearest`` asks for with that sample and seed).
    """
    if cap < 1:
        raise ParameterError("a cap on the rank is a whole number", got=str(cap), allowed="from 1")
    scene = set_scene(as_study(release), direction, sample, seed, how)
    return scene.spread(scene.rank_of_truth(cap), -1)


def anonymity_sets(
    release: Release | Study,
    *,
    people: Rows | None = None,
    direction: Direction = "to_release",
    seed: int = 0,
    **how: Unpack[How],
) -> tuple[Rows, ...]:
    """List, for each record (or the rows in ``people``), the rows of all candidates equally near: Torra's A_b."""
    scene = set_scene(as_study(release), direction, None, seed, how)
    start, rows = scene.index.tied(people)
    return tuple(np.split(rows, start[1:-1]))


def attribute_contributions(
    study: Study, seed: int, progress: Progress = silent, *, scale: Scale = "own"
) -> tuple[tuple[str, float], ...]:
    """How much the rate of correct links falls when the intruder does not know one attribute (euclidean)."""
    encoding, truth = study.encoding(), study.release.truth
    if len(encoding.names) > MOST_ATTRIBUTES:
        return ()
    people = draw(encoding, truth, "to_release", SAMPLE_FOR_ATTRIBUTES, seed)
    whole = study.index(scale=scale)

    def reid(index: Index) -> float:
        credit = index.decide(truth[people], rows=people).credit
        return float(np.sort(credit[truth[people] >= 0]).mean())

    if len(encoding.names) < 2:
        return tuple((name, reid(whole) - 1.0 / len(encoding.released)) for name in encoding.names)
    rate_of_all, gains = reid(whole), []
    for number, name in enumerate(encoding.names):
        others = [k for k in range(len(encoding.names)) if k != number]
        gains.append((name, rate_of_all - reid(study.index_for_few(of_attributes(whole.space, others)))))
        progress((number + 1) / len(encoding.names), "which attributes matter")
    return tuple(gains)


def claimed_of_control(study: Study, seed: int, *, scale: Scale = "own") -> float:
    """Share of people outside the file whose link would be claimed as well: as clear as those that are known."""
    both = link_nearest(study.beside("control"), seed=seed, scale=scale)
    curve, claimed = both.curve, both.claimed()
    if not claimed:
        return 0.0
    least = curve.margin[np.flatnonzero(curve.coverage <= claimed / both.attempted.sum() + 1e-12)[-1]]
    return float((both.margin[study.release.original.height :] >= least).mean())


DIFFERENT_PEOPLE = (
    "the two files hold different numbers of people: each standardised by its own mean and sd they may not line up, "
    "and the rate be too small (try --scale original and --scale released)"
)


def best_scale(study: Study, seed: int, people: Rows | None = None) -> tuple[Scale, tuple[str, ...]]:
    """Each file's own mean and sd, unless those of one file for both find more; a note says so where several count."""
    some = None if people is None else people.tobytes()
    return study.kept(("scale", seed, some), lambda: _scale_of(study, seed, people))


def _scale_of(study: Study, seed: int, people: Rows | None) -> tuple[Scale, tuple[str, ...]]:
    scales: tuple[Scale, ...] = ("own", "original", "released")
    found = {
        scale: link_nearest(study, scale=scale, decision_only=True, sample=people, seed=seed).estimate
        for scale in (scales if study.encoding().numeric_names else scales[:1])
    }
    same = study.release.original.height == study.release.released.height
    return largest_of_scales({scale: one.value for scale, one in found.items()}, found["own"].n if same else None)


def largest_of_scales(rates: Mapping[Scale, float], n: int | None = None) -> tuple[Scale, tuple[str, ...]]:
    """The scale that finds most, and a note.

    ``n`` people whose files have the same size: each file's own mean and sd, unless another finds clearly more.
    """
    best = max(rates, key=lambda scale: rates[scale])
    if len(rates) == 1:
        return best, ()
    if n is not None and (rates[best] - rates["own"]) * n <= CLEARLY * np.sqrt((rates[best] + rates["own"]) * n):
        return "own", ()
    why = "the two files hold different numbers of people" if n is None else "masking changed means or deviations"
    note = (
        f"{why}: standardised by each file's own mean and sd {percent(rates['own'])} are found, by the original's "
        f"{percent(rates['original'])}, by the release's {percent(rates['released'])}; the largest counts"
    )
    return best, (note,)


def best_reading(study: Study, seed: int, people: Rows | None = None) -> tuple[Study, tuple[str, ...]]:
    """Whole numbers read as codes, or by their order where masking kept it: what finds more, with a note."""
    ordered, names = in_order(study)
    if not names:
        return study, ()

    def found(reading: Study) -> float:
        return link_nearest(reading, decision_only=True, sample=people, seed=seed).estimate.value

    some = None if people is None else people.tobytes()
    codes, order = study.kept(("readings", seed, some), lambda: (found(study), found(ordered)))
    note = (
        f"{', '.join(map(repr, names))}: read as codes {percent(codes)} of people are found, by their order "
        f"{percent(order)}; "
        "the larger counts"
    )
    return (ordered if order > codes else study), (note,)


@measure(
    "nearest",
    title="Nearest-record linkage",
    story="The intruder knows these attributes of real people and takes, for each, the closest record of the release.",
    keys=("nearest.rate", "nearest.known"),
    cheaper="people",
)
def assess_nearest(study: Study, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    people = context.people
    study, read = best_reading(study, context.seed, people)
    release = study.release
    scale, note = best_scale(study, context.seed, people)
    linkage = link_nearest(
        study,
        scale=scale,
        sample=people,
        seed=context.seed,
        progress=lambda done, text: context.progress(0.5 * done, text),
    )
    encoding = study.encoding()
    attributes = attribute_contributions(
        study, context.seed, lambda done, text: context.progress(0.5 + 0.5 * done, text), scale=scale
    )
    # all that asks in this direction comes before the other: both trees of a very large table do not fit side by side
    ranks = true_ranks(study, cap=NEAR, sample=SAMPLE_FOR_ATTRIBUTES, seed=context.seed, scale=scale)
    scene = set_scene(study, "to_original", people, context.seed, {"scale": scale})
    back = link_in(scene, "to_original", context.seed, decision_only=True)
    other = back if may_go_back(study) else None
    if other is not None and other.estimate.value > linkage.estimate.value:
        other = link_in(scene, "to_original", context.seed)
    best, claims, how = better_way(linkage, other)
    known = claims.known()
    if release.control is not None and claims is linkage:
        known = replace(known, control=claimed_of_control(study, context.seed, scale=scale))
    return Evidence(
        observations=nearest_observations(best.estimate, known, how, claims.right()),
        per_record=best.per_record(release.original.height),
        compared=study.compared,
        facts=(*tie_facts(best), *facts_of_pairs(linkage, back, ranks[ranks >= 0], WHOM)),
        figures=(best.figure("nearest-record linkage"),),
        attributes=attributes,
        notes=(*encoding.notes, *_left_out(encoding), *read, *note),
    )


def better_way(linkage: Linkage, back: Linkage | None) -> tuple[Linkage, Linkage, str]:
    """Of both directions the one that finds more people, that which claims more, and how people are then found."""
    if back is None or back.estimate.value <= linkage.estimate.value:
        return linkage, linkage, "taking the nearest one"
    claims = max((linkage, back), key=lambda direction: direction.claimed() / direction.attempted.sum())
    return back, claims, "giving each record to the nearest person"


def nearest_observations(found: Estimate, known: Estimate, how: str, right: float) -> tuple[Observation, Observation]:
    """People who are linked to their own record, and those of whom the intruder is sure."""
    return (
        Observation.of_people("nearest.rate", found, f"are linked to their own record by {how}."),
        Observation.of_people(
            "nearest.known",
            known,
            "are linked by so clear a margin that such links are right 19 times in 20." + why_more(known, found, right),
            claims=round(known.hits),
        ),
    )


def may_go_back(study: Study) -> bool:
    """Whether every released record belongs to somebody whom the intruder has.

    Records of others would be given to somebody as well, and a rate over those whom the intruder has be too large.
    """
    return len(study.release.paired_rows) >= study.release.released.height


def _left_out(encoding: Encoding) -> tuple[str, ...]:
    many = len(encoding.names) > MOST_ATTRIBUTES
    return (f"with {len(encoding.names)} attributes, which of them matter was not asked one by one",) if many else ()


def tie_facts(linkage: Linkage) -> tuple[Fact, ...]:
    """How many records are equally near."""
    tied = linkage.tie_sizes[linkage.attempted]
    return (
        Fact(
            "median anonymity set",
            float(np.median(tied)),
            "records that are equally near, between which the intruder must guess",
        ),
        Fact(
            "people with a single nearest record",
            int((tied == 1).sum()),
            "for them the intruder has one answer, right or wrong",
        ),
    )


def facts_of_pairs(linkage: Linkage, back: Linkage, ranks: Rows, whom: str) -> tuple[Fact, ...]:
    """What each direction finds, and for how many people few records are closer than the true one (``ranks``)."""
    return (
        Fact(
            "found when people ask",
            linkage.estimate.value,
            "share of people found when each person looks for the nearest released record",
            share=True,
        ),
        Fact(
            f"fewer than {NEAR} records are closer than the true one",
            float((ranks < NEAR).mean()),
            f"{whom}; records as near as it do not count",
            share=True,
        ),
        Fact(
            "found when the release asks",
            back.estimate.value,
            "share of people found when each released record looks for its nearest person",
            share=True,
        ),
    )
