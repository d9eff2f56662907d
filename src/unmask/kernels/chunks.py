"""Queries in chunks over threads. Kernels release the interpreter lock, so plain threads share them out evenly.

numba's own parallel loops cut the work into one piece per thread beforehand, cannot be entered from two threads at a
time with its default layer, and take longer to compile; chunks are taken as threads become free. Each query writes its
own row of the result and no other, so the result is the same for any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numba as nb

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 512


def in_chunks(work: Callable[[slice], object], n: int, *, chunk: int = CHUNK) -> None:
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
