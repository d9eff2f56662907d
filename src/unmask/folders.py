"""Private folders for what must not stay: gone at the end, also where Ctrl-C ends the process from another thread.

What ends a process at once (kill -9) leaves its folder. Each is locked as long as its process lives, so the next one
that makes a folder removes those that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = "unmask-", ".unmask-lock"

_open: set[str] = set()


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only its owner can read (mode 0700), for as long as this lasts."""
    remove_abandoned()
    folder = tempfile.mkdtemp(prefix=PREFIX)
    _open.add(folder)
    lock = _locked(Path(folder))
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _open.discard(folder)
        os.close(lock)


def remove_abandoned() -> None:
    """Remove folders whose processes have ended without doing so: those of which nobody holds the lock."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):  # of somebody else, or just removed
            if lock.parent.is_symlink() or lock.lstat().st_uid != os.getuid():
                continue
            handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # or somebody holds it
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)


def _locked(folder: Path) -> int:
    """Lock a folder for as long as this process lives: the lock has its name only once it is held.

    Where the disk knows no locks it gets none, and the folder is never taken for one that was left.
    """
    new = folder / f"{LOCK}.new"
    handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
        new.rename(folder / LOCK)
    return handle


def remove_folders() -> None:
    """Remove all that are there: for whoever ends the process before their blocks end."""
    for folder in (*_open, *_open):  # twice: a file may have been made meanwhile
        shutil.rmtree(folder, ignore_errors=True)
