"""The attacks that are open to the intruder who knows the method; the report judges the one that finds most.

Whoever knows the method may ignore it: nearest-record and one-to-one linkage are open to them as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.evidence import Estimate, rate
from unmask.linkage.nearest import best_reading, best_scale, link_nearest, may_go_back
from unmask.linkage.one_to_one import link_one_to_one
from unmask.linkage.result import Linkage
from unmask.study import Study

MOST_MATCHED = 20_000  # records that are matched again here; the measure one_to_one matches more


class Attempt(NamedTuple):
    """One attack: its name in words, and what it found in all and of each original record (NaN: not asked for)."""

    name: str
    estimate: Estimate
    credit: Floats
    known: Estimate | None = None  # people of whom it is sure by margin, among all, not only those asked for


def best_of(attempts: list[Attempt]) -> Attempt:
    """The attack that finds most people of the whole file; of equals, the first."""
    return max(attempts, key=lambda attempt: attempt.estimate.value)


def attempt(name: str, linkage: Linkage, n_original: int, asked: Flags | None) -> Attempt:
    """What a linkage found, of the people asked for only, whichever file asked."""
    risk = linkage.per_record(n_original)
    there = np.zeros(n_original, dtype=bool)
    there[np.flatnonzero(linkage.truth >= 0) if linkage.direction == "to_release" else _people(linkage)] = True
    there = there if asked is None else there & asked
    risk = risk if asked is None else np.where(asked, risk, np.nan)
    known = None if np.isnan(linkage.margin[linkage.attempted]).any() else linkage.known()
    return Attempt(name, rate(risk[there], chance=linkage.chance, seed=linkage.seed), risk, known)


def _people(linkage: Linkage) -> Ints:
    return linkage.truth[linkage.truth >= 0]


def blind_attempts(study: Study, asked: Flags | None, seed: int) -> list[Attempt]:
    """What the intruder finds who ignores the method: the nearest record, the nearest person, one to one."""
    n = study.release.original.height
    study, _ = best_reading(study, seed)
    scale, _ = best_scale(study, seed)
    found = [attempt("the nearest record", link_nearest(study, scale=scale, seed=seed), n, asked)]
    if may_go_back(study):
        back = link_nearest(study, direction="to_original", scale=scale, seed=seed)
        found.append(attempt("giving each record to the nearest person", back, n, asked))
    if max(n, study.release.released.height) <= MOST_MATCHED:
        matched = link_one_to_one(study, scale=scale, seed=seed)
        found.append(attempt("one-to-one linkage by distance", matched, n, asked))
    return found
