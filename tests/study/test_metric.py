from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from strategies import pairs
from unmask import Release, link_nearest
from unmask.errors import ParameterError
from unmask.study.metric import METRICS, build_space, category_steps, readable
from unmask.tables.encode import encode
from unmask.tables.sums import centre_and_spread

X = pl.DataFrame({"a": [0.0, 2.0, 4.5, 6.0], "b": [10.0, 30.0, 20.0, 45.5], "c": ["u", "u", "v", "w"]})
Y = pl.DataFrame({"a": [0.5, 2.5, 3.5, 7.5], "b": [12.0, 28.0, 26.0, 40.5], "c": ["u", "v", "v", "w"]})


def space(metric="euclidean", original=X, released=Y, **options):
    return build_space(encode(Release(original, released)), metric=metric, **options)


def readable_distance(s, i, j):
    return float(readable(np.array([naive.distance(s, i, j)]), s.norm)[0])


def z(column):
    return (column - column.mean()) / column.std(ddof=1)


def test_euclidean_is_torras_difference():
    """diff_i = ((a_i - mean(a)) / sd(a) - (b_i - mean(b)) / sd(b))^2, each file by its own mean and sd."""
    s = space(original=X.drop("c"), released=Y.drop("c"))
    xa, xb, ya, yb = (z(t[k].to_numpy()) for t in (X, Y) for k in ("a", "b"))
    for i in range(4):
        for j in range(4):
            assert readable_distance(s, i, j) == pytest.approx(np.hypot(xa[i] - ya[j], xb[i] - yb[j]))


def test_one_scale_for_both_files_is_either_files():
    x, y = X.drop("c"), Y.drop("c")
    by_release = space("euclidean", x, y, scale="released")
    by_original = space("euclidean", y, x, scale="original")
    assert by_release.queries.tolist() == by_original.points.tolist()
    assert by_release.points.tolist() == by_original.queries.tolist()
    assert by_release.queries.tolist() != space("euclidean", x, y).queries.tolist()


@pytest.mark.parametrize("columns", [1, 2, 8, 9])
@pytest.mark.parametrize("metric", METRICS)
def test_placing_leaves_the_encoding_as_it_is(metric, columns):
    """The encoding is shared by all attacks; the one column of a narrow table is the same memory turned round."""
    values = np.random.default_rng(columns).normal(5, 3, (12, columns))
    table = pl.DataFrame({f"c{k}": values[:, k] for k in range(columns)})
    encoding = encode(Release(table, table))
    build_space(encoding, metric=metric)
    assert (encoding.original.numeric == values).all()
    assert (encoding.released.numeric == values).all()


def test_scales():
    raw = space("manhattan", X.drop("c"), Y.drop("c"), scale="none")
    assert readable_distance(raw, 0, 1) == 2.5 + 18.0
    own = space("euclidean", X.drop("c"), Y.drop("c"), scale="original")
    sd = [X[k].std() for k in ("a", "b")]
    assert readable_distance(own, 0, 1) == pytest.approx(np.hypot(2.5 / sd[0], 18.0 / sd[1]))


def test_chebyshev_takes_the_largest():
    s = space("chebyshev", X.drop("c"), Y.drop("c"), scale="none")
    assert readable_distance(s, 0, 1) == 18.0


def test_gower_is_the_mean_over_attributes():
    s = space("gower")
    expected = (2.5 / 7.5 + 18.0 / 35.5 + 1.0) / 3
    assert readable_distance(s, 0, 1) == pytest.approx(expected)


def test_mahalanobis_equals_the_formula():
    s = space("mahalanobis", X.drop("c"), Y.drop("c"))
    x, y = (t.drop("c").to_numpy() for t in (X, Y))
    pooled = ((len(x) - 1) * np.cov(x.T) + (len(y) - 1) * np.cov(y.T)) / (len(x) + len(y) - 2)
    inverse = np.linalg.inv(pooled)
    for i in range(4):
        for j in range(4):
            assert readable_distance(s, i, j) == pytest.approx(np.sqrt((x[i] - y[j]) @ inverse @ (x[i] - y[j])))


