"""Slow, obvious twins of the smarter linkers: every pair is looked at, and nothing is clever."""

from __future__ import annotations

from itertools import product

import numpy as np


def level(a, b, edges) -> int:
    """Number of edges that the difference is beyond; one more than all of them for a missing value."""
    if np.isnan(a) or np.isnan(b):
        return len(edges) + 1
    return sum(abs(a - b) > edge for edge in edges)


def comparison_vectors(comparison):
    """One row of levels for every pair, n^2 of them."""
    edges = [comparison.edges[k, : comparison.n_edges[k]] for k in range(len(comparison.names))]
    return np.array(
        [
            [level(x[k], y[k], edges[k]) for k in range(len(edges))]
            for x, y in product(comparison.left, comparison.right)
        ]
    )


def em(vectors, levels, prior, *, learn_prior=False, missing=None, steps=20000, tolerance=1e-13):  # noqa: C901
    """EM over the list of all pairs: m, u (attributes x levels) and the prior.

    A pair that is missing on an attribute (level ``missing``) says nothing there: no factor, and it does not teach.
    """
    n, k = vectors.shape
    u = np.zeros((k, levels))
    for a in range(k):
        for v in vectors[:, a]:
            u[a, v] += 1 / n
    m = np.zeros_like(u)
    for a in range(k):
        seen = np.flatnonzero(u[a])
        m[a, seen] = 0.1 / max(1, len(seen) - 1)
        m[a, seen[0]] = 0.9 if len(seen) > 1 else 1.0
    for _ in range(steps):
        match, other = np.full(n, prior), np.full(n, 1 - prior)
        for a in range(k):
            told = vectors[:, a] != missing
            match = np.where(told, match * m[a, vectors[:, a]], match)
            other = np.where(told, other * u[a, vectors[:, a]], other)
        g = match / (match + other)
        new_m, new_u = np.zeros_like(m), np.zeros_like(u)
        for a in range(k):
            told = vectors[:, a] != missing
            for v in range(levels):
                here = vectors[:, a] == v
                if v == missing:
                    new_m[a, v] = new_u[a, v] = here.mean()
                else:
                    new_m[a, v] = told.mean() * g[here].sum() / g[told].sum()
                    new_u[a, v] = told.mean() * (1 - g)[here].sum() / (1 - g)[told].sum()
        change = max(np.abs(new_m - m).max(), np.abs(new_u - u).max())
        m, u = new_m, new_u
        if learn_prior:
            prior = g.mean()
        if change < tolerance:
            return m, u, prior
    raise AssertionError("the twin did not converge")


def em_of_people(vectors, levels, people, *, steps=5000, tolerance=1e-12):
    """EM where each person has exactly one match, over the list of all pairs: m and u; no order among the levels."""
    n, k = vectors.shape
    u = np.array([[np.mean(vectors[:, a] == v) for v in range(levels)] for a in range(k)])
    m = np.zeros_like(u)
    for a in range(k):
        seen = np.flatnonzero(u[a])
        m[a, seen] = 0.1 / max(1, len(seen) - 1)
        m[a, seen[0]] = 0.9 if len(seen) > 1 else 1.0
    for _ in range(steps):
        ratio = np.ones(n)
        for a in range(k):
            ratio = ratio * m[a, vectors[:, a]] / u[a, vectors[:, a]]
        shares = ratio.reshape(people, -1)
        g = (shares / shares.sum(axis=1, keepdims=True)).ravel()
        new = np.array([[g[vectors[:, a] == v].sum() / people for v in range(levels)] for a in range(k)])
        change, m = np.abs(new - m).max(), new
        if change < tolerance:
            return m, u
    raise AssertionError("the twin did not converge")


def pattern_counts(vectors):
    found, counts = np.unique(vectors, axis=0, return_counts=True)
    return {tuple(row): int(count) for row, count in zip(found.tolist(), counts, strict=True)}


def best_by_weight(vectors, weights, n_left, n_right, truth):
    """Credit of each record: shared among the candidates of greatest weight."""
    total = np.array([sum(weights[a, v] for a, v in enumerate(row)) for row in vectors]).reshape(n_left, n_right)
    result = []
    for i in range(n_left):
        ties = np.flatnonzero(total[i] >= total[i].max() - 1e-9)
        result.append(1 / len(ties) if truth[i] in ties else 0.0)
    return result


def choquet(d, measure) -> float:
    """The Choquet integral by its definition: differences sorted upwards, times the measure of who is that far."""
    order = np.argsort(d, kind="stable")
    total, before = 0.0, 0.0
    for place, k in enumerate(order):
        total += (d[k] - before) * measure(frozenset(order[place:].tolist()))
        before = d[k]
    return total


def fewest_wrong(space, truth, grid, distance_of) -> int:
    """Best number of people left wrong over a grid of weights: what the exact program must reach or beat."""
    best = len(truth)
    for weights in grid:
        wrong = 0
        for i, own in enumerate(truth):
            mine = distance_of(space, weights, i, own)
            wrong += any(distance_of(space, weights, i, j) < mine + 1e-5 for j in range(len(space.points)) if j != own)
        best = min(best, wrong)
    return best


def rank_window(x, column, p) -> set:
    """Rows whose value can have been swapped with x: at most p % of n ranks away, equal values taken together."""
    n = len(column)
    window = int(np.floor(p * n / 100 + 1e-9))
    low = sum(v < x for v in column) - window
    high = sum(v <= x for v in column) - 1 + window
    ordered = sorted(column)
    return {j for j, v in enumerate(column) if ordered[max(low, 0)] <= v <= ordered[min(high, n - 1)]}


def noise_posterior(x, others, release, sd):
    """Posterior of every released record for a person at x, when noise of known sd was added: Bayes, written out."""

    def density(y, centre):
        return np.exp(-0.5 * (((y - centre) / sd) ** 2).sum())

    odds = [density(y, x) / sum(density(y, o) for o in others) for y in release]
    return np.array(odds) / sum(odds)
