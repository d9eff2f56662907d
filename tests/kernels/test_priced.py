"""Objects of least cost + price: as a look at every pair finds them, in all norms and for any prices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces

from naive import nearest as naive
from unmask.kernels.search import priced


def costs_of(index, *, squared):
    """Cost of every pair, objects as the index numbers them."""
    reduced = np.array(naive.distances(index.space))
    return np.sqrt(reduced) if index.space.norm == 2 and not squared else reduced


def agree(index, price, cost, cut, size):
    """What is found are the least below the cut: as many as there are, each below it, none left out that is less."""
    total = cost + price
    priced.update_prices(index, price)
    found = priced.found_below(index, price, np.arange(len(cut)), cut, size)
    rounding = 1e-9 * np.abs(total[np.isfinite(total)]).max(initial=1.0)
    for row, items, most in zip(total, found, cut, strict=True):
        mine = items[items >= 0]
        below = np.sort(row[row < most - rounding])
        assert len(mine) >= min(size, len(below))
        assert len(np.unique(mine)) == len(mine)
        assert (row[mine] <= most + rounding).all()
        np.testing.assert_allclose(np.sort(row[mine])[: len(below)], below[: len(mine)], rtol=0, atol=rounding)


@settings(max_examples=200, deadline=None)
@given(space=spaces(max_queries=8, max_points=200), seed=st.integers(0, 2**32 - 1), squared=st.booleans())
def test_the_least_below_a_cut_are_found(space, seed, squared):
    rng = np.random.default_rng(seed)
    index, _ = priced.index_points(space, squared=squared)
    cost = costs_of(index, squared=squared)
    size = float(cost.max()) or 1.0
    price = size * rng.choice([0.0, -1.0, 0.3, 2.0]) * rng.random(cost.shape[1])
    price[rng.random(len(price)) < 0.1] = np.inf if rng.random() < 0.5 else -3.0 * size
    cut = np.where(rng.random(len(cost)) < 0.3, np.inf, np.quantile(cost, rng.random()) + rng.normal() * size)
    agree(index, price, cost, cut, int(rng.integers(1, 20)))


def test_in_many_leaves_where_one_object_of_each_is_cheap():
    """The least price of a leaf then says nothing of its others; the last leaf is not full."""
    rng = np.random.default_rng(0)
    space = plain(rng.normal(size=(40, 13)), rng.normal(size=(1003, 13)))
    for squared in (False, True):
        index, _ = priced.index_points(space, squared=squared)
        cost = costs_of(index, squared=squared)
        price = rng.random(1003) * cost.max()
        price[::48] = 0.0
        agree(index, price, cost, np.full(40, np.inf), 16)
        agree(index, price, cost, np.quantile(cost + price, 0.02, axis=1), 16)