def test_mahalanobis_survives_collinear_and_constant_columns():
    table = pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [2.0, 4.0, 8.0], "k": [1.5, 1.5, 1.5]})
    s = space("mahalanobis", table, table)
    assert [readable_distance(s, i, i) for i in range(3)] == pytest.approx([0, 0, 0])
    assert readable_distance(s, 0, 1) > 0.1
    with pytest.raises(ParameterError, match="missing"):
        space("mahalanobis", table.with_columns(pl.Series("a", [1.0, None, 2.0])), table)


def test_permutation_distance_of_the_paper():
    """x is replaced by the closest value of Y, the distance is the largest difference of ranks in Y."""
    original = pl.DataFrame({"a": [1.1, 2.2, 9.0], "b": [5.0, 5.0, 1.0]})
    released = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [6.0, 4.5, 1.5]})
    s = space("permutation", original, released)
    # ranks in Y: a 1,2,3; b 3,2,1.  x1 -> (1, rank of 4.5 = 2); x2 -> (2, 2); x3 -> (3, 1)
    expected = [[max(abs(1 - 1), abs(2 - 3)), 1, 2], [1, 0, 1], [2, 1, 0]]
    assert [[naive.distance(s, i, j) for j in range(3)] for i in range(3)] == expected


def test_a_value_between_two_shares_both_ranks():
    original, released = pl.DataFrame({"a": [1.5, 1.0, 2.0]}), pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    assert space("permutation", original, released).queries[:, 0].tolist() == [1.5, 1.0, 2.0]


@pytest.mark.parametrize("ranks", ["ordinal", "average", "dense"])
def test_rank_methods(ranks):
    table = pl.DataFrame({"a": [1.5, 1.5, 2.5, 2.5, 2.5]})
    found = space("permutation", table, table, ranks=ranks).points[:, 0]
    assert (
        sorted(found) == {"ordinal": [1, 2, 3, 4, 5], "average": [1.5, 1.5, 4, 4, 4], "dense": [1, 1, 2, 2, 2]}[ranks]
    )


def test_a_two_valued_category_weighs_what_the_number_does():
    table = pl.DataFrame({"s": [0.0, 0.0, 1.0, 0.0, 1.0] * 40})
    number = space("euclidean", table, table)
    category = build_space(encode(Release(table, table, categorical=["s"])), metric="euclidean")
    assert category.step[0] == pytest.approx(naive.distance(number, 0, 2), rel=0.01)


@given(pairs(min_rows=2))
def test_missing_contributes_the_mean_over_pairs(tables):
    encoding = encode(Release(*tables))
    for metric in ("euclidean", "manhattan", "gower"):
        s = build_space(encoding, metric=metric)
        for k in range(s.queries.shape[1]):
            a, b = s.queries[:, k], s.points[:, k]
            a, b = a[~np.isnan(a)], b[~np.isnan(b)]
            expected = naive.mean_contribution(a, b, squared=s.norm == 2)
            assert s.missing[k] == pytest.approx(expected, abs=1e-9)
        for k in range(s.query_codes.shape[1]):
            a, b = s.query_codes[:, k], s.point_codes[:, k]
            differ = np.mean([x != y for x in a[a >= 0] for y in b[b >= 0]])
            assert s.code_missing[k] == pytest.approx(s.step[k] * differ, abs=1e-9)


@given(pairs(min_rows=2, complete=True), st.sampled_from(METRICS), st.randoms())
def test_row_order_changes_no_distance(tables, metric, random):
    n = tables[0].height
    order = list(range(n))
    random.shuffle(order)
    one = space(metric, *tables, ranks="average")
    two = space(metric, tables[0][order], tables[1][order], ranks="average")
    for i in range(n):
        for j in range(n):
            straight, shuffled = naive.distance(one, order[i], order[j]), naive.distance(two, i, j)
            if metric == "mahalanobis":  # an eigenbasis is known up to rounding only
                assert shuffled == pytest.approx(straight, rel=1e-6, abs=1e-6)
            else:
                assert shuffled == straight


