from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces

from naive.nearest import distance
from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF
from unmask.kernels.search import decide, plant, walk
from unmask.kernels.search import truth as truths
from unmask.kernels.search.frame import choose_frame
from unmask.kernels.search.walk import new_buffer


@numba.njit
def limit(tree, reduced):
    return walk.limit(tree, reduced)


@numba.njit
def screen(tree, leaf, probe, within, far):
    return walk.screen(tree, leaf, probe, within, far)


@numba.njit
def near_boxes(tree, height, parent, probe, within, gaps):
    return walk.near_boxes(tree, height, parent, probe, within, gaps)


@numba.njit
def closer_than(space, tree, truth):
    return truths.closer_than(space, tree, truth)


usual = settings(max_examples=100, deadline=None)


def table(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def boxes_of(tree, height):
    n_leaves = len(tree.lanes)
    return -(-n_leaves // LANES**height)


@pytest.mark.parametrize("n", [97, 48 * 16, 48 * 16 + 1, 48 * 256 + 7, 20_000])
def test_every_row_has_one_position(n):
    points = table(n, 3)
    points[1::7] = points[0]  # duplicates
    tree = plant(plain(points[:5], points))
    assert sorted(tree.members) == list(range(n))
    assert (tree.rows == tree.members[tree.start[:-1]]).all()
    assert (tree.weight == np.diff(tree.start)).all()
    assert tree.weight.max() == len(points[1::7]) + 1
    inside = (tree.start[tree.position] <= np.argsort(tree.members)) & (
        np.argsort(tree.members) < tree.start[tree.position + 1]
    )
    assert inside.all()


@pytest.mark.parametrize("n", [97, 48 * 16 + 1, 48 * 256 + 7])
def test_boxes_are_the_ranges_of_their_points(n):
    points = table(n, 3)
    points[np.random.default_rng(1).random(points.shape) < 0.1] = np.nan
    space = plain(points[:5], points)
    tree = plant(space)
    stored = tree.lanes.transpose(0, 2, 1).reshape(-1, 3)[: len(tree.rows)]
    for height, first in enumerate(tree.level):
        size = LEAF * LANES**height
        for box in range(boxes_of(tree, height)):
            part, g, j = stored[box * size : (box + 1) * size], first + box // LANES, box % LANES
            assert (tree.low[g, :, j] == np.fmin.reduce(part, axis=0, initial=np.inf)).all()
            assert (tree.high[g, :, j] == np.fmax.reduce(part, axis=0, initial=-np.inf)).all()
            assert (np.isfinite(tree.relief[g, :, j]) == np.isnan(part).any(axis=0)).all()


def test_splits_shrink_boxes():
    tree = plant(plain(table(5, 2), table(48 * 256, 2)))
    leaf_size = (tree.high - tree.low)[: tree.level[1]].mean()
    assert leaf_size < 0.2 * (tree.high - tree.low)[tree.level[-1]].max()


@usual
@given(space=spaces(), shift=st.sampled_from([0.0, 1e3]))
def test_nothing_within_a_distance_is_excluded(space, shift):
    """The proof at the top of tree.py, for every pair: neither its leaf's box nor its stored distance excludes it."""
    space = space._replace(queries=space.queries + shift, points=space.points + shift)
    tree, room = plant(space), new_buffer()
    for i in range(len(space.queries)):
        for j in range(len(space.points)):
            within = limit(tree, distance(space, i, j))
            leaf, lane = divmod(int(tree.position[j]), LEAF)
            assert screen(tree, leaf, tree.probes[i], within, room.far) >> lane & 1
            assert near_boxes(tree, 0, leaf // LANES, tree.probes[i], within, room.gaps) >> leaf % LANES & 1


@usual
@given(space=spaces(), shift=st.sampled_from([0.0, 1e3]), seed=st.integers(0, 99))
def test_what_is_surely_closer_is_closer(space, shift, seed):
    """For every pair, and limits at its own distance and around it: a stored distance never promises too much."""
    space = space._replace(queries=space.queries + shift, points=space.points + shift)
    tree, room, near = plant(space), new_buffer(), np.random.default_rng(seed).choice([0.5, 1 - 1e-7, 1.0, 1 + 1e-7])
    for i in range(len(space.queries)):
        for j in range(len(space.points)):
            d = distance(space, i, j)
            truth = near * (d * (1 + space.tolerance) + space.floor)
            leaf, lane = divmod(int(tree.position[j]), LEAF)
            if screen(tree, leaf, tree.probes[i], closer_than(space, tree, truth), room.far) >> lane & 1:
                assert d * (1 + space.tolerance) + space.floor < truth


def test_nearly_all_that_is_closer_is_surely_so():
    space = plain(table(20, 4), table(500, 4, seed=1))
    tree, room, told, closer = plant(space), new_buffer(), 0, 0
    for i in range(20):
        limits = [distance(space, i, 0), distance(space, i, 1)]
        for truth in limits:
            sure = closer_than(space, tree, truth)
            told += sum(
                screen(tree, leaf, tree.probes[i], sure, room.far).bit_count() for leaf in range(len(tree.lanes))
            )
            closer += sum(distance(space, i, j) < truth for j in range(500))
    assert closer - 3 <= told <= closer
    assert closer > 1000


def test_codes_that_are_not_told_apart_are_never_surely_closer():
    """Two codes that differ by 2**24 look alike in float32."""
    codes = np.array([[5], [5 + 2**24]], dtype=np.int32)
    space = plain(np.zeros((1, 1)), [[0.0], [0.0]], norm=1)._replace(
        query_codes=codes[:1], point_codes=codes[1:].repeat(2, axis=0), step=np.array([3.0]), code_missing=np.ones(1)
    )
    tree, room = plant(space), new_buffer()
    assert not screen(tree, 0, tree.probes[0], closer_than(space, tree, 2.0), room.far)
    assert decide(space, np.array([0])).ties.tolist() == [2]


def test_stored_distances_of_ranks_are_the_exact_ones():
    rng = np.random.default_rng(4)
    queries, points = (rng.integers(0, 4_000_000, (n, 5)) / 4 for n in (40, 700))
    tree = plant(plain(queries, points, norm=CHEBYSHEV))
    assert tree.sharp
    far = np.abs(tree.probes[:, None, :] - tree.lanes.transpose(0, 2, 1).reshape(-1, 5)[None, :700]).max(axis=2)
    assert (far * tree.scale == np.abs(queries[:, None, :] - points[tree.rows][None]).max(axis=2)).all()


@pytest.mark.parametrize("change", ["norm", "ninths", "size", "missing", "tolerance", "codes"])
def test_numbers_that_float32_would_round_are_decided_again(change):
    ranks = np.arange(600.0).reshape(200, 3)
    assert plant(plain(ranks, ranks, norm=CHEBYSHEV)).sharp
    points = ranks * {"ninths": 1 / 9, "size": 1e4}.get(change, 1.0)
    if change == "missing":
        points[3, 1] = np.nan
    space = plain(ranks, points, norm=EUCLIDEAN if change == "norm" else CHEBYSHEV)
    if change == "tolerance":
        space = space._replace(tolerance=0.01)
    if change == "codes":
        codes = np.zeros((200, 1), dtype=np.int32)
        space = space._replace(query_codes=codes, point_codes=codes, step=np.ones(1), code_missing=np.ones(1))
    assert not plant(space).sharp


@pytest.mark.parametrize(("columns", "turned"), [(np.eye(6), False), (np.ones((6, 6)) + np.eye(6), True)])
def test_only_clouds_that_are_longer_one_way_are_turned(columns, turned):
    points = table(5000, 6) @ columns
    frame = choose_frame(plain(points[:5], points))
    assert bool(len(frame.rotation)) is turned


def test_the_band_is_narrow():
    """Excluding must also exclude: a limit at half the distance leaves a pair out."""
    space = plain(table(50, 4), table(2000, 4, seed=1))
    tree, room = plant(space), new_buffer()
    left = 0
    for i in range(50):
        for leaf in range(len(tree.lanes)):
            left += screen(tree, leaf, tree.probes[i], limit(tree, 0.05), room.far).bit_count()
    pairs = ((space.queries[:, None] - space.points[None]) ** 2).sum(axis=2)
    assert left == (pairs <= 0.05).sum()


def test_a_range_of_codes_proves_a_step():
    codes = np.repeat(np.arange(40, dtype=np.int32), 48)[:, None]
    numbers = table(len(codes), 1)
    space = plain(numbers[:1], numbers, norm=1)._replace(
        query_codes=np.array([[7]], dtype=np.int32),
        point_codes=codes,
        step=np.array([100.0]),
        code_missing=np.array([1.0]),
    )
    tree, room = plant(space), new_buffer()
    near = sum(
        near_boxes(tree, 0, group, tree.probes[0], limit(tree, 99.0), room.gaps).bit_count() for group in range(3)
    )
    assert 1 <= near <= 3  # of 40 leaves, those that hold code 7
