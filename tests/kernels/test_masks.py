"""Masks of leaves and boxes: the machine's form against the plain one, and both against their definitions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import nearest as naive
from unmask.kernels import draws
from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF, MANHATTAN, PART, ROWS
from unmask.kernels.compiling import blocks as machine_blocks
from unmask.kernels.compiling import decorators, fetch, lowest, popcount
from unmask.kernels.search import masks, wide

many = settings(max_examples=100, deadline=None)


@numba.njit
def points(lanes, leaf, probe, kinds, within, far):
    return masks.point_mask(lanes, leaf, probe, kinds, within, far)


@numba.njit
def boxes(box, group, probe, kinds, within, gaps):
    return masks.box_mask(box, group, probe, kinds, within, gaps)


@numba.njit
def beyond(box, group, probe, limits, sides):
    return masks.box_sides(box, group, probe, limits, sides)


@numba.njit
def in_sides(lanes, leaf, probe, sides, within, far):
    return masks.side_mask(lanes, leaf, probe, sides, within, far)


@numba.njit
def parts(far, most):
    return masks.split(far, most)


@numba.njit
def nearest_of(gaps, mask):
    return masks.nearest_of(gaps, mask)


@numba.njit
def branches(rows, first, mask, h, least):
    return draws.high_branches(rows, first, mask, h, least)


@numba.njit
def waits(seed, query, point):
    high, low = draws.stem(seed, query, 1), draws.stem(seed, query, 2)
    return draws.wait(high, low, point, 3), draws.branch(high, point)


@numba.njit
def bars(time, weight):
    return draws.bar(time, weight)


@numba.njit
def blocks(tiles, probes, within, found, far):
    return masks.block_masks(tiles, 1, probes, 4, within, found, far)


@numba.njit
def on_lesser_machines(tiles, probes, within, found, far):
    return masks.block_masks(tiles, 1, probes, 4, within, found, far)


def lesser_blocks(*args):
    """The same where the machine lacks the instruction for bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_blocks, "has_vnni", lambda _context: False)
        return on_lesser_machines(*args)


@numba.njit
def bits(word):
    return popcount(word), lowest(word)


def as_written(function):
    """The function that machine code replaces, compiled as it is written."""
    return numba.njit(getattr(function, "py_func", function))


plain_points, plain_boxes = map(as_written, (masks.point_mask, masks.box_mask))
plain_blocks, plain_beyond, plain_in_sides = map(as_written, (masks.block_masks, masks.box_sides, masks.side_mask))
plain_parts, plain_nearest_of, plain_branches = map(as_written, (masks.split, masks.nearest_of, draws.high_branches))
plain_popcount, plain_lowest = as_written(popcount), as_written(lowest)


@many
@given(
    seed=st.integers(0, 2**30),
    width=st.integers(1, 9),
    numeric=st.integers(0, 9),
    norm=st.sampled_from([CHEBYSHEV, MANHATTAN, EUCLIDEAN]),
    lost=st.sampled_from([0.0, 0.2]),
    within=st.sampled_from([0.0, 0.3, 1.0, np.inf]),
)
def test_points_and_boxes_by_definition(seed, width, numeric, norm, lost, within):
    """Numbers in eighths add up exactly in any order: machine code and the plain form agree to the last bit."""
    rng = np.random.default_rng(seed)
    numeric = min(numeric, width)
    whole = rng.integers(-4, 5, (3, width, LEAF)).astype(np.float32) / 8
    lanes, probe = np.where(rng.random(whole.shape) < lost, np.float32(np.nan), whole), whole[0, :, 0].copy()
    probe[rng.random(width) < lost] = np.nan
    missing, step = (rng.integers(0, 5, width).astype(np.float32) / 4 for _ in range(2))
    plain = numeric == width and lost == 0
    kinds = (missing, step, numeric, norm, plain)
    far, other = np.full(LEAF, -1, dtype=np.float32), np.full(LEAF, -1, dtype=np.float32)
    mask = points(lanes, 1, probe, kinds, within, far)
    assert mask == plain_points(lanes, 1, probe, kinds, within, other)
    if mask:
        inside = other <= within  # a leaf may be given up before all attributes are added
        assert far[inside].tolist() == other[inside].tolist()
    low = np.nanmin(np.where(np.isnan(lanes), np.inf, lanes).reshape(3, width, LANES, 3), axis=3).astype(np.float32)
    high = np.nanmax(np.where(np.isnan(lanes), -np.inf, lanes).reshape(3, width, LANES, 3), axis=3).astype(np.float32)
    gone = np.isnan(lanes).reshape(3, width, LANES, 3).any(axis=3)
    relief = np.where(gone, missing[:, None], np.float32(np.inf)).astype(np.float32)
    gaps, bounds = np.full(LANES, -1, dtype=np.float32), np.full(LANES, -1, dtype=np.float32)
    mask = boxes((low, high, relief), 1, probe, kinds, within, gaps)
    assert mask == plain_boxes((low, high, relief), 1, probe, kinds, within, bounds)
    assert gaps.tolist() == bounds.tolist()
    assert (np.repeat(gaps, 3) <= np.where(np.isnan(other), np.inf, other)).all()  # a box bounds its points from below


