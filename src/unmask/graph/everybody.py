"""A guess for everybody: once the map lies right, the intruder need not stop at the people they are sure of.

The geometric attack claims pairs that are more likely right than wrong. Under heavy noise these are few although the
map lies right, and whoever reads only them takes the release for safer than it is. Here everybody gets a partner.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.graph.null import FEW, same_label
from unmask.study import check_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unmask.graph.geometry import Overlay
    from unmask.graph.problem import Problem

    Group = tuple[Ints, Ints, Ints, Ints, Flags]

NEVER = 1e6  # cost of a pair whose labels do not match, in the largest square
NEAR = 3.0  # times the noise of a place: so far from its partner a record agrees with it
FLOOR = 1e-6  # of the map's width: the least noise
SAME = 1e-9  # of the map's width: places that differ by less are one


def everybody(problem: Problem, found: Overlay, scale: float) -> Overlay:
    """Guess a partner for everybody: of matching labels, one to one, so that people move least on the map.

    Records of one label at one place cannot be told apart: each of them gets the guesses of all. Those who end up
    within three times the noise of a place (``scale``) agree; where (nearly) everybody has one label, a
    crowd lies near any other crowd, and only claims more likely right than wrong count, as without guesses.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import, and only needed here

    if found.spots is None or found.places is None or found.near is None:
        return found
    width = float(np.ptp(found.places, axis=0).max())
    reach = NEAR * max(scale, FLOOR * width)
    agree, pairs = 0, [np.zeros((0, 2), dtype=np.int64)]
    for rows, cols, label1, label2, may in groups(problem):
        far = ((found.spots[rows][:, None] - found.places[cols]) ** 2).sum(axis=2)
        i, j = linear_sum_assignment(np.where(may, far, NEVER * (1.0 + far.max())))
        i, j = i[may[i, j]], j[may[i, j]]
        agree += int((far[i, j] < reach**2).sum())
        one, two = _twins(found.spots[rows], label1, width), _twins(found.places[cols], label2, width)
        guess = np.zeros((one.max() + 1, two.max() + 1), dtype=bool)
        guess[one[i], two[j]] = True
        a, b = np.nonzero(guess[one[:, None], two])
        pairs.append(np.column_stack([rows[a], cols[b]]))
    rows, cols = np.vstack(pairs).T
    weighed, other, posterior = (column.tolist() for column in found.near)
    known = dict(zip(zip(weighed, other, strict=True), posterior, strict=True))
    belief = np.array([known.get(pair, 0.0) for pair in zip(rows.tolist(), cols.tolist(), strict=True)])
    return replace(
        found, rows=rows, cols=cols, posterior=belief, n_agree=agree if same_label(problem) < FEW else found.n_agree
    )


def groups(problem: Problem) -> Iterator[Group]:
    """Records that have to be assigned together (their labels are connected), their labels, and who may match whom."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to import, and only needed here
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - as above

    n = len(problem.start1) - 1
    may = np.zeros((n, n), dtype=bool)
    may[problem.couples[:, 0], problem.couples[:, 1]] = True
    ends = (problem.couples[:, 0], n + problem.couples[:, 1])
    graph = coo_array((np.ones(len(problem.couples)), ends), shape=(2 * n, 2 * n))
    part = connected_components(graph, directed=False)[1]
    for k in np.unique(part[problem.couples[:, 0]]):
        rows, label1 = _records(problem.start1, np.flatnonzero(part[:n] == k))
        cols, label2 = _records(problem.start2, np.flatnonzero(part[n:] == k))
        check_memory(48 * len(rows) * len(cols), "guessing everybody of one label", "more labels, or not everybody")
        yield rows, cols, label1, label2, may[label1[:, None], label2]


def _records(start: Ints, labels: Ints) -> tuple[Ints, Ints]:
    """Records of some labels, and the label of each."""
    rows = np.concatenate([np.arange(start[label], start[label + 1]) for label in labels])
    return rows, np.repeat(labels, np.diff(start)[labels])


def _twins(places: Floats, label: Ints, width: float) -> Ints:
    """One number for all records of one label at one place."""
    cells = np.round(places / (SAME * width))
    return np.unique(np.column_stack([cells, label]), axis=0, return_inverse=True)[1].reshape(-1)
