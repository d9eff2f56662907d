"""Page 1 of a model: it is no table, has no rows, and nobody is found in it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import unmask
from unmask.report.exchange import in_a_line, to_junit, to_sarif
from unmask.report.front import front
from unmask.report.html import render
from unmask.report.terminal import show

NO_TABLE = (" 0 rows", " 0 columns", "this release", "belong together", "Make the table", "left out")


@pytest.fixture(scope="module")
def document():
    rng = np.random.default_rng(3)
    people = pl.DataFrame(
        {"age": rng.normal(50, 9, 160), "region": rng.integers(0, 4, 160), "ill": rng.integers(0, 2, 160)}
    )
    inside, outside = people[:80], people[80:]
    model = DecisionTreeClassifier(random_state=0).fit(inside.drop("ill").to_numpy(), inside["ill"].to_numpy())
    found = unmask.assess_model(model, inside, control=outside, target="ill", confidential=["region"], shadows=6)
    assert found.verdict == "unsafe"  # a tree that remembers every label
    return found.document


def test_page_one_speaks_of_a_model(document):
    page = front(document)
    assert page.headline == "Do not publish this model" and page.title == "Disclosure risk of a model in memory"
    assert "told apart" in page.sentence or "recognised" in page.sentence
    by = {finding.key: finding.estimate for finding in document.findings}
    shares = [unmask.report.percent(by[key].value) for key in ("membership.tpr", "membership.auc")]
    assert [number.value for number in page.numbers] == [*shares, "1 %"]
    assert "region" in page.learn and "Which columns do it" not in dict(page.parts)
    assert page.check == "80 people it was learnt from and 80 others were compared."
    assert "Learn it again" in page.next and not page.command


def test_no_form_of_the_report_takes_it_for_a_table(document, capsys):
    from rich.console import Console

    show(document, Console(width=80))
    page = render(document)
    for text in (capsys.readouterr().out, page[page.index("<main") :]):
        assert not [words for words in NO_TABLE if words in " ".join(text.split())]


def test_machines_get_the_same_verdict(document):
    assert in_a_line(document).startswith("Do not publish this model: ")
    assert "this model" in to_junit(document)
    (run,) = json.loads(to_sarif(document))["runs"]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert places == {"original"}  # in memory: a table without a name


def test_the_manifest_holds_what_was_asked(document):
    assert document.manifest.settings["confidential"] == ["region"] and document.manifest.settings["shadows"] == 6
