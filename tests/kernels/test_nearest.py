from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from spaces import plain, spaces

from naive import nearest as naive
from unmask.kernels.base import Space
from unmask.kernels.search import (
    count_closer,
    decide,
    decide_few,
    decision_of,
    distance_of_pairs,
    nearest,
    nearest_k,
    plant,
    rank_of_truth,
    tied,
)
from unmask.kernels.search.ties import SIDES

many = settings(max_examples=150, deadline=None)


def truths(space, rng):
    return rng.integers(-1, len(space.points), len(space.queries))


def noisy(n, p, kappa, seed=0):
    rng = np.random.default_rng(seed)
    original = np.exp(rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) * 0.5 + 0.3 * rng.normal(size=(n, p)))
    return original, original + kappa * original.std(axis=0) * rng.normal(size=(n, p))


def test_four_rows_by_hand():
    space = plain([[0.0], [5.0]], [[1.0], [-1.0], [1.0], [7.0]], norm=1)
    found = nearest(space)
    assert found.least.tolist() == [1.0, 2.0]
    assert found.second.tolist() == [7.0, 4.0]
    assert found.ties.tolist() == [3, 1]
    assert found.row[1] == 3
    start, rows = tied(space)
    assert start.tolist() == [0, 3, 4]
    assert rows.tolist() == [0, 1, 2, 3]
    decision = decide(space, np.array([2, 0]))
    assert decision.closer.tolist() == [False, True]
    assert decision.credit.tolist() == [1 / 3, 0.0]
    assert rank_of_truth(space, np.array([3, 1]), cap=9).tolist() == [3, 3]


@many
@given(space=spaces(), seed=st.integers(0, 2**40))
def test_nearest_equals_definition(space, seed):
    found = nearest(space, seed=seed)
    for i, (least, second, ties) in enumerate(naive.nearest(space)):
        assert found.least[i] == least
        assert found.second[i] == second
        assert found.ties[i] == len(ties)
        assert found.row[i] in ties


@many
@given(space=spaces(), seed=st.integers(0, 9))
def test_decision_equals_definition_and_full_search(space, seed):
    tree = plant(space)
    truth = truths(space, np.random.default_rng(seed))
    decision = decide(space, truth, tree=tree)
    assert list(zip(decision.closer, decision.ties, strict=True)) == naive.decide(space, truth)
    found = nearest(space, tree=tree)
    true = [naive.distance(space, i, j) if j >= 0 else np.inf for i, j in enumerate(truth)]
    linked = np.array(true) <= found.least * (1 + space.tolerance) + space.floor
    assert decision.credit.tolist() == np.where(linked, 1 / found.ties, 0.0).tolist()
    for one, other in zip(decision, decision_of(space, truth, found), strict=True):
        assert one.tolist() == other.tolist()


@many
@given(
    seed=st.integers(0, 2**32), q=st.integers(1, 5), norm=st.integers(0, 2), lost=st.sampled_from([0.0, 0.1]),
    step=st.sampled_from([1.0, 1 / 30, 1e-12, 7e11]),
)  # fmt: skip
def test_categories_that_are_all_equally_far(seed, q, norm, lost, step):
    """Nothing beyond the second-best distance is looked at: what is just at it must not be lost with that."""
    rng = np.random.default_rng(seed)
    sides = [rng.integers(0, 3, (n, q)).astype(np.int32) for n in (20, 130)]
    for side in sides:
        side[rng.random(side.shape) < lost] = -1
    steps = np.where(rng.random(q) < 0.2, 0.0, step)
    none = np.zeros(0)
    space = Space(np.zeros((20, 0)), np.zeros((130, 0)), *sides, norm, none, steps, steps * rng.choice([0.9, 1.0]))
    found = nearest(space, seed=seed)
    for i, (least, second, ties) in enumerate(naive.nearest(space)):
        assert (found.least[i], found.second[i], found.ties[i]) == (least, second, len(ties))
        assert found.row[i] in ties


