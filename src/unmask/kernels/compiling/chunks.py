"""Queries in chunks over threads. Kernels release the interpreter lock, so plain threads share them out evenly.

numba's own parallel loops cut the work into one piece per thread beforehand, cannot be entered from two threads at a
time with its default layer, and take longer to compile; chunks are taken as threads become free. Each query writes its
own row of the result and no other, so the result is the same for any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from queue import SimpleQueue
from typing import TypeVar

import numba as nb

Item = TypeVar("Item")
Result = TypeVar("Result")
CHUNK = 512
_NAME = "unmask-chunks"


def in_chunks(
    work: Callable[[slice], object], n: int, *, chunk: int = CHUNK, progress: Callable[[float], None] | None = None
) -> None:
    """Call `work` on slices of range(n), with as many threads as numba is set to use (numba.set_num_threads).

    `progress` is told the share of the slices that are done. Work that is itself in chunks stays in its thread.
    """
    parts = deque(slice(a, min(n, a + chunk)) for a in range(0, n, chunk))
    threads, several = min(nb.get_num_threads(), len(parts)), len(parts)
    if threads <= 1 or threading.current_thread().name.startswith(_NAME):
        for number in range(1, several + 1):
            work(parts.popleft())
            if progress:
                progress(number / several)
        return
    told: SimpleQueue[int] = SimpleQueue()
    failed: list[tuple[int, BaseException]] = []
    tasks = [_pool(os.getpid(), threads).submit(_serve, work, parts, told, failed) for _ in range(threads)]
    try:
        done = 0
        while progress and done < several and told.get():
            done += 1
            progress(done / several)
        wait(tasks)
    finally:
        parts.clear()
        wait(tasks)
    if failed:
        raise min(failed, key=lambda one: one[0])[1]


def _serve(
    work: Callable[[slice], object],
    parts: deque[slice],
    told: SimpleQueue[int],
    failed: list[tuple[int, BaseException]],
) -> None:
    """Take slices until there are none; after an error nobody takes another one.

    A thread asks for its next slice itself: handing each one out as a task of the pool takes as long as many a slice.
    """
    while True:
        try:
            part = parts.popleft()
        except IndexError:  # none is left
            return
        try:
            work(part)
        except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
            failed.append((part.start, error))
            parts.clear()
            told.put(0)
            return
        told.put(1)


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], *, shared: bool = True) -> list[Result]:
    """What `work` makes of each item, in their order; with `shared`, items are taken by threads as these are free."""
    found: dict[int, Result] = {}

    def some(part: slice) -> None:
        for k in range(part.start, part.stop):
            found[k] = work(items[k])

    in_chunks(some, len(items), chunk=1 if shared else max(1, len(items)))
    return [found[k] for k in range(len(items))]


def in_strides(work: Callable[[int, int], object], n: int, *, least: int) -> None:
    """Call ``work(begin, step)`` in threads, on items begin, begin + step, ... below n; `least` are worth a thread.

    For kernels that need much memory of their own in each call.
    """
    threads = min(nb.get_num_threads(), max(1, n // least))
    in_chunks(lambda part: work(part.start, threads), threads, chunk=1)


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:  # noqa: ARG001  a forked process has none of the threads
    """Threads that stay: a solver calls for them hundreds of times, and starting them takes longer than the work."""
    return ThreadPoolExecutor(threads, thread_name_prefix=_NAME)
