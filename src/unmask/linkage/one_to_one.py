"""Global linkage (GDBRL): everybody is linked at once, one to one, at the least total distance [HERRANZ]_.

The intruder knows that each person has one record. Where nearest-record linkage gives two people the same record, they
let them compete: among all one-to-one matchings of the two files they take the one with the least total distance. The
matching is exact, with a lower bound over all pairs as its proof; where several matchings are optimal, the credit of a
person is the share of them that contains their own record, never what the order of the rows happens to give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np

from unmask.arrays import Floats, Ints, Rows
from unmask.errors import ParameterError
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Progress, measure, rate, silent
from unmask.kernels.assignment import Ask, Matching, classify, solve, solve_in_rounds
from unmask.kernels.assignment import credits as shares_of_optima
from unmask.kernels.base import EUCLIDEAN
from unmask.linkage.competing import TOGETHER, Added, Pair, competition_of
from unmask.linkage.nearest import best_reading, best_scale, link_nearest
from unmask.linkage.result import Linkage, why_more
from unmask.shares import span
from unmask.study import (
    PREPARING,
    How,
    Scale,
    Scene,
    Study,
    as_study,
    check_memory,
    memory_of_search,
    readable,
    set_scene,
)
from unmask.tables import Release

EXACT_UP_TO = 100_000  # records that `assess` matches exactly; beyond, to a proven gap of LOOSE
LOOSE = 1e-3
NEAR = 1e-4  # where it is matched in rounds: each takes a search over all pairs


def link_one_to_one(
    release: Release | Study,
    *,
    squared: bool = False,
    max_gap: float = 0.0,
    time_budget: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **how: Unpack[How],
) -> Linkage:
    """Link all records at once, one to one, at the least total distance (GDBRL).

    Parameters
    ----------
    release
        The two tables and the roles of their columns. Every record of the smaller one is matched.
    squared
        Minimise the total of squared distances (euclidean and mahalanobis).
    max_gap
        Stop when the total is proven to be within this share of the least possible; 0: the optimum.
    time_budget
        Stop after so many seconds with the best matching found and a proven bound.
    seed
        Seeds what is drawn among equally good matchings.
    **how
        ``metric``, ``scale``, ``weights``, ``ranks``, as in ``link_nearest``.

    Returns
    -------
    Linkage
        ``optimal`` is True only with a certificate over all pairs, and ``gap`` is the proven relative distance from the
        optimum. ``credit``: the share of the optimal matchings that contain the true pair. ``margin``: distance of the
        nearest other candidate less that of the linked one, negative where a closer one went to somebody else; people
        with equal values have the least of theirs, at most 0, since their records may change places.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"age": [20.5, 30.5, 40.5], "income": [1.0, 2.0, 4.0]})
    >>> linkage = unmask.link_one_to_one(unmask.Release(people, people))
    >>> linkage.estimate.value, linkage.optimal
    (1.0, True)

    """
    scene = set_scene(as_study(release), "to_release", None, seed, how)
    _check(scene, how.get("metric") if squared else None, max_gap, time_budget)
    progress(0.0, PREPARING)
    matching = solve(
        scene.space,
        squared=squared,
        seed=seed,
        max_gap=max_gap,
        time_budget=time_budget,
        progress=lambda done, text: progress(0.8 * done, text),
    )
    return _linkage(scene, matching, seed, lambda done, text: progress(0.8 + 0.2 * done, text))


def _linkage(scene: Scene, matching: Matching, seed: int, progress: Progress) -> Linkage:
    """What a matching says of each person."""
    credit = shares_of_optima(scene.space, matching, scene.truth, seed=seed).credit
    distances = np.sqrt(matching.costs) if matching.squared else matching.costs
    margin = _margins(scene, distances, seed, progress)
    return Linkage(
        links=matching.cols,
        distances=distances,
        credit=credit,
        tie_sizes=np.where(credit > 0, np.ceil(1.0 / np.maximum(credit, 1e-12) - 1e-9), 0).astype(np.int64),
        margin=margin,
        total_distance=matching.total,
        optimal=matching.optimal,
        truth=scene.truth,
        n_candidates=len(scene.space.points),
        seed=seed,
        gap=0.0 if matching.optimal else matching.gap,
        joint=True,
    )


def link_in_rounds(study: Study, ask: Ask, scale: Scale, seed: int, progress: Progress) -> Linkage:
    """The same matching, to a proven gap of `NEAR`: where all pairs must be searched it is asked for, elsewhere."""
    scene = set_scene(study, "to_release", None, seed, {"scale": scale})
    _check(scene, None, NEAR, None)
    progress(0.0, PREPARING)
    matching = solve_in_rounds(
        scene.space, ask, seed=seed, max_gap=NEAR, progress=lambda done, text: progress(0.8 * done, text)
    )
    return _linkage(scene, matching, seed, lambda done, text: progress(0.8 + 0.2 * done, text))


link_globally = link_one_to_one  # its name up to version 0.1


def _check(scene: Scene, squared: str | None, max_gap: float, time_budget: float | None) -> None:
    """Refuse limits that are none, squares of another metric, and files that do not fit into memory."""
    if squared is not None and scene.space.norm != EUCLIDEAN:
        raise ParameterError("squared totals are of Euclidean distances", got=squared, allowed="euclidean, mahalanobis")
    if not 0 <= max_gap < 1:
        raise ParameterError("a gap is a share of the total", got=str(max_gap), allowed="from 0, below 1")
    if time_budget is not None and not time_budget > 0:
        raise ParameterError("a time budget is a number of seconds", got=str(time_budget), allowed="above 0")
    needed = 4 * memory_of_search(scene.space)
    check_memory(needed, "the one-to-one matching", "match fewer records, or know fewer columns")


def _margins(scene: Scene, distances: Floats, seed: int, tell: Progress) -> Floats:
    """By how much the nearest other candidate is farther than the linked one; unmatched records claim nothing."""
    found = scene.nearest(seed=seed, tell=tell)
    least, second = (readable(column, scene.space.norm) for column in (found.least, found.second))
    has_nearest = distances <= least * (1 + scene.space.tolerance) + np.sqrt(scene.space.floor)
    other = np.where(has_nearest & (found.ties == 1), second, least)
    margin = np.where(np.isnan(distances), -np.inf, np.where(has_nearest & (found.ties > 1), 0.0, other - distances))
    equal = classify(scene.space.queries, scene.space.query_codes)
    least_of = np.zeros(len(equal.size))  # equal people may change places: which record is whose is a guess
    np.minimum.at(least_of, equal.label, margin)
    return np.where(equal.size[equal.label] > 1, least_of[equal.label], margin)


@measure(
    "one_to_one",
    title="Global one-to-one linkage",
    story="The intruder knows that each person has one record, and links all at once at the least total distance.",
    keys=("one_to_one.rate", "one_to_one.known"),
    cheaper="people",
)
def assess_global(study: Study, context: Context) -> Evidence:
    """Run the attack, and show it beside nearest-record linkage: each finds people that the other misses."""
    if context.people is not None:
        return assess_some(study, context.people, context)
    return assess_all(study, context)


def assess_all(study: Study, context: Context, ask: Ask | None = None) -> Evidence:
    """Match everybody; ``ask``: where searches over all pairs are made, None: here."""
    study, read = best_reading(study, context.seed)
    release = study.release
    n = min(release.original.height, release.released.height)
    scale, note = best_scale(study, context.seed)

    def tell(done: float, text: str) -> None:
        context.progress(0.9 * done, text)

    if ask is None:
        exact = n <= EXACT_UP_TO and not context.loose
        gap = 0.0 if exact else LOOSE
        linkage = link_one_to_one(study, scale=scale, max_gap=gap, seed=context.seed, progress=tell)
    else:
        linkage = link_in_rounds(study, ask, scale, context.seed, tell)
    nearest = link_nearest(study, scale=scale, decision_only=True, seed=context.seed)
    people = release.paired_rows
    union, known = union_of(linkage, nearest, release), linkage.known()
    return Evidence(
        observations=(
            Observation.of_people(
                "one_to_one.rate",
                linkage.estimate,
                "are linked to their own record when all are linked at once, one to one.",
            ),
            Observation.of_people(
                "one_to_one.known",
                known,
                "are linked so clearly that the intruder is right 19 times in 20."
                + why_more(known, linkage.estimate, linkage.right()),
                claims=round(known.hits),
            ),
        ),
        per_record=linkage.credit.copy(),
        compared=study.compared,
        facts=_facts(linkage, nearest, union, people),
        figures=(_figure(linkage, nearest, union), linkage.figure("one-to-one linkage")),
        notes=(*read, *note, *_unproven(linkage)),
        inexact="" if linkage.optimal else f"matched within {linkage.gap:.2g} of the least total distance",
    )


def assess_some(study: Study, people: Rows, context: Context) -> Evidence:
    """What a matching of all would find, where all are too many: some people by their nearest record, and the gain."""
    study, read = best_reading(study, context.seed, people)
    scale, note = best_scale(study, context.seed, people)
    nearest = link_nearest(study, scale=scale, sample=people, seed=context.seed)
    context.progress(0.3, "what matching adds, among fewer people")
    gain = gain_of(study, people, scale, context.seed)
    told = evidence_of_some(nearest, gain, (people.size, min(TOGETHER, people.size)))
    return replace(told, compared=study.compared, notes=(*read, *note, *told.notes))


def evidence_of_some(nearest: Linkage, gain: Gain, sizes: tuple[int, int]) -> Evidence:
    """What a matching of all would find: the nearest records of some people, and what it adds among fewer.

    ``sizes``: how many people were asked for, and how many matched.
    """
    found, by_nearest = gain.found.raise_to(nearest.estimate), nearest.known()
    known = gain.known.widen(by_nearest)
    known = replace(known, high=max(known.high, gain.claims.high))
    right = nearest.right() if known.value == by_nearest.value else None
    rate_ = "would be linked to their own record if all were linked at once, one to one, as far as fewer people tell."
    sure = "are linked so clearly, by the nearest record, that the intruder is right 19 times in 20."
    sure += why_more(known, found, right)
    return Evidence(
        observations=(
            Observation.of_people("one_to_one.rate", found, rate_),
            Observation.of_people("one_to_one.known", known, sure, claims=round(known.hits)),
        ),
        facts=(
            Fact("found by nearest-record linkage", nearest.estimate.value, "share of those asked for", share=True),
            Fact(
                "added by global linkage",
                gain.found.expected(nearest.estimate.value),
                "share of people, as expected of all; below 0 where people without a record take those of others",
                share=True,
            ),
        ),
        figures=(_bars(nearest.chance, {"nearest record": nearest.estimate.value, "one to one": found.value}),),
        notes=(_of_fewer(*sizes),),
    )


class Gain(NamedTuple):
    """What matching adds to people found, and known, by their nearest record; and those of fewer whom it knows."""

    found: Added
    known: Added
    claims: Estimate


def gain_of(study: Study, people: Rows, scale: Scale, seed: int, everyone: int | None = None) -> Gain:
    """What matching adds among fewer people, whom it takes seconds to match exactly.

    ``everyone``: how many people there are; None: those of the study.
    """
    claims: list[Estimate] = []

    def both(few: Study) -> tuple[Pair, Pair]:
        matched, nearest = link_one_to_one(few, scale=scale, seed=seed), link_nearest(few, scale=scale, seed=seed)
        claims.append(matched.known())
        known = (nearest.claims().astype(float), matched.claims().astype(float))
        return (nearest.credit, matched.credit), known

    found, known = competition_of(study, people, both, seed, everyone=everyone)
    return Gain(found, known, claims[-1])


def _of_fewer(people: int, few: int) -> str:
    whom = "of them" if few <= people else "people"
    return (
        f"all people are too many to be matched at once: {people:,} were linked to their nearest record, and what "
        f"matching adds was measured among {few:,} {whom} with their records, matched exactly, and in each quarter of "
        "these; the interval holds what it may be among all"
    )


def _unproven(linkage: Linkage) -> tuple[str, ...]:
    told = f"the matching is proven to be within {linkage.gap:.2g} of the least total distance, not to be the least"
    return () if linkage.optimal else (told,)


def union_of(linkage: Linkage, nearest: Linkage, release: Release) -> Estimate:
    """Estimate the share of people found by either attack: for shared credits the larger one, a lower bound."""
    n = release.original.height
    both = np.fmax(linkage.per_record(n), nearest.per_record(n))[release.paired_rows]
    return rate(both, chance=linkage.chance, seed=linkage.seed)


def _facts(linkage: Linkage, nearest: Linkage, union: Estimate, people: Ints) -> tuple[Fact, ...]:
    here, there = linkage.credit[people], nearest.credit[people]
    interval = f"95 % CI {span(union.low, union.high)}"
    return (
        Fact(
            "found by either",
            union.value,
            f"share of people found by nearest-record or by global linkage ({interval})",
            share=True,
        ),
        Fact(
            "added by global linkage",
            float(np.maximum(here - there, 0).sum()),
            "people whom nearest-record linkage does not find (ties are shared)",
        ),
        Fact(
            "added by nearest-record linkage",
            float(np.maximum(there - here, 0).sum()),
            "people whom the one-to-one matching does not find (ties are shared)",
        ),
        Fact(
            "total distance",
            linkage.total_distance,
            "of the matching; "
            + ("proven to be the least" if linkage.optimal else f"within {linkage.gap:.2g} of the least"),
        ),
    )


def _figure(linkage: Linkage, nearest: Linkage, union: Estimate) -> Figure:
    found = {"nearest record": nearest.estimate.value, "one to one": linkage.estimate.value, "either": union.value}
    return _bars(linkage.chance, found)


def _bars(chance: float, found: Mapping[str, float]) -> Figure:
    last = ", and by either" if "either" in found else ""
    return Figure.bars(
        [("blind guess", chance), *found.items()],
        title="What do the two linkages find, and together?",
        caption=f"People linked to their own record by the nearest one, by the one-to-one matching{last}.",
        said="Share of people found: ",
        axes=("attack", "people found"),
    )
