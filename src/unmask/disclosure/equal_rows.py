"""Equal rows: who has one, and how many would have one by chance; whether a release is the original as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

from unmask.arrays import Counts, Floats, Ints
from unmask.disclosure.key_codes import Coded, array_codes, combined
from unmask.evidence import Estimate, excess, wilson
from unmask.kernels.groups import labels
from unmask.tables import Encoded

PRIVATE = exp(1.0)  # odds that a private release (epsilon 1) may give to anything it shows

UNLIKELY = log(1e6)  # ways to lay columns beside each other: of fewer, equal orders may be chance


class Equals(NamedTuple):
    """For each person how many people equal them (themselves included) and how many rows; and what that is made of."""

    own: Counts
    there: Counts
    crowds: Ints  # the number of the crowd of equal people that each is in: they are copies or not together
    columns: tuple[Coded, ...]  # numbers first

    @property
    def share(self) -> Floats:
        """For each person, the share of their equals among people that have a row of their own."""
        return np.asarray(np.minimum(self.own, self.there) / self.own)


def equals_of(people: Encoded, released: Encoded) -> Equals:
    """Count equal records of two tables; missing is a value."""
    n = len(people)
    pairs = [
        *zip(people.numeric.T, released.numeric.T, strict=True),
        *zip(people.codes.T, released.codes.T, strict=True),
    ]
    columns = tuple(array_codes(np.concatenate(pair), n) for pair in pairs)
    if not columns:
        return Equals(np.full(n, n), np.full(n, len(released)), np.zeros(n, dtype=np.int64), columns)
    row = combined(columns)
    own, there = (np.bincount(side, minlength=row.size)[row.mine] for side in (row.mine, row.rows))
    return Equals(own, there, row.mine, columns)


def counts_of(side: Encoded, other: Encoded) -> tuple[Counts, Counts]:
    """For each record, how many of its own table equal it (itself included), and how many of the other."""
    found = equals_of(side, other)
    return found.own, found.there


def one_to_one(side: Encoded, other: Encoded) -> Floats:
    """For each record, the share of its equals on its own side that have a partner of their own on the other."""
    return equals_of(side, other).share


def least(beyond_people: Callable[[float], Estimate], beyond_columns: Estimate) -> Estimate:
    """The smaller of two gains: what goes beyond other people, and beyond independent columns.

    The lower end is that of what goes beyond `PRIVATE` times other people: a release with epsilon 1 is not called
    unsafe for what it may show, and nothing is called safe because of it. The upper end is at least that of
    nobody among so many: a count of nobody, drawn again, is nobody in every draw, and says nothing of other people.
    """
    plain, surely = (
        min(beyond_people(times), beyond_columns, key=lambda gain: (gain.value, gain.high)) for times in (1.0, PRIVATE)
    )
    return replace(plain, low=min(plain.low, surely.low), high=max(plain.high, wilson(0, plain.n)[1]))


def crowds_of(side: Encoded) -> Ints:
    """The number of the crowd of equal records that each is in: they are copies or not together."""
    return labels(side.numeric, side.codes)[1]


def equals_beyond_columns(found: Equals, chance: Floats, seed: int, *, alone: bool = False) -> Estimate:
    """Share of people with an equal row, divided among people alike, beyond rows of independent columns.

    A release that holds every column's values by themselves, and no person, has such rows; other people have fewer
    where values are rare. ``chance``: of such a row, for each person (`by_columns`). ``alone``: of people who are alone
    with their values.
    """
    weight, crowds = ((found.own == 1), None) if alone else (1.0 / found.own, found.crowds)
    return excess((found.there > 0) * weight, chance * weight, seed=seed, crowds=crowds)


def by_columns(found: Equals, n_rows: int) -> Floats:
    """Chance for each person that one row or more equals them where columns are drawn by themselves, as in the release.

    Missing is a value.
    """
    chance = np.ones(found.own.size)
    for column in found.columns:
        chance *= (np.bincount(column.rows, minlength=column.size) / n_rows)[column.mine]
    return np.asarray(1 - (1 - chance) ** n_rows)


def _as_many_values(found: Equals, numbers: int) -> bool:
    """Whether each number has as many different values among people as among rows: an order that is kept needs it."""
    many = [[np.count_nonzero(np.bincount(side)) for side in (c.mine, c.rows)] for c in found.columns[:numbers]]
    return all(mine == rows for mine, rows in many)


def same_rows(people: Encoded, released: Encoded, found: Equals) -> bool:
    """Whether every original record has a row of its own, and none is left: nobody draws that by chance.

    As values are, or by the order of numbers alone: a column moved, stretched or bent as a whole hides nobody.
    """
    if len(released) != len(people) or len(people) < 10:
        return False
    if (found.there >= found.own).all():
        return True
    if not _as_many_values(found, people.numeric.shape[1]):
        return False
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
