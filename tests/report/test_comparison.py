from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from command_line import run
from unmask import compare_reports
from unmask.errors import TableError
from unmask.report.side_by_side import numbers, render_comparison, show_comparison


def told(document, **by_key):
    """The document with other figures: key (dots as __) = (value, low, high, outcome)."""

    def changed(entry):
        if (new := by_key.get(entry.key.replace(".", "__"))) is None:
            return entry
        value, low, high, outcome = new
        return replace(entry, outcome=outcome, estimate=replace(entry.estimate, value=value, low=low, high=high))

    findings = [changed(entry) for entry in document.findings]
    return SimpleNamespace(document=replace(document, findings=tuple(findings)))


@pytest.fixture
def before(demo):
    return told(demo.assessment.document, nearest__rate=(0.5, 0.4, 0.6, "against"))


def test_a_report_beside_itself(demo):
    found = compare_reports(demo.json, demo.assessment)
    judged = [f for f in demo.assessment.document.findings if f.outcome != "does not apply"]
    assert not found.moved and found.same == len(judged)
    assert not found.columns and not found.settings
    assert found.words.startswith("Still unsafe. People found:")


@pytest.mark.parametrize(
    ("figures", "way"),
    [
        ((0.3, 0.2, 0.39, "against"), "fell"),
        ((0.7, 0.61, 0.8, "against"), "rose"),
        ((0.3, 0.2, 0.4, "against"), None),  # intervals meet in one point
        ((0.45, 0.35, 0.55, "inconclusive"), "outcome"),
    ],
)
def test_a_finding_moves_where_intervals_do_not_meet_or_the_outcome_differs(demo, before, figures, way):
    found = compare_reports(before, told(demo.assessment.document, nearest__rate=figures))
    assert [(entry.key, entry.way) for entry in found.moved] == ([] if way is None else [("nearest.rate", way)])


def test_a_finding_of_one_report_alone_is_told(demo):
    document = demo.assessment.document
    fewer = tuple(entry for entry in document.findings if entry.key != "nearest.rate")
    less = SimpleNamespace(document=replace(document, findings=fewer))
    (moved,) = compare_reports(demo.assessment, less).moved
    assert (moved.way, moved.after, moved.outcomes) == ("only before", None, ("against", None))
    assert compare_reports(less, demo.assessment).moved[0].way == "only after"


def test_higher_ones_come_first_and_the_largest_step_of_them(demo):
    document = demo.assessment.document
    low, high = (0.1, 0.1, 0.1, "against"), (0.9, 0.9, 0.9, "against")
    one = told(document, nearest__rate=low, learned__rate=(0.5, 0.5, 0.5, "against"), channel__rate=high)
    two = told(document, nearest__rate=high, learned__rate=high, channel__rate=low)
    assert [entry.key for entry in compare_reports(one, two).moved] == ["nearest.rate", "learned.rate", "channel.rate"]


def test_verdict_columns_and_settings_that_differ(demo):
    document = demo.assessment.document
    columns = tuple(
        replace(c, released="years, 4 different", own=0.5) if c.name == "bmi" else c for c in document.columns
    )
    other = replace(document, verdict="safe", columns=columns, manifest=replace(document.manifest, seed=7), policy="x")
    found = compare_reports(demo.assessment, SimpleNamespace(document=other))
    assert found.words.startswith("Unsafe became safe.")
    (column,) = found.columns
    assert (column.name, column.after) == ("bmi", "quasi; years, 4 different; own value for 50 %")
    assert [(one.name, one.before, one.after) for one in found.settings] == [
        ("policy", "internal", "x"),
        ("seed", "0", "7"),
    ]
    assert found.words.endswith("The tests differ in policy, seed.")


def test_limits_that_differ_are_counted_and_written_as_the_report_writes_them(demo):
    document = demo.assessment.document
    limits = {
        key: {**told, "value": 0.5, "people": None} for key, told in document.manifest.policy["thresholds"].items()
    }
    policy = {**document.manifest.policy, "thresholds": limits}
    other = replace(document, manifest=replace(document.manifest, policy=policy))
    found = compare_reports(demo.assessment, SimpleNamespace(document=other))
    assert found.words.endswith(f"The tests differ in {len(found.settings)} limits.") and len(found.settings) > 10
    by = {entry.name: (entry.before, entry.after) for entry in found.settings}
    assert by["limit of Small groups"] == ("nobody", "50 %") and by["limit of Nearest record: found"] == (
        "20 %",
        "50 %",
    )


def test_it_is_shown_and_nothing_is_broken_at_80_columns(demo, before):
    found = compare_reports(before, demo.assessment)
    console = Console(file=StringIO(), width=80, highlight=False)
    show_comparison(found, console)
    text = console.file.getvalue()
    assert max(map(len, text.split("\n"))) <= 80
    assert "Nearest record: found" in text and "50 % (40-60 %)" in text
    page = render_comparison(found).replace("\N{NO-BREAK SPACE}", " ")
    assert "nearest.rate" in page and "50 % (40-60 %)" in page and "<script" not in page
    assert numbers(found)[0][1] == numbers(found)[0][2]


def test_the_command_writes_what_is_asked_for(demo, tmp_path, capsys):
    page, data = tmp_path / "c.html", tmp_path / "c.json"
    assert run("compare", demo.json, demo.json, "-o", page, "--json", data) == 0
    assert json.loads(data.read_text())["schema"] == "unmask-comparison/1"
    out = capsys.readouterr().out
    assert f"Comparison as HTML: {page}" in out.replace("\n", "") and page.read_text().startswith("<!DOCTYPE html>")
    assert run("compare", demo.json, demo.json, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["same"] > 20
    assert run("compare", demo.json, demo.html) == 2
    with pytest.raises(TableError):
        compare_reports(demo.html, demo.json)
