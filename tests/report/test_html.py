from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib import resources

import polars as pl
import pytest

import unmask
from reference import BROWSERS

EVIL = "<script>alert('x')</script>"


class Page(HTMLParser):
    """Collects tags, their attributes, and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.images = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    people = unmask.datasets.patients(120, seed=1)
    masked = unmask.parse_masking("noise(0.4)").apply(people, 1)
    path = tmp_path_factory.mktemp("html") / "report.html"
    release = unmask.Release(
        people.rename({"town": EVIL}), masked.rename({"town": EVIL}), id="patient", confidential=["diagnosis"]
    )
    unmask.assess(release).write_html(path)
    return path, people


def test_self_contained_and_without_script(page):
    text = page[0].read_text()
    tags = Page(text).tags
    assert not [tag for tag, _ in tags if tag in {"script", "link", "iframe", "object", "embed"}]
    links = [
        value for _, attrs in tags for name, value in attrs.items() if name in {"src", "href", "xlink:href", "action"}
    ]
    assert not [link for link in links if not link.startswith("#")]
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_a_column_named_script_is_only_a_name(page):
    text = page[0].read_text()
    assert EVIL not in text
    assert EVIL in Page(text).text


def test_verdict_first_then_everything(page):
    text = Page(page[0].read_text()).text
    order = [
        "Do not publish",
        "What an intruder could do",
        "What each intruder finds",
        "Findings",
        "People",
        "Attack by attack",
        "How the columns were read",
        "Settings and manifest",
    ]
    place = 0
    for word in order:  # each after the one before
        place = text.index(word, place) + len(word)
    assert "A blind guess would find" in text
    assert "SHA-256" in text


def test_pictures_have_words(page):
    images = [attrs for tag, attrs in Page(page[0].read_text()).tags if tag == "svg"]
    assert len(images) >= 5
    assert all(attrs.get("role") == "img" and len(attrs.get("aria-label", "")) > 20 for attrs in images)


def test_no_value_of_the_original_appears(page):
    path, people = page
    text = path.read_text()
    for name in ("patient", "diagnosis", "postcode", "town"):
        for value in people[name].unique():
            whole = re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w.])", text)  # not digits of a coordinate
            assert not whole or len(str(value)) < 4, name


def test_ids_only_when_asked():
    people = unmask.datasets.patients(60, seed=1)
    release = unmask.Release(people, people, id="patient")
    quiet, shown = (json.dumps(unmask.assess(release, show_values=show).to_dict()) for show in (False, True))
    assert people["patient"][0] not in quiet
    assert sum(value in shown for value in people["patient"]) == 10


def test_contrast_is_at_least_4_5():
    """WCAG AA for every text colour on the page's two backgrounds."""
    style = resources.files("unmask.report").joinpath("templates", "report.html.j2").read_text()
    colours = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", style))
    for name in ("ink", "soft", "safe", "unsafe", "inconclusive"):
        for background in ("paper", "tint"):
            assert contrast(colours[name], colours[background]) >= 4.5, name


def contrast(one, two):
    def luminance(colour):
        digits = colour.lstrip("#")
        digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1100, 390])
def test_a_browser_shows_it_without_sideways_scrolling(page, tmp_path, width):
    """Chromium renders the page at desk and phone width; the page itself must not be wider than the window."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    probe = tmp_path / "probe.html"
    policy = re.search(r"<meta http-equiv=.Content-Security-Policy[^>]*>", page[0].read_text())[0]  # forbids the probe
    text = page[0].read_text()
    script = "<script>document.title = document.documentElement.scrollWidth + ' of ' + window.innerWidth</script>"
    probe.write_text(text.replace(policy, "").replace("</body>", script + "</body>"))
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
    ]
    run = subprocess.run(
        [
            browser,
            *flags,
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
            "--dump-dom",
            probe.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shown, window = re.search(r"<title>(\d+) of (\d+)</title>", run.stdout).groups()
    assert int(shown) <= int(window)


def test_nothing_found_is_still_a_page(tmp_path):
    rng_tables = [unmask.datasets.census(40, seed=seed) for seed in (1, 2)]
    assessment = unmask.assess(unmask.Release(*rng_tables), only=["uniqueness"])
    assessment.write_html(tmp_path / "r.html")
    assert "No attack found any single record" in (tmp_path / "r.html").read_text()


def test_names_of_any_kind_in_charts(tmp_path):
    table = pl.DataFrame({'q"uote & <b>': [1.5, 2.5, 3.5], "x": [1.5, 1.0, 3.0]})
    unmask.assess(unmask.Release(table, table)).write_html(tmp_path / "r.html")
    assert "<b>" not in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("name", ["a\\d", "\\1", "\\g<0>", "a\x1b[31mred", "\ud7ff\x00z"])
def test_names_that_break_things(tmp_path, name):
    table = pl.DataFrame({name: [1.5, 2.5, 3.5, 9.5], "x": [1.5, 1.0, 3.0, 2.0]})
    unmask.assess(unmask.Release(table, table), only=["nearest"]).write_html(tmp_path / "r.html")
    assert "<svg" in (tmp_path / "r.html").read_text()


def test_exposed_records_name_their_attacks(page):
    text = " ".join(Page(page[0].read_text()).text.split())
    table = text.split("The most exposed records")[1].split("Attack by attack")[0]
    assert "Row of the originalRiskFound this time by" in table
    assert "nearest, " in table or ", nearest" in table
