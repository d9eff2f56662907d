"""Sorting apart, and turning rows: the machine's form against the plain one, and both against what they are for."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.kernels.base import EUCLIDEAN, LEAF
from unmask.kernels.compiling import planting
from unmask.kernels.search import frame, splitting
from unmask.kernels.search.splitting import split_leaves

many = settings(max_examples=100, deadline=None)


@numba.njit
def divide(keys, first, last, pivot, room):
    return splitting.divide(keys, first, last, pivot, room)


@numba.njit
def on_lesser_machines(keys, first, last, pivot, room):
    return splitting.divide(keys, first, last, pivot, room)


def lesser(*args):
    """The same where the machine lacks the instruction that moves chosen numbers together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planting, "has_compress", lambda _context: False)
        return on_lesser_machines(*args)


@numba.njit
def turn(rotation, room, turned):
    frame.turn(rotation, room, turned)


def as_written(function):
    return numba.njit(getattr(function, "py_func", function))


@many
@given(
    n=st.integers(0, 70),
    first=st.integers(0, 9),
    rest=st.integers(0, 9),
    seed=st.integers(0, 2**30),
    part=st.floats(0, 1),
)
def test_smaller_keys_come_first_and_the_others_stay(n, first, rest, seed, part):
    rng = np.random.default_rng(seed)
    keys = rng.integers(-(2**63), 2**63 - 1, first + n + rest)
    pivot = int(np.quantile(keys.astype(float), part)) if len(keys) else 0
    wanted = sorted(keys[first : first + n])
    below = int((keys[first : first + n] < pivot).sum())
    for kernel in (divide, lesser, as_written(splitting.divide)):
        mine, room = keys.copy(), np.zeros(n, np.int64)
        assert kernel(mine, first, first + n, pivot, room) == first + below
        assert (mine[:first] == keys[:first]).all()
        assert (mine[first + n :] == keys[first + n :]).all()
        assert (mine[first : first + below] < pivot).all()
        assert sorted(mine[first : first + n]) == wanted


@pytest.mark.parametrize("p", [1, 2, 13, 40])
@pytest.mark.parametrize("columns", [32, 64])
def test_rows_are_turned_as_a_product_turns_them(p, columns):
    rng = np.random.default_rng(p)
    rotation, room = rng.normal(size=(p, p)), rng.normal(size=(p, columns))
    for kernel in (turn, as_written(frame.turn)):
        turned = np.full((p, columns), np.nan)
        kernel(rotation, room, turned)
        np.testing.assert_allclose(turned, rotation.T @ room, rtol=0, atol=1e-13 * p)


@many
@given(
    n=st.integers(1, 900),
    values=st.sampled_from([1, 2, 30, 10**6]),
    lost=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 2**30),
)
def test_halves_are_split_at_the_median_whatever_the_numbers_are(n, values, lost, seed):
    rng = np.random.default_rng(seed)
    table = (rng.integers(0, values, (n, 1)) - values // 2).astype(np.float32)
    table[rng.random((n, 1)) < lost] = np.nan
    order, leaves = np.arange(n), -(-n // LEAF)
    one = np.ones(1, np.float32)
    split_leaves(table, (one, one, 1, EUCLIDEAN), order, leaves)
    assert sorted(order) == list(range(n))
    numbers = np.where(np.isnan(table[order, 0]), np.inf, table[order, 0])  # what is missing comes last
    most = [numbers[k : k + LEAF].max() for k in range(0, n, LEAF)]
    least = [numbers[k : k + LEAF].min() for k in range(0, n, LEAF)]
    assert all(a <= b for a, b in zip(most[:-1], least[1:], strict=True))
