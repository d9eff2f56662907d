"""Exact prices from nearly exact ones: as by definition, proven, as SciPy finds them, and after few phases."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from spaces import plain, spaces
from test_assignment import check

from unmask.kernels.assignment import credits, solve, solver  # noqa: A004
from unmask.kernels.assignment.allocation import give, new_allocation
from unmask.kernels.assignment.bidding import empty_queue
from unmask.kernels.assignment.candidates import empty_lists
from unmask.kernels.assignment.forward_reverse import Side
from unmask.kernels.assignment.settling import settled_prices
from unmask.kernels.base import Space
from unmask.kernels.compiling import kernel
from unmask.kernels.search import priced


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


@kernel
def given_to(m, cols, costs):
    for i in range(len(cols)):
        give(m, i, cols[i], costs[i, cols[i]])


def held(costs, cols, price):
    """One side of an auction in which everybody lists everything and holds ``cols``."""
    n = len(costs)
    lists = empty_lists(np.full(n, n))
    lists.item[:], lists.cost[:], lists.length[:] = np.tile(np.arange(n), n), costs.ravel(), n
    state = new_allocation(np.ones(n, np.int64), np.ones(n, np.int64))
    state.price[:] = price
    given_to(state, np.asarray(cols), costs)
    one = plain(np.zeros((1, 1)), np.zeros((1, 1)))
    return Side(priced.index_points(one, squared=False)[0], lists, state, empty_queue(n))


def test_prices_by_hand():
    # 0 holds a at 1 + 5 and would have b at 4 + 0: a falls to 3; then 1, who holds b at 2, would have a at 4: enough
    side = held(np.array([[1.0, 4.0], [1.0, 2.0]]), [0, 1], [5.0, 0.0])
    assert settled_prices(side).tolist() == [3.0, 0.0]
    assert side.state.price.tolist() == [5.0, 0.0]  # what the auction goes on with


def test_a_lowering_that_goes_round_is_given_up():
    side = held(np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1], [0.0, 0.0])  # both would rather swap
    assert settled_prices(side) is None


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9), best=st.booleans())
def test_the_best_matching_settles_and_no_other(seed, n, best):
    """Whole numbers, so that sums are exact: whatever the prices at first, the best matching has exact ones."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 20, (n, n)).astype(float)
    cols = linear_sum_assignment(costs)[1]
    if not best:
        cols = rng.permutation(n)
    rows = np.arange(n)
    before = rng.integers(-20, 20, n).astype(float)
    price = settled_prices(held(costs, cols, before))
    if costs[rows, cols].sum() > costs[linear_sum_assignment(costs)].sum():
        assert price is None
    elif price is not None:  # a lowering may look as if it went round, and is given up
        assert (price <= before).all()
        assert (costs[rows, cols] + price[cols] == (costs + price).min(axis=1)).all()
    elif best:
        assert n > 4


@settings(max_examples=80, deadline=None)
@given(space=spaces(max_queries=60, max_points=60), squared=st.booleans())
def test_with_and_without_settling_as_scipy(space, squared):
    check(space, solve(space, squared=squared), squared=squared)
    with patch.object(solver, "settled_prices", lambda _: None):
        check(space, solve(space, squared=squared), squared=squared)


@pytest.mark.parametrize("make", [five_ranks, five_categories])
@pytest.mark.parametrize("sizes", [(300, 300), (200, 300), (300, 200)])
def test_few_values_have_the_total_of_all_phases(make, sizes):
    space = make(300).of(slice(sizes[0]), slice(sizes[1]))
    found = solve(space)
    check(space, found)
    with patch.object(solver, "settled_prices", lambda _: None):
        slow = solve(space)
    assert slow.total == found.total
    assert found.gap <= max(slow.gap, 1e-13)


@pytest.mark.parametrize(
    "make", [five_categories, five_ranks, lambda n: plain(*np.random.default_rng(0).normal(size=(2, n, 5)))]
)
def test_ten_phases_become_few(make):
    told = []
    found = solve(make(1000), progress=lambda _, text: told.append(text))
    assert found.optimal
    assert found.gap < 1e-13
    assert sum("epsilon" in text for text in told) <= 5


def test_prices_that_prove_nothing_are_not_taken():
    space = five_ranks(300)
    asked = []

    def guess(side):
        asked.append(1)
        return np.random.default_rng(0).normal(size=len(side.state.price))

    with patch.object(solver, "settled_prices", guess):
        check(space, solve(space))
    assert len(asked) > 3


def test_shares_do_not_depend_on_how_prices_became_exact():
    space = five_ranks(400, seed=2)
    space = plain(space.queries[:, :2], space.points[:, :2], norm=0)
    early = credits(space, solve(space), np.arange(400), draws=2000)
    with patch.object(solver, "settled_prices", lambda _: None):
        late = credits(space, solve(space), np.arange(400), draws=2000)
    assert np.array_equal(early.exact, late.exact)
    np.testing.assert_allclose(early.credit[early.exact], late.credit[late.exact], atol=1e-12)
    np.testing.assert_allclose(early.credit, late.credit, atol=0.03)
