"""Wide files: all queries meet all points in whole numbers, and results are those of the definition and of the tree."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from spaces import plain

from naive import nearest as naive
from unmask.kernels.assignment import solve
from unmask.kernels.base import LEAF, ROWS, Space
from unmask.kernels.search import decide, distance_of_pairs, masks, nearest, plant, priced, tied, wide

few = settings(max_examples=60, deadline=None)


@pytest.fixture
def narrow(monkeypatch):
    """Files of two attributes are wide."""
    monkeypatch.setattr(wide, "FROM", 1)
    monkeypatch.setattr(wide, "FROM_CODES", 1)
    monkeypatch.setattr(wide, "OPEN", -1.0)


@st.composite
def wide_spaces(draw, max_points=130):
    """Ties, copies, constant columns, outliers, columns of very different size, numbers far from 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.sampled_from([1, 2, 7, 16, 33]))
    sizes = draw(st.integers(1, 11)), draw(st.integers(1, max_points))
    whole, unit = draw(st.booleans()), draw(st.sampled_from([1.0, 1e-150, 1e-12, 1e12, 1e140]))
    spread = np.where(rng.random(p) < 0.3, rng.choice([0.0, 1e-4, 1e4], p), 1.0)
    queries, points = (
        (rng.integers(-2, 3, (n, p)).astype(float) if whole else rng.normal(size=(n, p))) * spread for n in sizes
    )
    if draw(st.booleans()):
        points[rng.random(len(points)) < 0.1] *= 1e6
    if draw(st.booleans()):
        points = points[rng.integers(0, max(1, len(points) // 2), len(points))]
    if draw(st.booleans()):
        queries[: len(points)] = points[: len(queries)]
    shift = draw(st.sampled_from([0.0, 0.0, 1e3]))
    return plain(
        (queries + shift) * unit, (points + shift) * unit,
        tolerance=draw(st.sampled_from([1e-9, 0.0, 0.2])), floor=draw(st.sampled_from([0.0, 0.5])) * unit * unit,
    )  # fmt: skip


@st.composite
def coded_spaces(draw, max_points=130):
    """Categories alone: two to forty of them, equal or unequal steps, steps of 0, missing values that count little."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    q, sizes = draw(st.sampled_from([1, 2, 5, 20])), (draw(st.integers(1, 11)), draw(st.integers(1, max_points)))
    kinds = rng.choice(draw(st.sampled_from([[2], [4], [2, 3, 5, 9, 17, 40]])), q)
    sides = [rng.integers(0, kinds, (n, q)).astype(np.int32) for n in sizes]
    sides[0][: len(sides[1])] = np.where(rng.random(q) < 0.8, sides[1], sides[0][:1])[: len(sides[0])]
    for side in sides:
        side[rng.random(side.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = -1
    unit = draw(st.sampled_from([1.0, 1 / 30, 1e-12, 7e11]))
    step = unit * (np.ones(q) if draw(st.booleans()) else rng.choice([0.0, 0.01, 0.5, 1.0], q))
    lost = step * rng.choice([0.75, 0.01, 0.0, 3.0], q)
    empty, none = [np.zeros((n, 0)) for n in sizes], np.zeros(0)
    tolerance = draw(st.sampled_from([1e-9, 0.0, 0.2]))
    return Space(*empty, *sides, draw(st.sampled_from([1, 2])), none, step, lost, tolerance)


@pytest.mark.usefixtures("narrow")
@settings(few, suppress_health_check=["function_scoped_fixture"])
@given(space=wide_spaces() | coded_spaces(), seed=st.integers(0, 99))
def test_everything_equals_the_definition(space, seed):
    tree, rng = plant(space), np.random.default_rng(seed)
    found = nearest(space, seed=seed, tree=tree)
    for i, (least, second, ties) in enumerate(naive.nearest(space)):
        assert (found.least[i], found.second[i], found.ties[i]) == (least, second, len(ties))
        assert found.row[i] in ties
    for copied in (space, space.of(rng.integers(0, len(space.queries), 12))):
        truth = rng.integers(-1, len(space.points), len(copied.queries))
        decision = decide(copied, truth)
        assert list(zip(decision.closer, decision.ties, strict=True)) == naive.decide(copied, truth)
    start, rows = tied(space, tree=tree)
    assert [set(part) for part in np.split(rows, start[1:-1])] == [ties for _, _, ties in naive.nearest(space)]


@pytest.mark.usefixtures("narrow")
@settings(few, suppress_health_check=["function_scoped_fixture"])
@given(space=wide_spaces() | coded_spaces(), squared=st.booleans(), seed=st.integers(0, 99), size=st.integers(1, 20))
def test_priced_searches_equal_the_definition(space, squared, seed, size):
    index, rows = priced.index_points(space, squared=squared)
    rng = np.random.default_rng(seed)
    cost = np.array(naive.distances(space))[:, rows]
    cost = cost if squared or space.norm == 1 else np.sqrt(cost)
    price = rng.choice([0.0, 0.5, 1.0], len(rows)) * rng.random() * float(np.median(cost))
    priced.update_prices(index, price)
    total = cost + price
    inf = np.full(len(cost), np.inf)
    assert priced.least_costs(index, price, inf).tolist() == total.min(axis=1).tolist()
    cut = np.quantile(total, 0.3, axis=1)
    found = priced.found_below(index, price, np.arange(len(cost)), cut, size)
    for row, items, most in zip(total, found, cut, strict=True):
        below = np.sort(row[row < most])[:size]
        assert sorted(row[items[items >= 0]]) == below.tolist()


@numba.njit
def met(tree, whole, queries, block):
    """Half distances of each query and all points in whole numbers, leaf after leaf."""
    far = np.zeros((len(queries), len(whole.tiles) * LEAF), np.int64)
    block.within[:] = wide.MOST
    for leaf in range(len(whole.tiles)):
        for first in range(0, len(block.within), ROWS):
            masks.block_masks(
                whole.tiles, leaf, block.probes, first, block.within[first : first + ROWS], block.masks, block.far
            )
            for i in range(min(ROWS, len(queries) - first)):
                far[first + i, leaf * LEAF : (leaf + 1) * LEAF] = block.far[i]
    return far


@numba.njit
def reached(tree, whole, reduced):
    return wide.reach_of(tree, whole, reduced)


@pytest.mark.usefixtures("narrow")
@settings(few, suppress_health_check=["function_scoped_fixture"])
@given(space=wide_spaces(max_points=60) | coded_spaces(max_points=60))
def test_no_pair_is_left_out_by_its_own_distance(space):
    tree, queries = plant(space), np.arange(len(space.queries))
    whole = wide.widen(tree)
    if len(whole.tiles):
        far = met(tree, whole, queries, wide.block_of(whole, queries))
        for i, row in enumerate(naive.distances(space)):
            for t, point in enumerate(tree.rows):
                assert 0 <= far[i, t] <= reached(tree, whole, float(row[point]))


def noisy(n, p, seed=0):
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(n, p))
    return plain(known, known + rng.normal(0, 1.2, known.shape))


def test_only_files_that_vary_in_many_directions_are_wide(monkeypatch):
    space = noisy(150, 60)
    assert len(wide.widen(plant(space)).tiles)
    thin = plain(space.queries[:, :5] @ space.queries[:5], space.points[:, :5] @ space.queries[:5])
    assert not len(wide.widen(plant(thin)).tiles)
    assert not len(wide.widen(plant(space._replace(norm=1))).tiles)
    codes, none = np.random.default_rng(1).integers(0, 4, (2, 150, 20)).astype(np.int32), np.zeros(0)
    empty, steps = [np.zeros((150, 0))] * 2, np.ones(20)
    coded = Space(*empty, *codes, 1, none, steps, steps)
    assert len(wide.widen(plant(coded)).tiles)
    assert not len(wide.widen(plant(coded._replace(norm=0))).tiles)
    assert not len(wide.widen(plant(coded._replace(step=np.append(np.zeros(10), np.ones(10))))).tiles)
    gap = space.points.copy()
    gap[0, 0] = np.nan
    assert not len(wide.widen(plant(space._replace(points=gap))).tiles)
    by_blocks = nearest(space), decide(space, np.arange(150))
    monkeypatch.setattr(wide, "FROM", 1000)
    for one, other in zip(by_blocks, (nearest(space), decide(space, np.arange(150))), strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


def test_decisions_are_made_in_blocks_where_true_points_are_far():
    space = noisy(1000, 30)
    tree, truth = plant(space), np.arange(1000)
    assert wide.is_open(space, tree, distance_of_pairs(space, truth, truth))
    assert not wide.is_open(space, tree, np.full(1000, 0.01))
    assert not wide.is_open(space, tree, np.full(1000, np.inf))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="all pairs of more than a thousand take minutes in plain Python")
def test_threads_and_order_do_not_matter():
    space = noisy(1300, 40)
    assert len(wide.widen(plant(space)).tiles)
    order = np.random.default_rng(5).permutation(1300)
    moved = space.of(order, order)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = nearest(space), decide(space, np.arange(1300))
    finally:
        numba.set_num_threads(before)
    again = nearest(space), decide(space, np.arange(1300))
    assert all((a == b).all() for one, other in zip(alone, again, strict=True) for a, b in zip(one, other, strict=True))
    found, decision = nearest(moved), decide(moved, np.arange(1300))
    assert (order[found.row] == alone[0].row[order]).all()
    assert (found.second == alone[0].second[order]).all()
    assert (decision.closer == alone[1].closer[order]).all()


@pytest.mark.parametrize("sizes", [(150, 150), (100, 170)])
@pytest.mark.parametrize("squared", [False, True])
def test_one_to_one_equals_scipy(sizes, squared):
    space = noisy(170, 60).of(slice(sizes[0]), slice(sizes[1]))
    assert len(wide.widen(plant(space)).tiles)
    pairs = np.repeat(np.arange(sizes[0]), sizes[1]), np.tile(np.arange(sizes[1]), sizes[0])
    cost = distance_of_pairs(space, *pairs).reshape(sizes)
    cost = cost if squared or space.norm == 1 else np.sqrt(cost)
    matching = solve(space, squared=squared)
    assert matching.optimal
    assert matching.total == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-12)
