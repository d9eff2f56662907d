"""All attacks together: what they say of copies, of other people, and in the report; and the command line."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from small_persons import few_rows

import unmask
from command_line import run
from unmask import Persons, assess_persons, persons_risk
from unmask.cli.fields import options_of, spec_of
from unmask.cli.options import Assess
from unmask.cli.other_kinds import ALWAYS
from unmask.cli.persons import FOR_MANY
from unmask.errors import ParameterError

VISITS = unmask.datasets.visits(60, seed=4)


@pytest.fixture(scope="module")
def copied():
    return assess_persons(Persons(VISITS, VISITS, id="patient", confidential=["diagnosis"]), seed=1)


def test_a_copy_is_unsafe_and_everybody_has_a_risk(copied):
    assert copied.verdict == "unsafe"
    assert copied.records["risk"].min() > 0.9 and copied.records.height == 60
    assert copied.records["rows"].sum() == VISITS.height
    outcome = {finding.key: finding.outcome for finding in copied.findings}
    assert {outcome[key] for key in ("alike.rate", "bags.rate", "taught.rate", "points.rate")} == {"against"}
    assert outcome["presence"] == "does not apply"


def test_the_report_says_how_many_rows_people_have_and_draws_the_curve(copied, tmp_path):
    copied.write_html(tmp_path / "x.html")
    copied.write_json(tmp_path / "x.json")
    page, data = (tmp_path / "x.html").read_text(), json.loads((tmp_path / "x.json").read_text())
    assert f"One person, many rows: {VISITS.height:,} rows of 60 people" in page
    assert "How many points single a person out?" in page
    (points,) = [entry for entry in data["measures"] if entry["name"] == "points"]
    assert [series["name"] for series in points["figures"][0]["series"]][:2] == ["original", "release"]
    assert VISITS["patient"][0] not in page  # no ids unless they are asked for
    inputs = data["manifest"]["inputs"]
    assert inputs["original"]["sha256"] is None and inputs["released"]["sha256"]  # the steward's key, or none
    with pytest.raises(ParameterError, match="many rows is not verified"):
        unmask.verify(tmp_path / "x.json")


def test_the_seed_decides_everything():
    released = VISITS.with_columns(pl.col("admitted").dt.strftime("%Y"))
    made = [assess_persons(Persons(VISITS, released, id="patient"), seed=3).document.digest for _ in range(2)]
    assert made[0] == made[1]


def test_nobody_is_found_in_constant_rows():
    """Everybody looks the same: the best guess is a blind one, by every attack."""
    table = few_rows(400, most=1, seed=1).with_columns(pl.lit("f").alias("sex"), pl.lit("w").alias("ward"))
    persons = Persons(table, table, id="id", quasi=["sex", "ward"])
    found = persons_risk(persons)
    assert found.shares() == pytest.approx(dict.fromkeys(found.shares(), 1 / 400))
    assert assess_persons(persons, policy="internal").verdict == "safe"


def test_other_people_raise_no_alarm():
    """Six unrelated tables: no finding is above its limit."""
    for seed in range(6):
        table, other = few_rows(150, seed=seed, days=60), few_rows(150, seed=seed + 90, days=60)
        found = assess_persons(Persons(table, other, id="id", confidential=["secret"]), seed=seed)
        assert [one.key for one in found.findings if one.outcome == "against"] == []
        assert np.nanmean(found.records["risk"].to_numpy()) < 0.05


def written(tmp_path, table, other):
    paths = tmp_path / "original.csv", tmp_path / "released.csv"
    for path, frame in zip(paths, (table, other), strict=True):
        frame.write_csv(path)
    return paths


def test_the_command_goes_there_by_itself(tmp_path, capsys):
    paths = written(tmp_path, VISITS, VISITS)
    assert run("assess", *paths, "--id", "patient", "--place", "ward", "--time", "admitted", "--json", "-") == 1
    told = capsys.readouterr()
    assert "one person, many rows: " in told.err
    settings = json.loads(told.out)["manifest"]["settings"]
    assert (settings["many_rows"], settings["time"], settings["place"]) == (True, "admitted", ["ward"])


def test_an_id_that_repeats_by_mistake_is_refused(tmp_path, capsys):
    table = pl.DataFrame(
        {"id": [*range(100), 5], "age": np.arange(101) % 30, "town": ["a", "b", "c"] * 33 + ["a", "b"]}
    )
    paths = written(tmp_path, table, table)
    assert run("assess", *paths, "--id", "id") == 2
    told = capsys.readouterr().err
    assert "repeats in the original" in told and "--many-rows" in told
    assert run("assess", *paths, "--id", "id", "--many-rows", "--quiet") == 1


def test_a_column_of_few_values_is_not_taken_for_people(tmp_path, capsys):
    """A sex or a ward that was given as the id: everybody would be "found", among two people."""
    table = pl.DataFrame({"sex": ["f", "m"] * 20, "age": range(40), "town": [*"abcde"] * 8})
    paths = written(tmp_path, table, table)
    assert run("assess", *paths, "--id", "sex") == 2
    told = capsys.readouterr().err
    assert "'sex' does not look like an id" in told and "2 different ids in 40 rows" in told and "--many-rows" in told
    assert run("assess", *paths, "--id", "sex", "--many-rows", "--quiet") in {1, 3}
    for rows in (9, 19):  # few rows each, or ten people and more: as before
        many = pl.DataFrame({"who": [row % (rows // 2) for row in range(rows)], "age": range(rows)})
        assert run("assess", *written(tmp_path, many, many), "--id", "who", "--quiet") in {1, 3}


@pytest.mark.parametrize("more", [("--only", "nearest"), ("--weight", "cost"), ("--synthetic", "--many-rows")])
def test_options_for_one_row_a_person_are_refused(tmp_path, capsys, more):
    paths = written(tmp_path, VISITS, VISITS)
    assert run("assess", *paths, "--id", "patient", *more) == 2
    assert f"got: {more[0]}" in capsys.readouterr().err


def test_no_role_is_left_out_in_silence():
    """Whatever can be said of a release is passed on to `Persons`, or refused."""
    roles = {entry.name for entry in options_of(Assess) if spec_of(entry).role}
    passed_on = {"id", "quasi", "confidential", "ignored", "categorical", "kinds", "control"}
    assert roles & (ALWAYS | FOR_MANY) == passed_on


def test_bad_times_and_missing_ids_are_one_clear_error(tmp_path, capsys):
    paths = written(tmp_path, VISITS, VISITS)
    assert run("assess", *paths, "--id", "patient", "--time", "ward") == 2
    assert "cannot say the time" in capsys.readouterr().err
    gone = VISITS.with_columns(pl.when(pl.col("days") > 3).then(pl.col("patient")).alias("patient"))
    assert run("assess", *written(tmp_path, VISITS, gone), "--id", "patient", "--many-rows") == 2
    assert "missing values in the release" in capsys.readouterr().err


def test_a_pseudonym_is_the_same_in_all_rows_of_a_person(tmp_path):
    """`unmask mask` masks row by row, and keeps together what belongs together."""
    VISITS.write_csv(tmp_path / "visits.csv")
    maskings = ("--masking", "pseudonym(['patient'])", "--masking", "noise(0.1, columns=['cost'])")
    assert run("mask", tmp_path / "visits.csv", *maskings, "-o", tmp_path / "out.csv") == 0
    out = pl.read_csv(tmp_path / "out.csv")
    pairs = pl.DataFrame({"one": VISITS["patient"], "two": out["patient"]}).unique()
    assert pairs.height == pairs["one"].n_unique() == pairs["two"].n_unique() == 60
    assert not set(out["patient"]) & set(VISITS["patient"])
    assert (out["cost"] != VISITS["cost"]).mean() > 0.9
