"""The beginning with nearest objects: as by definition, as SciPy finds it whether or not it is taken, and enough."""

from __future__ import annotations

from unittest.mock import patch

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces
from test_assignment import check, microaggregated, noisy

from naive import assignment as naive
from unmask.kernels.assignment import opening, solve, solver
from unmask.kernels.assignment.allocation import holdings
from unmask.kernels.search import priced

never = patch.object(solver, "give_nearest", lambda *_: None)
always = patch.object(opening, "_SHARED", 1.0)


def prepared(space):
    return solver._prepare(space, squared=False)


def costs_of(side):
    """What bidders pay for objects, as the auction numbers them, by a look at all pairs."""
    return naive.cost_matrix(side.objects.space)


@settings(max_examples=120, deadline=None)
@given(space=spaces(max_queries=60, max_points=60), squared=st.booleans())
def test_with_and_without_it_as_scipy(space, squared):
    with always:
        check(space, solve(space, squared=squared), squared=squared)
    with never:
        check(space, solve(space, squared=squared), squared=squared)


@settings(max_examples=120, deadline=None)
@given(space=spaces(max_queries=60, max_points=60))
def test_everybody_holds_a_nearest_object_and_knows_it(space):
    _, auction = prepared(space)
    side = auction.forward
    with always:
        nearest = opening.give_nearest(auction, lambda: False)
    assert (nearest is None) == bool(side.state.supply[: len(side.objects.space.queries)].max() > 1)
    if nearest is None:
        return
    costs = costs_of(side)
    np.testing.assert_allclose(nearest, costs.min(axis=1), rtol=1e-12, atol=0)
    holder, item, amount, cost = holdings(side.state)
    assert len(holder) > 0
    assert (cost == nearest[holder]).all()
    np.testing.assert_allclose(costs[holder, item], cost, rtol=1e-12, atol=0)
    supply, capacity = side.state.supply.copy(), side.state.capacity
    assert (np.bincount(item, weights=amount, minlength=len(capacity)) == side.state.used).all()
    assert (side.state.used <= capacity).all()
    if auction.dummy >= 0:
        supply[auction.dummy] = 0
    assert (np.bincount(holder, weights=amount, minlength=len(supply)) + side.state.free == supply).all()
    assert (side.lists.threshold[holder] <= cost).all()  # a bound that all others obey


def test_where_too_many_want_the_same_nothing_is_given():
    original, released = noisy(1500, 6, 2.0)
    _, auction = prepared(plain(original, released))
    assert opening.give_nearest(auction, lambda: False) is None
    assert not auction.forward.state.used.any()
    assert not auction.forward.lists.length.any()


def test_a_class_of_many_is_not_served_by_one_object():
    """Groups of five: their means have different nearest people, but each wants five."""
    original, _ = noisy(1000, 5, 0.0)
    _, auction = prepared(plain(original, microaggregated(original, 5)))
    assert opening.give_nearest(auction, lambda: False) is None


@pytest.mark.parametrize("sizes", [(1500, 1500), (1400, 1500), (1500, 1400)])
def test_a_release_near_the_truth_needs_no_phase(sizes):
    original, released = noisy(1500, 13, 0.1)
    space, told = plain(original[: sizes[0]], released[: sizes[1]]), []
    found = solve(space, progress=lambda _, text: told.append(text))
    check(space, found)
    assert found.gap < 1e-12
    assert not any("epsilon" in text for text in told)
    with never:
        assert solve(space).total == pytest.approx(found.total, rel=1e-14)


def test_bids_that_end_in_a_circle_are_left_to_the_phases():
    """Pairs of people between the same two records: both are equally near to both of them."""
    rng = np.random.default_rng(0)
    places = np.repeat(np.arange(400.0) * 10, 2)
    side = np.tile([-1.0, 1.0], 400)
    space = plain(np.column_stack([places, side]), np.column_stack([places + rng.choice([0.0], 800), 0 * side]))
    space = space._replace(points=np.ascontiguousarray(space.points + np.column_stack([side, 0 * side])))
    with always:
        check(space, solve(space))
    check(space, solve(space))


def test_rows_and_threads_do_not_matter():
    original, released = noisy(1500, 13, 0.1)
    space, rng = plain(original, released), np.random.default_rng(1)
    p, q = rng.permutation(1500), rng.permutation(1500)
    first, second = solve(space), solve(plain(original[p], released[q]), seed=3)
    assert np.array_equal(first.prices[q], second.prices)
    assert np.array_equal(np.argsort(q)[first.cols[p]], second.cols)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = solve(space)
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(alone.cols, first.cols)
    assert np.array_equal(alone.prices, first.prices)
    assert np.array_equal(alone.profits, first.profits)


@pytest.mark.parametrize("noise", [0.4, 0.7, 1.0])
def test_the_file_whose_nearest_records_are_farther_bids(noise):
    """What all of a side pay at the least is a bound of the total: the higher one is nearer to it."""
    space = plain(*noisy(1500, 8, noise))
    layout, auction = prepared(space)
    assert prepared(space.swapped())[0].swapped != layout.swapped
    mine, others = costs_of(auction.forward).min(axis=1), costs_of(auction.forward).min(axis=0)
    assert mine.sum() > others.sum()


@pytest.mark.parametrize("columns", [3, 120])
def test_nearest_objects_are_those_of_a_look_at_all(columns):
    rng = np.random.default_rng(0)
    space = plain(rng.normal(size=(300, columns)), rng.normal(size=(500, columns)))
    for squared in (False, True):
        index, _ = priced.index_points(space, squared=squared)
        assert bool(len(index.wide.tiles)) == (columns > 100)
        costs = naive.cost_matrix(index.space, squared=squared)
        some = np.array([5, 299, 0])
        item, cost = priced.nearest_objects(index, some)
        assert (item == costs[some].argmin(axis=1)).all()
        np.testing.assert_allclose(cost, costs[some].min(axis=1), rtol=1e-12)
