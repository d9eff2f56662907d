"""Compare two distributions of linkage distances: Kolmogorov-Smirnov, its p-value, its direction, and each record.

[MAXKNOW]_ Algorithm 2: `distances` come from the attack, `reference` from a linkage that discloses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from unmask.arrays import Floats, Ints

Direction = Literal["disclosive", "none", "over-protected"]
DRAWS = 499  # relabellings for the p-value, resamples for the interval
LEVEL = 0.05
CELLS = 2048  # beyond so many distinct distances, draws are made over cells of neighbouring ones


def ks_distance(distances: Floats, reference: Floats) -> float:
    """KS(D1, D2) = max |D1(x) - D2(x)|, [MAXKNOW]_ section V-A."""
    return max(one_sided(distances, reference))


def one_sided(distances: Floats, reference: Floats) -> tuple[float, float]:
    """Return max(D1 - D2) and max(D2 - D1): how far the distances lie to the left, and to the right."""
    ours, theirs = _counts(distances, reference)
    return _gaps(ours, theirs)


def ks_p_value(distances: Floats, reference: Floats, seed: int) -> float:
    """Return the share of relabellings of the pooled distances with a KS distance at least as large (itself included).

    Right where both samples are independent draws given the release: original records against dictionary records.
    Relabelling at random is drawing how many of each distinct value fall to the first sample: one multivariate
    hypergeometric draw.
    """
    ours, theirs = _coarse(_counts(distances, reference))
    observed = max(_gaps(ours, theirs))
    pooled, size = ours + theirs, int(ours.sum())
    rng = np.random.default_rng([seed, 11])
    larger = 0
    for _ in range(DRAWS):
        drawn = rng.multivariate_hypergeometric(pooled, size, method="marginals")
        larger += max(_gaps(drawn, pooled - drawn)) >= observed - 1e-12
    return (1 + larger) / (1 + DRAWS)


def instance_p_value(distances: Floats, instances: Sequence[Floats]) -> float:
    """Return the share of releases, Y and every Y', that differ from the others pooled at least as much as Y does.

    Distances to one release hang together: they all meet the same few records in a sparse region. Relabelling single
    distances would take that for a difference; whole instantiations are exchangeable where the release says nothing.
    The least p-value of B instantiations is 1 / (B + 1).
    """
    values, places = _places(distances, *instances)
    pool = np.bincount(np.concatenate(places), minlength=values)
    samples = (np.bincount(part, minlength=values) for part in places)  # one at a time: there may be a million values
    gaps = np.array([max(_gaps(sample, pool - sample)) for sample in samples])
    return float((gaps >= gaps[0] - 1e-12).mean())


def ks_interval(distances: Floats, reference: Floats, seed: int) -> tuple[float, float]:
    """95 % percentile interval of the one-sided KS distance over resampled records, the reference held fixed."""
    ours, theirs = _coarse(_counts(distances, reference))
    rng = np.random.default_rng([seed, 13])
    size = int(ours.sum())
    left = [_gaps(rng.multinomial(size, ours / size), theirs)[0] for _ in range(DRAWS)]
    low, high = np.quantile(left, [0.025, 0.975])
    return float(low), float(high)


def direction(distances: Floats, reference: Floats, p_value: float, level: float = LEVEL) -> Direction:
    """Tell on which side of the reference the distances lie, if they differ at all (p at most `level`)."""
    left, right = one_sided(distances, reference)
    if p_value > level + 1e-12:
        return "none"
    return "disclosive" if left >= right else "over-protected"


def deniability(distances: Floats, reference: Floats) -> Floats:
    """Return each record's chance that a link which discloses nothing is as close: (1 + #reference <= d) / (1 + #)."""
    ordered = np.sort(reference)
    return np.asarray((1 + np.searchsorted(ordered, distances, side="right")) / (1 + ordered.size))


def false_link_rate(chances: Floats) -> Floats:
    """Share of chance links among all links at least as close as each record's (Benjamini-Hochberg adjusted [BH]_).

    Chance would put n p records at or below the record's own level; so many as are there in fact share the blame.
    """
    n = chances.size
    order = np.argsort(chances, kind="stable")
    within = np.searchsorted(chances[order], chances[order], side="right")  # ties enter together
    adjusted = np.minimum(1.0, np.minimum.accumulate((chances[order] * n / within)[::-1])[::-1])
    result = np.empty(n)
    result[order] = adjusted
    return result


def _counts(*samples: Floats) -> list[Ints]:
    """Return, for each sample, how often it has each of the distinct values of all."""
    values, places = _places(*samples)
    return [np.bincount(part, minlength=values) for part in places]


def _places(*samples: Floats) -> tuple[int, list[Ints]]:
    """Return how many distinct values all samples have, and for each sample the places of its own among them."""
    values, place = np.unique(np.concatenate(samples), return_inverse=True)
    return values.size, np.split(place, np.cumsum([sample.size for sample in samples])[:-1])


def _coarse(counts: list[Ints]) -> list[Ints]:
    """Merge neighbouring values into cells of about equal weight, the same for all samples."""
    pooled = np.sum(counts, axis=0)
    if pooled.size <= CELLS:
        return counts
    edges = np.unique(np.cumsum(pooled) * CELLS // (pooled.sum() + 1), return_index=True)[1]
    return [np.add.reduceat(sample, edges) for sample in counts]


def _gaps(ours: Ints, theirs: Ints) -> tuple[float, float]:
    gap = np.cumsum(ours) / ours.sum() - np.cumsum(theirs) / theirs.sum()
    return max(0.0, float(gap.max())), max(0.0, float(-gap.min()))
