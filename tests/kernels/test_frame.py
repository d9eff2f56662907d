"""The frame of both files: what is stored is what numpy's products say, and no other thread is woken for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from spaces import plain

from unmask.kernels.base import CHEBYSHEV
from unmask.kernels.search import frame as frames
from unmask.kernels.search.frame import MOST, choose_frame, store

BUSY = """
import os, time
import numpy as np
from unmask.kernels.base import Space
from unmask.kernels.search import decide, plant
def spent():
    return {t: int(open(f"/proc/self/task/{t}/schedstat").read().split()[0]) for t in os.listdir("/proc/self/task")}
rng, none = np.random.default_rng(0), np.zeros((20_000, 0), np.int32)
points = rng.normal(size=(20_000, 13)) @ rng.normal(size=(13, 13))
space = Space(points + 0.1 * rng.normal(size=points.shape), points, none, none, 2, np.ones(13), *[np.zeros(0)] * 2)
time.sleep(0.3)
before = spent()
plant(space)
time.sleep(0.3)
others = {t: used - before.get(t, 0) for t, used in spent().items() if t in before and t != str(os.getpid())}
points @ points.T[:, :13]  # this one does wake a thread: the test sees it
time.sleep(0.3)
print(sum(others.values()), max(used - before[t] for t, used in spent().items() if t in others))
"""


def cloud(n, p):
    rng = np.random.default_rng(p)
    return rng.normal(size=(n, p)) @ np.triu(rng.normal(size=(p, p))) + 1e3


@pytest.mark.parametrize("p", [2, 13, frames.NARROW, frames.NARROW + 1])
@pytest.mark.parametrize("all_rows", [True, False])
def test_stored_numbers_are_centred_scaled_and_turned(p, all_rows):
    points = cloud(9 * p + 700, p)
    codes = np.random.default_rng(1).integers(-1, 4, (len(points), 2)).astype(np.int32)
    codes[5] = MOST + 3
    frame = choose_frame(plain(points[:9], points))
    assert len(frame.rotation) == p
    rows = np.arange(len(points)) if all_rows else np.flatnonzero(np.arange(len(points)) % 3)
    table = store(frame, points, codes, rows)
    wanted = (points[rows] - frame.centre) / frame.scale @ frame.rotation
    assert np.abs(wanted).max() > 0.05
    assert np.abs(table[:, :p] - wanted).max() < 2.0**-24
    assert np.array_equal(table[:, p:], np.where(codes < 0, np.nan, codes & MOST)[rows], equal_nan=True)


def test_the_centre_is_the_mean_of_what_is_there_and_nothing_is_longer_than_the_scale():
    points = cloud(500, 3)
    points[::7, 1], points[:, 2] = np.nan, np.nan
    queries = np.vstack([points[:4] * 50, np.full((1, 3), np.nan)])
    frame = choose_frame(plain(queries, points))
    assert frame.centre == pytest.approx([points[:, 0].mean(), np.nanmean(points[:, 1]), 0.0])
    assert not frame.whole
    most = max(np.nan_to_num(np.abs(store(frame, side, np.zeros((len(side), 0), np.int32), np.arange(len(side))))).max()
               for side in (queries, points))  # fmt: skip
    assert 0.1 < most <= 0.5


def test_a_table_without_gaps_is_whole_on_both_sides_or_not_at_all():
    points = cloud(60, 3)
    gap = points.copy()
    gap[59, 2] = np.nan
    assert choose_frame(plain(points, points)).whole
    assert not choose_frame(plain(gap, points)).whole
    assert not choose_frame(plain(points, gap, norm=CHEBYSHEV)).whole


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists() or (os.cpu_count() or 1) < 2, reason="needs two threads")
def test_no_thread_waits_busily_after_a_tree_is_planted():
    """OpenBLAS has its other thread wait for up to a tenth of a second, twice as long as this takes."""
    told = subprocess.run(
        [sys.executable, "-c", BUSY],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "1"},
    )
    planting, product = map(int, told.stdout.split())
    if product < 10_000_000:
        pytest.skip("this library of linear algebra does not wait busily")
    assert planting < 5_000_000  # nanoseconds
