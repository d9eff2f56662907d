from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import max_knowledge as naive
from unmask.kernels.search import distance_of_pairs
from unmask.max_knowledge.ranks import linkage_distances, ranked
from unmask.tables.release import Release

INTEGERS = st.integers(0, 6)


def pair_distances(ranks, originals, released):
    """d(x, y) for pairs of rows, one original and one released each."""
    return distance_of_pairs(ranks.space, ranks.query_of[originals], ranks.point_of[released])


def table_distances(ranks, original):
    """d(x, y) from one original record to every released one, in the order of the release."""
    everyone = np.arange(ranks.n_released)
    return pair_distances(ranks, np.full(everyone.size, original), everyone)


def within_table(table, first, second):
    """Eq. (1): the permutation distance of pairs of rows of one table. A row is at distance 0 of itself."""
    known = ranked(Release(table, table))
    space = known.space._replace(queries=known.space.points, query_codes=known.space.point_codes)
    return distance_of_pairs(space, known.point_of[first], known.point_of[second])


def frame(values):
    return pl.DataFrame({f"a{k}": np.asarray(values, dtype=float)[:, k] for k in range(np.shape(values)[1])})


def release(xs, ys):
    kinds = {f"a{k}": "numeric" for k in range(np.shape(xs)[1])}
    return Release(frame(xs), frame(ys), kinds=kinds)


@st.composite
def tables(draw):
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    rows = st.lists(st.lists(INTEGERS, min_size=m, max_size=m), min_size=n, max_size=n)
    return np.array(draw(rows), dtype=float), np.array(draw(rows), dtype=float)


def test_worked_by_hand():
    """Y1 = (10, 20, 30), Y2 = (5, 1, 3). x = (24, 2): closest values 20 (rank 2) and 1 or 3 (ranks 1 and 2: 1.5)."""
    ys = [[10, 5], [20, 1], [30, 3]]
    both = ranked(release([[24, 2], [10, 5], [29, 9]], ys))
    assert table_distances(both, 0).tolist() == [1.5, 0.5, 1.0]
    assert table_distances(both, 1).tolist() == [0, 2, 2]
    assert table_distances(both, 2).tolist() == [2, 2, 1]
    assert linkage_distances(both).tolist() == [0.5, 0, 1]
    assert pair_distances(both, np.array([0, 2]), np.array([2, 0])).tolist() == [1.0, 2.0]
    assert pair_distances(both, np.arange(3), np.arange(3)).tolist() == [1.5, 2, 1]


def test_equation_1_within_a_table():
    table = frame([[10, 5], [20, 1], [30, 3]])
    assert within_table(table, np.array([0, 0, 1, 2]), np.array([1, 2, 2, 2])).tolist() == [2, 2, 1, 0]


@settings(deadline=None, max_examples=60)
@given(tables())
def test_average_ranks_equal_the_definition(pair):
    xs, ys = pair
    assert linkage_distances(ranked(release(xs, ys), ranks="average")) == pytest.approx(naive.linkage(xs, ys))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 999))
def test_ordinal_and_dense_ranks_equal_the_definition_without_ties(n, m, seed):
    xs, ys = np.random.default_rng(seed).normal(size=(2, n, m))
    for method in ("ordinal", "dense"):
        assert linkage_distances(ranked(release(xs, ys), ranks=method)) == pytest.approx(naive.linkage(xs, ys))


@settings(deadline=None, max_examples=40)
@given(tables(), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(pair, random):
    xs, ys = pair
    first, second = random.sample(range(len(xs)), len(xs)), random.sample(range(len(xs)), len(xs))
    before = linkage_distances(ranked(release(xs, ys), seed=3))
    after = linkage_distances(ranked(release(xs[first], ys[second]), seed=3))
    assert after.tolist() == before[first].tolist()


def test_ordinal_ranks_spread_ties_over_their_ranks():
    ys = np.zeros((100, 1))
    both = ranked(release(ys, ys))
    assert sorted(both.space.points[:, 0]) == list(range(1, 101))


def test_categories_without_order_cost_the_mean_rank_distance():
    n = 9
    table = pl.DataFrame({"town": list("AAABBBCCC"), "age": range(n)})
    both = ranked(Release(table, table))
    step = (n * n - 1) / (3 * n)
    assert table_distances(both, 0)[3] == pytest.approx(max(step, 3))
    assert table_distances(both, 0)[1] == 1
    assert pair_distances(both, np.array([2]), np.array([3])) == pytest.approx(step)


def test_the_step_is_the_mean_distance_of_random_ranks():
    ranks = np.arange(1, 10)
    assert np.abs(ranks[:, None] - ranks[None, :]).mean() == pytest.approx((81 - 1) / 27)


def test_categories_with_an_order_are_ranked():
    kind = pl.Enum(["low", "mid", "high"])
    table = pl.DataFrame({"school": pl.Series(["high", "low", "mid"], dtype=kind)})
    assert table_distances(ranked(Release(table, table)), 0).tolist() == [0, 2, 1]


def test_missing_values_cost_the_mean_distance():
    xs = pl.DataFrame({"a": [1.0, 2.0, None], "b": [1.0, 2.0, 3.0]})
    both = ranked(Release(xs, xs))
    gaps = table_distances(both, 2)
    assert gaps.tolist() == [2, 1, pytest.approx(0.5)]  # a: the mean of |1-1|, |1-2|, |2-1|, |2-2| is 0.5
