from __future__ import annotations

import json

import pytest

from unmask.errors import TableError
from unmask.report.document import to_dict
from unmask.report.reading import read_report


def test_a_report_comes_back_as_it_was(demo):
    assert to_dict(read_report(demo.json)) == json.loads(demo.json.read_text())
    assert read_report(demo.json).findings == demo.assessment.document.findings


def test_what_an_old_report_does_not_tell_is_empty(demo, tmp_path):
    data = json.loads(demo.json.read_text())
    old = {key: data[key] for key in ("manifest", "findings", "exposed", "digest", "verdict", "measures")}
    for entry in old["findings"]:
        entry["key"] = entry["key"].replace("one_to_one", "global")
        entry.pop("people")
    (tmp_path / "old.json").write_text(json.dumps({**old, "schema": "unmask-report/1"}))
    found = read_report(tmp_path / "old.json")
    assert [entry.key for entry in found.findings] == [entry.key for entry in demo.assessment.document.findings]
    assert found.intruders == () and found.policy == "" and found.check.identifiers == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "is not a report of unmask"),
        ("no JSON", "is not a JSON report"),
        ('{"schema": "unmask-report/9"}', "in a form that this version does not read"),
        ('{"schema": "unmask-report/2"}', "is not a whole report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, text, words):
    """Each for its own reason: a later form is no damaged file."""
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(TableError, match=words):
        read_report(tmp_path / "r.json")


def test_a_report_that_holds_something_else_is_refused(demo, tmp_path):
    data = {**json.loads(demo.json.read_text()), "findings": [3]}
    (tmp_path / "r.json").write_text(json.dumps(data))
    with pytest.raises(TableError, match="not a whole report"):
        read_report(tmp_path / "r.json")


def test_a_table_in_place_of_a_report_is_said_once_and_plainly(tmp_path):
    """The name of an error class says nothing to whoever named the wrong file."""
    (tmp_path / "table.csv").write_text("id,age\n1,2\n")
    with pytest.raises(TableError, match="is not a JSON report") as caught:
        read_report(tmp_path / "table.csv")
    assert "Error" not in str(caught.value)
