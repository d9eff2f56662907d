"""Faults that only the system can make: a container's limit of memory, and a clock that is set back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unmask
from fault_runs import BEFORE, Ended, left_over, one_clear_message

ASSESS = "assess a.csv b.csv --id patient --only anonymity,uniqueness --json r.json --html r.html --quiet"
GROUPS = Path("/sys/fs/cgroup")
LITTLE = 60 * 2**20  # bytes: less than Python with the libraries takes
OTHERS = (  # commands that write figures, by what they write
    "person one.json --row 3 --chart r.svg",
    "assess-tables towns.csv --json r.json --quiet",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    people = unmask.datasets.patients(60, seed=5).select("patient", "sex", "height", "cost", "smoker", "town")
    people.write_csv(folder / "a.csv")
    unmask.parse_masking("noise(0.3)").apply(people, 1).write_csv(folder / "b.csv")
    people.group_by("town", "smoker").len("count").sort("town", "smoker").write_csv(folder / "towns.csv")
    release = unmask.Release(folder / "a.csv", folder / "b.csv", id="patient")
    unmask.assess(release, only=["anonymity"]).write_json(folder / "one.json")
    return folder


def call(words, folder, *before, flags=(), **env):
    command = [*map(str, before), sys.executable, *flags, "-m", "unmask", *words.split(" ")]
    ran = subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, **env}, check=False)
    ended = Ended(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
    one_clear_message(ended)
    return ended


def findings(path):
    told = json.loads(path.read_text())
    return told["verdict"], told["findings"]


@pytest.fixture
def group():
    """A group of processes that may take little memory; only root can make one, where the system lets it."""
    old = GROUPS / "memory"
    place = (old if old.is_dir() else GROUPS) / f"unmask-test-{os.getpid()}"
    try:
        place.mkdir()
        (place / ("memory.limit_in_bytes" if old.is_dir() else "memory.max")).write_text(str(LITTLE))
    except OSError as error:
        place.is_dir() and place.rmdir()
        if os.environ.get("CI"):  # there nothing is skipped for what is missing
            raise
        pytest.skip(f"no group of processes can be limited here: {error.strerror}")
    yield place
    place.rmdir()


@pytest.mark.slow
def test_a_container_that_is_short_of_memory_leaves_the_files_of_before(place, tmp_path, group):
    """The system kills the process at once; there is no exit code that could be taken for a verdict."""
    folder = shutil.copytree(place, tmp_path / "here")
    for name in ("r.json", "r.html"):
        (folder / name).write_bytes(BEFORE)
    into = ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh")
    ended = call(ASSESS, folder, *into)
    assert ended.code == -signal.SIGKILL, ended
    assert {(folder / name).read_bytes() for name in ("r.json", "r.html")} == {BEFORE}
    assert call(ASSESS, folder).code in {0, 1, 3} and left_over(folder) == []
    assert findings(folder / "r.json")


@pytest.mark.slow
def test_a_clock_that_is_set_back_changes_no_finding(place, tmp_path):
    """Files, states, keys and compiled code are then from the future: a run, the same again, and its verification."""
    folder, state = shutil.copytree(place, tmp_path / "here"), " --state kept"
    clock = shutil.which("faketime")
    if clock is None and not os.environ.get("CI"):  # .ci/run installs it
        pytest.skip("the package faketime is not installed")
    back = (clock, "-m", "-f", "-400d")
    env = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "HOME": str(tmp_path), "UNMASK_KEY": str(tmp_path / "key")}
    first = call(ASSESS + state, folder, **env)
    found, when = findings(folder / "r.json"), json.loads((folder / "r.json").read_text())["manifest"]["created"]
    again = call(ASSESS + state, folder, *back, **env)
    earlier = json.loads((folder / "r.json").read_text())["manifest"]["created"]
    assert earlier < when  # the clock was really set back
    assert (again.code, again.err) == (first.code, first.err) and findings(folder / "r.json") == found
    verified = call("verify r.json", folder, *back, **env)
    assert verified.code == 0, verified
    assert left_over(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", OTHERS, ids=lambda words: words.split(" ")[0])
def test_other_commands_write_the_same_without_assertions_and_in_turkish(place, tmp_path, words):
    folder = shutil.copytree(place, tmp_path / "here")
    target = next(folder / word for word in words.split(" ") if word.startswith("r."))
    first, written = call(words, folder), steady(target)
    language = {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", **turkish(tmp_path)}
    again = call(words, folder, flags=("-O",), **language)
    assert (again.code, again.err) == (first.code, first.err)
    assert steady(target) == written


def steady(path):
    """What a file holds, without when and how it was made."""
    if path.suffix != ".json":
        return path.read_text()
    return findings(path)


def turkish(folder):
    """Where the locale is, if it can be made from the sources of the system."""
    made = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")]
    if shutil.which("localedef") is None:
        return {}
    subprocess.run(made, check=False, capture_output=True)
    return {"LOCPATH": str(folder)} if (folder / "tr_TR.UTF-8").exists() else {}
