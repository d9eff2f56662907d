"""Exact prices along a forest of tight pairs: proven, as SciPy finds them, and after few phases."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata
from spaces import plain, spaces
from test_assignment import check

from unmask.kernels.assignment import credits, solve, solver  # noqa: A004
from unmask.kernels.assignment.forest import _span
from unmask.kernels.base import Space


def moved(n, seed=0):
    """Five values a column, some of them the next ones in the other file."""
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 5, (n, 5))
    return known, np.clip(known + rng.integers(-1, 2, known.shape), 0, 4)


def five_ranks(n, seed=0):
    """Compared by their ranks: many distances are equal."""
    return plain(*(np.array([rankdata(column) for column in side.T]).T for side in moved(n, seed)), norm=0)


def five_categories(n, seed=0):
    """Compared as categories, the largest difference counting: all distances are equal, but for equal records."""
    codes, none = [side.astype(np.int32) for side in moved(n, seed)], np.zeros((n, 0))
    return Space(none, none, *codes, 0, np.zeros(0), np.full(5, n / 3), np.full(5, n / 4))


def test_a_forest_by_hand():
    # pairs 0-3 (cost 2), 1-3 (cost 5), 1-4 (cost 1); 2 stays alone; the last pair closes a circle and is left out
    root, level = _span(5, np.array([0, 1, 1, 0]), np.array([3, 3, 4, 4]), np.array([2.0, 5.0, 1.0, 99.0]))
    assert root[2] == 2
    assert len({*root[[0, 1, 3, 4]].tolist()}) == 1
    assert level[0] - level[3] == 2.0
    assert level[1] - level[3] == 5.0
    assert level[1] - level[4] == 1.0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30), pairs=st.integers(0, 60))
def test_levels_give_every_cost_that_comes_from_levels(seed, n, pairs):
    rng = np.random.default_rng(seed)
    a, b, true = rng.integers(0, n, pairs), rng.integers(0, n, pairs), rng.integers(-50, 50, n).astype(float)
    root, level = _span(n, a, b, true[a] - true[b])
    assert np.array_equal(level[a] - level[b], true[a] - true[b])
    label = connected_components(coo_array((np.ones(pairs), (a, b)), shape=(n, n)), directed=False)[1]
    assert np.array_equal(label[:, None] == label, root[:, None] == root)


@settings(max_examples=80, deadline=None)
@given(space=spaces(max_queries=60, max_points=60), squared=st.booleans())
def test_prices_made_exact_after_every_phase_equal_scipy(space, squared):
    with patch.object(solver, "_SEARCHED", -1):
        check(space, solve(space, squared=squared), squared=squared)


@pytest.mark.parametrize("make", [five_ranks, five_categories])
@pytest.mark.parametrize("sizes", [(300, 300), (200, 300), (300, 200)])
def test_few_values_have_the_total_of_all_phases(make, sizes):
    space = make(300).of(slice(sizes[0]), slice(sizes[1]))
    found = solve(space)
    check(space, found)
    with patch.object(solver, "_SEARCHED", np.inf):
        slow = solve(space)
    assert slow.total == found.total
    assert found.gap <= max(slow.gap, 1e-13)


def test_ten_phases_become_three():
    told = []
    found = solve(five_categories(1000), progress=lambda _, text: told.append(text))
    assert found.optimal
    assert sum("epsilon" in text for text in told) <= 3


def test_prices_that_prove_nothing_are_not_taken():
    space = five_ranks(300)
    with (
        patch.object(solver, "_SEARCHED", -1),
        patch.object(
            solver, "snapped_prices", lambda side, _: np.random.default_rng(0).normal(size=len(side.state.price))
        ),
    ):
        check(space, solve(space))


def test_shares_do_not_depend_on_how_prices_became_exact():
    space = five_ranks(400, seed=2)
    space = plain(space.queries[:, :2], space.points[:, :2], norm=0)
    with patch.object(solver, "_SEARCHED", -1):
        early = credits(space, solve(space), np.arange(400), draws=2000)
    late = credits(space, solve(space), np.arange(400), draws=2000)
    assert np.array_equal(early.exact, late.exact)
    np.testing.assert_allclose(early.credit[early.exact], late.credit[late.exact], atol=1e-12)
    np.testing.assert_allclose(early.credit, late.credit, atol=0.03)
