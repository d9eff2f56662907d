from __future__ import annotations

import json

import polars as pl
import pytest

import unmask
from unmask.errors import ParameterError
from unmask.evidence.estimate import Estimate
from unmask.report.document import SCHEMA
from unmask.report.words import percent, sentence


@pytest.fixture(scope="module")
def assessment():
    people = unmask.datasets.census(80)
    release = unmask.Release(people, unmask.parse_masking("noise(0.3)").apply(people, 1))
    return unmask.assess(release, skip=["model", "absent"])


def test_json_is_versioned_and_plain(assessment, tmp_path):
    assessment.write_json(tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert data["schema"] == SCHEMA
    assert data == assessment.to_dict()
    assert set(data["manifest"]) >= {"seed", "inputs", "versions", "settings", "policy", "measures", "command"}
    assert {finding["outcome"] for finding in data["findings"]} <= {
        "for",
        "against",
        "inconclusive",
        "not judged",
        "does not apply",
        "could not run",
    }
    for finding in data["findings"]:
        if finding["outcome"] == "does not apply":
            assert finding["estimate"] is None and finding["reason"]
            continue
        assert set(finding["estimate"]) == {"value", "low", "high", "n", "chance", "control", "method"}


def test_records(assessment, tmp_path):
    assert assessment.records.height == 80
    people = unmask.datasets.census(80)
    identity = unmask.assess(unmask.Release(people, people), only=["nearest", "uniqueness"]).records
    assert (identity["risk"] > 0.99).all()  # everybody is found, and would be again
    assert assessment.records["risk"].is_between(0, 1).all()
    assert assessment.records["row"].to_list() == list(range(1, 81))
    for suffix, read in ((".csv", pl.read_csv), (".parquet", pl.read_parquet)):
        assessment.write_records(tmp_path / f"r{suffix}")
        assert read(tmp_path / f"r{suffix}")["risk"].to_list() == assessment.records["risk"].to_list()
    with pytest.raises(ParameterError, match=r".csv, .tsv, .parquet"):
        assessment.write_records(tmp_path / "r.docx")


def test_most_exposed_are_the_ten_largest(assessment):
    exposed = assessment.document.exposed
    assert len(exposed) == 10
    risks = assessment.records["risk"].to_list()
    assert [entry.risk for entry in exposed] == pytest.approx(sorted(risks, reverse=True)[:10], abs=0.001)
    assert [risks[entry.row - 1] for entry in exposed] == [entry.risk for entry in exposed]
    assert [entry.sharing for entry in exposed] == [
        sum(round(risk, 3) == round(entry.risk, 3) for risk in risks) for entry in exposed
    ]


def test_digest_covers_the_result_and_not_the_date():
    people = unmask.datasets.census(50)
    release, few = unmask.Release(people, people), ["nearest", "uniqueness", "inference"]
    one, two = (unmask.assess(release, only=few, command=word) for word in ("a", "b"))
    assert one.document.digest == two.document.digest
    other = unmask.assess(unmask.Release(people, unmask.datasets.census(50, seed=1)), only=few)
    assert other.document.digest != one.document.digest


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.25437, "25.4 %"),
        (0.0009259, "0.093 %"),
        (0.004, "0.4 %"),
        (0, "0 %"),
        (1, "100 %"),
        (1e-9, "under 0.0001 %"),
        (None, "-"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


def test_sentence_has_interval_chance_and_control():
    text = sentence("5 of 10 people are found.", Estimate(0.5, 0.2, 0.8, 10, 0.1, control=0.05))
    for part in (
        "50 %",
        "95 % CI 20-80 %",
        "blind guessing finds 10 %",
        "people outside the file 5 %",
    ):
        assert part in text
