"""Every kind of page in a real browser: on a phone, on paper, by night, for a screen reader, and without scripts."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
LATER = ("other scripts", "households", "synthetic with control", "synthetic", "model", "compare", "public certificate")
REPORTS = ("long names", "recipients", "release alone", *LATER[:5])
OTHERS = ("explore", "certificate", *LATER[5:])
OPEN = "document.querySelectorAll('details').forEach(part => part.open = true)"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """() => [...document.querySelectorAll('svg')].flatMap(picture => {
  const edge = picture.getBoundingClientRect();
  return [...picture.querySelectorAll('text')].filter(text => {
    const place = text.getBoundingClientRect();
    return place.width && (place.left < edge.left - 1 || place.right > edge.right + 1);
  }).map(text => text.textContent);
})"""
DEAD = """() => [...document.querySelectorAll('a[href^="#"]')].map(link => link.getAttribute('href').slice(1))
  .filter(name => !document.getElementById(name))"""


def shared(kinds):
    """All kinds; those that take the same templates as another are looked at with the slow tests."""
    return [pytest.param(kind, marks=pytest.mark.slow) if kind in LATER else kind for kind in kinds]


@pytest.fixture
def opened(browser, every_kind):
    pages = []

    def open_(kind, **more):
        pages.append(browser.new_page(viewport={"width": 1200, "height": 900}, bypass_csp=True, **more))
        pages[-1].goto(every_kind[kind].as_uri())
        return pages[-1]

    yield open_
    for page in pages:
        page.close()


@pytest.mark.parametrize("kind", shared([*REPORTS, *OTHERS]))
def test_nothing_is_cut_off_and_a_screen_reader_finds_no_fault(opened, kind):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(kind)
    folded = []
    for width in (1200, 420, 320):
        page.set_viewport_size({"width": width, "height": 900})
        folded.append(page.evaluate(WIDER))
    page.evaluate(OPEN)
    for width in (320, 420, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDER) <= 0, width
    assert max(folded) <= 0
    assert page.evaluate(CUT) == [] and page.evaluate(DEAD) == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        assert not [(entry["id"], entry["nodes"][0]["html"][:120]) for entry in found], scheme


@pytest.mark.parametrize("kind", shared(REPORTS))
def test_page_one_is_one_screen_one_sheet_and_read_in_a_minute(opened, kind):
    page = opened(kind)
    assert len(page.inner_text("#front").split()) <= 180
    assert page.evaluate("document.querySelector('#front').getBoundingClientRect().bottom") <= 900
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 8
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 673, "height": 1000})  # A4 less its margins, at 96 dots an inch
    assert page.evaluate("document.querySelector('#front').getBoundingClientRect().height") <= 1000


def test_everything_opens_without_scripts(opened):
    page = opened("long names", java_script_enabled=False)
    assert not page.locator("#findings").is_visible()
    page.get_by_role("heading", name="All findings").click()
    assert page.locator("#findings").is_visible()
