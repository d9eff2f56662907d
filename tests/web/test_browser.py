"""The whole way in a real browser: from two files to the report, without scripts, in two tabs, and against others."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from reference import BROWSERS
from unmask import datasets, parse_masking
from unmask.web import app

pytestmark = pytest.mark.browser
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATHS = ("original_path", "released_path")
CLICKS = 8  # from two files to the last of them, at most
LARGE = 2 * 10**9
OTHER = """<!doctype html><title>other</title><img id="i"><form id="f" method="post" action="{root}cases"
enctype="multipart/form-data"><input name="original_path" value="/etc/passwd"></form><iframe id="frame"></iframe>"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A hundred people of four columns, and a release of them."""
    folder = tmp_path_factory.mktemp("tables")
    people = datasets.patients(100, seed=5).select("patient", "sex", "height", "cost")
    people.write_csv(folder / "people.csv")
    parse_masking("noise(0.3)").apply(people, 1).write_csv(folder / "release.csv")
    return folder / "people.csv", folder / "release.csv"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "serve"
    command = [sys.executable, "-m", "unmask", "serve", "--folder", str(folder), "--upload-limit", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
        process.terminate()


@pytest.fixture(scope="module")
def chromium():
    place = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=place, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, address):
    """Open a window at the beginning; nothing may be asked of anybody but this server, and nothing may complain."""
    contexts, asked, said = [], [], []

    def open_(*, scripts=True, width=1200):
        context = chromium.new_context(viewport={"width": width, "height": 800}, java_script_enabled=scripts)
        contexts.append(context)
        context.on("request", lambda request: asked.append(request.url))
        context.on("console", lambda message: said.append(message.text))
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    server = address.split("/enter")[0].rsplit("/", 1)[0]
    assert {url for url in asked if not url.startswith((server, "data:"))} == set()
    assert [text for text in said if "status of 413" not in text] == []  # what a test asked for


