"""Nearest-record linkage of people who were asked for in a pass over a release that does not fit in memory."""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Evidence
from unmask.linkage.nearest import nearest_observations, tie_facts
from unmask.linkage.result import Linkage

AS_IT_STANDS = (
    "columns are compared as they stand, each file standardised by its own mean and sd; release to original, other "
    "scales and readings, and which attributes matter, are not tried by this engine"
)


def linkage_of_sample(
    least: Floats, second: Floats, ties: Ints, credit: Floats, *, n_candidates: int, seed: int
) -> Linkage:
    """The linkage of some people by themselves: distance to the nearest record, to the next, and how many tie."""
    n = len(credit)
    margin = np.where(ties > 1, 0.0, second - least)
    return Linkage(
        links=np.full(n, -1, dtype=np.int64),
        distances=least,
        credit=credit,
        tie_sizes=ties,
        margin=margin,
        total_distance=float(np.sort(least).sum()),
        optimal=True,
        truth=np.arange(n, dtype=np.int64),
        n_candidates=n_candidates,
        seed=seed,
        gap=0.0,
    )


def counted_nearest(linkage: Linkage, compared: tuple[str, ...]) -> Evidence:
    """What taking the nearest record found."""
    known = linkage.known()
    return Evidence(
        observations=nearest_observations(linkage.estimate, known, "taking the nearest one", linkage.right()),
        per_record=linkage.credit,
        compared=compared,
        facts=tie_facts(linkage),
        figures=(linkage.figure("nearest-record linkage"),),
        notes=(AS_IT_STANDS,),
    )
