"""What the machine refuses is said in words; what a killed run left is removed, what another one writes is not."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import sys

import pytest

from unmask import fingerprints
from unmask.cli.streams import Stream, guarded
from unmask.errors import refused_by_system
from unmask.tables import check_target, write_atomically
from unmask.tables import write as writing


class PanicException(BaseException):  # as polars has it
    pass


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "memory"),
        (RuntimeError("can't start new thread"), "memory"),
        (ImportError("x.so: failed to map segment from shared object"), "memory"),
        (PanicException("could not spawn threads"), "memory"),
        (
            OSError(errno.ENOSPC, "No space left on device", "r.json"),
            "r.json: No space left on device\n  hint: make room",
        ),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
)
def test_what_the_machine_refuses_is_said_in_words(error, words):
    assert words in refused_by_system(error)


@pytest.mark.parametrize(
    "error", [ValueError("memory"), RuntimeError("x"), ImportError("no x"), PanicException("index")]
)
def test_an_error_of_ours_is_not_blamed_on_the_machine(error):
    assert refused_by_system(error) is None


def test_what_a_killed_run_left_is_removed_and_what_another_writes_is_not(tmp_path):
    target, others = (
        tmp_path / "r[1].csv",
        [tmp_path / ".r[1].csv.x.part", tmp_path / ".r[1].csv.y.part", tmp_path / ".s.csv.x.part"],
    )
    for path in others:
        path.write_text("half")
    with others[1].open() as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        check_target(target)
    assert sorted(tmp_path.iterdir()) == sorted(others[1:])


@pytest.mark.parametrize("step", ["mkstemp", "fsync"])
def test_whatever_step_fails_the_file_of_before_is_there(tmp_path, monkeypatch, step):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "r.csv").write_text("before")
    monkeypatch.setattr(writing.tempfile if step == "mkstemp" else writing.os, step, fail)
    with pytest.raises(ValueError, match="make room on the disk"):
        write_atomically(tmp_path / "r.csv", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_key_that_a_full_disk_left_empty_is_made_again(tmp_path, monkeypatch):
    place = tmp_path / "data" / "key"
    monkeypatch.setenv("UNMASK_KEY", str(place))
    fingerprints.make_key()
    first = place.read_text()
    fingerprints.make_key()
    assert place.read_text() == first and len(first) == 65 and place.stat().st_mode & 0o777 == 0o600
    place.write_text("")
    fingerprints.make_key()
    assert len(place.read_text()) == 65 and place.read_text() != first
    assert [path.name for path in place.parent.iterdir()] == ["key"]


def test_of_two_keys_that_are_made_at_once_the_first_stays(tmp_path, monkeypatch):
    place = tmp_path / "key"
    monkeypatch.setenv("UNMASK_KEY", str(place))
    plain = fingerprints._put
    monkeypatch.setattr(
        fingerprints,
        "_put",
        lambda *given: [place.write_text("5e" * 32), os.link(place, tmp_path / "b"), plain(*given)],
    )
    monkeypatch.setattr(fingerprints.Path, "exists", lambda self: False)  # neither saw the other's
    fingerprints.make_key()
    assert place.read_text() == "5e" * 32


def test_a_key_is_never_half_written(tmp_path, monkeypatch):
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "key"))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fingerprints.secrets, "token_hex", full)
    fingerprints.make_key()
    assert list(tmp_path.iterdir()) == []


def test_a_stream_that_fails_ends_nothing_and_is_asked_no_more():
    class Full(io.StringIO):
        asked = 0

        def write(self, _):
            self.asked += 1
            raise OSError(errno.ENOSPC, "No space left on device")

    stream = Stream(Full())
    assert stream.write("four") == stream.write("four") == 4
    stream.flush()
    assert stream.failed.errno == errno.ENOSPC and stream.stream.asked == 1


def test_streams_are_put_back(capsys):
    before = sys.stdout, sys.stderr
    with guarded() as out:
        assert sys.stdout is out and not out.isatty()
        sys.stdout.write("told\n")
    assert (sys.stdout, sys.stderr) == before and capsys.readouterr().out == "told\n"