@many
@given(space=spaces(), seed=st.integers(0, 9))
def test_equal_queries_are_decided_as_if_each_asked(space, seed):
    """They have different true points, or none."""
    rng = np.random.default_rng(seed)
    space = space.of(rng.integers(0, len(space.queries), 30))
    truth = truths(space, rng)
    decision = decide(space, truth)
    assert list(zip(decision.closer, decision.ties, strict=True)) == naive.decide(space, truth)


@many
@given(space=spaces(max_points=300), seed=st.integers(0, 9), met=st.sampled_from([0, np.inf]))
def test_decisions_about_few_equal_definition(space, seed, met):
    """By meeting every point, and by a tree where many stay open."""
    truth = truths(space, np.random.default_rng(seed))
    decision = decide_few(space, truth, most=met)
    assert list(zip(decision.closer, decision.ties, strict=True)) == naive.decide(space, truth)


@many
@given(space=spaces(), cap=st.integers(1, 50), seed=st.integers(0, 9))
def test_ranks_equal_definition(space, cap, seed):
    truth = truths(space, np.random.default_rng(seed))
    ranks = rank_of_truth(space, truth, cap)
    assert ranks.tolist() == [min(cap, rank) for rank in naive.ranks(space, truth)]
    known = np.flatnonzero(truth >= 0)
    true = np.full(len(truth), np.inf)
    true[known] = distance_of_pairs(space, known, truth[known])
    half = len(space.points) // 2
    parts = [
        space._replace(points=space.points[rows], point_codes=space.point_codes[rows])
        for rows in (slice(0, half), slice(half, None))
        if len(space.points[rows])
    ]
    added = sum(count_closer(part, true, cap) for part in parts)
    assert np.minimum(added, cap)[known].tolist() == ranks[known].tolist()


@many
@given(space=spaces(), k=st.integers(1, 50))
def test_k_nearest_equal_definition(space, k):
    rows, found = nearest_k(space, k)
    for i, distances in enumerate(naive.distances(space)):
        m = min(k, len(distances))
        assert found[i, :m].tolist() == sorted(distances)[:m]
        assert [distances[j] for j in rows[i, :m]] == found[i, :m].tolist()
        assert len(set(rows[i, :m])) == m
        assert (rows[i, m:] == -1).all()
        assert np.isinf(found[i, m:]).all()


@many
@given(space=spaces(), seed=st.integers(0, 9))
def test_ties_are_listed(space, seed):
    chosen = np.random.default_rng(seed).integers(0, len(space.queries), 7)  # with repetitions
    start, rows = tied(space, chosen)
    expected = naive.nearest(space)
    for i, query in enumerate(chosen):
        assert rows[start[i] : start[i + 1]].tolist() == sorted(expected[query][2])


@many
@given(n=st.integers(1, 300), p=st.integers(1, 4), values=st.integers(1, 40), seed=st.integers(0, 2**20))
def test_ranks_with_many_ties_equal_the_definition(n, p, values, seed):
    """Equal queries are searched once: results as if one by one."""
    rng = np.random.default_rng(seed)
    step = rng.choice([2, 4, 8])  # halves are ranks of ties, quarters are between two of them
    points, queries = (rng.integers(0, values, (size, p)) / step for size in (n, 25))
    space = plain(queries, points, norm=0)
    tree = plant(space)
    assert tree.sharp or step == 8
    found = nearest(space, seed=seed, tree=tree)
    for i, (least, second, ties) in enumerate(naive.nearest(space)):
        assert (found.least[i], found.second[i], found.ties[i]) == (least, second, len(ties))
        assert found.row[i] in ties
    truth = truths(space, rng)
    decision = decide(space, truth, tree=tree)
    assert list(zip(decision.closer, decision.ties, strict=True)) == naive.decide(space, truth)
    assert rank_of_truth(space, truth, 40, tree=tree).tolist() == [min(40, rank) for rank in naive.ranks(space, truth)]


