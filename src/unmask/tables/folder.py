"""A folder that one run at a time works in."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unmask.errors import TableError

LOCK = ".lock"


@contextmanager
def locked_folder(place: Path) -> Iterator[Path]:
    """Make the folder, for its owner only, and keep every other run out of it until the end."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(place / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise TableError(f"cannot write in {place}", got=error.strerror or "", hint="choose another folder") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _busy(place) from None
        if not _is(lock, place / LOCK):  # the run before has just ended, and removed the folder
            raise _busy(place)
        yield place
    finally:
        os.close(lock)


def _busy(place: Path) -> TableError:
    return TableError(f"another run works in {place}", hint="wait for it, or choose another folder")


def _is(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of this name."""
    return path.exists() and os.path.samestat(os.fstat(handle), path.stat())
