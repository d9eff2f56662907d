"""Queries in chunks over threads. Kernels release the interpreter lock, so plain threads share them out evenly.

numba's own parallel loops cut the work into one piece per thread beforehand, cannot be entered from two threads at a
time with its default layer, and take longer to compile; chunks are taken as threads become free. Each query writes its
own row of the result and no other, so the result is the same for any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numba as nb
import numpy as np
from numpy.typing import NDArray

from unmask.kernels.compiling import lean
from unmask.kernels.search import Desk, desk, near_boxes
from unmask.kernels.tree import LANES, Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.kernels.tree import Tree

Leaves = NDArray[np.int32]

CHUNK = 512


def in_chunks(work: Callable[[slice], None], n: int, *, chunk: int = CHUNK) -> None:
    """Call `work` on slices of range(n), with as many threads as numba is set to use (numba.set_num_threads)."""
    parts = [slice(a, min(n, a + chunk)) for a in range(0, n, chunk)]
    threads = min(nb.get_num_threads(), len(parts))
    if threads <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, part) for part in parts]:
            done.result()


def search_order(tree: Tree, queries: Rows) -> Rows:
    """Places in `queries`, in the order of the leaves nearest to them: neighbours in time then share their memory."""
    n = len(queries)
    if tree.flat:
        return np.arange(n)
    leaves = np.empty(n, dtype=np.int32)
    in_chunks(lambda part: _nearest_leaves(tree, queries[part], leaves[part], desk()), n, chunk=8192)
    return np.argsort(leaves, kind="stable")


@lean
def _nearest_leaves(tree: Tree, queries: Rows, leaves: Leaves, desk: Desk) -> None:
    """Go down to the nearest box at each level."""
    gaps = desk.gaps
    for slot, query in enumerate(queries):
        box = 0
        for height in range(tree.level.shape[0] - 1, -1, -1):
            mask = near_boxes(tree, height, box, tree.probes[query], np.inf, gaps)
            best = 0
            for j in range(1, LANES):
                if mask >> j & 1 and gaps[j] < gaps[best]:
                    best = j
            box = box * LANES + best
        leaves[slot] = box
