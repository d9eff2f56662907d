"""A second process that learns: the same to the last bit with it, without it, and where it ends before its time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numba
import numpy as np
import polars as pl
import pytest

import unmask
from unmask.linkage.channel import helper
from unmask.linkage.channel.attack import link_channel
from unmask.linkage.channel.helper import Helper


def release_of(kind: str) -> unmask.Release:
    """Patients (dates, texts, numbers, gaps), or people of households who are published together."""
    if kind == "patients":
        people = unmask.datasets.patients(90, seed=3)
        return unmask.Release(people, unmask.parse_masking("noise(0.3)").apply(people, 1))
    rng = np.random.default_rng(4)
    home = np.repeat(np.arange(30), 3)
    table = pl.DataFrame(
        {"home": home, "age": rng.integers(0, 90, 90), "sex": rng.choice(["m", "f"], 90), "job": rng.integers(0, 9, 90)}
    )
    moved = table.with_columns(pl.col("age") + pl.Series(rng.integers(-4, 5, 90)), pl.col("home") + 500)
    return unmask.Release(table, moved, household="home")


def told(linkage) -> list[object]:
    """All that was found, as it can be compared."""
    values = (getattr(linkage, field.name) for field in fields(linkage))
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


@pytest.fixture(scope="module")
def alone():
    """What is found of the households without a second process, and without a curve."""
    return told(link_channel(release_of("households"), curve=False))  # conftest.py: nobody is helped unless asked


@pytest.fixture
def asked(monkeypatch):
    """Which lessons the second process answered, and whether it did."""
    monkeypatch.setattr(helper, "LEAST", 1)
    monkeypatch.setattr(numba, "get_num_threads", lambda: 2)
    answers: list[bool] = []
    ask = Helper._ask

    def noted(self, *lesson):
        found = ask(self, *lesson)
        answers.append(found is not None)
        return found

    monkeypatch.setattr(Helper, "_ask", noted)
    return answers


@pytest.mark.parametrize("kind", ["patients", "households"])
def test_what_another_process_learns_is_what_would_be_learnt_here(kind, asked, monkeypatch):
    release = release_of(kind)
    monkeypatch.setattr(helper, "LEAST", 10**9)
    alone = told(link_channel(release))
    assert not asked
    monkeypatch.setattr(helper, "LEAST", 1)
    assert told(link_channel(release)) == alone
    assert asked and all(asked)


def test_one_thread_needs_no_other_process(asked, monkeypatch):
    monkeypatch.setattr(numba, "get_num_threads", lambda: 1)
    link_channel(release_of("households"), curve=False)
    assert not asked


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/bin/cat"])
def test_where_it_cannot_be_had_everything_is_learnt_here(python, alone, asked, monkeypatch):
    monkeypatch.setattr(sys, "executable", python)
    found = told(link_channel(release_of("households"), curve=False))
    assert not any(asked)
    assert found == alone


def test_a_process_that_is_killed_loses_nothing(alone, asked, monkeypatch):
    send = helper._send
    killed: list[int] = []

    def struck(pipe, what):
        send(pipe, what)
        if isinstance(what, tuple):
            killed.append(reader_of(pipe))
            os.kill(killed[-1], signal.SIGKILL)

    monkeypatch.setattr(helper, "_send", struck)
    found = told(link_channel(release_of("households"), curve=False))
    assert killed and not any(asked)
    assert found == alone


def reader_of(pipe) -> int:
    """The child that reads from the other end of a pipe."""
    mine = Path(f"/proc/self/fd/{pipe.fileno()}").readlink()
    return next(child for child in children() if Path(f"/proc/{child}/fd/0").readlink() == mine)


def children() -> list[int]:
    """Helpers that this process has begun and that have not ended."""
    running = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [number for number in running if is_helper(number) and is_ours(number)]


def is_ours(process: int) -> bool:
    return f"PPid:\t{os.getpid()}\n" in Path(f"/proc/{process}/status").read_text(encoding="utf-8")


def is_helper(process: int) -> bool:
    """Whether it is there; of one that has ended, and that nobody has asked about yet, the words are gone."""
    try:
        return "unmask.linkage.channel.helper" in Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return False


def test_an_attack_that_fails_leaves_no_process(asked, monkeypatch):
    def fails(*_args, **_how):
        assert children()
        raise KeyboardInterrupt

    monkeypatch.setattr("unmask.linkage.channel.attack.link_people", fails)
    monkeypatch.setattr("unmask.linkage.channel.attack.competition", fails)
    with pytest.raises(KeyboardInterrupt):
        link_channel(release_of("households"))
    assert not children()


def test_it_ends_with_whom_it_helps():
    """Killed without a word, as by the system: the other process sees within a second or two that it is alone."""
    program = (
        "from unmask.linkage.channel import helper\n"
        "h = helper.Helper(5000)\n"
        "print(h._process.pid, flush=True); import time; time.sleep(60)"
    )
    two = os.environ | {"NUMBA_NUM_THREADS": "2"}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=two) as owner:
        other = int(owner.stdout.readline())
        assert is_helper(other)
        time.sleep(0.2)
        owner.kill()
    ends = time.monotonic() + 20
    while is_helper(other) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not is_helper(other)
