"""Equal rows: who has one, and how many would have one by chance; whether a release is the original as a whole."""

from __future__ import annotations

from dataclasses import replace
from math import lgamma, log

import numpy as np

from unmask.arrays import Counts, Floats
from unmask.evidence import Estimate, excess
from unmask.kernels.groups import identical
from unmask.tables import Encoded

UNLIKELY = log(1e6)  # ways to lay columns beside each other: of fewer, equal orders may be chance


def counts_of(side: Encoded, other: Encoded) -> tuple[Counts, Counts]:
    """For each record, how many of its own table equal it (itself included), and how many of the other."""
    both = identical(np.vstack([side.numeric, other.numeric]), np.vstack([side.codes, other.codes]))
    groups = int(both.label.max()) + 1
    mine, theirs = both.label[: len(side)], both.label[len(side) :]
    return np.bincount(mine, minlength=groups)[mine], np.bincount(theirs, minlength=groups)[mine]


def one_to_one(side: Encoded, other: Encoded) -> Floats:
    """For each record, the share of its equals on its own side that have a partner of their own on the other."""
    both = identical(np.vstack([side.numeric, other.numeric]), np.vstack([side.codes, other.codes]))
    groups = int(both.label.max()) + 1
    mine, theirs = both.label[: len(side)], np.bincount(both.label[len(side) :], minlength=groups)
    counts = np.bincount(mine, minlength=groups)
    return np.asarray(np.minimum(counts, theirs)[mine] / counts[mine])


def least(one: Estimate, two: Estimate) -> Estimate:
    """The smaller of two gains: what goes beyond both of two expectations."""
    return min(one, two, key=lambda gain: (gain.value, gain.high))


def equals_beyond_columns(own: Counts, there: Counts, chance: Floats, seed: int, *, alone: bool = False) -> Estimate:
    """Share of people with an equal row, divided among people alike, beyond rows of independent columns.

    A release that holds every column's values by themselves, and no person, has such rows; other people have fewer
    where values are rare. ``chance``: of such a row, for each person (`by_columns`). ``alone``: of people who are alone
    with their values.
    """
    weight = (own == 1) if alone else 1.0 / own
    return excess((there > 0) * weight, chance * weight, seed=seed)


def by_columns(people: Encoded, released: Encoded) -> Floats:
    """Chance for each person that one row or more equals them where columns are drawn by themselves, as in the release.

    Missing is a value.
    """
    chance, nothing = np.ones(len(people)), np.empty((len(people) + len(released), 0))
    for ours, theirs in ((people.numeric, released.numeric), (people.codes, released.codes)):
        for k in range(ours.shape[1]):
            both = np.concatenate([ours[:, k], theirs[:, k]]).astype(np.float64)[:, None]
            label = identical(both, nothing.astype(np.int32)).label
            shares = np.bincount(label[len(people) :], minlength=int(label.max()) + 1) / len(released)
            chance *= shares[label[: len(people)]]
    return np.asarray(1 - (1 - chance) ** len(released))


def same_rows(people: Encoded, released: Encoded, mine: Floats) -> bool:
    """Whether every original record has a row of its own, and none is left: nobody draws that by chance.

    As values are, or by the order of numbers alone: a column moved, stretched or bent as a whole hides nobody.
    """
    if len(released) != mine.size or mine.size < 10:
        return False
    if (mine == 1.0).all():
        return True
    sides = [_ordered(side) for side in (people, released)]
    if any(not np.array_equal(np.sort(a), np.sort(b)) for a, b in zip(*(s.numeric.T for s in sides), strict=True)):
        return False
    return bool(_arrangements(sides[0]) > UNLIKELY and (one_to_one(*sides) == 1.0).all())


def _arrangements(side: Encoded) -> float:
    """Log of the number of ways in which the columns could lie beside each other, all but that with most of them."""
    ways = []
    for column in (*side.numeric.T, *side.codes.T):
        counts = np.unique(column, return_counts=True)[1]
        ways.append(lgamma(len(side) + 1) - sum(lgamma(count + 1) for count in counts.tolist()))
    return sum(sorted(ways)[:-1])


def _ordered(side: Encoded) -> Encoded:
    """Numbers by their place among the different values of their column; missing stays missing."""
    placed = [np.unique(column, return_inverse=True)[1].astype(np.float64) for column in side.numeric.T]
    numeric = np.column_stack(placed) if placed else side.numeric
    return replace(side, numeric=np.where(np.isnan(side.numeric), np.nan, numeric))
