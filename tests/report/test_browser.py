"""The report in a real browser: on a phone, on paper, by night, and for somebody who cannot see it."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
OPEN = "document.querySelectorAll('details').forEach(part => part.open = true)"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def opened(browser, demo, width=1200, scheme="light"):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page.goto(demo.html.as_uri())
    return page


@pytest.mark.parametrize("width", [1200, 420, 320])
def test_nothing_scrolls_sideways_folded_or_open(browser, demo, width):
    page = opened(browser, demo, width)
    assert page.evaluate(WIDER) <= 0
    page.evaluate(OPEN)
    assert page.evaluate(WIDER) <= 0
    page.close()


def test_page_one_is_one_screen(browser, demo):
    page = opened(browser, demo)
    assert page.evaluate("document.querySelector('#front').getBoundingClientRect().bottom") <= 900
    assert len(page.inner_text("#front").split()) <= 180
    page.close()


def test_it_prints_on_few_pages_and_page_one_on_one(browser, demo):
    page = opened(browser, demo)
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
    assert 2 <= sheets <= 8
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 673, "height": 1000})  # A4 less its margins, at 96 dots an inch
    assert page.evaluate("document.querySelector('#front').getBoundingClientRect().height") <= 1000
    page.close()


def test_an_anchor_opens_what_it_names(browser, demo):
    page = opened(browser, demo)
    page.click("#families ~ table a[href='#attack-nearest'], .cards a >> nth=0")
    target = page.evaluate("location.hash")
    assert page.locator(target).is_visible()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screen_reader_finds_no_fault(browser, demo, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, demo, scheme=scheme)
    page.evaluate(OPEN)
    found = Axe().run(page).response["violations"]
    assert not [(entry["id"], entry["nodes"][0]["html"][:120]) for entry in found]
    page.close()
