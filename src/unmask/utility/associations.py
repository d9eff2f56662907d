"""Pairs of columns: how far correlations, Cramér's V and mutual information moved between the two tables.

Every column counts in the cells of `coding`; correlations are those of columns that are numbers on both sides. A pair
of which the release has lost a column has no association left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.arrays import Codes, Floats

Sides = tuple[Codes, Codes | None]
MOST_SHOWN = 5  # pairs that a report names


@dataclass(frozen=True, slots=True)
class PairUtility:
    """Two columns: Cramér's V and what they say about each other (bits), in the original and in the release."""

    columns: tuple[str, str]
    v: tuple[float, float]
    bits: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Associations:
    """What became of all pairs: mean absolute changes, and the pairs whose association changed most.

    ``bits_kept``: 1 less the sum of the changes of mutual information over the sum of the larger of both.
    """

    pairs: int
    v_change: float
    bits_kept: float
    correlation_change: float | None  # None with fewer than two columns of numbers
    most_changed: tuple[PairUtility, ...]
    strongest: tuple[tuple[str, str], ...]  # pairs of the original with the largest V


def compare_associations(sides: Mapping[str, Sides], correlations: tuple[Floats, Floats] | None) -> Associations | None:
    """Compare every pair of columns, each as its codes in both tables; None with a single column."""
    pairs = [_pair(one, other, sides[one], sides[other]) for one, other in combinations(sides, 2)]
    if not pairs:
        return None
    changed = sorted(pairs, key=lambda pair: (-abs(pair.v[1] - pair.v[0]), pair.columns))
    whole = sum(max(pair.bits) for pair in pairs)
    gap = sum(abs(pair.bits[1] - pair.bits[0]) for pair in pairs)
    return Associations(
        len(pairs),
        float(np.mean([abs(pair.v[1] - pair.v[0]) for pair in pairs])),
        1.0 - gap / whole if whole > 0 else 1.0,
        _mean_change(correlations),
        tuple(pair for pair in changed[:MOST_SHOWN] if pair.v[0] != pair.v[1]),
        tuple(pair.columns for pair in sorted(pairs, key=lambda pair: (-pair.v[0], pair.columns))[:MOST_SHOWN]),
    )


def _pair(one: str, other: str, first: Sides, second: Sides) -> PairUtility:
    (a, c), (b, d) = first, second
    after = (0.0, 0.0) if c is None or d is None else (association(c, d), mutual_information(c, d))
    return PairUtility((one, other), (association(a, b), after[0]), (mutual_information(a, b), after[1]))


def _mean_change(correlations: tuple[Floats, Floats] | None) -> float | None:
    if correlations is None or len(correlations[0]) < 2:
        return None
    above = np.triu_indices(len(correlations[0]), 1)
    return float(np.abs(correlations[1] - correlations[0])[above].mean())


def association(x: Codes, y: Codes) -> float:
    """Cramér's V with Bergsma's correction (2013): 0 for independent columns on average, 1 where both say the same."""
    table = contingency(x, y)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, (r, k) = table.sum(), table.shape
    if min(r, k) < 2 or n < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    squared = max(0.0, float(((table - expected) ** 2 / expected).sum() / n) - (r - 1) * (k - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(squared / least))) if least > 0 else 0.0


def mutual_information(x: Codes, y: Codes) -> float:
    """Bits that one column says about the other, less what chance alone gives (Miller and Madow); at least 0."""
    table = contingency(x, y)
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    if n == 0:
        return 0.0
    shared = entropy(rows / n) + entropy(columns / n) - entropy((table / n).ravel())
    bias = ((rows > 0).sum() + (columns > 0).sum() - np.count_nonzero(table) - 1) / (2 * n)
    return max(0.0, float((shared + bias) / np.log(2)))


def contingency(x: Codes, y: Codes) -> Floats:
    """Counts of each pair of codes, from -1 (missing) on."""
    wide = int(y.max(initial=-1)) + 2
    cells = (x.astype(np.int64) + 1) * wide + y + 1
    tall = int(x.max(initial=-1)) + 2
    return np.bincount(cells, minlength=tall * wide).reshape(tall, wide).astype(np.float64)


def entropy(shares: Floats) -> float:
    """Entropy of a distribution, in nats."""
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())
