from __future__ import annotations

import stat
from pathlib import Path

import pytest

from unmask.errors import TableError
from unmask.tables.write import check_target, write_atomically


def test_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")

    def fail(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(TableError, match="No space left"):
        write_atomically(target, fail)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_readable_by_the_owner_only(tmp_path):
    write_atomically(tmp_path / "a", "text")
    write_atomically(tmp_path / "b", b"bytes")
    assert (tmp_path / "a").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_bad_targets(tmp_path):
    for target, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "no folder")):
        with pytest.raises(TableError, match=message):
            write_atomically(target, "x")


def test_what_only_the_system_knows_is_told_before_the_work(tmp_path):
    """A name that is too long, and a folder in which even root can make nothing."""
    (tmp_path / "file").touch()
    for target in (tmp_path / ("x" * 300), Path("/proc/x.json"), tmp_path / "file" / "x"):
        with pytest.raises(TableError, match="cannot write"):
            check_target(target)
    check_target(tmp_path / "fine")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