@many
@given(
    seed=st.integers(0, 2**30),
    width=st.integers(1, 31),
    tied=st.sampled_from([0.0, 0.5, 0.75, 2.0]),
    more=st.sampled_from([0.0, 0.125, 1.0, 1e30]),
)
def test_sides_by_definition(seed, width, tied, more):
    """Boxes within a limit, the attributes in which they go beyond another, and their points by these alone."""
    rng = np.random.default_rng(seed)
    lanes = rng.integers(-4, 5, (3, width, LEAF)).astype(np.float32) / 8
    lanes[1, :, LEAF - 3 :] = np.inf  # no points: the last box
    probe, within = lanes[0, :, 0].copy(), tied + more
    there = np.where(np.isinf(lanes), np.float32(np.nan), lanes).reshape(3, width, LANES, 3)
    low, high = np.fmin.reduce(there, axis=3, initial=np.inf), np.fmax.reduce(there, axis=3, initial=-np.inf)
    gaps = np.abs(probe[:, None] - lanes[1])
    for run, look in ((beyond, in_sides), (plain_beyond, plain_in_sides)):
        sides, far = np.full(LANES, -1, dtype=np.int32), np.full(LEAF, -1, dtype=np.float32)
        near = run((low, high, low), 1, probe, (within, tied), sides)
        for j in range(LANES - 1):
            own = gaps[:, 3 * j : 3 * j + 3]
            reach = (low[1, :, j] - probe <= within) & (probe - high[1, :, j] <= within)
            assert near >> j & 1 == reach.all()
            chosen = [sides[j] >> k & 1 == 1 for k in range(width)]
            assert chosen == (own.max(axis=1) > tied).tolist()
            mask = look(lanes, 1, probe, int(sides[j]), within, far)
            assert far.tolist() == gaps[chosen].max(axis=0, initial=0).tolist()
            assert [mask >> i & 1 == 1 for i in range(LEAF)] == (far <= within).tolist()
            ours, true = far[3 * j : 3 * j + 3], own.max(axis=0)
            assert (np.where(ours > tied, ours, tied) == np.maximum(true, tied)).all()  # exact beyond the limit
        assert not near >> (LANES - 1)


@many
@given(seed=st.integers(0, 2**30), values=st.integers(1, 60), most=st.sampled_from([-1.0, 0.0, 0.25, 3.0, np.inf]))
def test_a_leaf_is_split_at_a_distance(seed, values, most):
    far = np.random.default_rng(seed).integers(0, values, LEAF).astype(np.float32) / 4
    far[LEAF - seed % 3 :] = np.inf
    beyond_it = far[far > most]
    for run in (parts, plain_parts):
        mask, following = run(far, most)
        assert [mask >> i & 1 == 1 for i in range(LEAF)] == (far <= most).tolist()
        assert following == beyond_it.min(initial=np.inf)


@many
@given(seed=st.integers(0, 2**30), values=st.integers(1, 30), mask=st.integers(0, 2**LANES - 1))
def test_the_first_of_the_nearest_boxes(seed, values, mask):
    gaps = np.random.default_rng(seed).integers(0, values, LANES).astype(np.float32)
    gaps[gaps == 7] = np.inf
    chosen = [j for j in range(LANES) if mask >> j & 1]
    expected = min(chosen, key=lambda j: gaps[j], default=0)
    assert nearest_of(gaps, mask) == plain_nearest_of(gaps, mask) == expected


@many
@given(
    seed=st.integers(0, 2**40),
    query=st.integers(0, 2**33),
    mask=st.integers(0, 2**LEAF - 1),
    least=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([1000, 2**32 - 40, 2**40]),
)
def test_branches_of_a_leaf_by_definition(seed, query, mask, least, rows):
    points = np.arange(rows, rows + 3 * LEAF)[::-1].copy()
    high = [naive.scrambled(seed, query, int(point), 1) for point in points[5 : 5 + LEAF]]
    expected = sum(1 << i for i in range(LEAF) if mask >> i & 1 and high[i] >= least)
    stem = naive.stem(seed, query, 1)
    assert branches(points, 5, mask, stem, least) == plain_branches(points, 5, mask, stem, least) == expected


