"""Slow, obvious twins of the maskings: the definitions, written without thought of speed."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def mdav(values: np.ndarray, k: int) -> list[frozenset[int]]:
    """MDAV by the book: plain passes over all records that are left."""
    left = list(range(len(values)))
    groups = []

    def gather(centre: np.ndarray) -> None:
        left.sort(key=lambda i: float(((values[i] - centre) ** 2).sum()))
        groups.append(frozenset(left[:k]))
        del left[:k]

    def farthest(centre: np.ndarray) -> np.ndarray:
        return values[max(left, key=lambda i: float(((values[i] - centre) ** 2).sum()))]

    while len(left) >= 3 * k:
        first = farthest(values[left].mean(axis=0))
        gather(first)
        gather(farthest(first))
    if len(left) >= 2 * k:
        gather(farthest(values[left].mean(axis=0)))
    return [*groups, frozenset(left)] if left else groups


def least_sse(values: np.ndarray, k: int) -> float:
    """Try every way to cut the sorted values into groups of at least k."""
    ordered = np.sort(values)
    n = len(ordered)
    best = float(((ordered - ordered.mean()) ** 2).sum())
    for cuts in range(1, n // k):
        for places in combinations(range(1, n), cuts):
            parts = np.split(ordered, places)
            if all(len(part) >= k for part in parts):
                best = min(best, sum(float(((part - part.mean()) ** 2).sum()) for part in parts))
    return best


def reverse_mapped(original: list[float], masked: list[float]) -> list[float]:
    """Algorithm 1, for values without ties."""
    return [sorted(original)[sorted(masked).index(y)] for y in masked]
