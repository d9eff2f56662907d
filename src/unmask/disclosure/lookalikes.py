"""Lookalikes: people whom a row of a synthetic release resembles as it resembles nobody outside, though it is no copy.

By equal cells, weighted by how rare their values are; by missing cells; by the distance in values, and in normal scores
of ranks. With nobody outside: people to whom a row is three times nearer than any other person of the original is, less
those to whom it is three times farther.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Floats
from unmask.evidence import Estimate, excess, largest, rate
from unmask.tables import Encoded

MOST_PEOPLE, MOST_ROWS = 1_000, 20_000  # that are compared, on either side
FEWEST_NUMBERS = 4  # columns from which on a third of the usual distance is no chance
TIMES = 3.0
CHUNK = 4_000_000  # pairs at a time


def lookalikes(people: Encoded, released: Encoded, outside: Encoded | None, *, seed: int) -> Estimate | None:
    """Share of people who are claimed; None where nobody is outside and too few columns are numbers.

    Parameters
    ----------
    people, released, outside
        Tables on one codebook, drawn by lot where they are large.
    seed
        Seeds the bootstrap.

    """
    if outside is not None and len(outside):
        chance = 1.0 / (len(outside) + 1)
        scores = zip(_likeness(people, released), _likeness(outside, released), strict=True)
        return largest([rate((ours > theirs.max()).astype(float), chance=chance, seed=seed) for ours, theirs in scores])
    if people.numeric.shape[1] < FEWEST_NUMBERS:
        return None
    found = []
    for one, other in zip(_spaces(people, people), _spaces(released, people), strict=True):
        near = _least(one, other, (people.codes, released.codes), itself=True)
        usual = _least(one, one, (people.codes, people.codes), itself=False)
        nearer, farther = ((a > TIMES * b).astype(np.float64) for a, b in ((usual, near), (near, usual)))
        found.append(excess(nearer, farther, seed=seed))
    return largest(found)


def _likeness(people: Encoded, released: Encoded) -> list[Floats]:
    """The most that a row of the release resembles each person: by rare cells, missing ones, values, and ranks."""
    spaces = zip(_spaces(people, released), _spaces(released, released), strict=True)
    near = [-_least(one, other, (people.codes, released.codes), itself=True) for one, other in spaces]
    pairs = [(_cells(people), _cells(released))]
    if _gaps(released).any():
        pairs.append((_gaps(people), _gaps(released)))
    return [*(_rare_cells(*pair) for pair in pairs), *near]


def _cells(side: Encoded) -> Floats:
    """Values, missing ones as a value of their own."""
    return np.column_stack([np.where(np.isnan(side.numeric), np.inf, side.numeric), side.codes])


def _gaps(side: Encoded) -> Floats:
    """Which cells are missing."""
    return np.column_stack([np.isnan(side.numeric), side.codes < 0]).astype(np.float64)


def _rare_cells(ours: Floats, theirs: Floats) -> Floats:
    """The largest sum, over rows, of -log(share of the value in the release) of the cells that are equal."""
    total = np.zeros((len(ours), len(theirs)))
    for k in range(ours.shape[1]):
        values, counts = np.unique(theirs[:, k], return_counts=True)
        place = np.minimum(np.searchsorted(values, ours[:, k]), values.size - 1)
        weight = np.where(values[place] == ours[:, k], np.log(len(theirs) / counts[place]), 0.0)
        total += weight[:, None] * (ours[:, k, None] == theirs[None, :, k])
    return np.asarray(total.max(axis=1))


def _spaces(side: Encoded, reference: Encoded) -> list[Floats]:
    """Numbers in standard deviations of a reference, and as normal scores of their ranks in it; missing: the middle."""
    from scipy.special import ndtri  # noqa: PLC0415 - only synthetic releases need it

    values, scores = np.zeros_like(side.numeric), np.zeros_like(side.numeric)
    for k in range(values.shape[1]):
        column, there = side.numeric[:, k], np.sort(reference.numeric[:, k][~np.isnan(reference.numeric[:, k])])
        if there.size:
            values[:, k] = (column - np.median(there)) / (there.std() or 1.0)
            places = np.arange(1, there.size + 1) / (there.size + 1)
            scores[:, k] = ndtri(np.interp(column, there, places))
    return [np.nan_to_num(values), np.nan_to_num(scores)]


def _least(one: Floats, other: Floats, codes: tuple[NDArray[np.int32], NDArray[np.int32]], *, itself: bool) -> Floats:
    """Distance of each record to the nearest of the other side; a category that differs counts like one sd.

    ``itself``: False where both sides are the same records, of which each is to find another one.
    """
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    least = np.empty(len(one))
    step = max(1, CHUNK // max(1, len(other)))
    for start in range(0, len(one), step):
        rows = slice(start, min(start + step, len(one)))
        far = cdist(one[rows], other, "sqeuclidean") if one.shape[1] else np.zeros((rows.stop - start, len(other)))
        for k in range(codes[0].shape[1]):
            far += codes[0][rows, k, None] != codes[1][None, :, k]
        if not itself:
            far[np.arange(len(far)), np.arange(start, rows.stop)] = np.inf
        least[rows] = far.min(axis=1)
    return np.sqrt(least)
