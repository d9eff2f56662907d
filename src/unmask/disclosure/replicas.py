"""Replicated uniques: people whose combination of values nobody else has, and that stands in the release all the same.

A synthetic row that equals the record of somebody who is alone with their values is either chance or memory. What
chance would give is told by people outside (the same count for a control group), or, where there are none, by the
original itself: a table of as many *other* people would repeat a share of its singletons that is at most the share of
records in pairs [GOODTOULMIN]_ (the first term of the series, an upper bound). Coarse tables repeat many rows and
have many pairs; exact amounts repeat none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Counts, Floats
from unmask.evidence import Estimate, excess, excess_over_control
from unmask.kernels.groups import identical

if TYPE_CHECKING:
    from unmask.tables import Encoded


def counts_of(side: Encoded, other: Encoded) -> tuple[Counts, Counts]:
    """For each record, how many of its own table equal it (itself included), and how many of the other."""
    both = identical(np.vstack([side.numeric, other.numeric]), np.vstack([side.codes, other.codes]))
    groups = int(both.label.max()) + 1
    mine, theirs = both.label[: len(side)], both.label[len(side) :]
    return np.bincount(mine, minlength=groups)[mine], np.bincount(theirs, minlength=groups)[mine]


def replicated_uniques(
    original: Encoded, released: Encoded, control: Encoded | None = None, *, seed: int = 0
) -> tuple[Estimate, Floats]:
    """Share of people who are alone with their values and stand in the release, beyond chance; and who they are."""
    own, there = counts_of(original, released)
    replica = ((own == 1) & (there > 0)).astype(np.float64)
    if control is not None and len(control):
        alone, seen = counts_of(control, released)
        return excess_over_control(replica, ((alone == 1) & (seen > 0)).astype(np.float64), seed=seed), replica
    expected = np.where(own == 2, min(1.0, len(released) / len(original)), 0.0)
    return excess(replica, expected, seed=seed), replica
