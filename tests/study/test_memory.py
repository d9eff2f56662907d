"""How much memory there is to use: the machine's, the container's, the process's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unmask.study import ask as local

ENDLESS = 2**62


def test_a_container_has_its_own_limit(tmp_path):
    assert local.room_in_container(str(tmp_path)) == ENDLESS
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert local.room_in_container(str(tmp_path)) == ENDLESS
    (tmp_path / "memory.max").write_text("5000\n")
    assert local.room_in_container(str(tmp_path)) == 4000
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 300\n")
    assert local.room_in_container(str(tmp_path)) == 4300
    (tmp_path / "memory.current").write_text("9000\n")
    assert local.room_in_container(str(tmp_path)) == 0


def test_the_older_kind_of_container(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("800\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("300\n")
    assert local.room_in_container(str(tmp_path)) == 500


def test_the_least_of_all_limits_counts(monkeypatch):
    whole = local.available_memory()
    assert 0 < whole < 2**50
    monkeypatch.setattr(local, "room_in_container", lambda: 12345)
    assert local.available_memory() == 12345


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are those of Unix")
def test_a_limit_of_the_process_is_seen():
    code = (
        "import resource; from unmask.study.ask import available_memory; resource.setrlimit(resource.RLIMIT_AS,"
        " (6 * 2**30, 6 * 2**30)); print(available_memory())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert int(told.stdout) < 6 * 2**30
