"""Build servers read what the report says: nothing that is not safe looks green."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

import unmask
from command_line import run
from unmask.report import to_annotations, to_junit, to_sarif

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def document():
    people = unmask.datasets.census(80).select("wages", pl.col("interest").alias("odd\x07::name,%"))
    return unmask.assess(unmask.Release(people, people), only=["nearest", "uniqueness", "cells"]).document


def test_junit_counts_what_the_report_says(document):
    suite = ET.fromstring(to_junit(document))  # noqa: S314 - our own
    outcomes = [finding.outcome for finding in document.findings]
    assert int(suite.get("tests")) == len(outcomes) + 1  # and the verdict
    assert int(suite.get("failures")) == sum(o in {"against", "inconclusive"} for o in outcomes) + 1
    assert int(suite.get("errors")) == outcomes.count("could not run")
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert "nearest.rate" in failed and "verdict" in failed


def test_sarif_has_a_rule_for_every_result(document):
    run_ = json.loads(to_sarif(document))["runs"][0]
    rules = {rule["id"] for rule in run_["tool"]["driver"]["rules"]}
    by = {result["ruleId"]: result for result in run_["results"]}
    assert set(by) < rules and rules == {finding.key for finding in document.findings} | {"verdict"}
    assert by["verdict"]["level"] == "error" and by["nearest.rate"]["level"] == "error"


def test_sarif_has_nothing_that_does_not_stand_in_the_way(document):
    """Code scanning shows every result as an alert."""
    in_the_way = {f.key for f in document.findings if f.outcome in {"against", "inconclusive", "could not run"}}
    results = json.loads(to_sarif(document))["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == in_the_way | {"verdict"}
    assert len(in_the_way) < len(document.findings)  # cells does not apply
    assert not json.loads(to_sarif(replace(document, verdict="safe", findings=())))["runs"][0]["results"]


def test_annotations_are_one_line_each(document):
    lines = to_annotations(document)
    assert lines[0].startswith("::error title=unmask::Do not publish")
    assert all("\n" not in line and line.count("::") >= 2 for line in lines)
    assert any(line.startswith("::error title=Nearest record%3A found (nearest.rate)::") for line in lines)
    assert "100 %25" in "".join(lines)


def test_a_safe_release_is_green():
    people = pl.DataFrame({"sex": ["f", "m"] * 500, "region": ["n", "n", "s", "s"] * 250})
    found = unmask.assess(unmask.Release(people, people), policy="internal")
    assert found.verdict == "safe"
    assert "<failure" not in to_junit(found.document)
    assert len(to_annotations(found.document)) == 1


def test_the_hook_of_pre_commit_says_why_it_fails(tmp_path, capsys, monkeypatch):
    """What stands in .pre-commit-hooks.yaml, with the words of docs/pipelines.md: a failing hook shows its output."""
    monkeypatch.chdir(tmp_path)
    unmask.datasets.census(40).select("wages", "interest").write_csv("o.csv")
    Path("release.toml").write_text('original = "o.csv"\nreleased = "o.csv"\nonly = ["nearest"]\n')
    hook = re.search(r"entry: unmask (.+)", (ROOT / ".pre-commit-hooks.yaml").read_text())
    assert run(*hook[1].split(), "--config", "release.toml") == 1
    assert "Do not publish this release" in capsys.readouterr().out


def test_on_the_command_line(tmp_path, capsys):
    people = unmask.datasets.census(40).select("wages", "interest")
    people.write_csv(tmp_path / "o.csv")
    more = ("--junit", tmp_path / "j.xml", "--sarif", tmp_path / "s.sarif", "--annotate", "--quiet")
    assert run("assess", tmp_path / "o.csv", tmp_path / "o.csv", "--only", "nearest", *more) == 1
    assert ET.parse(tmp_path / "j.xml").getroot().tag == "testsuite"  # noqa: S314
    assert json.loads((tmp_path / "s.sarif").read_text())["version"] == "2.1.0"
    assert "::error" in capsys.readouterr().err


def test_certificates_on_the_command_line(tmp_path, capsys):
    people = unmask.datasets.census(40).select("wages", "interest")
    people.write_csv(tmp_path / "o.csv")
    (tmp_path / "u.toml").write_text('[statement]\ntitle = "T"\ncontroller = "C"\nvalid_until = 2099-01-01\n')
    wanted = ("--certificate", tmp_path / "c.html", "--public-certificate", tmp_path / "p.html")
    asked = ("assess", tmp_path / "o.csv", tmp_path / "o.csv", "--only", "nearest", *wanted)
    assert run(*asked, "--config", tmp_path / "u.toml") == 1
    assert {path.name for path in tmp_path.iterdir()} == {
        "o.csv", "u.toml", "c.html", "c.jsonld", "p.html", "p.jsonld",
    }  # fmt: skip
    assert "does not state steward" in capsys.readouterr().err
    assert str(tmp_path) in (tmp_path / "c.html").read_text()
    assert str(tmp_path) not in (tmp_path / "p.html").read_text() + (tmp_path / "p.jsonld").read_text()
    (tmp_path / "u.toml").write_text('[statement]\ncontroler = "C"\n')
    assert run(*asked, "--config", tmp_path / "u.toml") == 2
    assert "did you mean 'controller'" in capsys.readouterr().err
