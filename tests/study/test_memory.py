"""How much memory there is to use: the machine's, the container's, the process's; and what is kept within it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from unmask.errors import EngineError
from unmask.study import memory as local

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
        "import resource; from unmask.study.memory import available_memory; resource.setrlimit(resource.RLIMIT_AS,"
        " (6 * 2**30, 6 * 2**30)); print(available_memory())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert int(told.stdout) < 6 * 2**30


def test_the_least_used_goes_when_too_much_is_kept(monkeypatch):
    monkeypatch.setattr(local, "MOST_TO_KEEP", 3000)
    kept, made = local.Kept(), []

    def make(name, size=1000):
        return kept.get(name, lambda: made.append(name) or np.zeros(size, dtype=np.uint8))

    first = make("a")
    make("b")
    assert make("a") is first
    make("c")
    make("d")  # too much: b goes, which was used longest ago
    assert [kept.find(name) is not None for name in "abcd"] == [True, False, True, True]
    make("b")
    assert made == ["a", "b", "c", "d", "b"]
    make("e", 5000)  # the newest stays, however large
    assert [kept.find(name) is not None for name in "abcde"] == [False, False, False, False, True]


def test_little_memory_keeps_little(monkeypatch):
    monkeypatch.setattr(local, "available_memory", lambda: 10_000)
    kept = local.Kept()
    for name in "abc":
        kept.get(name, lambda: np.zeros(600, dtype=np.uint8))
    assert [kept.find(name) is not None for name in "abc"] == [False, False, True]


def test_fingerprints_tell_contents_apart():
    numbers = np.arange(6.0)
    same = [local.digest(numbers, ("a", 1)), local.digest(numbers.copy(), ("a", 1))]
    others = [
        local.digest(numbers.reshape(2, 3), ("a", 1)), local.digest(numbers.astype(np.float32), ("a", 1)),
        local.digest(numbers[::-1], ("a", 1)), local.digest(numbers, ("a", 2)), local.digest(numbers, "a", 1),
        local.digest(numbers[:3], numbers[3:], ("a", 1)),
    ]  # fmt: skip
    assert len({*same, *others}) == 1 + len(others)
    assert local.size_of((numbers, (numbers, "word"), 3)) == 2 * numbers.nbytes


def test_a_search_is_estimated_at_what_its_arrays_take_at_least():
    """Points stand in float64 twice and in float32, queries in float64 twice, and every row has results."""
    from unmask.study.metric import build_space
    from unmask.tables.encode import Encoded, Encoding

    rng = np.random.default_rng(0)
    for n_queries, n_points in ((10, 4000), (4000, 10)):
        sides = (Encoded(rng.normal(size=(n, 6)), np.zeros((n, 2), dtype=np.int32)) for n in (n_queries, n_points))
        space = build_space(Encoding(*sides, tuple("abcdef"), tuple("gh")))
        least = 2 * space.points.nbytes + 2 * space.queries.nbytes + 24 * (n_queries + n_points)
        assert least <= local.memory_of_search(space) <= 4 * least


def test_what_needs_more_than_the_share_of_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(local, "available_memory", lambda: 1000)
    local.check_memory(local.SHARE_OF_MEMORY * 1000, "it", "wait")
    with pytest.raises(EngineError, match="would need about"):
        local.check_memory(local.SHARE_OF_MEMORY * 1000 + 1, "it", "wait")


def test_an_outline_is_that_of_equal_contents_and_equality_is_to_the_last_bit():
    numbers = np.random.default_rng(0).normal(size=(5000, 3))
    codes = np.arange(10_000, dtype=np.int32).reshape(5000, 2)
    whole = (numbers, codes, 2, 1e-9)
    assert local.outline(*whole) == local.outline(numbers.copy(), np.asfortranarray(codes), 2, 1e-9)
    assert local.are_equal(whole, (numbers.copy(), np.asfortranarray(codes), 2, 1e-9))
    off = numbers.copy()
    off[7, 1] = np.nextafter(off[7, 1], np.inf)
    lost = numbers.copy()
    lost[7, 1] = np.nan
    assert local.are_equal((lost,), (lost.copy(),))
    others = [(off, codes, 2, 1e-9), (numbers, codes + 1, 2, 1e-9), (numbers, codes, 1, 1e-9), (lost, codes, 2, 1e-9),
              (numbers[:-1], codes, 2, 1e-9), (numbers, codes.astype(np.int64), 2, 1e-9), (numbers[::-1], *whole[1:]),
              (numbers.reshape(3, 5000), *whole[1:])]  # fmt: skip
    for other in others:
        assert not local.are_equal(whole, other)
        assert local.outline(*whole) != local.outline(*other)
