"""Ctrl-C ends a command within two seconds, wherever it is, and tells what was found until then.

Python heeds a signal between two steps of its own, and a compiled kernel is one step that may take minutes. So a thread
waits for the signal: the command gets half a second to tidy up, then the thread ends the process. Nothing is lost by
that: files are written whole or not at all, and attacks that have ended are kept (resume.py).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from unmask.folders import remove_folders
from unmask.inert import visible

STOPPED = 130  # the exit code of Ctrl-C, as shells have it: no verdict
PATIENCE = 0.5  # seconds
GOES_ON = "No report was written. With --json, --html or --state the same command goes on where it was."
CLEAN = "\r\x1b[K\x1b[?25h"  # empties the line of a progress bar, and shows the cursor that it hid

_found: list[str] = []
_telling, _told = threading.Lock(), threading.Event()


@contextmanager
def stoppable() -> Iterator[None]:
    """Watch for Ctrl-C as long as the block runs; once it came, until the process has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before, unraisable = signal.set_wakeup_fd(writer, warn_on_full_buffer=False), sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else unraisable(lost)
    threading.Thread(target=_watch, args=(reader,), name="unmask-stop", daemon=True).start()
    del _found[:]
    _told.clear()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        sys.unraisablehook = unraisable
        os.close(writer)  # the thread reads what is in the pipe, then its end


def note(words: str) -> None:
    """Remember what is known so far, a line for each attack."""
    _found.append(words)


def tell_stopped() -> int:
    """Say once that the command was stopped, and what was known by then; the exit code of that."""
    with _telling:
        if not _told.is_set():
            known = ["Found so far:", *(f"  {line}" for line in _found)] if _found else []
            told = "\n".join(["unmask: stopped", *known, GOES_ON])
            sys.stderr.write(f"{CLEAN if sys.stderr.isatty() else ''}{visible(told)}\n")
        _told.set()
    return STOPPED


def _watch(reader: int) -> None:
    """Wait for Ctrl-C; end the process if it does not end by itself."""
    while came := os.read(reader, 64):
        if signal.SIGINT in came:
            _told.wait(PATIENCE)  # Python's own end may take seconds: it is not waited for
            remove_folders()
            tell_stopped()
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(STOPPED)
    os.close(reader)
