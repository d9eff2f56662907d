"""Every way to link two small files: each person to one record at most, each record to one person at most."""

from __future__ import annotations

from itertools import combinations, permutations
from math import exp, log


def marginals(scores, in_both):
    """Probability of each link over all matchings, weighed by their likelihood ratios and the odds of a link."""
    n, m = len(scores), len(scores[0])
    odds = in_both / ((n - in_both) * (m - in_both))
    total, found = 0.0, [[0.0] * m for _ in range(n)]
    for size in range(min(n, m) + 1):
        for people in combinations(range(n), size):
            for records in permutations(range(m), size):
                weight = exp(sum(scores[i][j] + log(odds) for i, j in zip(people, records, strict=True)))
                total += weight
                for i, j in zip(people, records, strict=True):
                    found[i][j] += weight
    return [[cell / total for cell in row] for row in found]
