"""Whose rows are these? Bags of rows compared with bags of rows, by the optimal matching of their rows.

Blind: the intruder holds both tables and nothing else. Taught: they know who half of the people are, and what the
release did to their rows; everybody is looked for by what the other half taught. Both take the nearest person, and
where there are few enough the matching of all people, one to one, that costs least in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import NothingToTryError
from unmask.evidence import Estimate, Progress, claims, rate, silent
from unmask.kernels.bags import Bags, Costs, bound_bags, cost_of_bags, nearest_bags
from unmask.persons.classes import Classes, classes_of
from unmask.persons.columns import Columns
from unmask.persons.distances import distances
from unmask.persons.persons import Persons
from unmask.persons.taught import teach

MARGIN = 15.0  # costs beyond the least by so much say nothing: one in three million
MOST_WORK = 1.2e10  # codes looked up in one attack, at most; beyond, some people are asked about, drawn at random
MOST_MATCHED = 1_200  # people of a side, up to whom all are matched one to one
AT_ONCE = 3e9  # codes looked up between two words about how far it is
NEAR = 4  # bags of each person that are worked out at once for the matching
ROUNDS = 40
LEAST_TAUGHT = 20  # people in both tables, from whom on half of them can teach
SAME = 1e-5
FEW = "fewer than 20 people are in both tables: half of them would teach too little"


class Part(NamedTuple):
    """People, and the costs by which they are looked for."""

    people: Ints
    costs: Costs


@dataclass(frozen=True, slots=True)
class BagLink:
    """Who is found by all of their rows. Figures are of the people asked about, in the order of ``asked``."""

    asked: Ints = field(repr=False)
    credit: Floats = field(repr=False)  # by the nearest: one over as many as are as near, 0 where the person is not
    least: Floats = field(repr=False)  # what the nearest costs
    sure: Floats = field(repr=False)  # how sure the intruder is
    claimed: Flags = field(repr=False)  # so sure that claims are right 19 times in 20
    matched: Floats | None = field(repr=False)  # one to one; None: too many people
    chance: float
    seed: int
    sampled: bool  # not everybody was asked about

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Share of people found by the nearest, and one to one where that was done."""
        ways = [self.credit] if self.matched is None else [self.credit, self.matched]
        return tuple(rate(way, chance=self.chance, seed=self.seed) for way in ways)

    @property
    def best(self) -> Floats:
        """Credits of the way that finds more."""
        if self.matched is not None and self.matched.mean() > self.credit.mean():
            return self.matched
        return self.credit

    @property
    def known(self) -> Floats:
        """Credits of those whom the intruder claims surely, 0 of all others."""
        return np.where(self.claimed, self.credit, 0.0)


def bags_of(persons: Persons, columns: Columns) -> tuple[Bags, Bags]:
    """Rows of the people of both sides as levels."""
    return Bags(persons.start, columns.one), Bags(persons.released_start, columns.two)


def blind_costs(persons: Persons, columns: Columns) -> Costs:
    """Distances between levels, for bags as large as these."""
    return distances(columns, int(max(sizes.max() for sizes in persons.sizes)))


def link_blind(persons: Persons, columns: Columns, *, seed: int = 0, progress: Progress = silent) -> BagLink:
    """Look for everybody by distances between rows."""
    there = np.flatnonzero(persons.there)
    everybody = Part(np.arange(persons.n), blind_costs(persons, columns))
    return _link(persons, columns, (everybody,), there, seed, progress)


