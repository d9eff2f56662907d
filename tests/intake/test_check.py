"""The check as a gate: no "safe" before it has passed; and `unmask check`."""

from __future__ import annotations

import json
import tomllib

import polars as pl
import pytest

import unmask
from checked_people import N, noisy, people, shuffled
from command_line import run
from unmask.evidence import Policy

QUICK = ["nearest", "copies"]


def judged(original, released, **roles):
    return unmask.assess(unmask.Release(original, released, **roles), only=QUICK)


def outcome(assessment, key):
    return next(f.outcome for f in assessment.findings if f.key == key)


def test_the_original_shuffled_is_never_safe():
    found = judged(people(), shuffled(people()))
    assert found.verdict == "unsafe"  # copies need no pairs
    assert outcome(found, "check.pairing") == "could not run"
    assert outcome(found, "nearest") == "does not apply"


def test_a_noisy_release_shuffled_is_inconclusive_and_says_the_ways_on():
    found = judged(people(), shuffled(noisy(people(), 3.0)))
    assert found.verdict == "inconclusive"
    told = next(f.reason for f in found.findings if f.key == "check.pairing")
    assert "--id" in told
    assert "--synthetic" in told


def test_a_mail_address_only_in_the_release_is_unsafe():
    mails = pl.Series("mail", [f"p{k}@clinic.org" for k in range(N)])
    found = judged(people(), noisy(people(), 3.0).with_columns(mails))
    assert found.verdict == "unsafe"
    assert outcome(found, "check.identifiers") == "against"
    assert "clinic.org" not in json.dumps(found.to_dict())


def test_the_report_begins_with_the_check():
    document = judged(people(), noisy(people())).to_dict()
    assert document["check"]["pairing"] == "paired"
    age = next(c for c in document["columns"] if c["name"] == "age")
    sex = next(c for c in document["columns"] if c["name"] == "sex")
    assert age["own"] < 0.05
    assert sex["own"] == 1.0
    assert sex["released"] == "text, 2 different"


def test_a_column_that_cannot_be_read_stops_no_attack():
    words = pl.Series("age", [f"{k}" if k % 2 else f"perhaps {k}" for k in range(N)])
    release = unmask.Release(people(), people().with_columns(words), kinds={"age": "numeric"})
    found = unmask.assess(release, only=["nearest"])
    assert outcome(found, "nearest.rate") == "against"
    assert "'age'" in next(f.claim for f in found.findings if f.key == "columns.compared")


@pytest.mark.parametrize(("profile", "least"), [("strict", 381), ("clinical", 381), ("default", 381)])
def test_from_how_many_people_on_a_policy_can_say_safe(profile, least):
    from unmask.evidence.estimate import wilson

    policy = Policy.load(profile)
    assert policy.least_people("paired") == least
    limit = min(t.value for k, t in policy.thresholds.items() if k.split(".")[0] in policy.core["paired"])
    assert wilson(0, least)[1] <= limit < wilson(0, least - 1)[1]


def test_too_few_people_are_told_at_the_top():
    warnings = judged(people(), noisy(people())).to_dict()["warnings"]
    assert any("from 381 people on" in line for line in warnings)


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    people().write_csv(tmp_path / "original.csv")
    noisy(people()).write_csv(tmp_path / "release.csv")
    shuffled(noisy(people())).write_csv(tmp_path / "shuffled.csv")
    mails = pl.Series("mail", [f"p{k}@clinic.org" for k in range(N)])
    people().with_columns(mails).write_csv(tmp_path / "named.csv")
    return tmp_path


@pytest.mark.parametrize(("name", "code"), [("release", 0), ("named", 1), ("shuffled", 3), ("absent", 2)])
def test_exit_codes(files, name, code, capsys):
    assert run("check", files / "original.csv", files / f"{name}.csv") == code
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert "clinic.org" not in told.out


def test_json_and_roles(files):
    target, roles = files / "check.json", files / "roles.toml"
    run("check", files / "original.csv", files / "named.csv", "-o", target, "--accept-roles", roles)
    found = json.loads(target.read_text())
    assert not found["check"]["passed"]
    assert found["roles"]["mail"] == "direct"
    written = tomllib.loads(roles.read_text())
    assert written["quasi"] == ["age", "income", "sex", "town"]
    assert "'mail'" in roles.read_text() or '"mail"' in roles.read_text()
    code = run("assess", files / "original.csv", files / "release.csv", "--config", roles, "--only", "nearest")
    assert code in {1, 3}


def test_roles_that_are_accepted_hide_no_column_from_the_attacks(files):
    """A column under another name in each file: written as ignored, the attack that needs no names would not see it."""
    mixed = people().rename({"age": "years"}).with_columns(religion=pl.Series(["a", "b", "c"] * (N // 3)))
    mixed.write_csv(files / "renamed.csv")
    code = run("check", files / "original.csv", files / "renamed.csv", "--accept-roles", files / "roles.toml")
    assert code == 0
    written = tomllib.loads((files / "roles.toml").read_text())
    assert "ignored" not in written
    assert written["quasi"] == ["age", "income", "sex", "town"]
    assert "an intruder may know it" in (files / "roles.toml").read_text()


def test_suggested_roles_have_reasons():
    secret = pl.Series("diagnosis", ["asthma", "cancer", "none"] * (N // 3))
    one = pl.lit("here").alias("country")
    table = people().with_columns(secret, one, secret.alias("ill"))
    suggested = {each.column: each for each in unmask.check(unmask.Release(table, table)).suggestions}
    assert suggested["diagnosis"].role == suggested["ill"].role == "confidential"
    assert "health" in suggested["diagnosis"].reason
    assert suggested["country"].role == "safe"
    assert suggested["age"].role == "quasi"
    said = unmask.check(unmask.Release(table, table, confidential=["income"], ignored=["town"])).roles
    assert (said["income"], said["town"]) == ("confidential", "ignored")
