from __future__ import annotations

import shutil

import kinds
import pytest
from demo_report import make

from reference import BROWSERS


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The report of the demo, made once for every test of this folder."""
    return make(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory):
    """A page of each kind, made once: the file by the name of the kind."""
    folder, files = tmp_path_factory.mktemp("kinds"), {}
    for name, page in kinds.pages().items():
        files[name] = folder / f"{name.replace(' ', '_')}.html"
        files[name].write_text(page, encoding="utf-8")
    return files


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()