def link_taught(persons: Persons, columns: Columns, *, seed: int = 0, progress: Progress = silent) -> BagLink:
    """Look for each half of the people by what the other half taught."""
    there = np.flatnonzero(persons.there)
    if there.size < LEAST_TAUGHT:
        raise NothingToTryError(FEW)
    mixed = np.random.default_rng([seed, 30]).permutation(there)
    halves = np.sort(mixed[: there.size // 2]), np.sort(mixed[there.size // 2 :])
    one, two = bags_of(persons, columns)
    taught = [teach(columns, one, two, known, persons.own[known], seed) for known in halves]
    gone = np.flatnonzero(~persons.there)  # nobody taught by them: either half does
    parts = (Part(np.sort(np.concatenate([halves[1], gone])), taught[0]), Part(halves[0], taught[1]))
    return _link(persons, columns, parts, there, seed, progress)


def _link(
    persons: Persons, columns: Columns, parts: Sequence[Part], there: Ints, seed: int, progress: Progress
) -> BagLink:
    one, two = bags_of(persons, columns)
    work = np.diff(one.start)[there].sum() * float(len(two.codes)) * len(columns.names)
    asked, sampled = there, work > MOST_WORK
    if sampled:
        number = max(1, int(there.size * MOST_WORK / work))
        asked = np.sort(np.random.default_rng([seed, 32]).choice(there, number, replace=False))
    least, second, ties, mine, total = (np.zeros(asked.size) for _ in range(5))
    for part in parts:
        rows = np.flatnonzero(np.isin(asked, part.people))
        steps = max(1, int(work * rows.size / max(1, there.size) / AT_ONCE))
        for at in np.array_split(rows, steps):
            progress(float(at[0]) / asked.size if at.size else 0.0, "rows of people compared with rows of people")
            margin = MARGIN if len(parts) > 1 else part.costs.cap  # of distances: what a whole row costs
            least[at], second[at], ties[at], mine[at], total[at] = nearest_bags(
                asked[at], persons.own[asked[at]], one, two, part.costs, margin
            )
    credit = np.where(mine <= least + SAME * (1 + np.abs(least)), 1.0 / np.maximum(ties, 1), 0.0)
    sure = 1.0 / np.maximum(total, 1.0) if len(parts) > 1 else _clear(least, second, ties)
    claimed = claims(sure, credit, np.ones(asked.size, dtype=bool), seed)
    matched = None
    if not sampled and max(persons.n, len(persons.released_ids)) <= MOST_MATCHED:
        progress(0.9, "people matched one to one")
        matched = one_to_one(persons, columns, parts, seed)[there]
    return BagLink(asked, credit, least, sure, claimed, matched, persons.chance, seed, sampled)


def _clear(least: Floats, second: Floats, ties: Floats) -> Floats:
    """How sure somebody is who knows distances alone: by how much nearer the nearest is than the next, from 1/2."""
    return np.where(ties > 1, 1.0 / np.maximum(ties, 1), 1.0 - 0.5 * (least + SAME) / (second + SAME))


def one_to_one(persons: Persons, columns: Columns, parts: Sequence[Part], seed: int) -> Floats:
    """Credits of the matching of all people that costs least; those with equal rows share theirs.

    Pairs are bounded from below first; those that the matching uses are worked out, until it uses no other: then no
    matching costs less.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - this alone needs it

    one, two = bags_of(persons, columns)
    table, known = _first(one, two, parts, persons.n)
    part_of = np.zeros(persons.n, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of[part.people] = number
    rng = np.random.default_rng([seed, 33])  # among equal totals no order of ids decides
    by_row, by_column = (rng.permutation(size) for size in table.shape)
    partner = np.full(persons.n, -1, dtype=np.int64)
    for _ in range(ROUNDS):
        rows, cols = linear_sum_assignment(table[by_row][:, by_column])
        rows, cols = by_row[rows], by_column[cols]
        todo = ~known[rows, cols]
        if not todo.any():
            break
        for number, part in enumerate(parts):
            chosen = todo & (part_of[rows] == number)
            table[rows[chosen], cols[chosen]] = cost_of_bags(rows[chosen], cols[chosen], one, two, part.costs)
        known[rows[todo], cols[todo]] = True
    partner[rows] = cols
    return share_credits(partner, persons.own[: persons.n], classes_of(one, persons.n), classes_of(two))


def _first(one: Bags, two: Bags, parts: Sequence[Part], n: int) -> tuple[Floats, Flags]:
    """Bounds of all pairs, and the costs of those of each person that are bounded lowest; which ones these are."""
    table = np.empty((n, len(two.start) - 1))
    known = np.zeros(table.shape, dtype=bool)
    for part in parts:
        table[part.people] = bound_bags(part.people, one, two, part.costs)
        near = np.argsort(table[part.people], axis=1, kind="stable")[:, :NEAR]
        rows, cols = np.repeat(part.people, near.shape[1]), near.ravel()
        table[rows, cols] = cost_of_bags(rows, cols, one, two, part.costs)
        known[rows, cols] = True
    return table, known


def share_credits(partner: Ints, own: Ints, here: Classes, there: Classes) -> Floats:
    """Credit of each person where those with equal rows, on either side, are exchanged at will."""
    met = np.where(partner >= 0, there.of[partner], -1)
    sizes = np.bincount(there.of)
    found: dict[tuple[int, int], int] = {}
    for a, b in zip(here.of.tolist(), met.tolist(), strict=True):
        found[a, b] = found.get((a, b), 0) + 1
    people = np.bincount(here.of)
    credit = np.zeros(own.size)
    for p in np.flatnonzero(own >= 0):
        mine = int(there.of[own[p]])
        credit[p] = found.get((int(here.of[p]), mine), 0) / people[here.of[p]] / sizes[mine]
    return credit
