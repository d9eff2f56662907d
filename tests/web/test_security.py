"""Nobody but the owner's own browser, on pages of this server, gets in or does anything."""

from __future__ import annotations

import asyncio
import re

import pytest

from unmask.web.app import ACTED, READ
from unmask.web.security import DRAIN, HEADERS, REPORT, Guard, Keys
from web_pages import CHECKED, HOST, LIMIT, Browser, tokens

POSTS = [path for path, _ in ACTED]
GETS = [path for path, _ in READ]
NOBODY = "0" * 32


@pytest.fixture
def browser(tmp_path):
    return Browser(tmp_path / "serve")


@pytest.fixture
def stranger(tmp_path):
    return Browser(tmp_path / "serve", enter=False)


def filled(path, case=NOBODY, job=NOBODY):
    return re.sub(r"\{number:int\}", "0", path).format(case=case, job=job, name="report.json")


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.get("/enter", params={"token": stranger.keys.token}, follow_redirects=False)
    assert answer.status_code == 303 and answer.headers["location"] == f"{stranger.keys.root}/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and f"Path={stranger.keys.root}" in cookie
    assert stranger.keys.token not in cookie
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_wrong_token_opens_nothing(stranger, token):
    assert stranger.enter(token).status_code == 403
    assert "set-cookie" not in stranger.enter(token).headers
    assert stranger.get("/").status_code == 403


@pytest.mark.parametrize("path", GETS)
def test_no_page_without_the_cookie(stranger, path):
    assert stranger.get(filled(path)).status_code == 403
    stranger.client.cookies.set("unmask", "guess")
    assert stranger.get(filled(path)).status_code == 403


def test_nothing_is_outside_the_secret_place(browser):
    cookie = {"cookie": f"unmask={browser.keys.session}"}
    for path in ("/", "/static/style.css", f"/{'0' * 16}/", f"{browser.keys.root}x/"):
        assert browser.client.get(path, headers=cookie).status_code == 403, path
    assert browser.get("/static/style.css").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.evil.example", ""]
)
def test_a_foreign_host_is_refused(browser, host):
    for path in ("/", f"/enter?token={browser.keys.token}"):
        assert browser.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", f"https://{HOST}", "http://127.0.0.1:8001", "http://localhost:8000", "null", None]
)
def test_a_foreign_origin_does_nothing(browser, path, origin):
    assert browser.post(filled(path), origin=origin).status_code == 403
    assert browser.store.all_cases() == browser.store.all_jobs() == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_server_reads_nothing(browser, site):
    for path in ("/", "/static/style.css", f"/enter?token={browser.keys.token}"):
        assert browser.get(path, headers={"sec-fetch-site": site}).status_code == 403
    assert browser.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert browser.get("/", headers={"origin": "http://127.0.0.1:8001"}).status_code == 403


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_form_without_its_token_does_nothing(browser, files, path, token):
    case = browser.choose(*files)
    job = browser.pretend(case, "explore", {})
    before = browser.store.all_cases(), browser.store.all_jobs()
    answer = browser.post(filled(path, case.id, job.id), token=token)
    assert answer.status_code == 403 and "not from this page" in answer.text
    assert before == (browser.store.all_cases(), browser.store.all_jobs())


def test_every_form_holds_the_token_and_no_page_an_inline_script(browser, files):
    case = browser.choose(*files)
    browser.pretend(case, "check", {"check.json": CHECKED})
    for path in ("/", f"/case/{case.id}/check", f"/case/{case.id}/audience", f"/case/{case.id}/protect"):
        page = browser.get(path).text
        forms, with_token = tokens(page)
        assert forms == with_token > 0
        assert not re.search(r"<script(?! src=)|\son\w+=|\sstyle=|javascript:", page)


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/follow.js", "/case/x/check"])
def test_every_answer_has_the_headers(browser, path):
    answer = browser.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    refused = browser.get(path, headers={"host": "evil.example"})
    assert {name: refused.headers[name] for name in HEADERS} == HEADERS


def test_the_report_is_a_document_of_its_own(browser, files):
    job = browser.pretend(browser.choose(*files), "assess", {"report.html": "<p>verdict</p>"})
    answer = browser.get(f"/job/{job.id}/report")
    assert answer.text == "<p>verdict</p>" and answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == REPORT
    assert "sandbox" in REPORT and "script-src" not in REPORT and "default-src 'none'" in REPORT


