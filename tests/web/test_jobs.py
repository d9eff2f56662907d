"""Jobs run one after the other in processes of their own; whatever happens to one, the others are well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unmask
from unmask.web import jobs
from unmask.web.jobs import Runner
from unmask.web.store import Store, new_id
from web_pages import wait

SLEEPS = "import sys, time; a = time.monotonic(); time.sleep(float(sys.argv[1])); print(a, time.monotonic())"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "serve")


@pytest.fixture
def runner(store, monkeypatch):
    """A runner whose workers sleep for as long as the last word of the job says."""

    def start(place):
        seconds = json.loads((place / "job.json").read_text())["words"][-1]
        with (place / "told.txt").open("wb") as told:
            command = [sys.executable, "-c", SLEEPS, seconds]
            return subprocess.Popen(command, stdout=told, start_new_session=True)

    monkeypatch.setattr(jobs, "_start", start)
    runner = Runner(store)
    runner.start()
    yield runner
    runner.stop()


def asked(store, *words, kind="check", limit=None):
    case = store.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    return store.new_job(case, kind, words, id=new_id(), limit=limit)


def state(store, job):
    return store.job(job.id).state


def became(store, job, what):
    wait(lambda: state(store, job) == what)
    return store.job(job.id)


def test_one_after_the_other_in_the_order_of_asking(store, runner):
    asked_for = [asked(store, "0.15") for _ in range(3)]
    runner.wake()
    times = []
    for job in asked_for:
        became(store, job, "done")
        times += map(float, (store.place(job) / "told.txt").read_text().split())
    assert times == sorted(times)


def test_a_job_that_runs_is_cancelled_and_the_next_one_runs(store, runner):
    long, short = asked(store, "60"), asked(store, "0")
    became(store, long, "running")
    runner.cancel(long)
    assert became(store, long, "cancelled").seconds < 30
    became(store, short, "done")


def test_a_job_that_waits_is_cancelled_without_a_process(store, runner):
    long, next_one = asked(store, "60"), asked(store, "60")
    became(store, long, "running")
    runner.cancel(next_one)
    assert state(store, next_one) == "cancelled"
    runner.cancel(long)
    became(store, long, "cancelled")
    assert state(store, next_one) == "cancelled" and not (store.place(next_one) / "told.txt").exists()


def test_a_killed_worker_loses_nothing_else(store, monkeypatch, runner):
    pids, start = [], jobs._start

    def noted(place):
        process = start(place)
        pids.append(process.pid)
        return process

    monkeypatch.setattr(jobs, "_start", noted)
    before, killed, after = asked(store, "0"), asked(store, "60"), asked(store, "0")
    became(store, killed, "running")
    wait(lambda: len(pids) == 2)
    os.kill(pids[1], signal.SIGKILL)
    assert became(store, killed, "failed").code == -signal.SIGKILL
    assert became(store, after, "done") and state(store, before) == "done"
    assert runner.busy is False


def test_the_time_of_a_job_can_be_over(store, runner):
    late = asked(store, "60", limit=0.3)
    assert became(store, late, "late").seconds < 30


def test_an_exit_code_that_is_no_result_is_a_failure(store, monkeypatch, runner):
    def start(place):
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(2)"], start_new_session=True)

    monkeypatch.setattr(jobs, "_start", start)
    assert became(store, asked(store, "x"), "failed").code == 2
    monkeypatch.setattr(
        jobs, "_start", lambda place: subprocess.Popen([sys.executable, "-c", "exit(3)"], start_new_session=True)
    )
    assert became(store, asked(store, "x"), "done").code == 3  # rows do not belong together: that is a result


def test_what_a_restart_finds_was_interrupted_and_can_run_again(store, runner, monkeypatch):
    running, waiting = asked(store, "60"), asked(store, "0")
    became(store, running, "running")
    runner.stop()
    assert {state(store, running), state(store, waiting)} == {"interrupted"}
    again = Store(store.folder)
    fresh = Runner(again)
    fresh.start()
    try:
        assert {state(again, running), state(again, waiting)} == {"interrupted"}  # nothing begins by itself
        fresh.again(again.job(waiting.id))
        became(again, waiting, "done")
    finally:
        fresh.stop()
    assert state(again, waiting) == "done" and state(again, running) == "interrupted"


def test_a_crash_of_the_server_is_an_interruption(store):
    job = asked(store, "0")
    store.save_job(type(job)(**{**{n: getattr(job, n) for n in job.__slots__}, "state": "running"}))
    Runner(store).store.interrupt()
    assert state(store, job) == "interrupted"


def test_a_search_goes_on_where_it_was(store):
    job = asked(store, "explore", "a.csv", "--folder", "tried", kind="explore")
    assert "--resume" not in store.again(job).words
    (store.place(job) / "tried").mkdir()
    (store.place(job) / "tried" / "explore.json").write_text("{}")
    assert store.again(store.again(job)).words == (*job.words, "--resume")


def test_a_case_that_is_deleted_ends_its_job(store, runner):
    job = asked(store, "60")
    became(store, job, "running")
    store.delete_case(store.case(job.case))
    wait(lambda: not runner.busy)
    after = asked(store, "0")
    became(store, after, "done")
    assert store.job(job.id) is None


# --- the worker itself ----------------------------------------------------------------------------------------------


def test_a_worker_is_the_command_line_and_shows_nobody_its_words(store, files):
    job = asked(store, "check", *map(str, files), "--json", "check.json")
    process = jobs._start(store.place(job))
    words = Path(f"/proc/{process.pid}/cmdline")
    wait(words.read_bytes)  # for an instant while a program is begun the system tells none
    shown = words.read_bytes().decode()
    assert process.wait(60) == 0
    assert str(files[0]) not in shown and "unmask.web.worker" in shown
    found = json.loads((store.place(job) / "check.json").read_text())
    assert found["check"]["passed"] and found["ids"] == ["patient"]
    assert {path.stat().st_mode & 0o077 for path in store.folder.rglob("*")} == {0}


def test_a_worker_ends_with_its_server(store):
    job = asked(store, "serve", "--folder", str(store.folder / "inner"), "--idle", "10m")
    server = (
        "import sys, time; from pathlib import Path; from unmask.web import jobs; "
        "process = jobs._start(Path(sys.argv[1])); print(process.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", server, str(store.place(job))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        pid = int(parent.stdout.readline())
        wait(lambda: "Open this" in (store.place(job) / "told.txt").read_text())
        parent.kill()
    wait(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2], 20)


@pytest.mark.slow
def test_an_assessment_that_was_killed_goes_on_where_it_was(store):
    """The page runs the same command again, and what had been finished is not done again."""
    people = unmask.datasets.patients(150, seed=5)
    case = store.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    words = ("assess", "a.csv", "b.csv", "--id", "patient", "--only", "anonymity,learned,nearest", "--json", "r.json")
    job = store.new_job(case, "assess", words, id=new_id(), limit=None)
    place = store.place(job)
    people.write_csv(place / "a.csv")
    unmask.parse_masking("noise(0.3)").apply(people, 1).write_csv(place / "b.csv")
    kept, process = place / ".r.json.state", jobs._start(place)
    wait(lambda: list(kept.glob("*.json")) or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not (place / "r.json").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    assert finished
    again = jobs._start(place)
    wait(lambda: (place / "r.json").exists() or again.poll() is not None)
    assert again.wait() in {0, 1, 3} and not kept.exists()