@pytest.mark.parametrize("p", [1, 2, 5, SIDES, SIDES + 1])
@pytest.mark.parametrize("copies", [1, 3])
def test_thousands_of_ranks_that_tie_are_counted(p, copies):
    """Most people share one value of a column, as of capital gains: boxes are counted whole, leaves by their bits."""
    rng = np.random.default_rng(p)
    points = 2000.0 + rng.integers(-100, 101, (4000, p)) / 2
    points[:, -1] = 2000.0
    others = rng.random(points.shape) < np.where(np.arange(p) < p - 1, 0.03, 0.1)
    points[others] = rng.integers(5000, 8000, others.sum()) / 2
    points = np.repeat(points, copies, axis=0)[rng.permutation(4000 * copies)]
    asked = rng.integers(0, len(points), 400)
    queries = points[asked] + rng.integers(-100, 101, (400, p))
    queries[:, -1] += rng.integers(-700, 701, 400)
    space = plain(queries, points, norm=0)
    far = np.abs(queries[:, None] - points[None]).max(axis=2)
    true = far[np.arange(400), asked]
    closer = (far < true[:, None]).any(axis=1)
    tree = plant(space)
    assert tree.sharp
    assert tree.weight.max() >= copies
    decision = decide(space, asked, tree=tree)
    assert (decision.closer == closer).all()
    ties = (far == true[:, None]).sum(axis=1)
    assert (decision.ties == np.where(closer, 0, ties)).all()
    assert (ties[~closer] > 1000).sum() > 20
    assert 20 < closer.sum() < 350
    found, least = nearest(space, seed=p, tree=tree), far.min(axis=1)
    assert (found.least == least).all()
    assert (found.second == np.where(far > least[:, None], far, np.inf).min(axis=1)).all()
    assert (found.ties == (far == least[:, None]).sum(axis=1)).all()
    assert (found.ties > 1000).sum() > 20
    for i in range(0, 400, 40):
        assert found.row[i] == naive.drawn(space, i, np.flatnonzero(far[i] == least[i]).tolist(), p)


@many
@given(space=spaces(max_points=300), seed=st.integers(0, 2**40))
def test_who_waits_the_shortest_of_those_that_tie_is_drawn(space, seed):
    """In any norm, where ties are a part of all points: among all of them anybody is picked."""
    found = nearest(space, seed=seed)
    for i, (_, _, ties) in enumerate(naive.nearest(space)):
        if len(ties) < len(space.points):
            assert found.row[i] == naive.drawn(space, i, ties, seed)


@pytest.mark.parametrize("weights", ["one", "some"])
def test_draws_among_thousands_are_those_of_the_definition(weights):
    """Leaf after leaf is excluded by the shortest time so far, of groups of one or several equal points."""
    rng = np.random.default_rng(3)
    points = np.column_stack(
        [rng.permutation(5000) % 4000 if weights == "some" else rng.permutation(5000), rng.integers(0, 2, 5000)]
    )
    points[:, 1] *= 9000
    queries = np.column_stack([rng.integers(0, 8000, 60) / 2, np.where(rng.random(60) < 0.5, -7000, 13500)])
    space = plain(queries, points, norm=0)
    found = nearest(space, seed=12)
    for i in range(60):
        far = np.abs(points - queries[i]).max(axis=1)
        ties = np.flatnonzero(far == far.min())
        assert len(ties) == found.ties[i] > 2000
        assert found.row[i] == naive.drawn(space, i, ties.tolist(), 12)


def test_a_tolerance_that_joins_ranks_is_kept():
    space = plain([[0.0]], [[1.0], [1.25], [3.0]], norm=0, tolerance=0.3)
    assert nearest(space).ties.tolist() == [2]


def test_equal_queries_draw_their_own_lots():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    found = nearest(plain(np.zeros((8000, 2)), points, norm=0))
    assert (found.ties == 4).all()
    assert np.abs(np.bincount(found.row, minlength=4) / 8000 - 0.25).max() < 0.025  # five standard errors


