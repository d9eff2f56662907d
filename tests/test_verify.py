from __future__ import annotations

import json

import pytest

import unmask
from unmask.errors import TableError
from unmask.verify import brought_up_to_date


def written(folder, **how):
    people = unmask.datasets.patients(90, seed=2)
    people.write_csv(folder / "a.csv")
    unmask.parse_masking("noise(0.5)").apply(people, 1).write_csv(folder / "b.csv")
    release = unmask.Release(
        folder / "a.csv", folder / "b.csv", id="patient", confidential=["diagnosis"], kinds={"children": "numeric"}
    )
    unmask.assess(release, seed=4, policy="strict", **how).write_json(folder / "r.json")
    return folder / "r.json"


@pytest.fixture
def report(tmp_path):
    return written(tmp_path, only=["nearest", "uniqueness", "inference", "probabilistic"])


@pytest.mark.slow
def test_the_same_by_every_measure(tmp_path):
    result = unmask.verify(written(tmp_path))
    assert result.same, result.differences
    assert result.differences == ()


def test_a_changed_table_is_named(report):
    path = report.parent / "b.csv"
    unmask.datasets.patients(90, seed=2).write_csv(path)
    result = unmask.verify(report)
    assert not result.same
    assert "the released table is not the same file" in result.differences
    assert any("nearest.rate" in difference for difference in result.differences)


def test_a_changed_report_is_noticed(report):
    data = json.loads(report.read_text())
    next(finding for finding in data["findings"] if finding["estimate"])["estimate"]["value"] += 0.01
    report.write_text(json.dumps(data))
    assert not unmask.verify(report).same


def test_only_the_records_differ(report):
    data = json.loads(report.read_text())
    told, _, of_people = data["digest"].partition("+")
    data["digest"] = f"{told}+{of_people.partition(':')[0]}:{'0' * 64}"
    report.write_text(json.dumps(data))
    assert unmask.verify(report).differences[0] == "the per-record risks differ"


def test_what_the_report_tells_differs(report):
    data = json.loads(report.read_text())
    data["digest"] = "0" * 64 + data["digest"][64:]
    report.write_text(json.dumps(data))
    assert unmask.verify(report).differences[0] == "something that the report tells differs"


def test_another_processor_is_named_where_something_differs(report):
    data = json.loads(report.read_text())
    kernels = data["manifest"]["versions"]["kernels of linear algebra"]
    data["manifest"]["versions"]["kernels of linear algebra"] = "openblas Z80"
    report.write_text(json.dumps(data))
    assert unmask.verify(report).same  # the same figures, however they were made
    next(finding for finding in data["findings"] if finding["estimate"])["estimate"]["value"] = 0.123
    report.write_text(json.dumps(data))
    assert f"kernels of linear algebra was openblas Z80, is {kernels}" in unmask.verify(report).differences
    del data["manifest"]["versions"]["kernels of linear algebra"]  # a report of an older version
    report.write_text(json.dumps(data))
    assert not any("algebra" in words for words in unmask.verify(report).differences)


def test_without_the_key_the_risks_of_all_people_are_not_compared(report, monkeypatch, tmp_path):
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "no key"))
    assert unmask.verify(report).same


def test_moved_tables_are_found_or_asked_for(report, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (report.parent / "a.csv").rename(elsewhere / "a.csv")
    with pytest.raises(TableError, match="--original"):
        unmask.verify(report)
    assert unmask.verify(report, original=elsewhere / "a.csv").same


def test_bad_reports(tmp_path):
    with pytest.raises(TableError, match="no report at"):
        unmask.verify(tmp_path / "none.json")
    for text, message in (
        ("{", "not a JSON report"),
        ("[]", "not a report of unmask"),
        ('{"schema": "x/9"}', "x/9"),
    ):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(TableError, match=message):
            unmask.verify(tmp_path / "r.json")


def test_frames_cannot_be_found_again(tmp_path):
    people = unmask.datasets.census(30)
    unmask.assess(unmask.Release(people, people), only=["uniqueness"]).write_json(tmp_path / "r.json")
    with pytest.raises(TableError, match="frame in memory"):
        unmask.verify(tmp_path / "r.json")


def test_a_masking_that_is_written_otherwise_now_is_told():
    policy = {"name": "default", "thresholds": {}}
    manifest = {"measures": [], "settings": {"masking": "rank_swap(5)"}, "policy": policy}
    with pytest.warns(DeprecationWarning, match="share=0.05"):
        _, moved = brought_up_to_date({"manifest": manifest, "findings": [], "exposed": []})
    assert moved[0] == "masking rank_swap(5) is written rank_swap(share=0.05) now"
    manifest["settings"]["masking"] = "noise(0.5)"
    assert not brought_up_to_date({"manifest": manifest, "findings": [], "exposed": []})[1]
