"""A release without its original: what needs none is run, nothing else, and the verdict is never "safe"."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask.errors import ParameterError
from unmask.evidence.catalogue import ENTRIES, NO_ORIGINAL, RELEASE_ALONE
from unmask.evidence.verdict import WITHOUT_ORIGINAL
from unmask.report.front import front


def crowds(n=600):
    """Everybody has at least fifty doubles, and every group holds all secrets."""
    rows = np.arange(n)
    return pl.DataFrame({"age": 20 + 10 * (rows % 3), "sex": [("f", "m")[k % 2] for k in rows], "ill": rows // 6 % 4})


def singles(n=120):
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {"income": draw.normal(size=n), "town": draw.choice(list("abc"), n), "ill": draw.integers(0, 3, n)}
    )


@pytest.fixture(scope="module")
def harmless():
    return unmask.assess(unmask.Release(None, crowds(), confidential=["ill"]))


@pytest.fixture(scope="module")
def exposed():
    return unmask.assess(unmask.Release(None, singles(), confidential=["ill"], population=5000))


def test_the_most_harmless_release_alone_is_not_safe(harmless):
    assert harmless.verdict == "inconclusive" and WITHOUT_ORIGINAL in harmless.reason
    judged = [f for f in harmless.findings if f.estimate is not None]
    assert judged and {f.outcome for f in judged} == {"for"}


def test_no_policy_can_make_it_safe(tmp_path):
    rules = unmask.Policy.load("internal")
    loose = unmask.Policy("loose", "", rules.thresholds, {"paired": ()})
    both = [unmask.assess(unmask.Release(one, crowds()), policy=loose, only=["uniqueness"]) for one in (crowds(), None)]
    assert [a.verdict for a in both] == ["safe", "inconclusive"]


def test_people_alone_with_their_values_make_it_unsafe(exposed):
    assert exposed.verdict == "unsafe" and "taken as people's own" in exposed.reason
    told = front(exposed.document).sentence
    assert "two files" not in told and ("finds the right record" not in told or "If values were not changed" in told)
    against = {f.measure for f in exposed.findings if f.outcome == "against"}
    assert {"uniqueness", "anonymity", "special_uniques", "knowledge_sweep"} <= against


def test_what_needs_an_original_says_so(exposed):
    ran = {f.measure for f in exposed.findings if f.estimate is not None}
    assert ran == RELEASE_ALONE - {"graph", "household"}
    told = {f.measure: f.reason for f in exposed.findings if f.outcome == "does not apply"}
    assert {name for name, reason in told.items() if reason == NO_ORIGINAL} == set(ENTRIES) - RELEASE_ALONE
    page = front(exposed.document)
    assert page.files.startswith("No original given; 120 rows")
    assert "ORIGINAL.csv" in page.command and "an original" in page.untested
    assert "An original would add linkage" in exposed.document.warnings[0]


def test_figures_are_those_of_the_release_as_its_own_original(exposed):
    table = singles()
    beside = unmask.assess(
        unmask.Release(table, table, confidential=["ill"], population=5000), only=sorted(RELEASE_ALONE), utility="none"
    )
    wanted = {f.key: f.estimate for f in beside.findings if f.estimate is not None and f.measure != "risk"}
    assert {f.key: f.estimate for f in exposed.findings if f.estimate is not None} == wanted


def test_published_distances():
    draw = np.random.default_rng(0)
    places = draw.normal(size=(8, 2))
    matrix = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    table = pl.DataFrame({"sex": draw.choice(["f", "m"], 8)})
    found = unmask.assess(unmask.Release(None, table, distances=matrix), only=["graph"])
    estimate = next(f.estimate for f in found.findings if f.key == "graph.rate")
    assert estimate.value == 1.0 and found.verdict != "safe"


def test_masked_cells_and_intervals():
    table = pl.DataFrame({"age": ["[20, 30)", "[30, 40)", None] * 40, "ill": ["x", "y"] * 60})
    found = unmask.assess(unmask.Release(None, table, confidential=["ill"]))
    assert {f.outcome for f in found.findings} <= {"for", "inconclusive", "does not apply"}
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"synthetic": True}, "says nothing about the people"),
        ({"paired": False}, "says nothing about the people"),
        ({"control": crowds(50)}, "control cannot be used"),
        ({"masking": "noise(0.5)"}, "masking cannot be used"),
    ],
)
def test_what_says_nothing_without_an_original_is_refused(more, words):
    with pytest.raises(ParameterError, match=words):
        unmask.Release(None, crowds(), **more)


def test_no_table_and_no_analysis_to_keep():
    with pytest.raises(ParameterError, match="no table is given"):
        unmask.Release(None, None)
    with pytest.raises(ParameterError, match="keep compares"):
        unmask.assess(unmask.Release(None, crowds()), keep=["mean(age) by sex"])


def test_certificate_says_that_there_was_no_original(harmless):
    made = unmask.certify(harmless, check=False)
    assert made.verdict == "inconclusive" and "without its original" in made.data["kind of release"]
    assert made.data["rows of the original"] is None


def test_command_line(tmp_path, capsys):
    crowds().write_csv(tmp_path / "release.csv")
    singles().write_csv(tmp_path / "singles.csv")
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    assert run("assess", tmp_path / "release.csv", "--confidential", "ill", "--json", report, "--html", page) == 3
    shown = capsys.readouterr().out
    assert "No original given" in shown and "ORIGINAL.csv" in shown
    told = json.loads(report.read_text())
    assert set(told["manifest"]["inputs"]) == {"released"} and told["verdict"] == "inconclusive"
    assert "no original was given" in page.read_text()
    assert run("verify", report) == 0
    assert run("assess", tmp_path / "singles.csv", "--only", "uniqueness", "--quiet") == 1
    capsys.readouterr()
    assert run("assess", tmp_path / "release.csv", "--synthetic") == 2
    assert "says nothing about the people" in capsys.readouterr().err
    assert run("assess") == 2
    assert "no table given" in capsys.readouterr().err
