from __future__ import annotations

import csv
import json
import os
import time
from pathlib import Path
from unittest.mock import patch

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces

from naive import assignment as naive
from unmask.kernels.assignment import credits, optima, solve  # noqa: A004

SHARED = Path(os.environ.get("UNMASK_DATA", Path(__file__).parents[3] / "shared"))
GOLDEN = (SHARED.parent if SHARED.name == "data" else SHARED) / "golden"
golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason=f"no reference values at {GOLDEN}")
many = settings(max_examples=80, deadline=None)


def noisy(n, p, kappa, seed=0):
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p))
    return original, original + kappa * original.std(axis=0) * rng.normal(size=(n, p))


def microaggregated(x, k):
    order = np.argsort(x[:, 0] + x[:, 1])
    groups = np.arange(len(x)) // k
    means = np.stack([x[order[groups == g]].mean(axis=0) for g in np.unique(groups)])
    y = np.empty_like(x)
    y[order] = means[groups]
    return y


def check(space, matching, *, squared=False):
    """One-to-one and complete, total as SciPy's, and a proof over all pairs that does not use the solver."""
    n_queries, n_points = len(space.queries), len(space.points)
    pairs = matching.cols[matching.cols >= 0]
    assert len(pairs) == len(set(pairs.tolist())) == min(n_queries, n_points)
    costs = naive.cost_matrix(space, squared=squared)
    rows = np.flatnonzero(matching.cols >= 0)
    np.testing.assert_allclose(matching.costs[rows], costs[rows, pairs], rtol=1e-12)
    scale = max(float(np.abs(costs).max()), np.finfo(float).tiny)
    best = naive.least_total(space, squared=squared)
    assert matching.total == pytest.approx(best, rel=1e-9, abs=1e-13 * scale)
    assert naive.violation(space, matching, squared=squared) <= 1e-12 * scale
    # costs may differ so much in size that double precision cannot prove the small ones
    assert matching.optimal or matching.gap * best <= 1e-13 * scale * max(n_queries, n_points)
    assert matching.dual <= min(best, matching.total)
    proven = matching.profits.sum() - matching.prices.sum()
    assert proven == pytest.approx(best, rel=1e-9, abs=1e-10 * scale * max(n_queries, n_points))


def test_three_rows_by_hand():
    # greedy links 0-0 first (1) and then pays 9; the optimum takes 2 + 2
    space = plain([[0.0], [3.0]], [[1.0], [-9.0]], norm=1)
    found = solve(space)
    assert found.cols.tolist() == [1, 0]
    assert found.total == 11.0
    assert found.optimal


@many
@given(space=spaces(max_queries=60, max_points=60), squared=st.booleans())
def test_equals_scipy_on_troublesome_tables(space, squared):
    check(space, solve(space, squared=squared), squared=squared)


@pytest.mark.parametrize("norm", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(400, 400), (300, 700), (700, 300), (3, 900)])
def test_equals_scipy_on_noise(norm, sizes):
    original, released = noisy(900, 6, 0.5, seed=norm)
    check_space = plain(original[: sizes[0]], released[: sizes[1]], norm=norm)
    check(check_space, solve(check_space))


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize("norm", [0, 1, 2])
def test_equals_scipy_on_rounded_tables(norm, digits):
    original, released = noisy(600, 3, 0.5, seed=5)
    space = plain(np.round(original, digits), np.round(released, digits), norm=norm)
    check(space, solve(space))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("norm", [0, 1, 2])
def test_one_attribute(norm, squared):
    original, released = noisy(400, 1, 0.5, seed=norm)
    for digits in (0, 1, 9):
        space = plain(np.round(original, digits), np.round(released, digits), norm=norm)
        check(space, solve(space, squared=squared), squared=squared)


def test_chebyshev_on_ranks_is_solved_to_the_integer():
    original, released = noisy(500, 5, 0.5)
    ranks = [np.argsort(np.argsort(side, axis=0), axis=0).astype(float) for side in (original, released)]
    space = plain(*ranks, norm=0)
    found = solve(space)
    check(space, found)
    assert found.total == round(found.total)


@pytest.mark.parametrize("squared", [False, True])
def test_certificate_holds_over_all_pairs_of_two_thousand(squared):
    space = plain(*noisy(2000, 8, 0.7))
    check(space, solve(space, squared=squared), squared=squared)


def test_groups_of_equal_records():
    original, _ = noisy(1000, 5, 0.0)
    space = plain(original, microaggregated(original, 5))
    check(space, solve(space))
    check(space, solve(plain(space.points, space.queries)._replace(queries=space.queries, points=space.points)))


def test_rows_may_stand_in_any_order():
    original, released = noisy(400, 4, 0.5)
    space = plain(np.round(original, 1), np.round(released, 1))
    rng = np.random.default_rng(1)
    p, q = rng.permutation(400), rng.permutation(400)
    shuffled = plain(space.queries[p], space.points[q])
    first, second = solve(space), solve(shuffled, seed=3)
    assert first.total == pytest.approx(second.total, rel=1e-14)
    assert first.dual == pytest.approx(second.dual, rel=1e-14)
    np.testing.assert_array_equal(first.prices[q], second.prices)
    place = np.argsort(q)
    a = credits(space, first, np.arange(400), seed=7)
    b = credits(shuffled, second, place[p], seed=7)
    np.testing.assert_allclose(a.credit[p], b.credit, atol=1e-12)


