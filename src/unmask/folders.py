"""Private folders for what must not stay: gone at the end, also where Ctrl-C ends the process from another thread."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_open: set[str] = set()


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only its owner can read (mode 0700), for as long as this lasts."""
    folder = tempfile.mkdtemp(prefix="unmask-")
    _open.add(folder)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _open.discard(folder)


def remove_folders() -> None:
    """Remove all that are there: for whoever ends the process before their blocks end."""
    for folder in (*_open, *_open):  # twice: a file may have been made meanwhile
        shutil.rmtree(folder, ignore_errors=True)
