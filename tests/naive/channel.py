"""Slow, obvious twins of the channel: every matching, every pair."""

from __future__ import annotations

import itertools
import math


def exact_posterior(scores):
    """Chance of each link over all one-to-one matchings, each weighing exp of its total score."""
    n = len(scores)
    weights = {
        matching: math.exp(sum(scores[i][j] for i, j in enumerate(matching)))
        for matching in itertools.permutations(range(n))
    }
    total = sum(weights.values())
    return [[sum(w for m, w in weights.items() if m[i] == j) / total for j in range(n)] for i in range(n)]


def best_total(scores):
    """Largest total score of a one-to-one matching."""
    n = len(scores)
    return max(sum(scores[i][j] for i, j in enumerate(m)) for m in itertools.permutations(range(n)))


def shared_credit(links, truth, alike, alike_records):
    """Mean credit over all ways to let people who are alike, and records that are alike, change places."""
    n = len(links)
    credit = []
    for i in range(n):
        group = [k for k in range(n) if alike[k] == alike[i]]
        got = 0.0
        for k in group:
            twins = [j for j in range(len(alike_records)) if alike_records[j] == alike_records[links[k]]]
            got += (truth[i] in twins) / len(twins) / len(group)
        credit.append(got)
    return credit


def threshold(best, credit, precision=0.95, lowest=0.5):
    """The least posterior such that claims at or above it are right so often, were one more of them wrong.

    Or less than one more, where the posteriors themselves expect fewer wrong claims.
    """

    def allowed(least):
        claimed = [(b, c) for b, c in zip(best, credit, strict=True) if b >= least]
        wrong = sum(1 - c for _, c in claimed) + min(1, sum(1 - b for b, _ in claimed))
        return wrong <= (1 - precision) * len(claimed) + 1e-9

    found = [t for t in sorted(set(best)) if t >= lowest and allowed(t)]
    return min(found) if found else None