@many
@given(seed=st.integers(0, 2**40), query=st.integers(0, 10**6), point=st.integers(0, 10**6), more=st.floats(0, 1e-9))
def test_who_waits_no_longer_is_never_excluded(seed, query, point, more):
    """Nor anybody of fewer points; and the bar is no lower than it must be, but for three."""
    time, high = waits(seed, query, point)
    for weight in (3, 5):
        assert bars(time, weight) <= bars(time, 3) <= high
    assert bars(time, 3) >= high - 3
    assert bars(time * (1 + more), 3) <= high
    assert bars(np.inf, 1) == 0


@given(word=st.integers(1, 2**64 - 1))
def test_bits_of_a_word(word):
    assert bits(np.uint64(word)) == (word.bit_count(), (word & -word).bit_length() - 1)
    assert plain_popcount(np.uint64(word)) == word.bit_count()
    assert plain_lowest(np.uint64(word)) == (word & -word).bit_length() - 1


@numba.njit
def fetched(table, row):
    fetch(table, row)
    return table[row, 0]


@pytest.mark.parametrize("table", [np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(3, dtype=np.int32)[:, None]])
def test_a_row_that_was_asked_for_is_what_it_was(table):
    before = table.copy()
    assert [fetched(table, row) for row in range(3)] == before[:, 0].tolist()
    assert as_written(fetch)(table, 2) is None
    assert table.tolist() == before.tolist()


@pytest.mark.skipif(numba.config.DISABLE_JIT or decorators.native is None, reason="it is as written")
def test_a_row_is_asked_for_by_an_instruction():
    fetched(np.zeros((2, 2), np.int32), 1)
    assert any("prefetch" in code for code in fetched.inspect_asm().values())


RUN = """
import numpy as np
from spaces import plain
from unmask.kernels.assignment import solve
from unmask.kernels.compiling import decorators
from unmask.kernels.search import decide, nearest, nearest_k, plant, tied
rng = np.random.default_rng(4)
out = []
for norm, values in ((2, rng.normal(size=(400, 3))), (0, rng.integers(0, 30, (400, 2)).astype(float))):
    space = plain(values, values + rng.integers(-1, 2, values.shape), norm)
    tree = plant(space)
    out += [*nearest(space, seed=3, tree=tree), *decide(space, np.arange(400), tree=tree), *tied(space, tree=tree)]
    out += [*nearest_k(space, 5, tree=tree), solve(space).costs]
print(decorators.native is None, [part.tobytes().hex() for part in out])
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_without_private_features_of_numba_the_results_are_the_same():
    """UNMASK_PLAIN_KERNELS: no machine code, no private option, every bit equal."""
    told = {}
    for plain_kernels in ("", "1"):
        environment = {**os.environ, "UNMASK_PLAIN_KERNELS": plain_kernels, "PYTHONPATH": os.pathsep.join(
            [*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(__file__).parent)])}  # fmt: skip
        run = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
        told[plain_kernels] = run.stdout.split(" ", 1)
    assert (told[""][0], told["1"][0]) == ("False", "True")
    assert told[""][1] == told["1"][1]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), numbers=st.integers(1, 3 * 4 * PART + 1), most=st.sampled_from([1, 30, 127]))
def test_blocks_by_definition(seed, numbers, most):
    rng = np.random.default_rng(seed)
    points, queries = (rng.integers(-most, most + 1, shape) for shape in ((2, numbers, LEAF), (8, numbers, 1)))
    queries[4] = points[1, :, :1]  # one at no distance
    tiles = wide._packed(points.astype(np.int8), wide._sums(points * (points + 256)) >> 1)
    probes = wide._packed((queries + 128).astype(np.uint8), wide._sums(queries**2) + 1 >> 1)[:, :, 0]
    exact = ((queries[4:] - points[1][None]) ** 2).sum(axis=1)
    within = np.quantile(exact // 2, rng.random(ROWS), axis=1).diagonal().astype(np.int32)
    within[rng.integers(ROWS)] = rng.choice([-1, 0, 2**31 - 1])
    told, twice = [], 2 * within.astype(np.int64)[:, None]
    for run in (blocks, lesser_blocks, lambda *args: plain_blocks(tiles, 1, probes, 4, *args[2:])):
        found, far = np.zeros(ROWS, np.int64), np.zeros((ROWS, LEAF), np.int32)
        assert run(tiles, probes, within, found, far) == np.bitwise_or.reduce(found)
        close = np.array([[int(row) >> j & 1 for j in range(LEAF)] for row in found], dtype=bool)
        assert close[twice >= exact + 1].all() and not close[twice < exact - 1].any() and not close[within < 0].any()
        assert (abs(2 * far[close] - exact[close]) <= 1).all()
        told.append((found.tolist(), far[close].tolist()))
    assert told[0] == told[1] == told[2]
