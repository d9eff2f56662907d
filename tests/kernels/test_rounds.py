"""The matching in rounds: as SciPy's within the gap that it proves, whoever is asked, and in how many parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces

from naive import assignment as naive
from unmask.kernels.assignment import Pairs, solve, solve_in_rounds
from unmask.kernels.base import Space


def noisy(n, p, kappa, seed=0):
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p))
    return original, original + kappa * original.std(axis=0) * rng.normal(size=(n, p))


def in_blocks(n=400):
    """Numbers with noise, and two categories that every record keeps: they cut the task."""
    a, b = noisy(n, 2, 0.5, seed=2)
    codes = np.random.default_rng(5).integers(0, 4, (n, 2)).astype(np.int32)
    return Space(a, b, codes, codes.copy(), 2, np.ones(2), np.full(2, 9.0), np.full(2, 4.0))


def in_parts(size, words=None):
    """Ask for so many bidders at a time, the last ones first."""

    def ask(look, said):
        if words is not None:
            words.append(said)
        n = len(look.cut)
        found = [look(np.arange(first, min(n, first + size))) for first in range(0, n, size)][::-1]
        return Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))

    return ask


def check(space, matching):
    """Complete, one to one, no better than SciPy's and no worse than it says; the bound holds over all pairs."""
    pairs = matching.cols[matching.cols >= 0]
    assert len(pairs) == len(set(pairs.tolist())) == min(len(space.queries), len(space.points))
    costs = naive.cost_matrix(space)
    scale = max(float(np.abs(costs).max()), np.finfo(float).tiny)
    rows = np.flatnonzero(matching.cols >= 0)
    np.testing.assert_allclose(matching.costs[rows], costs[rows, pairs], rtol=1e-12)
    best, slack = naive.least_total(space), 1e-13 * scale * max(len(space.queries), len(space.points))
    assert matching.dual <= best + slack
    assert best - slack <= matching.total <= best + matching.gap * matching.total + slack
    assert naive.violation(space, matching) <= 1e-12 * scale
    if matching.optimal:
        assert matching.total == pytest.approx(best, rel=1e-8, abs=slack)


@settings(max_examples=60, deadline=None)
@given(space=spaces(max_queries=50, max_points=50), size=st.integers(1, 60), rounds=st.integers(1, 6))
def test_total_and_bound_enclose_that_of_scipy(space, size, rounds):
    check(space, solve_in_rounds(space, in_parts(size), rounds=rounds))


@pytest.mark.parametrize("sizes", [(400, 400), (300, 700), (700, 300), (3, 900)])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_gap_is_reached_on_numbers_ties_and_unequal_files(sizes, digits):
    original, released = noisy(900, 5, 0.5, seed=digits)
    space = plain(np.round(original[: sizes[0]], digits), np.round(released[: sizes[1]], digits))
    found = solve_in_rounds(space, max_gap=1e-4)
    check(space, found)
    assert found.gap <= 1e-4
    assert found.total == pytest.approx(solve(space).total, rel=1e-4)


def test_categories_that_cut_the_task_are_matched_exactly():
    space = in_blocks()
    found = solve_in_rounds(space, rounds=40)
    check(space, found)
    assert found.optimal
    assert (space.query_codes == space.point_codes[found.cols]).all()


def test_parts_do_not_matter_to_the_last_digit():
    space = in_blocks()._replace(step=np.full(2, 0.5))
    words = []
    first, second = (solve_in_rounds(space, in_parts(size, words), seed=3, max_gap=1e-3) for size in (400, 17))
    assert first.cols.tolist() == second.cols.tolist()
    assert (first.total, first.dual, first.prices.tolist()) == (second.total, second.dual, second.prices.tolist())
    assert len(words) > 6  # both directions, and some rounds


def test_rows_may_stand_in_any_order():
    original, released = noisy(400, 4, 0.5)
    space = plain(np.round(original, 1), np.round(released, 1))
    rng = np.random.default_rng(1)
    shuffled = plain(space.queries[rng.permutation(400)], space.points[rng.permutation(400)])
    first, second = (solve_in_rounds(one, max_gap=1e-3) for one in (space, shuffled))
    assert (first.total, first.dual) == pytest.approx((second.total, second.dual), rel=1e-14)


def test_few_rounds_say_how_far_they_got():
    space = plain(*noisy(600, 8, 1.0))
    gaps = [solve_in_rounds(space, rounds=rounds).gap for rounds in (1, 2, 8)]
    assert gaps[0] > gaps[1] > gaps[2] and gaps[0] > 1e-5
    told = []
    solve_in_rounds(space, max_gap=0.5, progress=lambda done, words: told.append((done, words)))
    assert told[0] == (0.0, "candidates") and all(a[0] <= b[0] <= 1 for a, b in pairwise(told))
