"""A guess for everybody from distances alone: people who are believed vote on who everybody else is.

A clique asks that *all* distances among its members agree. Noise makes one true distance in ten disagree, so that the
largest clique holds a few dozen people however many there are, and whoever counts only these takes the release for far
safer than it is. Here the clique is a beginning: each pair of records of matching labels is weighed by its distances to
the people who are believed; everybody gets a partner, one to one, so that distances deviate least; those whose
distances fit are believed next; and so on until nothing changes. Only distances are asked for: any metric will do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.graph.everybody import groups
from unmask.graph.geometry import shared_map
from unmask.graph.result import VoteLinkage, answer, shared_belief
from unmask.graph.seeds import seed_clique
from unmask.graph.tolerance import WIDEST
from unmask.kernels.cliques import Window, misfit
from unmask.study import check_memory

if TYPE_CHECKING:
    from unmask.graph.everybody import Group
    from unmask.graph.problem import Problem, Task


TURNS = 20
NORMAL = 1.645  # standard deviations of normal noise in half of a window that holds nine true distances of ten
UNITS = (0.06, 1e6)  # standard deviation of a distance in half widths of the window: the least and the most
MOST = 9.0  # a square deviation counts for no more: three standard deviations
FITS = 4.0  # mean square deviation below which a pair is believed: between that of true pairs (1) and the most
SAME = 1e-9  # totals that differ by less are equal
WORK = 2e8  # deviations that are looked at in one turn
SEEDS = (10_000, 4_000)  # vertices of the rare-label parts that seeds are taken from
STARTS = 4  # greedy cliques tried there
ASKED = 400  # people whose median distance is asked for
VOTERS = (32, 512)  # people who vote: as many as the work allows


class Guess(NamedTuple):
    """A partner for everybody. Records are kernel numbers."""

    pairs: Ints  # (k, 2); records that cannot be told apart have several
    is_seed: Flags  # (k,): of the clique that it began with
    n_seeds: int
    believed: Ints  # (k, 2): those of them whose distances fit
    n_agree: float  # as many distances agree among the people believed as among so many who all agree


class _Voters(NamedTuple):
    """People who vote, and the distances of everybody to them."""

    pairs: Ints  # (k, 2)
    e1: Floats  # (n1, k)
    e2: Floats  # (n2, k)


class _Records(NamedTuple):
    """Who may match whom, and who is a copy of whom."""

    problem: Problem
    parts: list[Group]
    one: Ints  # one number for all copies of a record
    two: Ints

    def copies(self, pairs: Ints) -> Ints:
        """Who the records of pairs are."""
        return np.column_stack([self.one[pairs[:, 0]], self.two[pairs[:, 1]]])


def attack(task: Task) -> VoteLinkage:
    """Guess a partner for everybody; the clique that voted first is what the intruder is sure of."""
    task.tell(0.0, "seeds")
    found = everybody(task.problem)

    def play(other: Problem) -> tuple[float, bool]:
        n_agree = everybody(other).n_agree
        return n_agree, n_agree >= found.n_agree

    null = task.by_chance(found.n_agree, shared_map(task.problem, *found.believed.T), play)
    people = len(np.unique(found.believed[:, 0]))
    rows, cols = found.pairs.T
    return answer(
        task, VoteLinkage, (rows, cols), null, np.where(found.is_seed, shared_belief(rows, cols), np.nan),
        why=f"{task.why}; a clique of {found.n_seeds} to begin with, {people} people believed at the end",
        method="votes", n_agree=found.n_agree,
    )  # fmt: skip


def everybody(problem: Problem) -> Guess:
    """Guess a partner for everybody, beginning with cliques among people of rare labels: the best guess of them."""
    strict = replace(problem, window=_narrow(problem))
    guesses = (vote(problem, np.column_stack(seed_clique(strict, STARTS, size))) for size in SEEDS)
    return max(guesses, key=lambda guess: guess.n_agree)


def _narrow(problem: Problem) -> Window:
    """Return the window, no wider than a fifth of the median distance to either side, or all would agree with all."""
    low, high, low_slope, high_slope = problem.window
    some = np.linspace(0, problem.identification.n - 1, min(problem.identification.n, ASKED)).astype(np.int64)
    median = float(np.median(problem.identification.block(problem.order2[some])))
    width = high - low + (high_slope - low_slope) * median
    less = (1 - min(1.0, 2 * WIDEST * median / width)) / 2 if width > 0 and median > 0 else 0.0
    cut, slope = less * (high - low), less * (high_slope - low_slope)
    return Window(low + cut, high - cut, low_slope + slope, high_slope - slope)


def vote(problem: Problem, seed: Ints) -> Guess:
    """Guess a partner for everybody by distances to people who are believed, beginning with the matches given.

    Copies share their guesses, and so do all whom equally good assignments exchange. Who agrees with nobody who is
    believed gets no partner. Guesses are those of the last turn; ``believed`` are the people who voted in it.
    """
    records, believed, pairs, unit = _records(problem), seed, seed, 1 / NORMAL
    voters = _choose_voters(records, believed)
    for _ in range(TURNS):
        pairs, fits = _turn(records, voters, unit)
        if len(fits) <= 2 or np.array_equal(fits, believed):
            break
        believed = fits
        voters = _choose_voters(records, believed)
        off = _deviations(records, voters)
        unit = float(np.clip(1.4826 * np.median(off), *UNITS)) if len(off) else unit
    off, n = _deviations(records, voters), len(np.unique(believed[:, 0]))
    agree = float((off < 1).mean()) if len(off) else 0.0
    is_seed = (records.copies(pairs)[:, None] == records.copies(seed)).all(axis=2).any(axis=1)
    return Guess(pairs, is_seed, len(seed), believed, round((1 + float(np.sqrt(1 + 4 * agree * n * (n - 1)))) / 2, 1))


def _records(problem: Problem) -> _Records:
    parts = list(groups(problem))
    largest = max((max(len(rows), len(cols)) for rows, cols, *_ in parts), default=0)
    check_memory(64 * largest**2, "guessing everybody of one label", "more labels, or not everybody")
    return _Records(problem, parts, *problem.copies())


def _choose_voters(records: _Records, believed: Ints) -> _Voters:
    """Let as many of the believed vote as the work allows, copies once, drawn evenly by content."""
    voters = believed[np.sort(np.unique(records.copies(believed), axis=0, return_index=True)[1])]
    most = int(np.clip(WORK / max(1, records.problem.n_vertices), *VOTERS))
    voters = voters[np.linspace(0, len(voters) - 1, min(len(voters), most)).astype(np.int64)]
    return _Voters(voters, *records.problem.distances_to(voters[:, 0], voters[:, 1]))


def _deviations(records: _Records, voters: _Voters) -> Floats:
    """How far distances between voters are from the middle of the window, in its half width."""
    i, j = np.triu_indices(len(voters.pairs), 1)
    who = records.copies(voters.pairs)
    other = (who[i] != who[j]).all(axis=1)  # who shares a record has no distance
    i, j = i[other], j[other]
    d1, d2 = voters.e1[voters.pairs[i, 0], j], voters.e2[voters.pairs[i, 1], j]
    low, high, low_slope, high_slope = records.problem.window
    bottom, top = low + low_slope * d1, high + high_slope * d1
    off = np.full(len(d1), np.inf)
    np.divide(np.abs(2 * d2 - bottom - top), top - bottom, out=off, where=top > bottom)
    return off


def _turn(records: _Records, voters: _Voters, unit: float) -> tuple[Ints, Ints]:
    """Assign everybody once: all guesses, and the pairs whose distances fit."""
    none, own = np.zeros((0, 2), dtype=np.int64), records.copies(voters.pairs)
    guesses, fits = [none], [none]
    for rows, cols, _, _, may in records.parts:
        off = misfit(
            voters.e1[rows], voters.e2[cols], records.one[rows], records.two[cols], own[:, 0], own[:, 1],
            records.problem.window, unit, MOST,
        )  # fmt: skip
        i, j = _assign(np.where(may, off, MOST * (1 + max(off.shape))))
        found = np.column_stack([rows[i], cols[j]])
        guesses.append(found)
        fits.append(found[off[i, j] < FITS])
    believed = np.vstack(fits)
    return np.vstack(guesses), believed[np.lexsort(believed.T[::-1])]


def _assign(off: Floats) -> tuple[Ints, Ints]:
    """Find the pairs of all one-to-one assignments of the least total, without those who fit nobody.

    Beginning with one of them: i may take over the partner of k, who takes over another's, and so on in a circle. What
    that costs is a length; where all lengths are made 0 or more by potentials (shortest paths), circles of length 0 are
    the strong components of the steps of length 0.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import, and only needed here
    from scipy.sparse import csr_array  # noqa: PLC0415 - as above
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - as above

    n = max(off.shape)
    square = np.zeros((n, n))
    square[: len(off), : off.shape[1]] = off
    partner = linear_sum_assignment(square)[1]
    length = square[:, partner] - np.diag(square[:, partner])
    potential = np.zeros(n)
    for _ in range(n):
        nearer = np.minimum(potential, (potential[:, None] + length).min(axis=0))
        if (nearer >= potential - SAME / n).all():
            break
        potential = nearer
    i, k = np.nonzero(potential[:, None] + length - potential <= SAME)
    part = connected_components(csr_array((np.ones(len(i)), (i, k)), shape=(n, n)), connection="strong")[1]
    i, j = i[part[i] == part[k]], partner[k[part[i] == part[k]]]
    real = (i < len(off)) & (j < off.shape[1])
    i, j = i[real], j[real]
    near = off[i, j] < MOST
    return i[near], j[near]
