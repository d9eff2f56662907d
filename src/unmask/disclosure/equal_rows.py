"""Equal rows: who has one, and how many would have one by chance; whether a release is the original as a whole."""

from __future__ import annotations

from dataclasses import replace
from math import lgamma, log

import numpy as np

from unmask.arrays import Counts, Floats, Ints
from unmask.evidence import Estimate, excess
from unmask.kernels.groups import labels
from unmask.tables import Encoded

UNLIKELY = log(1e6)  # ways to lay columns beside each other: of fewer, equal orders may be chance


def counts_of(side: Encoded, other: Encoded) -> tuple[Counts, Counts]:
    """For each record, how many of its own table equal it (itself included), and how many of the other."""
    first, label = labels(np.vstack([side.numeric, other.numeric]), np.vstack([side.codes, other.codes]))
    groups = first.size
    mine, theirs = label[: len(side)], label[len(side) :]
    return np.bincount(mine, minlength=groups)[mine], np.bincount(theirs, minlength=groups)[mine]


def one_to_one(side: Encoded, other: Encoded) -> Floats:
    """For each record, the share of its equals on its own side that have a partner of their own on the other."""
    own, there = counts_of(side, other)
    return np.asarray(np.minimum(own, there) / own)


def least(one: Estimate, two: Estimate) -> Estimate:
    """The smaller of two gains: what goes beyond both of two expectations."""
    return min(one, two, key=lambda gain: (gain.value, gain.high))


def crowds_of(side: Encoded) -> Ints:
    """The number of the crowd of equal records that each is in: they are copies or not together."""
    return labels(side.numeric, side.codes)[1]


def equals_beyond_columns(
    own: Counts, there: Counts, chance: Floats, seed: int, *, alone: bool = False, crowds: Ints | None = None
) -> Estimate:
    """Share of people with an equal row, divided among people alike, beyond rows of independent columns.

    A release that holds every column's values by themselves, and no person, has such rows; other people have fewer
    where values are rare. ``chance``: of such a row, for each person (`by_columns`). ``alone``: of people who are alone
    with their values.
    """
    weight = (own == 1) if alone else 1.0 / own
    return excess((there > 0) * weight, chance * weight, seed=seed, crowds=crowds)


def by_columns(people: Encoded, released: Encoded) -> Floats:
    """Chance for each person that one row or more equals them where columns are drawn by themselves, as in the release.

    Missing is a value.
    """
    chance, nothing = np.ones(len(people)), np.empty((len(people) + len(released), 0), dtype=np.int32)
    for ours, theirs in ((people.numeric, released.numeric), (people.codes, released.codes)):
        for k in range(ours.shape[1]):
            both = np.concatenate([ours[:, k], theirs[:, k]]).astype(np.float64)[:, None]
            label = labels(both, nothing)[1]
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
    columns = []
    for one, two in zip(people.numeric.T, released.numeric.T, strict=True):
        places = _places(one), _places(two)
        if not np.array_equal(np.sort(places[0]), np.sort(places[1]), equal_nan=True):
            return False
        columns.append(places)
    sides = [
        replace(side, numeric=np.column_stack([places[k] for places in columns]) if columns else side.numeric)
        for k, side in enumerate((people, released))
    ]
    return bool(_arrangements(sides[0]) > UNLIKELY and (one_to_one(sides[0], sides[1]) == 1.0).all())


def _arrangements(side: Encoded) -> float:
    """Log of the number of ways in which the columns could lie beside each other, all but that with most of them."""
    ways = []
    for column in (*side.numeric.T, *side.codes.T):
        counts = np.unique(column, return_counts=True)[1]
        ways.append(lgamma(len(side) + 1) - sum(lgamma(count + 1) for count in counts.tolist()))
    return sum(sorted(ways)[:-1])


def _places(values: Floats) -> Floats:
    """Numbers by their place among the different values of their column; missing stays missing."""
    places = np.unique(values, return_inverse=True)[1].astype(np.float64)
    return np.where(np.isnan(values), np.nan, places)
