"""Slow twins of the judged numbers of the maximum-knowledge tests: ranks, distances and links record by record."""

from __future__ import annotations

import numpy as np

from naive.judged import Judged, rate
from naive.max_knowledge import average_rank, closest_rank


def rank_distances(original, released, numbers, words) -> np.ndarray:
    """Every pair: the worst attribute in ranks; another category is as far as two random ranks are on average."""
    n = len(released)
    far = np.zeros((len(original), n))
    for name in numbers:
        column = [r[name] for r in released]
        own = [average_rank(column, v) for v in column]
        for i, row in enumerate(original):
            place = closest_rank(column, row[name])
            far[i] = np.maximum(far[i], [abs(place - rank) for rank in own])
    for name in words:
        step = (n * n - 1) / (3 * n)
        for i, row in enumerate(original):
            far[i] = np.maximum(far[i], [0.0 if row[name] == other[name] else step for other in released])
    return far


def deniability(distance, reference) -> float:
    """Share of links that disclose nothing, this one among them, that are as close."""
    return (1 + sum(d <= distance + 1e-9 for d in reference)) / (1 + len(reference))


def identity(far, truth, reference) -> tuple[Judged, Judged, Judged]:
    """Right links that cannot be denied; how far the links lie left of the reference; the closest one."""
    n = far.shape[1]
    least = far.min(axis=1)
    denied = [deniability(d, reference) > 0.05 for d in least]
    credits_, blind = [], []
    for i, own in enumerate(truth):
        if own is None:
            continue
        near = [j for j, d in enumerate(far[i]) if d <= least[i] + 1e-9]
        credits_.append(0.0 if denied[i] or own not in near else 1 / len(near))
        blind.append(0.0 if denied[i] else 1 / n)
    usual = np.quantile(reference, min(1.0, 1 / len(least)))
    closest = 1 - least.min() / n
    return (
        rate(credits_, sum(blind) / len(blind)),
        to_the_left(least.tolist(), reference),
        Judged(closest, 1 - usual / n, len(least), closest, closest),
    )


def to_the_left(distances, reference) -> Judged:
    """Largest lead of the distances' distribution function over the reference's; people are drawn again and again."""
    value = lead(distances, reference)
    rng = np.random.default_rng(5)
    leads = [lead(rng.choice(distances, len(distances)), reference) for _ in range(500)]
    low, high = np.quantile(leads, [0.025, 0.975])
    return Judged(value, 0.0, len(distances), min(low, value), max(high, value), slack=2.01 / len(distances))


def lead(distances, reference) -> float:
    values = np.unique(np.concatenate([distances, reference]))
    ours = np.searchsorted(np.sort(distances), values + 1e-9) / len(distances)
    theirs = np.searchsorted(np.sort(reference), values + 1e-9) / len(reference)
    return max(0.0, float((ours - theirs).max()))
