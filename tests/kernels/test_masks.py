"""The vector forms of masks against their twins in NumPy, and both against the words of their definitions."""

from __future__ import annotations

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.kernels.search.search import lottery, masks
from unmask.kernels.search.vector import LEAF

many = settings(max_examples=100, deadline=None)


@numba.njit
def near(far, within):
    return masks.near_mask(far, within)


@numba.njit
def level(far, price, first, cut, frame):
    return masks.level_mask(far, price, first, cut, frame)


@numba.njit
def lots(rows, first, stem, least):
    return masks.lot_mask(rows, first, stem, least)


@numba.njit
def branch(stem, row):
    return lottery.branch(stem, row)


@many
@given(seed=st.integers(0, 2**30), within=st.sampled_from([-1.0, 0.0, 0.25, 0.5, np.inf]))
def test_near(seed, within):
    far = np.random.default_rng(seed).integers(0, 8, LEAF).astype(np.float32) / 8
    mask = near(far, within)
    assert mask == masks.near_mask(far, within)
    assert [mask >> j & 1 for j in range(LEAF)] == [int(number <= within) for number in far]


@many
@given(
    seed=st.integers(0, 2**30),
    cut=st.sampled_from([-5.0, 0.5, 1.0, 3.0, np.inf]),
    root=st.booleans(),
    error=st.sampled_from([0.0, 1e-7, 0.1]),
)
def test_level(seed, cut, root, error):
    """No point whose cost + price is below the cut is lost, whatever the prices; what is far beyond is left out."""
    rng = np.random.default_rng(seed)
    price = rng.normal(size=3 * LEAF)
    cost = rng.random(LEAF) * 2 * rng.integers(0, 2, LEAF)
    price[LEAF : LEAF + 24] = np.minimum(cut, 9.0) - cost[:24] - 1e-8  # just below the cut
    unit = 0.25
    far = (((cost * unit) ** 2) if root else cost * unit).astype(np.float32)
    frame = (unit, error, 1e-6, root)
    mask = level(far, price, LEAF, cut, frame)
    assert mask == masks.level_mask(far, price, LEAF, cut, frame)
    levels = cost + price[LEAF : 2 * LEAF]
    reach = cost * unit + error  # the farthest that such a pair may be stored
    most = ((reach**2 if root else reach) * (1 + 1e-6) + 1e-36) * (1 - 1e-7)
    farthest = level(most.astype(np.float32), price, LEAF, cut, frame)
    for j in range(LEAF):
        if levels[j] < cut - 1e-9:
            assert farthest >> j & 1
        if levels[j] < cut - 1e-6:
            assert mask >> j & 1
        if levels[j] > cut + 1e-5 + error / unit:
            assert not mask >> j & 1


@many
@given(seed=st.integers(0, 2**30), stem=st.integers(0, 2**32 - 1), least=st.integers(0, 2**32 - 1))
def test_lots(seed, stem, least):
    rows = np.random.default_rng(seed).integers(0, 2**32, 2 * LEAF)
    for limit in (least, int(branch(stem, rows[LEAF + 5]))):  # a draw of exactly the least is wanted
        mask = lots(rows, LEAF, stem, limit)
        assert mask == masks.lot_mask(rows, LEAF, stem, limit)
        assert [mask >> j & 1 for j in range(LEAF)] == [int(branch(stem, row) >= limit) for row in rows[LEAF:]]


@many
@given(draw=st.integers(0, 2**32 - 1), low=st.integers(0, 2**32 - 1), waited=st.floats(0, 30))
def test_a_draw_below_the_least_waits_longer(draw, low, waited):
    uniform = (draw * 4294967296.0 + low + 1.0) / 18446744073709551616.0
    if draw < lottery.least_draw.py_func(waited):
        assert -np.log(uniform) > waited
