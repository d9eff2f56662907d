"""Every public result shows itself in a notebook; an assessment prints one line."""

from __future__ import annotations

import dataclasses
import inspect
import re
from html.parser import HTMLParser

import altair as alt
import pytest

import unmask
from unmask.errors import ParameterError
from unmask.shown import Shown

GIVEN = {"Coordinates", "Estimate", "NoiseTolerance", "Policy", "Recipient", "Relative", "Scenario", "Statement",
         "Synthesiser"}  # fmt: skip


class Balanced(HTMLParser):
    """Counts tags that are opened and closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - of HTMLParser
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def results():
    """Classes that public functions return, by the name in their annotation, and public classes themselves."""
    classes = {name: entry for name in unmask.__all__ if inspect.isclass(entry := getattr(unmask, name))}
    for name in unmask.__all__:
        entry = getattr(unmask, name)
        words = re.findall(r"[A-Z]\w+", str(getattr(entry, "__annotations__", {}).get("return", "")))
        space = vars(inspect.getmodule(entry)) if callable(entry) else {}
        classes |= {word: space[word] for word in words if inspect.isclass(space.get(word))}
    return {name: kind for name, kind in classes.items() if dataclasses.is_dataclass(kind) and name not in GIVEN}


def test_every_public_result_shows_itself():
    found = results()
    assert len(found) > 25
    assert not [name for name, kind in found.items() if not hasattr(kind, "_repr_html_")]


def test_every_public_result_is_a_frame_has_a_plot_and_prints_short():
    """What a dataclass would print goes on for pages where there are arrays: every result prints itself."""
    for name, kind in results().items():
        assert callable(kind.to_frame) and callable(kind.plot), name
        assert kind.__repr__ is Shown.__repr__ or "__create_fn__" not in kind.__repr__.__qualname__, name


@pytest.fixture(scope="module")
def release():
    people = unmask.datasets.census(60, seed=1)
    return unmask.Release(people, unmask.parse_masking("noise(0.3)").apply(people, 1))


MAKERS = {
    "release": lambda release: release,
    "nearest": unmask.link_nearest,
    "one to one": unmask.link_one_to_one,
    "groups": lambda release: unmask.group_risk(release.released, quasi=list(release.quasi)[:3]),
    "anonymity": lambda release: unmask.anonymity(release.released, quasi=list(release.quasi)[:3]),
    "person": lambda release: unmask.explain_person(release, 3),
    "check": unmask.check,
    "estimate": lambda release: unmask.link_nearest(release).estimate,
}


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_small_whole_and_without_script(release, name):
    shown = MAKERS[name](release)._repr_html_()
    page = Balanced(shown)
    assert not page.open and "<script" not in shown
    assert 50 < len(shown) < 40_000
    assert "array(" not in page.text and "object at" not in page.text


@pytest.mark.parametrize("name", MAKERS)
def test_it_prints_short_and_is_a_frame(release, name):
    made = MAKERS[name](release)
    assert len(repr(made)) < 600 and "\n" not in repr(made)
    frame = made.to_frame()
    assert frame.columns == ["figure", "value"] and frame.height
    page = Balanced(made._repr_html_()).text
    assert all(figure in page and value in page for figure, value in frame.rows())


def test_long_fields_are_not_printed(release):
    found = unmask.link_nearest(release)
    assert repr(found).startswith("Linkage(links=<60>, distances=<60>, ") and "n_candidates=60" in repr(found)
    assert repr(found.estimate).startswith("Estimate(value=0.") and "method='wilson')" in repr(found.estimate)


def test_a_picture_is_there_where_there_is_one(release):
    story = unmask.explain_person(release, 3)
    assert "How sure can the intruder be?" in unmask.link_nearest(release)._repr_html_()
    assert "<svg" in story._repr_html_()
    assert isinstance(story.plot(), alt.TopLevelMixin)
    with pytest.raises(ParameterError, match="has no picture"):
        unmask.group_risk(release.released, quasi=list(release.quasi)[:3]).plot()


def test_an_assessment_prints_one_line_and_shows_page_one(demo):
    found = demo.assessment
    assert re.fullmatch(r"<Assessment: unsafe; \d+ of \d+ findings above their limits>", repr(found))
    text = Balanced(found._repr_html_()).text
    for word in ("Do not publish this release", "Found by the best intruder", "Which columns do it", "Nearest record"):
        assert word in text
    assert isinstance(found.plot(), alt.TopLevelMixin)


def test_findings_are_a_tuple_and_a_frame(demo):
    findings = demo.assessment.findings
    assert isinstance(findings, tuple) and findings == tuple(findings)
    frame = findings.to_frame()
    assert frame.height == len(findings)
    rows = frame.to_dicts()
    for row, finding in zip(rows, findings, strict=True):
        assert (row["key"], row["outcome"]) == (finding.key, finding.outcome)
        assert row["value"] == (None if finding.estimate is None else finding.estimate.value)
    assert {"name", "low", "high", "n", "chance", "threshold", "claim"} <= set(frame.columns)
    assert "Nearest record: found" in Balanced(findings._repr_html_()).text
    assert isinstance(findings.plot(), alt.TopLevelMixin)


def test_what_comes_from_the_data_is_escaped():
    table = (
        unmask.datasets.census(40).rename({"age": "<b>age"}) if "age" in unmask.datasets.census(40).columns else None
    )
    people = table if table is not None else unmask.datasets.census(40)
    release = unmask.Release(people, people)
    assert "<b>" not in unmask.assess(release, only=["nearest"])._repr_html_()
