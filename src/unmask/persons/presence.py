"""Was this person in the release? The nearest bag of rows of a member is nearer than that of a stranger.

The score of a person is what their nearest person of the release costs, for each of their rows: the less, the likelier
they are in. People of a control table, who are not, say how near strangers come.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Floats
from unmask.evidence import Estimate, auc, recognised
from unmask.kernels.bags import nearest_bags
from unmask.persons.columns import Columns
from unmask.persons.link import BagLink, bags_of, blind_costs
from unmask.persons.persons import Persons


@dataclass(frozen=True, slots=True)
class Presence:
    """How well members are told from strangers."""

    auc: Estimate
    tpr: Estimate  # members recognised while 1 % of strangers are accused
    members: Floats = field(repr=False)  # scores
    strangers: Floats = field(repr=False)


def presence(persons: Persons, columns: Columns, found: BagLink, *, seed: int = 0) -> Presence | None:
    """Score members by what ``found`` them, and control people in the same way; None: there are none."""
    if persons.control is None:
        return None
    rows = np.diff(persons.start)
    strangers = np.arange(persons.n, rows.size)
    costs, nobody = blind_costs(persons, columns), np.full(strangers.size, -1, dtype=np.int64)
    least = nearest_bags(strangers, nobody, *bags_of(persons, columns), costs, 0.0)[0]
    mine, others = -found.least / rows[found.asked], -least / rows[strangers]
    return Presence(auc(mine, others), recognised(mine, others, 0.01, seed), mine, others)
