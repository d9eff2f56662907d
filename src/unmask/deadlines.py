"""A piece of work that ends in time: `OutOfTimeError` is raised in its thread, whatever it is about to do.

Python heeds it between two steps of its own; a compiled kernel that runs is waited for. So is a library that is being
loaded, or a kernel that is being compiled: half of either would break what runs after it.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.errors import OutOfTimeError

WHOLE = ("<frozen importlib", "numba/core", "numba\\core")  # files whose work is not left half done
AGAIN = 0.02  # seconds after which is looked again whether such work has ended


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """End the block by `OutOfTimeError` after so many seconds; None: it may take as long as it likes."""
    if seconds is None:
        yield
        return
    thread, lock, left = threading.get_ident(), threading.Lock(), threading.Event()

    def end() -> None:
        over = left.wait(max(seconds, 0.0))
        while not over:
            with lock:
                over = left.is_set() or not _must_be_whole(thread)
                if over and not left.is_set():
                    _raise_in(thread, OutOfTimeError)
            over = over or left.wait(AGAIN)

    threading.Thread(target=end, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            left.set()
        _raise_in(thread, None)  # one that came too late is taken back


def _must_be_whole(thread: int) -> bool:
    """Whether the thread is loading a library or compiling."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - Python's own way to see what a thread does
    while frame is not None:
        if any(part in frame.f_code.co_filename for part in WHOLE):
            return True
        frame = frame.f_back
    return False


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
    )
