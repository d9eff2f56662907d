"""Columns, files, people and policies with hostile names: every page shows them, loads nothing, runs nothing."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import kinds
import polars as pl
import pytest

import unmask
from unmask.certificate.render import to_html, to_jsonld
from unmask.inert import json_text, visible
from unmask.protect import Frontier
from unmask.report import (
    as_html,
    compare_reports,
    document,
    draw,
    render,
    render_comparison,
    render_frontier,
    to_annotations,
    to_junit,
    to_sarif,
)

NAMES = (
    "<script>window.hit = 1</script></title><img src=x onerror='window.hit = 2'>",
    '"><svg onload="window.hit = 3"></style><style>@import \'http://127.0.0.1:9/a.css\';</style>',
    "=cmd()\x1b]8;;http://127.0.0.1:9/\x1b\\link\x1b[2J\u202eeman {{ 7 * 7 }}{% raw %}",
)
FILE = "<img src=x onerror='window.hit = 4'>\x1b[31m.csv"
POLICY = "</style><script>window.hit = 5</script>\u202e"
CONTENT = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'"
LOADING = {"script", "link", "iframe", "object", "embed", "base", "form", "audio", "video", "source"}
LEADING = {"src", "href", "xlink:href", "action", "srcset", "data", "formaction", "poster", "background"}
STEERING = {"\x1b", "\u202e", "\x9b"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A release with hostile names, from hostile files, under a hostile policy: its assessment."""
    folder = tmp_path_factory.mktemp("hostile")
    original, released = kinds.people(NAMES)
    for name, table in (("a", original), ("b", released)):
        table.write_csv(folder / f"{name}{FILE}".replace("/", "_"))
    limit = '[thresholds."nearest.rate"]\nvalue = 0.5\nreason = "<b>why</b>"\nsource = "<i>who</i>"\n'
    (folder / "p.toml").write_text(f'extends = "public"\nname = {json_text(POLICY)}\n{limit}')
    files = [folder / f"{name}{FILE}".replace("/", "_") for name in "ab"]
    release = unmask.Release(*files, id="id", confidential=["ill"])
    return unmask.assess(
        release, policy=folder / "p.toml", only=["nearest", "uniqueness"], by=[NAMES[2]], show_values=True,
        recipients=[{"name": NAMES[0], "audience": folder / "p.toml"}],
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(hostile):
    """Each kind of page that shows a name."""
    frontier = Frontier((kinds._point(2, "unsafe"),), 90, POLICY, 0.09)
    found = {**frontier.to_dict()}
    found["points"] = [{**point, "masking": f"drop([{NAMES[0]}])", "reason": NAMES[1]} for point in found["points"]]
    certificate = unmask.certify(hostile, initial=False, check=False)
    return {
        "report": render(hostile.document),
        "compare": render_comparison(compare_reports(hostile, hostile)),
        "explore": render_frontier(found, NAMES[2]),
        "certificate": to_html(certificate),
        "public certificate": to_html(certificate.for_the_public()),
    }


class Looking(HTMLParser):
    """Reads a page as a browser does, and notes what would load, run or send something."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        bad = [(name, value) for name, value in attrs if name.startswith("on") or _leads(name, value or "")]
        self.found += [(tag, bad)] if bad or tag in LOADING else []


def _leads(name, value):
    return name in LEADING and not value.startswith(("#", "data:image/"))


def loads(page):
    """Tags of a page that would load, run or send something."""
    looking = Looking()
    looking.feed(page)
    return looking.found


def test_what_loads_is_found():
    for bad in (
        "<script>",
        "<img src=x>",
        '<a href="http://x">',
        "<p onclick='x'>",
        "<link rel=a>",
        '<use href="x.svg">',
    ):
        assert loads(f"<p>{bad}</p>"), bad
    assert not loads("<a href=\"#top\">a</a><p>src=x</p><img src='data:image/png;base64,AA'>")


def test_every_page_has_a_policy_and_loads_nothing(pages):
    for name, page in pages.items():
        assert CONTENT in page, name
        assert loads(page) == [], name
        css = "".join(re.findall(r"<style>.*?</style>", page, re.DOTALL))
        assert "@import" not in css and not re.search(r"url\((?!#)", css), name


def test_every_page_shows_the_names_and_nothing_that_steers(pages):
    for name, page in pages.items():
        assert not STEERING & set(page), name
        assert "window.hit = 1" in unescape(page) or name == "public certificate", name
    assert visible(NAMES[2])[:30] in unescape(pages["report"])
    assert "49" not in re.findall(r"eman (.{6})", pages["report"])


def test_a_notebook_shows_no_live_name(hostile):
    shown = as_html(hostile)
    assert loads(shown) == [] and not STEERING & set(shown)


def test_machine_formats_and_pictures_are_inert(hostile):
    certificate = to_jsonld(unmask.certify(hostile, initial=False, check=False))
    for text in (document.to_json(hostile.document), to_sarif(hostile.document), certificate):
        assert "<" not in text and not STEERING & set(text)
    junit = to_junit(hostile.document)
    assert "<script" not in junit and not STEERING & set(junit)
    assert not STEERING & set("".join(to_annotations(hostile.document)))
    for group in hostile.document.people.groups:
        picture = draw(group.figure)
        assert loads(picture) == [] and not STEERING & set(picture)


@pytest.mark.slow
def test_pages_of_every_other_kind_load_nothing(every_kind):
    people = unmask.datasets.visits(60)
    evil = people.with_columns(pl.col("patient").cast(pl.String) + NAMES[0])
    ties = unmask.datasets.friends(60).with_columns(pl.all().cast(pl.String) + NAMES[1])
    counts = people.unique("patient").group_by("sex").len("count").rename({"sex": NAMES[0]})
    made = {
        "persons": unmask.assess_persons(unmask.Persons(evil, evil, id="patient"), show_values=True),
        "network": unmask.assess_network(unmask.Network(ties, ties), show_values=True),
        "tables": unmask.assess_tables([counts]),
    }
    shown = {name: render(found.document) for name, found in made.items()}
    for name, page in {**shown, **{name: path.read_text() for name, path in every_kind.items()}}.items():
        assert CONTENT in page and loads(page) == [] and not STEERING & set(page), name


@pytest.mark.browser
def test_in_a_browser_no_script_runs_and_nothing_is_asked_for(pages, hostile, browser, tmp_path):
    notebook = f"<!doctype html><meta charset=utf-8><title>x</title>{as_html(hostile)}"  # as a notebook shows it
    for number, (name, text) in enumerate({**pages, "notebook": notebook}.items()):
        place = tmp_path / f"{number}.html"
        place.write_text(text)
        asked, alarms = [], []
        page = browser.new_page()
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("dialog", lambda dialog, alarms=alarms: (alarms.append(dialog.message), dialog.dismiss()))
        page.goto(place.as_uri())
        for fold in page.query_selector_all("details > summary"):
            fold.evaluate("one => one.parentElement.open = true")
        assert page.evaluate("window.hit") is None, name
        assert asked == [place.as_uri()] and alarms == [], name
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""], name
        page.close()
