"""Private folders: gone at the end; those of processes that were killed are removed by the next run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile

import pytest

from unmask import folders
from unmask.folders import LOCK, private_folder, remove_abandoned

KILLED = """
import os
from unmask.folders import private_folder
with private_folder() as folder:
    (folder / "codes").write_text("somebody's id")
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def process(place):
    environment = {**os.environ, "TMPDIR": str(place)}
    started = subprocess.Popen(
        [sys.executable, "-c", KILLED], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return started, started.stdout.readline().strip()


def test_the_folder_of_a_killed_process_is_removed_by_the_next_run_and_that_of_a_living_one_is_not(place):
    dead, left = process(place)
    alive, used = process(place)
    try:
        with private_folder() as own:
            assert os.path.exists(left)  # noqa: PTH110
            dead.kill()
            dead.wait()
            with private_folder():
                assert {str(one) for one in place.iterdir()} >= {used, str(own)}
                assert not os.path.exists(left)  # noqa: PTH110
        assert {str(one) for one in place.iterdir()} == {used}
    finally:
        for one in (dead, alive):
            one.kill()
            one.communicate()


def test_what_is_not_ours_stays(place, monkeypatch):
    (place / "unmask-notes").mkdir()  # no lock: somebody's own folder
    (place / "other").mkdir()
    (place / "other" / LOCK).touch()
    (place / "unmask-link").symlink_to(place / "other")
    remove_abandoned()
    assert {one.name for one in place.iterdir()} == {"unmask-notes", "other", "unmask-link"}
    (place / "unmask-theirs").mkdir()
    (place / "unmask-theirs" / LOCK).touch()
    monkeypatch.setattr(os, "getuid", lambda: -1)
    remove_abandoned()
    assert (place / "unmask-theirs").exists()


def test_a_disk_without_locks_keeps_every_folder_that_is_in_use(place, monkeypatch):
    def none(_handle, _how):
        raise OSError

    monkeypatch.setattr(folders.fcntl, "flock", none)
    with private_folder() as folder:
        monkeypatch.undo()
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        remove_abandoned()
        assert folder.exists()
    assert not folder.exists()


def test_the_folder_is_locked_private_and_gone_afterwards(place):
    with private_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        with (folder / LOCK).open() as file, pytest.raises(OSError, match="unavailable"):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not list(place.iterdir())
