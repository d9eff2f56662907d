"""Bags of rows: every answer of the kernels is that of all ways to lay rows on rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import persons as naive
from unmask.kernels.bags import Bags, Costs, bound_bags, cost_of_bags, match_rows, nearest_bags

LEVELS, COLUMNS = 4, 3


def drawn(rng, n, most=4):
    start = np.concatenate([[0], np.cumsum(rng.integers(1, most + 1, n))]).astype(np.int64)
    return Bags(start, rng.integers(0, LEVELS, (start[-1], COLUMNS)).astype(np.int32))


def costs_of(rng, cap):
    """Costs of both signs; the last column is wide: equal codes cost one thing, all others another."""
    tables = np.round(rng.normal(size=(COLUMNS - 1, LEVELS, LEVELS)), 1).astype(np.float32)
    equal, other = np.round(rng.normal(size=LEVELS), 1).astype(np.float32), 0.5
    flat = np.concatenate([tables.ravel(), equal])
    offset = np.arange(COLUMNS, dtype=np.int64) * LEVELS**2
    least = np.concatenate([tables.min(axis=2).ravel(), np.minimum(equal, other)]).astype(np.float32)
    wide = np.array([0] * (COLUMNS - 1) + [1], dtype=np.int8)
    size = np.round(rng.normal(size=5), 1)
    start = np.arange(COLUMNS, dtype=np.int64) * LEVELS
    given_costs = Costs(flat, offset, np.full(COLUMNS, LEVELS), wide, np.full(COLUMNS, other), least, start, size, cap)

    def cost(a, b):
        total = sum(float(tables[c, a[c], b[c]]) for c in range(COLUMNS - 1))
        return min(cap, total + (float(equal[a[-1]]) if a[-1] == b[-1] else other))

    def of_bags(one, two):
        return naive.laid(one, two, cost) + size[np.clip(len(two) - len(one), -2, 2) + 2]

    return given_costs, cost, of_bags


def rows_of(side, person):
    return [tuple(row) for row in side.codes[side.start[person] : side.start[person + 1]].tolist()]


@given(seed=st.integers(0, 10_000), cap=st.sampled_from([0.3, 2.0, 1e9]))
def test_the_nearest_is_that_of_all_ways(seed, cap):
    rng = np.random.default_rng(seed)
    one, two = drawn(rng, 5), drawn(rng, 6)
    costs, _, of_bags = costs_of(rng, cap)
    table = np.array([[of_bags(rows_of(one, p), rows_of(two, q)) for q in range(6)] for p in range(5)])
    own = np.array([3, -1, 0, 5, 2])
    least, second, ties, mine, total = nearest_bags(np.arange(5), own, one, two, costs, 100.0)
    assert least == pytest.approx(table.min(axis=1), abs=1e-5)
    assert mine == pytest.approx([np.inf if q < 0 else table[p, q] for p, q in enumerate(own)], abs=1e-5)
    near = table <= table.min(axis=1, keepdims=True) + 1e-4
    assert ties.tolist() == near.sum(axis=1).tolist()
    further = np.where(near, np.inf, table).min(axis=1)
    assert second == pytest.approx(np.minimum(further, least + 100.0), abs=1e-4)
    assert total == pytest.approx(np.exp(table.min(axis=1, keepdims=True) - table).sum(axis=1), abs=1e-4)


@given(seed=st.integers(0, 10_000), margin=st.sampled_from([0.0, 0.5]))
def test_a_small_margin_misses_nobody_nearer(seed, margin):
    rng = np.random.default_rng(seed)
    one, two = drawn(rng, 5), drawn(rng, 6)
    costs, _, of_bags = costs_of(rng, 2.0)
    table = np.array([[of_bags(rows_of(one, p), rows_of(two, q)) for q in range(6)] for p in range(5)])
    least, _, ties, _, _ = nearest_bags(np.arange(5), np.full(5, -1), one, two, costs, margin + 1e-3)
    assert least == pytest.approx(table.min(axis=1), abs=1e-5)
    assert ties.tolist() == (table <= table.min(axis=1, keepdims=True) + 1e-4).sum(axis=1).tolist()


@given(seed=st.integers(0, 10_000))
def test_bounds_are_below_and_pairs_are_exact(seed):
    rng = np.random.default_rng(seed)
    one, two = drawn(rng, 4), drawn(rng, 4)
    costs, cost, of_bags = costs_of(rng, 1.0)
    table = np.array([[of_bags(rows_of(one, p), rows_of(two, q)) for q in range(4)] for p in range(4)])
    assert (bound_bags(np.arange(4), one, two, costs) <= table + 1e-5).all()
    rows, cols = (part.ravel() for part in np.indices((4, 4)))
    assert cost_of_bags(rows, cols, one, two, costs) == pytest.approx(table.ravel(), abs=1e-5)
    laid = match_rows(np.arange(4), np.arange(4), one, two, costs)
    for p in range(4):
        a, b, to = one.start[p], one.start[p + 1], laid[one.start[p] : one.start[p + 1]]
        met = to[to >= 0]
        assert len(set(met.tolist())) == met.size == min(b - a, two.start[p + 1] - two.start[p])
        assert all(two.start[p] <= row < two.start[p + 1] for row in met)
        total = sum(cost(one.codes[a + k], two.codes[row]) for k, row in enumerate(to) if row >= 0)
        assert total == pytest.approx(naive.laid(rows_of(one, p), rows_of(two, p), cost), abs=1e-5)


def test_very_large_bags_take_the_cheapest_of_each_row():
    one = Bags(np.array([0, 300]), np.zeros((300, 1), dtype=np.int32))
    two = Bags(np.array([0, 300]), np.arange(300, dtype=np.int32)[:, None] % 2)
    flat = np.array([0.0, 1.0, 1.0, 0.0], dtype=np.float32)
    zero = np.zeros(1, dtype=np.int64)
    costs = Costs(flat, zero, np.array([2]), np.zeros(1, np.int8), np.zeros(1), flat[:2] * 0, zero, np.zeros(3), 9.0)
    assert cost_of_bags(np.array([0]), np.array([0]), one, two, costs)[0] == 0.0
