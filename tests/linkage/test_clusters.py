from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from unmask import Release, RoleError, assess
from unmask.linkage.clusters import _stranger, link_clusters, match_clusters


def quiet(_fraction, _words):
    pass


def homes(sizes, seed, noise=0.4):
    """People of households in two numeric attributes and a category; the release renumbers households and shuffles."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(len(sizes)), sizes)
    n = len(home)
    x = rng.normal(size=(n, 2))
    sex = rng.integers(0, 2, n)
    y = x + noise * rng.normal(size=x.shape)
    order, name = rng.permutation(n), rng.permutation(len(sizes)) + 500

    def table(values, ids, labels, sexes):
        columns = {"id": ids, "a": values[:, 0], "b": values[:, 1], "sex": np.where(sexes == 1, "f", "m")}
        return pl.DataFrame({**columns, "home": labels})

    return table(x, np.arange(n), home, sex), table(y[order], order, name[home][order], sex[order])


def by_brute_force(distance, ours, theirs):
    """Least cost of every pair of clusters over all pairings, and the cheapest matching over all permutations."""
    cost = np.array([
        [min(sum(distance[a, b] for a, b in zip(rows, order, strict=True)) for order in permutations(columns))
         for columns in theirs]
        for rows in ours
    ])  # fmt: skip
    best = min(permutations(range(len(theirs))), key=lambda order: sum(cost[i, j] for i, j in enumerate(order)))
    return cost, np.array(best)


@pytest.mark.parametrize("seed", range(5))
def test_equals_brute_force_at_both_levels(seed):
    rng = np.random.default_rng(seed)
    distance = rng.random((12, 12))
    ours = theirs = [np.array([3 * k, 3 * k + 1, 3 * k + 2]) for k in range(4)]
    found = match_clusters(lambda r, c: distance[np.ix_(r, c)], ours, theirs, np.arange(4), tell=quiet)
    cost, best = by_brute_force(distance, ours, theirs)
    assert found.cost == pytest.approx(cost)
    assert found.partner.tolist() == best.tolist()
    assert found.matched.tolist() == (best == np.arange(4)).astype(float).tolist()


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e7])
def test_a_household_of_another_size_is_never_taken_whatever_the_unit(unit):
    """Sizes 1, 2, 2 in both files: the single person goes to the single one, though a pair is far nearer."""
    distance = np.full((5, 5), 9.0)
    distance[0, 1:3] = distance[1:3, 0] = 0.1
    clusters = [np.array([0]), np.array([1, 2]), np.array([3, 4])]
    found = match_clusters(lambda r, c: unit * distance[np.ix_(r, c)], clusters, clusters, np.arange(3), tell=quiet)
    assert found.partner[0] == 0 and sorted(found.partner.tolist()) == [0, 1, 2]


def test_clusters_that_nothing_tells_apart_are_those_with_equal_columns():
    """Two of three records are at equal distances from everybody; no two people are."""
    distance = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.0], [3.0, 0.5, 0.5]])
    single = [np.array([k]) for k in range(3)]
    found = match_clusters(lambda r, c: distance[np.ix_(r, c)], single, single, np.arange(3), tell=quiet)
    assert found.matched.tolist() == [1.0, 0.5, 0.5]


def test_sizes_that_differ_cost_a_stranger():
    distance = np.zeros((3, 4)) + np.eye(3, 4)
    ours, theirs = [np.array([0]), np.array([1, 2])], [np.array([0, 1]), np.array([2, 3])]
    found = match_clusters(lambda r, c: distance[np.ix_(r, c)], ours, theirs, np.array([0, 1]), tell=quiet)
    stranger = distance.mean()
    assert found.cost[0].tolist() == pytest.approx([0 + stranger, 0 + stranger])
    assert found.cost[1].tolist() == pytest.approx([0.0, 0.0])


def test_equal_clusters_share_the_credit():
    distance = np.zeros((4, 4))
    clusters = [np.array([0, 1]), np.array([2, 3])]
    found = match_clusters(lambda r, c: distance[np.ix_(r, c)], clusters, clusters, np.array([0, 1]), tell=quiet)
    assert found.nearest.tolist() == [0.5, 0.5]
    assert found.matched.tolist() == [0.5, 0.5]


def test_a_household_is_found_where_its_members_alone_are_not():
    original, released = homes([2, 3, 4, 5] * 20, seed=3, noise=0.6)
    roles = {"id": "id", "household": "home"}
    found = link_clusters(Release(original, released, **roles))
    alone = assess(Release(original, released, **roles), only=["nearest"]).findings[0].estimate.value
    assert found.rate("household").value > 0.9
    assert alone < 0.4
    assert found.rate("household").value >= found.rate("person").value > alone


def test_rows_in_another_order_give_the_same():
    original, released = homes([1, 2, 2, 3, 3, 4] * 6, seed=8, noise=1.0)
    roles = {"id": "id", "household": "home"}
    first = link_clusters(Release(original, released, **roles))
    mixed = original.sample(fraction=1, shuffle=True, seed=1)
    second = link_clusters(Release(mixed, released.sample(fraction=1, shuffle=True, seed=2), **roles))
    back = np.argsort(mixed["id"].to_numpy())
    assert second.household[back].tolist() == first.household.tolist()
    assert second.person[back].tolist() == first.person.tolist()


def test_strangers_are_at_chance_and_a_copy_is_found_whole():
    original, _ = homes([2, 3, 4] * 20, seed=1)
    _, other = homes([2, 3, 4] * 20, seed=2)
    roles = {"id": "id", "household": "home"}
    assert link_clusters(Release(original, other, **roles)).rate("household").value < 0.2
    copy = link_clusters(Release(original, original.with_columns(pl.col("home") + 7), **roles))
    assert copy.rate("household").value == 1.0 and copy.rate("person").value == 1.0


def test_what_cannot_be_matched_is_said():
    original, released = homes([2, 3], seed=1)
    with pytest.raises(RoleError, match="no column says who belongs together"):
        link_clusters(Release(original, released, id="id", ignored=["home"]))
    dropped = assess(Release(original, released.drop("home"), id="id", household="home"), only=["clusters"])
    assert "does not keep 'home'" in dropped.findings[0].reason
    alone = original.with_columns(pl.col("id").alias("home"))
    assert "alone" in assess(Release(alone, alone, id="id", household="home"), only=["clusters"]).findings[0].reason


def test_a_stranger_is_as_far_as_any_two_people_are():
    """The mean over all pairs, as long as there are few: nobody is left out on either side."""
    far = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    found = _stranger(
        lambda rows, columns: far[np.ix_(rows, columns)], [np.array([0, 1])], [np.array([0]), np.array([1, 2])]
    )
    assert found == pytest.approx(far.mean())