@many
@given(space=spaces())
def test_distances_of_pairs_are_those_of_the_definition(space):
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, len(space.queries), 20), rng.integers(0, len(space.points), 20)
    expected = [naive.distance(space, a, b) for a, b in zip(i, j, strict=True)]
    assert distance_of_pairs(space, i, j).tolist() == expected


@many
@given(space=spaces(), seed=st.integers(0, 99))
def test_row_order_does_not_matter(space, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.permutation(len(space.queries)), rng.permutation(len(space.points))
    shuffled = space._replace(
        queries=space.queries[a],
        query_codes=space.query_codes[a],
        points=space.points[b],
        point_codes=space.point_codes[b],
    )
    truth = truths(space, rng)
    back = np.append(np.argsort(b), -1)
    one, other = nearest(space), nearest(shuffled)
    for field in ("least", "second", "ties"):
        assert getattr(one, field)[a].tolist() == getattr(other, field).tolist()
    credit = decide(space, truth).credit
    assert credit[a].tolist() == decide(shuffled, back[truth[a]]).credit.tolist()


@pytest.mark.parametrize(("norm", "p"), [(2, 2), (1, 1), (0, np.inf)])
def test_equals_scipy_on_continuous_data(norm, p):
    points, queries = noisy(4000, 6, 0.3)
    space = plain(queries, points, norm)
    expected, index = cKDTree(points).query(queries, 3, p=p)
    found = nearest(space)
    root = np.sqrt if norm == 2 else np.asarray
    np.testing.assert_allclose(root(found.least), expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(root(found.second), expected[:, 1], rtol=1e-12)
    assert (found.row == index[:, 0]).all()
    rows, distances = nearest_k(space, 3)
    assert (rows == index).all()
    np.testing.assert_allclose(root(distances), expected, rtol=1e-12)


@pytest.mark.parametrize("norm", [0, 1, 2])
@pytest.mark.parametrize("p", [1, 5, 17])
def test_a_larger_table_equals_all_its_distances(norm, p):
    points, queries = noisy(3000, p, 0.5)
    points, queries = np.round(points, 1), np.round(queries, 1)  # many ties
    points[np.random.default_rng(1).random(points.shape) < 0.02] = np.nan
    space = plain(queries[:700], points, norm)
    pairs = np.repeat(np.arange(700), 3000), np.tile(np.arange(3000), 700)
    far = distance_of_pairs(space, *pairs).reshape(700, 3000)
    least = far.min(axis=1)
    near = far <= (least * (1 + space.tolerance) + space.floor)[:, None]
    tree, everyone = plant(space), np.arange(700)
    found = nearest(space, tree=tree)
    assert (found.least == least).all()
    assert (found.ties == near.sum(axis=1)).all()
    assert (found.second == np.where(near, np.inf, far).min(axis=1)).all()
    assert near[everyone, found.row].all()
    rows, distances = nearest_k(space, 20, tree=tree)
    assert (distances == np.sort(far, axis=1)[:, :20]).all()
    assert (np.take_along_axis(far, rows, axis=1) == distances).all()
    true = far[everyone, everyone]
    closer = far * (1 + space.tolerance) + space.floor < true[:, None]
    assert (rank_of_truth(space, everyone, 50, tree=tree) == np.minimum(closer.sum(axis=1), 50)).all()
    decision = decide(space, everyone, tree=tree)
    assert (decision.closer == closer.any(axis=1)).all()
    assert (decision.ties == np.where(decision.closer, 0, found.ties)).all()


def test_thread_count_does_not_matter():
    points, queries = noisy(3000, 5, 0.3)
    space = plain(np.round(queries, 1), np.round(points, 1), 1)
    truth = np.arange(3000)

    def everything():
        yield from nearest(space, seed=5)
        yield from nearest_k(space, 4)
        yield from decide(space, truth)
        yield from tied(space)
        yield rank_of_truth(space, truth, 10)

    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = list(everything())
    finally:
        numba.set_num_threads(before)
    for one, other in zip(alone, everything(), strict=True):
        assert (one == other).all()


def test_lots_are_fair_and_follow_the_seed():
    points = np.array([[1.0], [-1.0], [1.0], [1.0], [9.0]])
    space = plain(np.zeros((20_000, 1)), points)
    found = nearest(space, seed=3)
    shares = np.bincount(found.row, minlength=5) / 20_000
    assert shares[4] == 0
    assert np.abs(shares[:4] - 0.25).max() < 0.015  # five standard errors
    assert (found.row == nearest(space, seed=3).row).all()
    assert (found.row != nearest(space, seed=4).row).any()


@pytest.mark.parametrize(("tolerance", "ties"), [(0.0, 2), (0.25, 3)])
def test_whoever_ties_may_win(tolerance, ties):
    """Also a point at the very end of the tolerance, and ties that are equal to the last bit where there is none."""
    space = plain(np.zeros((2000, 1)), [[1.0], [-1.0], [1.25], [1.2500001]], norm=1, tolerance=tolerance)
    found = nearest(space, seed=1)
    assert (found.ties == ties).all()
    assert np.bincount(found.row, minlength=4) / 2000 == pytest.approx([1 / ties] * ties + [0] * (4 - ties), abs=0.06)


def test_copies_in_a_full_leaf_have_as_many_lots_as_rows():
    """Equally near: 143 points and one with a hundred copies, which wins for 100 of 243 queries."""
    places = np.vstack([np.column_stack([np.ones(143), np.linspace(-0.9, 0.9, 143)]), np.tile([[1.0, 0.95]], (100, 1))])
    space = plain(np.zeros((2000, 2)), places, norm=0)
    found = nearest(space, seed=2)
    assert (found.ties == 243).all()
    assert (found.row >= 143).mean() == pytest.approx(100 / 243, abs=0.06)  # five standard errors


def test_where_all_points_are_equally_near_each_is_as_likely():
    """Fifty kinds of three copies and one kind of fifty."""
    kinds = np.append(np.repeat(np.arange(50), 3), np.full(50, 50)).astype(np.int32)[:, None]
    none, sides = np.zeros(0), (np.zeros((20_000, 0)), np.zeros((200, 0)))
    space = Space(*sides, np.full((20_000, 1), 99, np.int32), kinds, 1, none, np.ones(1), np.ones(1))
    found = nearest(space, seed=5)
    assert (found.ties == 200).all()
    assert np.abs(np.bincount(found.row, minlength=200) / 100 - 1).max() < 0.5  # five standard errors
    assert (found.row >= 150).mean() == pytest.approx(0.25, abs=0.016)
    assert (found.row != nearest(space, seed=6).row).mean() > 0.9


def test_hundred_thousand_duplicates_are_one_comparison():
    points = np.ones((100_000, 3))
    space = plain(points, points)
    assert len(plant(space).rows) == 1
    found = nearest(space)
    assert (found.ties == 100_000).all()
    assert np.isinf(found.second).all()
    assert len(np.unique(found.row)) > 50_000
    assert (decide(space, np.arange(100_000)).credit == 1e-5).all()


def test_sizes_may_differ_widely():
    points, queries = noisy(100_000, 2, 0.1)
    few, many_points = plain(queries[:10], points), plain(points, queries[:10])
    for space in (few, many_points):
        _, index = cKDTree(space.points).query(space.queries)
        assert (nearest(space).row == index).all()


def test_two_hundred_attributes():
    points, queries = noisy(2000, 200, 0.5)
    space = plain(queries, points)
    assert (nearest(space).row == cKDTree(points).query(queries)[1]).all()


def test_one_point_and_no_neighbour():
    found = nearest(plain([[3.0]], [[1.0]]))
    assert found.row.tolist() == [0]
    assert found.least.tolist() == [4.0]
    assert np.isinf(found.second).all()