def test_threads_do_not_matter():
    space = plain(*noisy(3000, 6, 0.5))
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = solve(space)
    finally:
        numba.set_num_threads(before)
    two = solve(space)
    np.testing.assert_array_equal(one.cols, two.cols)
    np.testing.assert_array_equal(one.prices, two.prices)
    assert one.dual == two.dual


@pytest.mark.parametrize(
    ("queries", "points"),
    [
        (np.zeros((1, 1)), np.ones((1, 1))),
        (np.ones((500, 3)), np.ones((500, 3))),
        (np.ones((100_000, 2)), np.ones((100_000, 2))),
        (np.ones((30, 2)), np.zeros((7, 2))),
    ],
)
def test_degenerate_files(queries, points):
    space = plain(queries, points)
    started = time.monotonic()
    found = solve(space)
    assert found.optimal
    assert (found.cols >= 0).sum() == min(len(queries), len(points))
    assert time.monotonic() - started < 60
    if len(queries) == len(points):
        share = credits(space, found, np.arange(len(queries)))
        np.testing.assert_allclose(share.credit, 1 / len(points))
        assert share.exact.all()


def test_ten_against_a_hundred_thousand():
    original, released = noisy(100_000, 4, 0.1)
    space = plain(original[:10], released)
    found = solve(space)
    assert found.optimal
    check(plain(space.queries, space.points[:3000]), solve(plain(space.queries, space.points[:3000])))


def test_empty_files_are_refused():
    with pytest.raises(ValueError, match="records"):
        solve(plain(np.zeros((0, 2)), np.ones((3, 2))))


def test_an_early_stop_is_feasible_and_bounded():
    space = plain(*noisy(1500, 8, 1.0))
    best = solve(space)
    texts = []
    near = solve(space, max_gap=0.05, progress=lambda share, text: texts.append((share, text)))
    assert best.total <= near.total <= best.total * 1.05
    assert near.dual <= best.total
    assert near.gap <= 0.05
    assert texts[0][0] == 0.0
    assert texts[-1][0] == 1.0
    late = solve(space, time_budget=0.0)
    assert sorted(late.cols) == list(range(1500))
    assert late.dual <= best.total * (1 + 1e-12)
    assert not late.optimal


@many
@given(st.data())
def test_credits_equal_all_permutations(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    sizes = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    levels, p = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    space = plain(*(rng.integers(0, levels, (n, p)) for n in sizes), norm=data.draw(st.sampled_from([0, 1, 2])))
    truth = rng.integers(-1, sizes[1], sizes[0])
    found = credits(space, solve(space), truth)
    assert found.exact.all()
    np.testing.assert_allclose(found.credit, naive.shares(space, truth), atol=1e-9)


def test_sampled_credits_are_near_the_counted_ones(monkeypatch):
    rng = np.random.default_rng(4)
    space = plain(rng.integers(0, 2, (6, 3)), rng.integers(0, 2, (6, 3)), norm=1)
    truth = np.arange(6)
    monkeypatch.setattr("unmask.kernels.assignment.optima.COUNTED", 0)
    found = credits(space, solve(space), truth, draws=4000)
    np.testing.assert_allclose(found.credit, naive.shares(space, truth), atol=0.05)


def test_credits_of_an_identical_release_are_ties_only():
    x = np.random.default_rng(0).integers(0, 4, (300, 3)).astype(float)
    space = plain(x, x)
    found = credits(space, solve(space), np.arange(300))
    _, label, size = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_allclose(found.credit, 1 / size[label])


def golden_table(name):
    with (GOLDEN / f"rl_census300_{name}.csv").open() as file:
        return list(csv.DictReader(file))


def golden_values(name):
    return np.array([[float(v) for v in row.values()] for row in golden_table(name)])


@golden
@pytest.mark.casc
@pytest.mark.parametrize(("name", "norm"), [("euclidean_std", 2), ("manhattan", 1), ("gower", 1)])
def test_equals_sdcmicro(name, norm):
    """Pairs and totals of sdcMicro 5.8.1 (golden/README.md)."""
    x, y = golden_values("x"), golden_values("y")
    if name == "euclidean_std":
        x, y = ((side - golden_values("x").mean(0)) / golden_values("x").std(0, ddof=1) for side in (x, y))
    if name == "gower":
        both = np.concatenate([x, y])
        x, y = (side / (both.max(0) - both.min(0)) / x.shape[1] for side in (x, y))
    found = solve(plain(x, y, norm=norm))
    scalars = json.loads((GOLDEN / "scalars.json").read_text())["recordLinkage"][f"census300_{name}"]
    assert found.optimal
    assert found.total == pytest.approx(scalars["total_distance"], rel=1e-9)
    pairs = {int(row["x_row"]) - 1: int(row["y_row"]) - 1 for row in golden_table(f"{name}_matches")}
    assert [pairs[i] for i in range(300)] == found.cols.tolist()
    assert int((found.cols == np.arange(300)).sum()) == scalars["correct_matches"]


@many
@given(space=spaces(max_queries=40, max_points=40), seed=st.integers(0, 99))
def test_tight_pairs_are_the_same_by_searches_and_by_a_look_at_all(space, seed):
    found, truth = solve(space), np.random.default_rng(seed).integers(-1, len(space.points), len(space.queries))
    searched = credits(space, found, truth, draws=20)
    with patch.object(optima, "_MANY", -1):
        looked = credits(space, found, truth, draws=20)
    np.testing.assert_array_equal(searched.credit, looked.credit)
    np.testing.assert_array_equal(searched.exact, looked.exact)
