"""People above a risk, by the definition: every set counted person by person, ends by trying."""

from __future__ import annotations

from math import ceil, lgamma

import numpy as np

from naive.judged import Judged, wilson


def tail(hits, n, chance):
    """P(at least so many hits of n), as the integral that also takes shared hits."""
    if hits <= 0:
        return 1.0
    t = (np.arange(4000) + 0.5) / 4000 * chance
    beta = lgamma(hits) + lgamma(n - hits + 1) - lgamma(n + 1)
    return float(np.exp((hits - 1) * np.log(t) + (n - hits) * np.log1p(-t) - beta).mean() * chance)


def least_rate(hits, n, level):
    """The smallest chance under which so many hits are no rarer than the level."""
    low, high = 0.0, hits / n
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(hits, n, middle) < level else (low, middle)
    return low if hits else 0.0


def sets(risks, hits):
    """The 10, 20, 40 .. people of largest risk, with all who share the smallest of it, and everybody."""
    order = sorted(range(len(risks)), key=lambda i: -round(risks[i], 9))
    found, size = {len(order): sum(hits)}, 10
    while size < len(order):
        edge = round(risks[order[size - 1]], 9)
        inside = [i for i in order if round(risks[i], 9) >= edge]
        found[len(inside)] = sum(hits[i] for i in inside)
        size *= 2
    return found


def above(risks, hits, k, attacks=1) -> Judged:
    """People without whom so many hits are not to be had, where all others are hit one time in k."""
    told, n = sets(risks, hits), len(risks)

    def needed(hit, size):
        return max(0.0, (hit - size / k) / (1 - 1 / k))

    level = 0.025 / len(told) / attacks
    low = max(ceil(needed(least_rate(hit, size, level) * size, size) - 1e-9) for size, hit in told.items())
    value = max(low, *(needed(hit, size) for size, hit in told.items()))
    rests = [(0, 0.0), *told.items()]
    high = min(
        size + (n - size) * min(1.0, k * wilson(sum(hits) - hit, n - size)[1]) if size < n else n for size, hit in rests
    )
    return Judged(value / n, 0.0, n, low / n, max(value, high) / n, slack=1e-9)
