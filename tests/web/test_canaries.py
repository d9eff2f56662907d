"""Canaries in the tables of `unmask serve`: no page, address, cookie, file of the folder or storage holds one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

import unmask
from canaries import leaks, people, search
from reference import BROWSERS
from web_pages import Browser, wait


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = people(60)
    table.write_csv(folder / "people.csv")
    unmask.parse_masking("noise(0.3)").apply(table, 1).write_csv(folder / "release.csv")
    return folder / "people.csv", folder / "release.csv"


@pytest.mark.slow
def test_no_page_and_no_file_of_the_folder(tables, tmp_path):
    client = Browser(tmp_path / "serve")
    client.runner.start()
    case = client.choose(*tables)
    wait(lambda: client.store.all_jobs() and client.store.all_jobs()[0].state == "done", 120)
    seen = [client.get(path) for path in ("/", f"/case/{case.id}/check", f"/case/{case.id}/audience")]
    seen += [client.get(f"/job/{job.id}") for job in client.store.all_jobs()]
    assert all(answer.status_code == 200 for answer in seen) and any("income" in answer.text for answer in seen)
    for answer in seen:
        assert leaks(answer.content) == set(), answer.url
        assert leaks(f"{answer.url} {dict(answer.headers)} {dict(answer.cookies)}".encode()) == set()
    assert search(tmp_path) == {}


@pytest.mark.slow
def test_no_page_and_no_file_of_an_attack_and_a_search(tables, tmp_path):
    """An attack with its report and certificates, and a search, as the pages start them."""
    client = Browser(tmp_path / "serve")
    client.runner.start()
    case = client.choose(*tables)
    done = lambda: not any(job.waiting for job in client.store.all_jobs())  # noqa: E731
    wait(done, 120)
    names = ("person", "town", "sex", "born", "income", "diagnosis", "cost")
    given = {"person": "id", "diagnosis": "confidential", "cost": "confidential"}
    client.post(f"/case/{case.id}/roles", {f"role{at}": given.get(name, "known") for at, name in enumerate(names)})
    client.post(f"/case/{case.id}/run", {"attacks": "quick", "certificate": "yes"})
    client.post(f"/case/{case.id}/search", {"way": "explore", "minutes": "5"})
    wait(done, 600)
    client.runner.stop()
    jobs = {job.kind: job for job in client.store.all_jobs()}
    assert {job.state for job in jobs.values()} == {"done"} and set(jobs) == {"check", "assess", "explore"}
    paths = [f"/job/{job.id}" for job in jobs.values()] + [f"/job/{jobs['explore'].id}/point/0", "/"]
    paths += [f"/job/{jobs['assess'].id}/{rest}" for rest in ("report", "file/report.json", "file/unmask.toml")]
    paths += [f"/job/{jobs['assess'].id}/file/{name}certificate.jsonld" for name in ("", "public-")]
    for answer in map(client.get, paths):
        assert answer.status_code == 200, answer.url
        assert leaks(answer.content) == set(), answer.url
    assert search(tmp_path, besides=[path for path in client.store.private.rglob("*") if path.is_file()]) == {}


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_keeps_nothing(tables, tmp_path):
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "unmask", "serve", "--folder", str(tmp_path / "serve")]
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, sync_playwright() as play:
        try:
            context = play.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_context()
            asked = []
            context.on("request", lambda request: asked.append(f"{request.url} {request.headers}"))
            page = context.new_page()
            page.goto(re.search(r"http://\S+", process.stdout.readline())[0])
            for name, path in zip(("original_path", "released_path"), tables, strict=True):
                page.fill(f"#{name}", str(path))
            page.click("form[enctype] button, main form button")
            page.wait_for_selector("select[name=role0]", timeout=120_000)
            kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
            for text in (page.content(), kept, *asked, str(context.cookies())):
                assert leaks(text.encode()) == set()
            assert "[{},{}," in kept and "income" in page.content()
        finally:
            process.terminate()
    assert search(tmp_path) == {}
