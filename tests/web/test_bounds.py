"""Queue, cases and requests have bounds; a full disk and a clock that is set back lose no job."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from unmask.errors import TableError
from unmask.web import jobs, results, security, store, work, worker
from unmask.web.jobs import Runner
from unmask.web.store import Store, new_id
from web_pages import HOST, Browser, wait


@pytest.fixture
def browser(tmp_path):
    return Browser(tmp_path / "serve")


def test_a_full_queue_says_so_and_keeps_nothing(browser, files, monkeypatch):
    monkeypatch.setattr(work, "MOST_WAITING", 1)
    browser.choose(*files)
    paths = {"original_path": str(files[0]), "released_path": str(files[1])}
    answer = browser.post("/cases", paths)
    assert answer.status_code == 422 and "the queue is full" in answer.text and "1 at once" in answer.text
    assert len(browser.store.all_cases()) == len(browser.store.all_jobs()) == 1
    assert list(browser.store.private.iterdir()) == []
    (job,) = browser.store.all_jobs()
    browser.runner.cancel(job)
    assert browser.post("/cases", paths).status_code == 200
    assert browser.post(f"/job/{job.id}/again").status_code == 422
    assert [job.state for job in browser.store.all_jobs()] == ["cancelled", "queued"]


def test_too_many_tables_are_refused(browser, files, monkeypatch):
    monkeypatch.setattr(work, "MOST_CASES", 1)
    browser.choose(*files)
    answer = browser.post("/cases", {"original_path": str(files[0]), "released_path": str(files[1])})
    assert answer.status_code == 422 and "delete some first" in answer.text and len(browser.store.all_cases()) == 1


def test_too_many_requests_at_once_are_refused(browser, monkeypatch):
    monkeypatch.setattr(security, "MOST_AT_ONCE", 1)
    assert browser.get("/").status_code == 200
    browser.guard.now = 1
    assert browser.get("/").status_code == 503
    browser.guard.now = 0
    assert browser.get("/").status_code == 200 and browser.guard.now == 0


def test_a_request_that_fails_is_no_longer_counted(browser):
    async def fail(*_):
        raise ConnectionResetError

    browser.guard.app = fail
    headers = [(b"host", HOST.encode()), (b"cookie", f"unmask={browser.keys.session}".encode())]
    scope = {"type": "http", "method": "GET", "path": f"{browser.keys.root}/", "headers": headers, "query_string": b""}
    with pytest.raises(ConnectionResetError):
        asyncio.run(browser.guard(scope, None, None))
    assert browser.guard.now == 0


def test_a_full_disk_is_said_on_the_page(browser, files, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "_make", full)
    answer = browser.post("/cases", {"original_path": str(files[0]), "released_path": str(files[1])})
    assert answer.status_code == 507 and "make room on the disk" in answer.text
    assert browser.store.all_cases() == browser.store.all_jobs() == []


def test_a_disk_that_is_full_for_a_while_loses_no_job(tmp_path, monkeypatch):
    """The disk is full when the first job begins, and again when it ends."""
    begun = [sys.executable, "-S", "-c", ""]
    monkeypatch.setattr(jobs, "_start", lambda place: subprocess.Popen(begun, start_new_session=True))
    kept, failed = Store(tmp_path / "serve"), []
    case = kept.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    asked = [kept.new_job(case, "check", ("x",), id=new_id()) for _ in range(2)]
    plain = kept.save_job

    def save(job):
        if (len(failed), job.state) in {(0, "running"), (1, "done")}:
            failed.append(job.state)
            raise TableError("cannot write")
        plain(job)

    runner = Runner(kept)
    monkeypatch.setattr(kept, "interrupt", lambda: None)  # the two jobs are taken as they wait
    monkeypatch.setattr(kept, "save_job", save)
    runner.start()
    wait(lambda: {kept.job(job.id).state for job in asked} == {"done"})
    runner.stop()
    assert failed == ["running", "done"]


def test_the_last_job_is_the_last_one_when_the_clock_was_set_back(tmp_path, monkeypatch):
    kept = Store(tmp_path / "serve")
    case = kept.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    first = kept.new_job(case, "check", ("x",), id=new_id())
    monkeypatch.setattr(store.time, "time", lambda: first.created - 3600)
    second = kept.new_job(case, "check", ("x",), id=new_id())
    assert [job.id for job in kept.all_jobs()] == [first.id, second.id]
    assert kept.latest(case.id, "check").id == second.id
    assert [job.id for job in (kept.again(first), *kept.all_jobs())] == [first.id, second.id, first.id]
    newer = kept.new_case(original="c.csv", released="d.csv", names=("c.csv", "d.csv"))
    assert kept.all_cases()[0].id == newer.id


def test_what_was_read_is_read_again_when_its_file_is_another(tmp_path):
    """Another store on the same folder writes, as a restart does; and a file that is gone is no job."""
    one, two = Store(tmp_path / "serve"), Store(tmp_path / "serve")
    case = one.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    job = one.new_job(case, "check", ("x",), id=new_id())
    assert two.job(job.id) == job
    one.interrupt()
    assert two.job(job.id).state == one.job(job.id).state == "interrupted"
    one.delete_case(case)
    assert two.job(job.id) is None and two.case(case.id) is None


def test_lists_are_read_again_when_something_has_changed(tmp_path, monkeypatch):
    """Every page asks for them: unchanged ones cost one look at the folder."""
    kept = Store(tmp_path / "serve")
    case = kept.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    job = kept.new_job(case, "check", ("x",), id=new_id())
    assert kept.all_jobs() == [job] and kept.all_cases() == [case]
    with monkeypatch.context() as patch:
        patch.setattr(kept, "_found", None)  # reads files
        assert kept.all_jobs() == [job] and kept.all_cases() == [case]
    kept.all_jobs().clear()
    done = replace(job, state="done")
    kept.save_job(done)
    assert kept.all_jobs() == [done]
    named = replace(case, names=("c.csv", "d.csv"))
    kept.save_case(named)
    assert kept.all_cases() == [named]
    shutil.rmtree(kept.place(job))  # by hand
    assert kept.all_jobs() == []
    kept.delete_case(named)
    assert kept.all_cases() == []


def test_results_that_are_written_again_are_read_again(tmp_path):
    kept = Store(tmp_path / "serve")
    case = kept.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    job = kept.new_job(case, "check", ("x",), id=new_id())
    assert kept.results(job, "r.json") is None
    for number in (1, 22):
        (kept.place(job) / "r.json").write_text(str(number))
        assert kept.results(job, "r.json") == kept.results(job, "r.json") == number


def test_pages_are_answered_while_a_form_waits_for_the_disk(browser, files, monkeypatch):
    begun, go_on, written = threading.Event(), threading.Event(), store.write_atomically

    def slow(*given):
        begun.set()
        assert go_on.wait(60)
        written(*given)

    monkeypatch.setattr(store, "write_atomically", slow)
    root, form = browser.keys.root, {"form_token": browser.keys.form, "original_path": files[0]}
    with TestClient(browser.guard.app) as client, ThreadPoolExecutor(1) as pool:  # one loop, as in a server
        choosing = pool.submit(client.post, f"{root}/cases", data={**form, "released_path": files[1]})
        assert begun.wait(60)
        assert client.get(f"{root}/").status_code == 200 and not choosing.done()
        go_on.set()
        assert choosing.result().status_code == 200
    assert [case.original for case in browser.store.all_cases()] == [str(files[0])]


def test_a_job_gives_way_to_the_server(tmp_path):
    kept = Store(tmp_path / "serve")
    case = kept.new_case(original="a.csv", released="b.csv", names=("a.csv", "b.csv"))
    job = kept.new_job(case, "check", ("--help",), id=new_id())
    own, process = os.nice(0), jobs._start(kept.place(job))
    wait(lambda: process.poll() is not None or os.getpriority(os.PRIO_PROCESS, process.pid) > own)
    assert process.poll() is None
    group = Path(f"/proc/{process.pid}/autogroup")
    if group.exists():  # systems that share processors among sessions first: being nice within one is not enough
        wait(lambda: process.poll() is not None or group.read_text().endswith(f" nice {worker.GIVES_WAY}\n"))
        assert process.poll() is None
    process.wait(60)


def test_a_certificate_is_printed_from_the_page_that_is_there(tmp_path, monkeypatch):
    printed = []
    monkeypatch.setattr(results, "to_pdf", lambda page: printed.append(page) or page.encode())
    page, place = tmp_path / "c.html", tmp_path / "c.pdf"
    for text, when in (("new", 2e9), ("new", 2e9), ("after the clock was set back", 1e9)):
        page.write_text(text)
        os.utime(page, (when, when))
        results._print(page, place)
    assert printed == ["new", "after the clock was set back"] and place.read_text() == printed[-1]


def test_a_change_of_ours_looks_at_no_other_file(tmp_path, monkeypatch):
    """With 200 jobs in the queue each form had them all looked at seven times; what others did is still seen."""
    kept = Store(tmp_path / "serve")
    cases = [kept.new_case(original="a.csv", released="b.csv", names=("a.csv", f"{k}.csv")) for k in range(5)]
    queued = [kept.new_job(case, "check", ("--help",), id=new_id()) for case in cases]
    assert kept.all_cases() == cases[::-1] and kept.all_jobs() == queued
    looked = []
    monkeypatch.setattr(store, "_stamp", lambda path, stamp=store._stamp: looked.append(path) or stamp(path))
    done = replace(queued[1], state="done", code=0)
    kept.save_job(done)
    last = kept.new_job(cases[0], "assess", ("--help",), id=new_id())
    kept.save_case(replace(cases[2], audience="partner"))
    assert kept.all_jobs() == [queued[0], done, *queued[2:], last]
    assert [case.audience for case in kept.all_cases()] == ["public", "public", "partner", "public", "public"]
    assert len(looked) == 3
    assert Store(tmp_path / "serve").all_jobs() == kept.all_jobs()
    shutil.rmtree(kept.place(queued[0]))
    assert kept.all_jobs() == [done, *queued[2:], last]
    kept.delete_case(cases[1])
    assert kept.all_jobs() == [*queued[2:], last] and len(kept.all_cases()) == 4
