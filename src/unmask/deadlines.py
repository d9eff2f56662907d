"""A piece of work that ends in time: `OutOfTimeError` is raised in its thread, whatever it is about to do.

Python heeds it between two steps of its own; a compiled kernel that runs is waited for.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.errors import OutOfTimeError


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """End the block by `OutOfTimeError` after so many seconds; None: it may take as long as it likes."""
    if seconds is None:
        yield
        return
    thread, lock, left = threading.get_ident(), threading.Lock(), False

    def end() -> None:
        with lock:
            if not left:
                _raise_in(thread, OutOfTimeError)

    timer = threading.Timer(max(seconds, 0.0), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            left = True
        _raise_in(thread, None)  # one that came too late is taken back


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
    )