@pytest.mark.parametrize(
    "name",
    ["..%2Fjob.json", "../job.json", "%2e%2e/%2e%2e/cases", "job.json", "errors.txt", "told.txt", "/etc/passwd",
     "report.json%00", "tried"],
)  # fmt: skip
def test_only_named_files_can_be_taken(browser, files, name):
    case = browser.choose(*files)
    job = browser.pretend(case, "assess", {"report.json": "{}", "errors.txt": "secret", "told.txt": "secret"})
    assert browser.get(f"/job/{job.id}/file/report.json").status_code == 200
    answer = browser.get(f"/job/{job.id}/file/{name}")
    assert answer.status_code in {403, 404} and "secret" not in answer.text  # 403: it leads out of our place


@pytest.mark.parametrize("path", ["..%2Fsecurity.py", "../security.py", "%2e%2e/app.py", "/etc/passwd"])
def test_no_file_of_ours_but_the_static_ones(browser, path):
    assert browser.get(f"/static/{path}").status_code in {403, 404}


@pytest.mark.parametrize("bad", [NOBODY, "..", "x", "%2e%2e", "0" * 31, "A" * 32, "0" * 64])
def test_unknown_cases_and_jobs_are_no_pages(browser, files, bad):
    browser.choose(*files)
    for path in (p for p in (*GETS, *POSTS) if "{" in p):
        send = browser.post if path in POSTS else browser.get
        assert send(filled(path, bad, bad)).status_code in {403, 404, 405}, path


def test_jobs_of_another_server_are_not_ours(browser, files, tmp_path):
    other = Browser(tmp_path / "other")
    job = other.pretend(other.choose(*files), "assess", {"report.html": "theirs"})
    assert other.get(f"/job/{job.id}/report").status_code == 200
    assert browser.get(f"/job/{job.id}/report").status_code == 404
    assert browser.get(f"/job/../../other/jobs/{job.id}/report").status_code in {403, 404}
    theirs = f"{other.keys.root}/job/{job.id}/report"
    assert browser.client.get(theirs).status_code == 403  # their place, and our cookie


# --- sizes ----------------------------------------------------------------------------------------------------------


def multipart(size):
    """A body of a form with one large file, in pieces, as a browser sends it."""
    yield b'--x\r\nContent-Disposition: form-data; name="original_file"; filename="a.csv"\r\n\r\n'
    for _ in range(size // 10_000):
        yield b"1,2,3,4,5\n" * 1000
    yield b"\r\n--x--\r\n"


def uploaded(browser, body, **headers):
    more = {"origin": f"http://{HOST}", "content-type": "multipart/form-data; boundary=x", **headers}
    return browser.client.post(f"{browser.keys.root}/cases", content=body, headers=more)


def test_two_gigabytes_are_refused_by_what_they_declare(browser):
    answer = uploaded(browser, b"--x", **{"content-length": str(2 * 10**9)})
    assert answer.status_code == 413 and "too large" in answer.text
    assert not [path for path in browser.store.private.rglob("*") if path.is_file()]


def test_an_upload_is_refused_by_what_comes(browser):
    came = []

    def counted():
        for piece in multipart(3 * LIMIT):
            came.append(len(piece))
            yield piece

    answer = uploaded(browser, counted())
    assert answer.status_code == 413 and sum(came) > LIMIT
    assert browser.store.all_cases() == []
    assert not [path for path in browser.store.private.rglob("*") if path.is_file()]


def test_a_form_without_files_is_small(browser, files):
    case = browser.choose(*files)
    answer = browser.post(f"/case/{case.id}/search", {"keep": "x" * 2_100_000})
    assert answer.status_code == 413


def test_a_body_without_end_is_not_read_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.web.security.DRAIN", 0.2)
    assert DRAIN <= 30
    browser = Browser(tmp_path / "serve", limit=1000)
    guard = Guard(browser.guard.app, browser.keys, (HOST,), 1000)
    sent, pieces = [], multipart(20_000)

    async def receive():
        return {"type": "http.request", "body": next(pieces, b"1,2,3\n"), "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": f"{browser.keys.root}/cases", "query_string": b"", "root_path": "",
        "headers": [(b"host", HOST.encode()), (b"origin", f"http://{HOST}".encode()),
                    (b"content-type", b"multipart/form-data; boundary=x"),
                    (b"cookie", f"unmask={browser.keys.session}".encode())],
    }  # fmt: skip
    asyncio.run(asyncio.wait_for(guard(scope, receive, send), 10))
    assert sent[0]["status"] == 413


def test_keys_are_new_each_time():
    one, two = Keys(), Keys()
    assert len({one.token, one.session, one.form, one.place, two.token, two.session, two.form, two.place}) == 8
    assert one.token not in repr(one) and one.session not in repr(one)
