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


def in_chunks(
    work: Callable[[slice], object], n: int, *, chunk: int = CHUNK, progress: Callable[[float], None] | None = None
) -> None:
    """Call `work` on slices of range(n), with as many threads as numba is set to use (numba.set_num_threads).

    `progress` is told the share of the slices that are done.
    """
    parts = [slice(a, min(n, a + chunk)) for a in range(0, n, chunk)]
    threads = min(nb.get_num_threads(), len(parts))
    if threads <= 1:
        for number, part in enumerate(parts, start=1):
            work(part)
            if progress:
                progress(number / len(parts))
        return
    with ThreadPoolExecutor(threads) as pool:
        for number, done in enumerate([pool.submit(work, part) for part in parts], start=1):
            done.result()
            if progress:
                progress(number / len(parts))
