"""What rows of known people teach: how the release was made of the original, column by column.

The intruder knows who some people are in the release. Within each of them they lay rows on rows, and count: how often
a value stays, what it becomes, how far numbers move, and how often two rows at random look like that. The cost of a
pair of rows is the negative logarithm of the ratio (Fellegi and Sunter [FELLEGI]_; equality of a rare value counts
more than that of a common one). Rows that fit nothing were put in: they cost no more than how rare that is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.kernels.bags import Bags, Costs, match_rows
from unmask.persons.columns import Columns
from unmask.persons.distances import as_costs, distances, shares

ROUNDS = 2  # of laying rows on rows and counting
PRIOR = 2.0  # pairs that what is usual counts for
RANDOM = 20_000  # pairs of rows at random
APART = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)  # shares of random pairs: edges of differences
SIZES = 20  # differences of the numbers of rows that are told apart
REPLACED = (1.0, 20.0)  # rows put in, of so many: before any were counted


class Taught(NamedTuple):
    """Pairs of rows that belong together, and pairs at random: levels of one column."""

    here: Codes
    there: Codes
    random_here: Codes
    random_there: Codes


def teach(columns: Columns, one: Bags, two: Bags, known: Ints, partners: Ints, seed: int) -> Costs:
    """Learn costs from people of the original whose partners in the release are known."""
    most = int(max(np.diff(side.start).max() for side in (one, two)))
    costs = distances(columns, most)
    rng = np.random.default_rng([seed, 31])
    rows = np.concatenate([np.arange(one.start[p], one.start[p + 1]) for p in known])
    random = rng.choice(rows, RANDOM), rng.integers(0, len(two.codes), RANDOM)
    size = _sizes(one, two, known, partners)
    replaced = REPLACED[0] / REPLACED[1]
    for _ in range(ROUNDS):
        laid = match_rows(known, partners, one, two, costs)[rows]
        here, there = rows[laid >= 0], laid[laid >= 0]
        tables = []
        for c in range(len(columns.names)):
            told = Taught(columns.one[here, c], columns.two[there, c], columns.one[random[0], c],
                          columns.two[random[1], c])  # fmt: skip
            tables.append(_ratio(columns, c, told))
        costs = as_costs(tables, columns, size, -float(np.log(replaced)))
        unlike = sum(_looked_up(tables[c], columns.one[here, c], columns.two[there, c]) for c in range(len(tables)))
        replaced = (float((np.asarray(unlike) > 0).sum()) + REPLACED[0]) / (here.size + REPLACED[1])
    return costs._replace(cap=-float(np.log(min(replaced, 0.5))))


def _looked_up(table: tuple[Floats, float], a: Codes, b: Codes) -> Floats:
    found, other = table
    return np.asarray(found[a, b] if found.ndim == 2 else np.where(a == b, found[a], other))


def _sizes(one: Bags, two: Bags, known: Ints, partners: Ints) -> Floats:
    """Cost of a difference in the number of rows: how often known people have it, and any two."""
    a, b = (np.diff(side.start) for side in (one, two))
    edge = 2 * SIZES + 1
    own = np.bincount(np.clip(b[partners] - a[known], -SIZES, SIZES) + SIZES, minlength=edge)
    (left, p), (right, q) = (np.unique(sizes, return_counts=True) for sizes in (a[known], b))
    apart = np.clip(right[None, :] - left[:, None], -SIZES, SIZES) + SIZES
    usual = np.bincount(apart.ravel(), np.outer(p, q).ravel(), minlength=edge) + 0.5
    usual = usual / usual.sum()
    return np.asarray(-np.log((own + PRIOR * usual) / (own.sum() + PRIOR) / usual))


def _ratio(columns: Columns, place: int, told: Taught) -> tuple[Floats, float]:
    """Cost of all pairs of levels of one column: the negative logarithm of how much likelier together than at random.

    Of a wide column: of equal levels, and of all others.
    """
    values = columns.values[place]
    usual = shares(columns.two[:, place], values.size)
    usual = (usual * len(columns.two) + 0.5) / (len(columns.two) + 0.5 * values.size)
    if columns.numeric[place]:
        return _of_numbers(values, usual, told), 0.0
    equal = (float((told.here == told.there).sum()) + 0.5) / (told.here.size + 1.0)
    if columns.wide[place]:
        return -np.log(equal / usual + (1 - equal)), -float(np.log(1 - equal))
    joint = np.zeros((values.size, values.size))
    np.add.at(joint, (told.here, told.there), 1.0)
    prior = (1 - equal) * usual[None, :] + equal * np.eye(values.size)
    given = (joint + PRIOR * prior) / (joint.sum(axis=1, keepdims=True) + PRIOR)
    return -np.log(given / usual[None, :]), 0.0


def _of_numbers(values: Floats, usual: Floats, told: Taught) -> Floats:
    """Equal numbers by how rare they are, others by how far apart they are; missing ones by how often they are."""
    last = values.size - 1
    both = (told.here < last) & (told.there < last)
    at_random = (told.random_here < last) & (told.random_there < last)
    apart = np.abs(values[told.here[both]] - values[told.there[both]])
    usually = np.abs(values[told.random_here[at_random]] - values[told.random_there[at_random]])
    edges = np.unique(np.quantile(usually[usually > 0], APART)) if (usually > 0).any() else np.zeros(0)
    width = edges.size + 2  # equal, and between the edges
    counts, base = (
        np.bincount(np.where(gaps > 0, 1 + np.searchsorted(edges, gaps), 0), minlength=width).astype(np.float64)
        for gaps in (apart, usually)
    )
    base = (base + 0.5) / (base.sum() + 0.5 * width)
    seen = (counts + PRIOR * base) / (counts.sum() + PRIOR)
    gaps = np.abs(values[:-1, None] - values[None, :-1])
    which = np.where(gaps > 0, 1 + np.searchsorted(edges, gaps), 0)
    found = np.zeros((values.size, values.size))
    found[:-1, :-1] = -np.log(seen / base)[which]
    rare = usual[:-1] / max(1e-12, float(usual[:-1].sum()))
    found[np.arange(last), np.arange(last)] = -np.log(seen[0] / rare)
    return found + _missing(last, usual[-1], told)


def _missing(last: int, usual: float, told: Taught) -> Floats:
    """What a missing value, or none, tells: by how often the release lacks one where the original has or lacks it."""
    found = np.zeros((last + 1, last + 1))
    gone = told.there == last
    for rows, mine in ((slice(0, last), told.here < last), (slice(last, last + 1), told.here == last)):
        share = (float(gone[mine].sum()) + PRIOR * usual) / (int(mine.sum()) + PRIOR)
        found[rows, last] = -np.log(share / usual)
        found[rows, :last] = -np.log((1 - share) / (1 - usual))
    return found
