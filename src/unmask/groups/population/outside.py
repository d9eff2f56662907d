"""People outside the release who look like those in it: the share of a crowd that was sampled.

Of the F people who look like a person f are in the release, so that a claim of a journalist, who does not know who is
in, is at most f/F as likely to be right. Where masking has changed what a person looks like, the share is 1. A register
counts F; weights and models only guess it, and people alone in the sample may be alone in the population, all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Flags, Floats
from unmask.evidence import Outside
from unmask.groups.population.weights import individual_risk

if TYPE_CHECKING:
    from unmask.evidence import Estimate
    from unmask.groups.population.measure import PopulationRisk
    from unmask.study import Study


def outside_of(study: Study, found: PopulationRisk, own: Flags, unique: Estimate) -> Outside | None:
    """Share of each person's crowd that is in the release; None where some known column could not be compared.

    ``own``: whose record still carries their values. ``unique``: share of the people alone in the population.
    """
    if set(study.compared) != set(study.release.quasi):
        return None  # an attack that can read such a column tells more people apart
    truth, people = study.release.truth, study.release.paired_rows
    shares = np.array([np.where(own, found.classes.spread(share)[truth], 1.0) for share in class_shares(found)])
    unknown = float((~own[people]).mean())
    single = own & (found.classes.spread(found.classes.counts)[truth] == 1)
    most = unique.high if found.source == "population" else float(single[people].mean())
    expected = min(unique.value, most)
    return Outside(shares, (unknown, min(1.0, unknown + expected), min(1.0, unknown + most)))


def class_shares(found: PopulationRisk) -> tuple[Floats, Floats, Floats]:
    """Share in the release, f E(1/F), of each class of equal records: at least, expected, at most."""
    counts = found.classes.counts
    expected = np.minimum(1.0, counts * found.class_risk)
    if found.source == "population":
        return expected, expected, expected
    single, fraction = counts == 1, min(1.0, found.classes.n_records / found.population)
    several = np.clip(counts * individual_risk(counts, counts / fraction), expected, 1.0)
    least = np.where(single, found.tau2.low / max(1, found.n_unique), expected)
    return np.minimum(least, expected), expected, np.where(single, 1.0, several)
