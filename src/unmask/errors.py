"""What unmask says when it cannot go on: one base, and a message that lets the reader repair it."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from unmask.inert import visible

DEBUG = "UNMASK_DEBUG"  # set to anything: where an error of ours happened is told on standard error


class UnmaskError(ValueError):
    """Base of every error of ours. The message says what, what was got, what is allowed, and a hint."""

    def __init__(
        self, what: str, *, got: str | None = None, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.what, self.got, self.allowed, self.hint = what, got, allowed, hint
        parts = [what]
        parts += [f"got: {got}"] if got else []
        parts += [f"allowed: {allowed}"] if allowed else []
        parts += [f"hint: {hint}"] if hint else []
        super().__init__("\n  ".join(parts))


class TableError(UnmaskError):
    """A table cannot be read, written or compared."""


class RepeatedIdError(TableError):
    """An id that should say which single row it is repeats: people have several rows.

    Of the original: ``rows``, different ids as ``people``, and the ``share`` of them that repeat.
    """

    share: float = 0.0
    rows: int = 0
    people: int = 0


class RoleError(UnmaskError):
    """A column was given a role that it cannot have."""


class ParameterError(UnmaskError):
    """An option has a value that is not allowed."""


class EngineError(UnmaskError):
    """The work cannot be done where it was asked to be done: memory, a missing component, no convergence."""


class NothingToTryError(EngineError):
    """An attack has nothing to begin with: there is nobody whom it could be tried on, and nothing was left untried."""


class OutOfTimeError(BaseException):
    """The time for an attack is over. Raised by its progress; whatever the attack does about errors, it ends."""


def refused_by_system(error: BaseException) -> str | None:
    """What the machine would not give, in words with a hint; None for an error of any other kind."""
    kind, words = type(error).__name__, str(error)
    number = getattr(error, "errno", None) if isinstance(error, OSError) else None
    threads = isinstance(error, RuntimeError) and "start new thread" in words
    loading = isinstance(error, ImportError) and any(each in words for each in ("failed to map", "allocate memory"))
    panic = kind == "PanicException" and any(each in words for each in ("memory", "thread", "unavailable"))
    if isinstance(error, MemoryError) or number in {errno.ENOMEM, errno.EAGAIN} or threads or loading or panic:
        return "the memory is not enough\n  hint: ask fewer people, or name fewer columns (--quasi)"
    if number is None:
        return None
    assert isinstance(error, OSError)  # noqa: S101 - it has a number
    what = f"{error.filename}: " if isinstance(error.filename, str) and error.filename else ""
    hint = _HINTS.get(number, "")
    return f"{what}{error.strerror or kind}" + (f"\n  hint: {hint}" if hint else "")


_HINTS = {
    errno.ENOSPC: "make room on the disk, and run it again",
    errno.EDQUOT: "make room on the disk, and run it again",
    errno.EFBIG: "allow larger files (ulimit -f), and run it again",
    errno.EMFILE: "allow more open files (ulimit -n), and run it again",
    errno.ENFILE: "close other programs: the system has too many open files",
    errno.EROFS: "choose a place that can be written",
    errno.EACCES: "choose a place that can be read and written",
    errno.EPERM: "choose a place that can be read and written",
}


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the nearest known word, or nothing."""
    by_lower = {word.lower(): word for word in known}
    close = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    return f"did you mean {by_lower[close[0]]!r}?" if close else None


def check_name(name: str, known: Iterable[str], what: str, error: type[UnmaskError] = ParameterError) -> None:
    """Refuse a name that is not among the known ones, and guess which of them was meant."""
    allowed = list(known)
    if name not in allowed:
        raise error(what, got=repr(name), allowed=", ".join(allowed) or "none", hint=did_you_mean(str(name), allowed))


def former_percent(name: str, given: float, now: str) -> float:
    """Take a percent under a former name for the share it means; 1 or less could be either, and is refused."""
    if 0 < given <= 1:
        raise ParameterError(
            f"{name} was a percent, and shares are from 0 to 1: this can be either",
            got=f"{given:g}",
            hint=f"say {now}={given:.10g} for the share, {now}={given / 100:.10g} for {given:.10g} %",
        )
    if not 0 <= given <= 100:
        raise ParameterError(f"{name} is out of range", got=f"{given}", allowed=f"a share from 0 to 1, as {now}=")
    warnings.warn(f"{name}={given:g} is {now}={given / 100:.10g} from version 0.3 on", DeprecationWarning, stacklevel=3)
    return given / 100


@contextmanager
def debugging(*, on: bool) -> Iterator[None]:
    """Tell where errors happen while this lasts, as the environment variable does for a whole process."""
    before = os.environ.get(DEBUG)
    if on:
        os.environ[DEBUG] = "1"
    try:
        yield
    finally:
        if on:
            os.environ.pop(DEBUG)
        if before is not None:
            os.environ[DEBUG] = before


def tell_where(error: BaseException, *, show_values: bool = False) -> None:
    """Write where an error happened to standard error, when that is asked for.

    Files, lines and code; no variables. The error's own words may quote a cell, so they need leave to show values.
    """
    if not os.environ.get(DEBUG):
        return
    told = traceback.TracebackException.from_exception(error, capture_locals=False)
    lines = list(told.format()) if show_values else [line for part in _chain(error) for line in part]
    sys.stderr.write(visible("".join(lines)))


def _chain(error: BaseException) -> Iterator[list[str]]:
    """Frames and kind of an error, after those of the error that it came from."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _chain(before)
        yield ["\n... and then:\n\n"]
    yield ["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__)]
    yield [f"{type(error).__name__} (its words may quote data: --show-values shows them)\n"]
