"""A block matched by itself, held against all its pairs: the least total, and prices that prove it, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from unmask.kernels.assignment import gap_of_blocks, least_of_block, match_block
from unmask.kernels.base import EUCLIDEAN, Space


def block(n, seed, levels):
    """People and records with ties, gaps and a category."""
    rng = np.random.default_rng(seed)
    people = np.round(rng.normal(size=(n, 2)) * levels) / levels
    records = np.round((people + rng.normal(0, 0.4, (n, 2))) * levels) / levels
    people[rng.random((n, 2)) < 0.05] = np.nan
    codes = rng.integers(-1, 3, (n, 1)).astype(np.int32)
    shuffled = rng.permutation(n)
    ones = np.ones(2)
    space = Space(
        people, np.ascontiguousarray(records[shuffled]), codes, np.ascontiguousarray(codes[shuffled]), EUCLIDEAN,
        2.0 * ones, np.array([1.5]), np.array([1.0]), 1e-9, 1e-18,
    )  # fmt: skip
    return space, np.argsort(shuffled)


def all_costs(space):
    """By the definition, pair by pair."""
    a, b = space.queries[:, None, :], space.points[None, :, :]
    square = np.where(np.isnan(a - b), space.missing, (a - b) ** 2).sum(axis=2)
    c, d = space.query_codes[:, None, :], space.point_codes[None, :, :]
    nominal = np.where((c < 0) | (d < 0), space.code_missing, np.where(c == d, 0.0, space.step)).sum(axis=2)
    return np.sqrt(square + nominal)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 10_000), levels=st.sampled_from([1, 2, 50]))
def test_a_block_is_matched_and_priced_as_by_its_definition(n, seed, levels):
    space, truth = block(n, seed, levels)
    costs, found = all_costs(space), match_block(space, truth)
    rows, cols = linear_sum_assignment(costs)
    assert found.costs.sum() == pytest.approx(costs[rows, cols].sum(), abs=1e-9)
    assert (found.profits[:, None] <= costs + found.prices[None, :] + 1e-12).all()
    assert found.prices.min() >= 0.0
    assert found.profits.sum() - found.prices.sum() == pytest.approx(found.costs.sum(), abs=1e-8)  # they prove it
    total, gap = gap_of_blocks(found.costs, found.profits, found.prices)
    assert total == pytest.approx(found.costs.sum()) and gap < 1e-8
    assert (least_of_block(space, found.prices, np.full(n, np.inf))) == pytest.approx(
        (costs + found.prices[None, :]).min(axis=1)
    )


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 10_000))
def test_the_order_of_rows_shows_in_nothing(n, seed):
    space, truth = block(n, seed, 2)
    rng = np.random.default_rng(seed)
    rows, cols = rng.permutation(n), rng.permutation(n)
    back = np.argsort(cols)
    one, other = match_block(space, truth), match_block(space.of(rows, cols), back[truth[rows]])
    assert other.profits.tolist() == one.profits[rows].tolist()
    assert other.prices.tolist() == one.prices[cols].tolist()
    assert other.credit.tolist() == one.credit[rows].tolist()
    assert other.alike.tolist() == one.alike[rows].tolist() and other.farthest.tolist() == one.farthest[rows].tolist()
    assert sorted(other.costs.tolist()) == sorted(one.costs.tolist())


def test_prices_of_a_chain_are_raised_link_by_link():
    """Three people on a line, all left of the records: each but the last would rather have another's."""
    space = Space(
        np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 1.0], [2.0, 1.0], [9.0, 1.0]]),
        *(np.zeros((3, 0), np.int32) for _ in range(2)), EUCLIDEAN, np.ones(2), np.zeros(0), np.zeros(0), 1e-9, 1e-18,
    )  # fmt: skip
    found, costs = match_block(space, np.arange(3)), all_costs(space)
    assert found.costs.sum() == pytest.approx(costs[linear_sum_assignment(costs)].sum())
    assert found.prices[2] == 0.0 and (found.prices[:2] > 0).all()
    assert found.profits.sum() - found.prices.sum() == pytest.approx(found.costs.sum())
