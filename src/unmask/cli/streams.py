"""Standard output and error may be closed, full or read by nobody: the work goes on, and its end says what was lost.

A command writes its files whatever becomes of the screen. Whoever stops reading (`| head -1`) ends it as by the
signal for that, whose exit code is no verdict.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from unmask.errors import EngineError

OUT, ERROR = 1, 2  # file descriptors
LEAST_OPEN = 64  # files at once; with fewer, the libraries that read tables and draw end in ways of their own


class Stream:
    """A stream whose failure ends nothing: it is noted, and what comes after it is thrown away."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - a text stream of whatever kind
        self.stream = stream
        self.failed: OSError | None = None

    def write(self, text: str) -> int:
        """Write, or note why that cannot be."""
        if self.failed is None:
            try:
                self.stream.write(text)
            except OSError as error:
                self.failed = error
        return len(text)

    def flush(self) -> None:
        """Write what waits, or note why that cannot be."""
        if self.failed is None:
            try:
                self.stream.flush()
            except OSError as error:
                self.failed = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self.stream, name)


@contextmanager
def guarded() -> Iterator[Stream]:
    """Put such streams in place of standard output and error; gives the one for output."""
    _fill_gaps()
    before = sys.stdout, sys.stderr
    for stream in before:
        _say_all(stream)
    out, errors = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = out, errors
    try:
        yield out
    finally:
        for stream in (out, errors):
            stream.flush()
            if stream.failed is not None:
                _throw_away(stream)
        sys.stdout, sys.stderr = before


def end_unread() -> None:
    """End as a program does whose output nobody reads any more."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)


def check_handles() -> None:
    """Refuse to begin where so few files may be open that tables cannot be read."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < LEAST_OPEN:
        raise EngineError("too few files may be open", got=str(allowed), allowed=f"at least {LEAST_OPEN}",
                          hint="allow more: ulimit -n 256")  # fmt: skip


def _fill_gaps() -> None:
    """Open nothing where a stream was closed from the start: else the next file would take its place."""
    for number in (0, OUT, ERROR):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name, number in (("stdout", OUT), ("stderr", ERROR)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - lasts


def _say_all(stream: Any) -> None:  # noqa: ANN401 - a text stream of whatever kind
    """Let names be written that the terminal has no letters for; what is not for a terminal is UTF-8."""
    with suppress(AttributeError, ValueError):  # not a file
        plain = {} if stream.isatty() else {"encoding": "utf-8"}
        stream.reconfigure(errors="backslashreplace", **plain)


def _throw_away(stream: Stream) -> None:
    """Let what still waits in a broken stream go nowhere: Python would complain of it at its end."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
