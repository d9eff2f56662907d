"""Ctrl-C ends a command within two seconds, in a kernel too, says what was found, and the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import unmask
from unmask.cli import screen, stopping

LIMIT = 2.0  # seconds
KERNEL = """
import sys
import numba, numpy as np
from unmask.cli.stopping import stoppable, note

@numba.njit(nogil=True)
def spin(steps):
    total = 0
    for step in range(steps):
        total = (total * 31 + step) % 1000003
    return total

spin(1)
with stoppable():
    note("Nearest-record linkage: 3 of 4 people are found.")
    print("begins", flush=True)
    spin(10**15)
"""


def stopped(process):
    """Press Ctrl-C; the seconds until the process has ended, and what it said."""
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    return time.monotonic() - begun, said


def test_a_kernel_that_never_ends():
    words = [sys.executable, "-c", KERNEL]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)  # between that word and the kernel Python would heed the signal by itself
    took, said = stopped(process)
    assert took < LIMIT
    assert process.returncode == stopping.STOPPED
    assert said == (
        "unmask: stopped\nFound so far:\n  Nearest-record linkage: 3 of 4 people are found.\n"
        "No report was written. With --json, --html or --state the same command goes on where it was.\n"
    )


def test_a_private_folder_is_gone_though_the_process_ends_in_a_kernel(tmp_path):
    held = KERNEL.replace(
        "with stoppable():", "from unmask.folders import private_folder\nwith stoppable(), private_folder():"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", held],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout.readline() == "begins\n"
    assert [entry.stat().st_mode & 0o777 for entry in tmp_path.iterdir()] == [0o700]
    time.sleep(0.5)
    assert stopped(process)[0] < LIMIT
    assert list(tmp_path.iterdir()) == []


QUERY = """
import sys
from unmask.cli import app
from unmask.engines import duck

def ask():
    with duck.open_duck() as engine:
        print("begins", flush=True)
        engine.row("SELECT count(*) FROM range(100000000) AS a, range(1000000) AS b")

app._run = lambda words: stop(ask)

def stop(work):
    try:
        work()
    except KeyboardInterrupt:
        return app.tell_stopped()

app.main()
"""


def test_a_query_of_duckdb_that_never_ends(tmp_path):
    """DuckDB answers Ctrl-C with an error of its own."""
    pytest.importorskip("duckdb")
    process = subprocess.Popen(
        [sys.executable, "-c", QUERY],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    took, said = stopped(process)
    assert took < LIMIT
    assert process.returncode == stopping.STOPPED
    assert said.startswith("unmask: stopped\n") and "error" not in said
    assert list(tmp_path.iterdir()) == []


def test_progress_notes_what_attacks_found(monkeypatch):
    noted = []
    monkeypatch.setattr(screen, "note", noted.append)
    people = unmask.datasets.census(60, seed=1)
    with screen.progress_bar(quiet=True) as tell:
        found = unmask.assess(unmask.Release(people, people), only=["nearest", "membership"], progress=tell)
    claim = next(finding.claim for finding in found.findings if finding.key == "nearest.rate")
    assert noted == [f"Nearest-record linkage: {claim}"]  # what does not apply is not found


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["one_to_one", "probabilistic"])
def test_in_the_middle_of_a_long_attack(tmp_path, measure):
    """60,000 people: Ctrl-C, then the same command takes what was kept."""
    people = unmask.datasets.census(60_000, seed=1)
    people.write_parquet(tmp_path / "a.parquet")
    unmask.parse_masking("noise(0.5)").apply(people, 1).write_parquet(tmp_path / "b.parquet")
    a, b, report = (str(tmp_path / name) for name in ("a.parquet", "b.parquet", "r.json"))
    words = [sys.executable, "-m", "unmask", "assess", a, b, "--json", report, "--quiet", "--utility", "none", "--only"]
    state, noted = tmp_path / ".r.json.state", tmp_path / "progress"
    told = {**os.environ, "UNMASK_PROGRESS": str(noted)}
    process = subprocess.Popen([*words, f"nearest,{measure}"], env=told, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(state.glob("nearest-*.json")):
        time.sleep(0.05)
    time.sleep(1.0)
    assert process.poll() is None  # in the second attack
    took, said = stopped(process)
    assert took < LIMIT
    assert process.returncode == stopping.STOPPED
    assert said.startswith("unmask: stopped\nFound so far:\n  Nearest-record linkage: ")
    assert not (tmp_path / "r.json").exists()
    (kept,) = state.glob("nearest-*.json")
    before = kept.stat().st_mtime_ns
    named = [*words, "nearest", "--state", str(state)]
    assert subprocess.run(named, check=False).returncode in {0, 1, 3}
    assert kept.stat().st_mtime_ns == before  # taken, not made again
