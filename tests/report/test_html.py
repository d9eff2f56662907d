from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import resources

import polars as pl
import pytest
from demo_report import EVIL

import unmask


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
def page(demo):
    return demo.html, demo.original.rename({EVIL: "town"})


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
        "Disclosure risk of release.csv",
        "Do not publish",
        "Found by the best intruder",
        "Known, right 19 times in 20",
        "Found by blind guessing",
        "What they would learn",
        "Which columns do it",
        "What to do next",
        "unmask protect",
        "What was not tested",
        "The two tables",
        "Contents",
        "Three questions",
        "Singling out",
        "Linkability",
        "Inference",
        "The strongest attack of each family",
        "All findings",
        "What each intruder finds",
        "People",
        "Nearest-record linkage",
        "How to read it",
        "Attacks that were not tried",
        "Settings and manifest",
        "Glossary",
    ]
    place = 0
    for word in order:  # each after the one before
        place = text.index(word, place) + len(word)
    assert "blind guessing finds" in text
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
    quiet = json.dumps(unmask.assess(release).to_dict())  # by all attacks
    shown = json.dumps(unmask.assess(release, only=["nearest"], show_values=True).to_dict())
    assert people["patient"][0] not in quiet
    assert sum(value in shown for value in people["patient"]) == 10


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_at_least_4_5(scheme):
    """WCAG AA for every text colour on the page's two backgrounds, by day and by night."""
    style = resources.files("unmask.report").joinpath("templates", "style.css.j2").read_text()
    colours = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", re.findall(r":root \{[^}]*\}", style)[scheme]))
    for name in ("ink", "soft", "link", "safe", "unsafe", "inconclusive"):
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


def test_nothing_found_is_still_a_page(tmp_path):
    rng_tables = [unmask.datasets.census(40, seed=seed) for seed in (1, 2)]
    assessment = unmask.assess(unmask.Release(*rng_tables), only=["uniqueness"])
    assessment.write_html(tmp_path / "r.html")
    assert "No attack found any single record" in (tmp_path / "r.html").read_text()


def test_of_attacks_that_were_not_run_nothing_is_said_to_apply_or_not(tmp_path):
    """Left out by hand: other families, and two of the three questions."""
    people = pl.DataFrame({"a": range(40), "b": [k % 7 for k in range(40)]})
    unmask.assess(unmask.Release(people, people), only=["nearest"]).write_html(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert text.count("No attack of this kind was run: nothing is shown.") == 2  # singling out and inference
    assert text.count("none was run") == 4  # families beside linkage
    assert "applies here" not in text and "none applies" not in text


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
    table = text.split("The most exposed records")[1].split("Linkage")[0]
    assert "RowRiskFound this time by" in table.replace(" ", "").replace("Foundthistimeby", "Found this time by")
    assert "Nearest record, " in table or ", Nearest record" in table


def test_everything_after_page_two_is_folded_and_each_attack_has_its_anchor(page):
    tags = Page(page[0].read_text()).tags
    assert not [attrs for tag, attrs in tags if tag == "details" and "open" in attrs]
    anchors = {attrs["id"] for _, attrs in tags if "id" in attrs}
    links = [attrs["href"].lstrip("#") for tag, attrs in tags if tag == "a"]
    assert len(links) > 15 and set(links) <= anchors
    assert {f"attack-{name}" for name in ("nearest", "channel", "uniqueness", "model")} <= anchors


def test_names_are_words_and_shares_are_percent(page):
    text = Page(page[0].read_text()).text
    front = text[: text.index("Contents")]
    assert not re.search(r"\b[a-z]+_[a-z_]+\b|\.rate|\.known", front)  # no code name on page 1
    assert not re.search(r"(?<![\d.,])0\.\d+(?!\d*\s%|[\d,]*-|\d*\))", front)  # no share as a fraction


def test_a_rule_of_a_column_is_told_once(page):
    text = Page(page[0].read_text()).text
    assert text.count("the release has decades in place of dates") == 1


def test_the_page_is_light(demo):
    assert demo.html.stat().st_size <= 300_000
