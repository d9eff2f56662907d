"""Linkage of people who were asked for in a pass over a release that does not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Context, Evidence
from unmask.kernels.assignment import Ask
from unmask.linkage.nearest import better_way, facts_of_pairs, nearest_observations, tie_facts
from unmask.linkage.one_to_one import assess_all, evidence_of_some, gain_of
from unmask.linkage.result import Linkage
from unmask.study import Direction, Scale, Study

AS_IT_STANDS = (
    "columns are compared as they stand; other readings of them, and which attributes matter, are not tried by this "
    "engine"
)

IN_ROUNDS = (
    "everybody was matched at once, in rounds: an auction among listed pairs, and a search over all pairs for what no "
    "list had, which also proves how near the best the matching is"
)


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
    gain, claims = gain_of(few, rows, scale, context.seed, people)
    told = evidence_of_some(nearest, gain, claims, (int(nearest.attempted.sum()), len(rows)))
    return replace(told, notes=(AS_IT_STANDS, *told.notes))


def whole_one_to_one(study: Study, context: Context, ask: Ask | None = None) -> Evidence:
    """The matching of all people, where they are few enough; ``ask``: who searches for them, None: this process."""
    told = assess_all(study, context, ask)
    notes = () if ask is None else (IN_ROUNDS,)
    return replace(told, notes=(AS_IT_STANDS, *notes, *told.notes))
