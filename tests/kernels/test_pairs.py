"""Sums over all pairs, against sums written out pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.kernels.pairs import count_categories, expect_kinds, expect_people, kinds_of_pairs, weigh_categories

EDGES, N_EDGES, RADIX = np.array([[0.1, 0.5], [0.3, np.inf]]), np.array([2, 1]), np.array([4, 3])


def people_and_records(seed=0):
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    left[3, 0] = right[5, 1] = np.nan
    return left, right


def level(a, b, k):
    gap = abs(a - b)
    return N_EDGES[k] + 1 if np.isnan(gap) else int((gap > EDGES[k, : N_EDGES[k]]).sum())


@pytest.mark.parametrize("lowest", [-3.0, -690.0], ids=["near", "a level that nobody has"])
def test_matches_of_people(lowest):
    left, right = people_and_records()
    table = np.random.default_rng(1).normal(size=(2, 4))
    table[0, 2] = lowest  # most people are on it with some record, some with all but one
    wanted, ratio = np.zeros((12, 2, 4)), []
    for i, x in enumerate(left):
        levels = [[level(x[k], y[k], k) for k in range(2)] for y in right]
        logs = np.array([table[0, a] + table[1, b] for a, b in levels])
        odds = np.exp(logs - logs.max())
        for share, pair in zip(odds / odds.sum(), levels, strict=True):
            for k in range(2):
                wanted[i, k, pair[k]] += share
        ratio.append(logs.max() + np.log(odds.mean()))
    kinds = kinds_of_pairs(left, right, EDGES, N_EDGES, RADIX)
    assert kinds.records.sum() == 12 * 9
    counts, likelihood = expect_people(kinds, table)
    np.testing.assert_allclose(counts, wanted, atol=1e-12)
    np.testing.assert_allclose(likelihood, ratio, rtol=1e-12)
    matches, total = expect_kinds(kinds, table)
    np.testing.assert_allclose(matches, wanted.sum(0), atol=1e-12)
    assert total == pytest.approx(sum(ratio))


def test_who_is_far_from_the_best_of_all_counts_as_much():
    left, right = np.array([[0.0, 0.0], [9.0, 9.0]]), np.zeros((3, 2))
    table = np.array([[600.0, 0.0, 0.0, 0.0], [600.0, 0.0, 0.0, 0.0]])
    matches, total = expect_kinds(kinds_of_pairs(left, right, EDGES, N_EDGES, RADIX), table)
    np.testing.assert_allclose(matches, [[1, 0, 1, 0], [1, 1, 0, 0]])
    assert total == pytest.approx(1200.0)


def test_categories_of_all_pairs():
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-1, 3, size=(n, 2)).astype(np.int32) for n in (7, 5))
    agree, differ = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    weights, share = rng.normal(size=(7, 5)), rng.random((7, 5))
    wanted, seen, kept = weights.copy(), np.zeros(2), np.zeros(2)
    for i in range(7):
        for j in range(5):
            for k in range(2):
                if x[i, k] >= 0 and y[j, k] >= 0:
                    same = x[i, k] == y[j, k]
                    wanted[i, j] += (agree if same else differ)[k, x[i, k]]
                    seen[k] += share[i, j]
                    kept[k] += same * share[i, j]
    across = np.ascontiguousarray(y.T)
    weigh_categories(weights, x, across, agree, differ)
    np.testing.assert_allclose(weights, wanted)
    for found, told in zip(count_categories(share, x, across), (seen, kept), strict=True):
        np.testing.assert_allclose(found, told)