def test_weights():
    s = space("manhattan", X.drop("c"), Y.drop("c"), scale="none", weights={"b": 0.5})
    assert readable_distance(s, 0, 1) == 2.5 + 9.0
    e = space("euclidean", X.drop("c"), Y.drop("c"), scale="none", weights={"a": 0.0, "b": 4.0})
    assert readable_distance(e, 0, 1) == pytest.approx(36.0)
    g = space("gower", weights={"a": 2.0, "b": 1.0, "c": 1.0})
    assert readable_distance(g, 0, 1) == pytest.approx((2 * 2.5 / 7.5 + 18.0 / 35.5 + 1.0) / 4)
    for bad, message in (({"q": 1.0}, "did you mean"), ({"a": -1.0}, "from 0"), ({"a": float("nan")}, "from 0")):
        with pytest.raises(ParameterError, match=message if "q" not in bad else "no attribute 'q'"):
            space("gower", weights=bad)
    with pytest.raises(ParameterError, match="all weights are 0"):
        space("gower", weights={"a": 0.0, "b": 0.0, "c": 0.0})


def test_unknown_names():
    with pytest.raises(ParameterError, match="did you mean 'euclidean'"):
        space("euclidian")
    with pytest.raises(ParameterError, match="did you mean 'original'"):
        space(scale="originals")


def test_swap_asks_from_the_other_side():
    s = space("gower")
    assert naive.distance(s.swapped(), 1, 0) == naive.distance(s, 0, 1)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e3, 1e9])
def test_mahalanobis_does_not_depend_on_units(unit):
    rng = np.random.default_rng(5)
    people = rng.normal(size=(60, 3)) @ np.array([[1, 0.8, 0], [0, 1, 0.3], [0, 0, 1]])
    masked = people + rng.normal(size=people.shape) * 0.4
    names = ("a", "b", "c")
    scale = np.array([1.0, unit, 1.0])

    def found(factor):
        tables = [dict(zip(names, (side * factor).T, strict=True)) for side in (people, masked)]
        return link_nearest(Release(pl.DataFrame(tables[0]), pl.DataFrame(tables[1])), metric="mahalanobis").credit

    assert found(scale).tolist() == found(np.ones(3)).tolist()


def test_what_two_different_categories_contribute():
    """Of four ranks two random ones lie 1.25 apart; else the mean square of a column is 2, as that of a number is."""
    differ = np.array([0.5, 0.0])
    assert category_steps(differ, "permutation", 4, squared=False).tolist() == [1.25, 1.25]
    assert category_steps(differ, "gower", 4, squared=False).tolist() == [1.0, 1.0]
    assert category_steps(differ, "euclidean", 4, squared=True).tolist() == [4.0, 0.0]
    assert category_steps(differ, "euclidean", 4, squared=False).tolist() == [2.0, 0.0]


@pytest.mark.parametrize("cells", [1, 30, 1000])  # one column at a time, some, and eight
@pytest.mark.parametrize(("metric", "scale"), [("euclidean", "own"), ("manhattan", "original"), ("chebyshev", "own")])
def test_columns_sorted_once_and_taken_together_are_those_placed_one_by_one(cells, metric, scale, monkeypatch):
    monkeypatch.setattr("unmask.study.metric.CELLS", cells)
    rng = np.random.default_rng(1)
    sides = [np.where(rng.random((12, 19)) < 0.1, np.nan, rng.normal(size=(12, 19))) for _ in range(2)]
    tables = [pl.DataFrame({f"c{k}": side[:, k] for k in range(19)}).fill_nan(None) for side in sides]
    together = space(metric, *tables, scale=scale, weights={"c3": 2.0})
    for k in range(19):
        (mean, sd), other = (centre_and_spread(side[:, k]) for side in sides)
        moved = (mean, sd) if scale == "original" else other
        factor = (np.sqrt(2.0) if metric == "euclidean" else 2.0) if k == 3 else 1.0
        a, b = (sides[0][:, k] - mean) / sd * factor, (sides[1][:, k] - moved[0]) / moved[1] * factor
        assert np.array_equal(together.queries[:, k], a, equal_nan=True)
        assert np.array_equal(together.points[:, k], b, equal_nan=True)
        gaps = np.abs(a[:, None] - b)[~np.isnan(a[:, None] - b)]
        assert together.missing[k] == pytest.approx((gaps**2 if metric == "euclidean" else gaps).mean())
