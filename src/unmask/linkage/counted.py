"""Linkage of people who were asked for in a pass over a release that does not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.evidence import Context, Evidence, Fact, Observation
from unmask.kernels.assignment import CERTIFIED, Ask
from unmask.linkage.nearest import better_way, facts_of_pairs, nearest_observations, tie_facts
from unmask.linkage.one_to_one import assess_all, evidence_of_some, gain_of
from unmask.linkage.result import Linkage, why_more
from unmask.study import Direction, Scale, Study

AS_IT_STANDS = (
    "columns are compared as they stand; other readings of them, and which attributes matter, are not tried by this "
    "engine"
)

IN_ROUNDS = (
    "everybody was matched at once, in rounds: an auction among listed pairs, and a search over all pairs for what no "
    "list had, which also proves how near the best the matching is"
)


BY_BLOCKS = (
    "everybody was matched at once, in {0:,} blocks of equal categories that have as many people as records; how near "
    "the best that is was proven over all pairs, of different blocks too. The rate is of everybody, who is known was "
    "looked at for the people asked for"
)
UNPROVEN = "the matching is proven to be within {0:.2g} of the least total distance, not to be the least"


class Passed(NamedTuple):
    """What a pass found of each person: the distance to the nearest record, to the next, records that tie; credit."""

    least: Floats
    second: Floats
    ties: Ints
    credit: Floats


def linkage_of_sample(
    found: Passed, *, n_candidates: int, seed: int, some: bool, direction: Direction = "to_release"
) -> Linkage:
    """The linkage of people by themselves; ``some``: they stand for others who were not asked for."""
    n = len(found.credit)
    return Linkage(
        links=np.full(n, -1, dtype=np.int64),
        distances=found.least,
        credit=found.credit,
        tie_sizes=found.ties,
        margin=np.where(found.ties > 1, 0.0, found.second - found.least),
        total_distance=float(np.sort(found.least).sum()),
        optimal=True,
        truth=np.arange(n, dtype=np.int64),
        n_candidates=n_candidates,
        direction=direction,
        seed=seed,
        asked=np.ones(n, dtype=np.bool_) if some else None,
        gap=0.0,
    )


def counted_nearest(linkage: Linkage, back: Linkage, closer: Ints, *, whole: bool) -> Evidence:
    """What taking the nearest record found, and the nearest person; ``whole``: every record belongs to somebody.

    ``closer``: for each person the records that are closer than the true one, up to some number.
    """
    best, claims, how = better_way(linkage, back if whole else None)
    return Evidence(
        observations=nearest_observations(best.estimate, claims.known(), how, claims.right()),
        per_record=best.credit,
        facts=(*tie_facts(best), *facts_of_pairs(linkage, back, closer, "share of the people asked for")),
        figures=(best.figure("nearest-record linkage"),),
        notes=(AS_IT_STANDS,),
    )


def counted_one_to_one(nearest: Linkage, few: Study, people: int, scale: Scale, context: Context) -> Evidence:
    """What a matching of so many people would find, by their nearest records and by what matching adds to a few.

    ``few``: these few, with their records and as large a share of the records of nobody.
    """
    rows = few.release.paired_rows
    context.progress(0.5, "what matching adds, among fewer people")
    gain = gain_of(few, rows, scale, context.seed, people)
    told = evidence_of_some(nearest, gain, (int(nearest.attempted.sum()), len(rows)))
    return replace(told, notes=(AS_IT_STANDS, *told.notes))


def whole_one_to_one(study: Study, context: Context, ask: Ask | None = None) -> Evidence:
    """The matching of all people, where they are few enough; ``ask``: who searches for them, None: this process."""
    told = assess_all(study, context, ask)
    notes = () if ask is None else (IN_ROUNDS,)
    return replace(told, notes=(AS_IT_STANDS, *notes, *told.notes))


class InBlocks(NamedTuple):
    """A matching of everybody by blocks: its total, the proven gap, and the credits of all who have a record.

    Of the people asked for: what their record costs, their credits, whether somebody equals them, and the largest cost
    among those who do.
    """

    total: float
    gap: float
    credit: Floats
    costs: Floats
    own: Floats
    alike: Flags
    farthest: Floats


def blocked_one_to_one(found: InBlocks, nearest: Linkage, slack: tuple[float, float], blocks: int) -> Evidence:
    """What a matching by blocks found of everybody, and who of those asked for is known.

    ``nearest``: the same people linked by themselves; ``slack``: what is equally near, by share and distance.
    """
    best = found.gap <= CERTIFIED
    whole = replace(nearest, credit=found.credit, truth=np.zeros(len(found.credit), np.int64), asked=None, joint=True)
    some = replace(nearest, credit=found.own, margin=_margins(found, nearest, slack), distances=found.costs, joint=True)
    rate, known = whole.estimate, some.known()
    words = "are linked to their own record when all are linked at once, one to one."
    sure = "are linked so clearly that the intruder is right 19 times in 20."
    near = "proven to be the least" if best else f"within {found.gap:.2g} of the least"
    return Evidence(
        observations=(
            Observation.of_people("one_to_one.rate", rate, words),
            Observation.of_people(
                "one_to_one.known", known, sure + why_more(known, rate, some.right()), claims=round(known.hits)
            ),
        ),
        facts=(
            Fact("found by nearest-record linkage", nearest.estimate.value, "share of those asked for", share=True),
            Fact("total distance", found.total, f"of the matching; {near}"),
        ),
        figures=(some.figure("one-to-one linkage"),),
        notes=(AS_IT_STANDS, BY_BLOCKS.format(blocks), *(() if best else (UNPROVEN.format(found.gap),))),
        inexact="" if best else f"matched within {found.gap:.2g} of the least total distance",
    )


def _margins(found: InBlocks, nearest: Linkage, slack: tuple[float, float]) -> Floats:
    """By how much the nearest other record is farther than the linked one, as where all are in memory."""
    distance, least = np.where(found.alike, found.farthest, found.costs), nearest.distances
    ties = nearest.tie_sizes
    has_nearest = distance <= least * (1 + slack[0]) + slack[1]
    second = least + nearest.margin  # of those with one nearest record
    other = np.where(has_nearest & (ties == 1), second, least)
    margin = np.where(has_nearest & (ties > 1), 0.0, other - distance)
    return np.where(found.alike, np.minimum(margin, 0.0), margin)
