"""People outside the release who look like those in it: the share of a crowd that was sampled.

A journalist does not know who is in the release. Of the F people of the population who look like a person, f are in it,
so that a claim about one of them is at most f/F as likely to be right as for somebody who knows that the person is in.
Where masking has changed what a person looks like nothing is known of that crowd, and the share is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Flags, Floats
from unmask.evidence import Outside
from unmask.groups.population.known import Known, with_models
from unmask.groups.population.weights import individual_risk

if TYPE_CHECKING:
    from unmask.evidence import Estimate
    from unmask.groups.population.measure import PopulationRisk
    from unmask.study import Study


def outside_of(study: Study, found: PopulationRisk, own: Flags, unique: Estimate) -> Outside | None:
    """Share of each person's crowd that is in the release; None where some known column could not be compared.

    ``own``: whose record still carries their values. ``unique``: share of the people alone in the population. Weights
    alone are not trusted to say that a crowd is large: the models are asked as well, and the worse answer counts.
    """
    if set(study.compared) != set(study.release.quasi):
        return None  # an attack that can read such a column tells more people apart
    by_weight = found.source == "weights" and found.n_unique > 0
    law = with_models(found.classes, found.population) if by_weight else found
    truth, people = study.release.truth, study.release.paired_rows
    shares = np.array([np.where(own, found.classes.spread(share)[truth], 1.0) for share in class_shares(found, law)])
    unknown, n = float((~own[people]).mean()), len(people)
    most = max(unique.high, law.tau1.high / n) if by_weight else unique.high
    return Outside(shares, (unknown, min(1.0, unknown + unique.value), min(1.0, unknown + most)))


def class_shares(found: PopulationRisk, law: Known) -> tuple[Floats, Floats, Floats]:
    """Share in the release, f E(1/F), of each class: at least, expected, at most. ``law``: what models say of it."""
    counts = found.classes.counts
    expected = np.minimum(1.0, counts * found.class_risk)
    if found.source == "population":
        return expected, expected, expected
    single, uniques = counts == 1, max(1, found.n_unique)
    fraction = min(1.0, found.classes.n_records / found.population)
    several = counts * individual_risk(counts, counts / fraction)
    least = np.where(single, min(found.tau2.low, law.tau2.low) / uniques, expected)
    most = np.where(single, max(found.tau2.high, law.tau2.high) / uniques, several)
    return np.minimum(least, expected), expected, np.clip(most, expected, 1.0)