class Hand:
    """Clicks, and counts them."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, role, name):
        self.clicks += 1
        self.page.get_by_role(role, name=name).click()

    def choose(self, tables):
        for field, path in zip(PATHS, tables, strict=True):
            self.page.locator(f"#{field}").fill(str(path))  # the only typing
        self.click("button", "Check the tables")
        self.page.get_by_role("button", name="Next: who gets it").wait_for()


def test_from_two_files_to_the_report_without_scripts(opened, tables, address):
    page = opened(scripts=False, width=320)
    assert "token" not in page.url and page.url.split("/")[2] == address.split("/")[2]
    hand = Hand(page)
    hand.choose(tables)
    assert page.get_by_label("patient: role").input_value() == "id"
    hand.click("button", "Next: who gets it")
    hand.click("radio", "only those that every verdict needs")
    hand.click("checkbox", "write a certificate too")
    hand.click("button", "Attack the release")
    page.get_by_role("heading", level=1, name="Do not publish this release").wait_for()
    page.wait_for_load_state()  # the heading is there before the style is
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    hand.clicks += 1
    with page.context.expect_page() as report:
        page.get_by_role("link", name="Read the report").click()
    assert "Do not publish" in report.value.title()
    hand.clicks += 1  # the certificate is the last thing that is asked for
    files = ("certificate.html", "certificate.jsonld", "certificate.pdf", "report.html", "report.json", "unmask.toml")
    begins = {".html": b"<!DOCTYPE html>", ".pdf": b"%PDF-"}  # printed by the browser of this machine
    for name in files:
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert download.value.suggested_filename == name
        content = Path(download.value.path()).read_bytes().strip()
        assert content.startswith(begins.get(Path(name).suffix, content[:1])), name
    assert hand.clicks <= CLICKS
    assert "unmask assess" in page.locator("#download pre").inner_text()


def test_by_the_keyboard_alone_with_progress_cancel_and_two_tabs(opened, tables):
    page = opened()
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.id || document.activeElement.innerText")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        seen.append((name, outline))
        if name in PATHS:
            page.keyboard.type(str(tables[PATHS.index(name)]))
        if name == "Check the tables":
            break
    assert [name for name, _ in seen if name in PATHS] == list(PATHS) and {style for _, style in seen} == {"solid"}
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Next: who gets it").wait_for()
    other = page.context.new_page()  # a second tab of the same case
    other.goto(page.url)
    page.get_by_role("button", name="Next: who gets it").press("Enter")
    page.get_by_role("button", name="Attack the release").press("Enter")
    page.get_by_role("progressbar").wait_for()
    other.get_by_label("height: role").select_option("confidential")
    other.get_by_role("button", name="Check again").press("Enter")  # waits until the other job is done
    other.get_by_text("before this one").wait_for()
    page.get_by_role("button", name="Cancel").press("Enter")
    page.get_by_text("You ended it.").wait_for()
    other.get_by_role("button", name="Next: who gets it").wait_for()
    assert other.get_by_label("height: role").input_value() == "confidential"
    page.reload()
    assert page.get_by_role("button", name="Go on").is_visible()


def test_pages_have_labels_and_fit(opened, tables):
    page = opened(scripts=False, width=320)
    Hand(page).choose(tables)
    case = page.url.removesuffix("/check")
    for path in (f"{case.split('/case/')[0]}/", f"{case}/check", f"{case}/audience", f"{case}/protect"):
        page.goto(path)
        for width in (1200, 420, 320):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        fields = "[...document.querySelectorAll('input:not([type=hidden]),select,textarea')]"
        assert page.evaluate(f"{fields}.filter(entry => !entry.labels.length).length") == 0, path
        assert page.locator("h1").count() == 1, path


@pytest.mark.parametrize("size", [10**8, pytest.param(LARGE, marks=pytest.mark.slow)])
def test_a_large_upload_is_refused_in_words(opened, tmp_path, tables, size):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(size)  # a hole: nothing of it is on the disk
    page = opened()
    page.locator("#original_file").set_input_files(large)
    page.locator("#released_path").fill(str(tables[1]))
    page.get_by_role("button", name="Check the tables").click()
    page.get_by_text("too large to upload").wait_for()
    page.get_by_role("link", name="To the beginning").click()
    assert "large.csv" not in page.content()


# --- from elsewhere -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def elsewhere(address):
    """Another server on this machine, with a page that tries to reach ours, and what browsers sent to it."""
    root, sent = address.split("enter?")[0], []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append(self.headers.get("cookie"))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(OTHER.format(root=root).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", sent
    server.shutdown()
    server.server_close()


READ = """async (root) => {
  const tried = {};
  const ask = async (name, options) => {
    try { const a = await fetch(root, { credentials: "include", ...options }); tried[name] = await a.text(); }
    catch (error) { tried[name] = "refused"; }
  };
  await ask("fetch", {});
  await ask("post", { method: "POST", body: new FormData(document.getElementById("f")) });
  await ask("opaque", { mode: "no-cors" });
  tried.picture = await new Promise((done) => {
    const i = document.getElementById("i"); i.onload = () => done("shown"); i.onerror = () => done("refused");
    i.src = root + "static/icon.svg";
  });
  tried.script = await new Promise((done) => {
    const s = document.createElement("script"); s.onload = () => done("ran"); s.onerror = () => done("refused");
    s.src = root + "static/follow.js"; document.head.append(s);
  });
  tried.frame = await new Promise((done) => {
    const f = document.getElementById("frame");
    f.onload = () => done(f.contentDocument ? f.contentDocument.body.innerText : "closed");
    f.src = root;
  });
  return tried;
}"""


OPEN = """async (root) => {
  const opened = window.open(root);
  for (let tries = 0; tries < 300; tries++) {
    await new Promise((done) => setTimeout(done, 100));
    try { if (opened.document.body.innerText) return opened.document.body.innerText; }
    catch (error) { return "closed"; }
  }
  return "nothing was opened";
}"""


def test_a_page_of_another_server_gets_nothing_and_starts_nothing(chromium, address, elsewhere):
    """The strictest case: the same machine, so that even a strict cookie is sent; only the port differs."""
    there, sent = elsewhere
    context = chromium.new_context()
    ours = context.new_page()
    ours.goto(address)
    root, cases = ours.url, ours.locator(".cases li").count()
    other = context.new_page()
    other.goto(there)
    assert sent[-1] is None  # our cookie is not for them
    tried = other.evaluate(READ, root)
    assert tried.pop("frame") == "closed"
    assert set(tried) == {"fetch", "post", "opaque", "picture", "script"} and set(tried.values()) == {"refused"}
    with other.expect_navigation():
        other.evaluate("document.getElementById('f').submit()")
    assert "refused" in other.inner_text("body") and "Another page" in other.inner_text("body")
    other.goto(there)
    assert other.evaluate(OPEN, root) == "closed"
    ours.reload()
    assert ours.locator(".cases li").count() == cases
    context.close()


ALL = """async ([root, gets, posts]) => {
  const read = [];
  const ask = async (path, options) => {
    try { const a = await fetch(root + path, { credentials: "include", ...options }); read.push(await a.text()); }
    catch (error) { /* refused */ }
  };
  for (const path of gets) { await ask(path, {}); await ask(path, { mode: "no-cors" }); }
  for (const path of posts) {
    await ask(path, { method: "POST", body: new URLSearchParams({ form_token: "guess" }) });
    await ask(path, { method: "POST", mode: "no-cors", body: new FormData(document.getElementById("f")) });
    navigator.sendBeacon(root + path, new URLSearchParams({ form_token: "guess" }));
  }
  for (const open of [() => new EventSource(root, { withCredentials: true }),
                      () => new WebSocket(root.replace("http", "ws"))]) {
    const opened = open();
    read.push(...await new Promise((done) => {
      opened.onopen = () => done(["opened"]); opened.onmessage = () => done(["read"]); opened.onerror = () => done([]);
    }));
    opened.close();
  }
  return read;
}"""


def test_a_page_of_another_server_reaches_no_address_though_it_knows_them_all(chromium, address, elsewhere, tables):
    """Every address with the ids of a case and a job that are there, by every way that a page has to ask."""
    context = chromium.new_context()
    ours = context.new_page()
    ours.set_default_timeout(90_000)
    ours.goto(address)
    root = ours.url.rstrip("/")
    hand = Hand(ours)
    hand.choose(tables)
    case = ours.url.split("/case/")[1].split("/")[0]
    ours.goto(f"{root}/")
    job = ours.locator(f"li:has(a[href*='{case}']) .jobs a").first.get_attribute("href").rsplit("/", 1)[1]
    before = ours.locator(".cases").inner_text()
    read, acted = (
        [path.replace("{number:int}", "0").format(case=case, job=job, name="check.json") for path, _ in routes]
        for routes in (app.READ, app.ACTED)
    )
    other = context.new_page()
    other.goto(elsewhere[0])
    assert other.evaluate(ALL, [root, read, acted]) == []
    ours.reload()
    assert ours.locator(".cases").inner_text() == before  # nothing was deleted, begun or ended
    context.close()


def test_a_foreign_name_and_a_missing_token_open_nothing(chromium, address):
    port = address.split(":")[2].split("/")[0]
    context = chromium.new_context()
    page = context.new_page()
    for url in (address.split("enter?")[0], f"http://127.0.0.1:{port}/", address[:-1] + "x"):
        assert page.goto(url).status == 403
        assert "unmask: refused" in page.inner_text("body")
    assert page.goto(address.replace("127.0.0.1", "rebound.localhost")).status == 403  # a name that leads here
    context.close()
