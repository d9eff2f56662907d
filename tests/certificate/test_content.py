"""What a certificate says is what the report found and the steward stated; the public one tells no small count."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import unmask
from unmask.certificate.content import Measured, Risk, _discreet, build
from unmask.certificate.render import to_html
from unmask.certificate.statement import Statement
from unmask.discretion import LEAST
from unmask.evidence.catalogue import HEADINGS
from unmask.report import by_question

STATEMENT = {
    "title": "Stays",
    "controller": "A hospital",
    "changes": ["postcodes cut"],
    "assumptions": ["No register."],
}


@pytest.fixture(scope="module")
def tables():
    people = unmask.datasets.census(120).select("wages", "total_income", "interest", "federal_tax")
    people = people.with_columns(person=pl.int_range(120), secret=pl.Series(["a", "b", "c"] * 40))
    noisy = people.with_columns(unmask.parse_masking("noise(0.3)").apply(people.select("wages", "interest"), 1))
    return people, noisy.drop("federal_tax")


@pytest.fixture(scope="module")
def assessment(tables):
    release = unmask.Release(*tables, id="person", confidential=["secret"])
    return unmask.assess(release, only=["nearest", "uniqueness", "cells"], command="unmask assess /secret/path.csv")


@pytest.fixture(scope="module")
def certificate(assessment):
    return unmask.certify(assessment, statement=STATEMENT)


def test_every_judged_figure_is_there_once_with_its_limit(assessment, certificate):
    judged = {f.key: f for f in assessment.findings if f.estimate is not None and f.outcome != "not judged"}
    assert {risk.key for risk in certificate.residual} == set(judged) and len(certificate.residual) == len(judged)
    for risk in certificate.residual:
        found = judged[risk.key].estimate
        assert (risk.value, risk.low, risk.high, risk.chance, risk.n) == (
            found.value, found.low, found.high, found.chance, found.n,
        )  # fmt: skip
        assert risk.outcome == judged[risk.key].outcome
        assert sum(risk.attack in entry["figures"].split(", ") for entry in certificate.limits) == 1
    assert len({risk.attack for risk in certificate.residual}) == len(judged)  # two figures of an attack have two names
    assert certificate.verdict == assessment.verdict and certificate.reason == assessment.reason


def test_the_untreated_table_is_attacked_by_the_same_measures(tables, certificate):
    first = {risk.key: risk.value for risk in certificate.initial}
    known = tables[0].select("wages", "total_income", "interest", "federal_tax")  # also what is not released
    alike = known.group_by(pl.all()).len()["len"]
    assert first["nearest.rate"] == pytest.approx(len(alike) / len(known))  # equal people share their link
    assert set(first) == {risk.key for risk in certificate.residual}
    told = certificate.people
    assert told["largest risk in the untreated table"] > 0.9 and told["average risk in the untreated table"] > 0.9
    assert 0 <= told["average risk"] <= told["largest risk of one person"] <= 1


def test_columns_tell_what_was_done(certificate):
    told = {column.name: column.treatment for column in certificate.columns}
    assert told["federal_tax"] == "removed"
    assert told["total_income"] == "retained"
    assert told["wages"].startswith("changed: ")
    assert told["person"] == "kept to pair rows"


def test_headings_name_the_finding_that_decides_in_the_report_too(certificate, assessment):
    """Two papers about one release must not name two findings as the one that decides."""
    for entry in by_question(assessment.document):
        assert entry.finding is None or certificate.headings[entry.name].endswith(f"({entry.finding.key})")
    assert any(text.startswith("above limit: ") for text in certificate.headings.values())
    nothing = replace(assessment.document, findings=())
    told = build(Measured(nothing), Statement()).headings.values()
    assert all(text.startswith("no attack of this kind") for text in told)


def test_the_public_reason_never_contradicts_the_verdict(certificate):
    """A release that names people is unsafe before any figure is above its limit."""
    none = replace(certificate, residual=tuple(risk for risk in certificate.residual if risk.outcome != "against"))
    assert none.verdict == "unsafe" and "above" not in none.for_the_public().reason
    assert "figures are above their limits" in certificate.for_the_public().reason


def test_headings_are_the_three_questions(certificate):
    assert list(certificate.headings) == list(HEADINGS)


def test_the_statement_and_the_checks_are_there(certificate):
    assert certificate.statement.controller == "A hospital"
    assert certificate.changes == ("postcodes cut",)
    assert certificate.assumptions[-1] == "No register."
    assert dict(certificate.checks) == {"nearest": True, "uniqueness": True}
    assert certificate.left and certificate.disclaimer and certificate.limitations


@pytest.mark.parametrize(("people", "words"), [(0, ""), (1, "fewer"), (LEAST - 1, "fewer"), (LEAST, "")])
def test_small_counts_are_not_told_in_public(people, words):
    guess = people / 2000**2  # as for small groups, from which the count could be worked out
    one = Risk("linkability", "a", "a", "for", people / 2000, 0.0, 0.01, guess, 0.01, 2000, "9 %")
    told = _discreet(one)
    assert told.words.startswith(words) and (told.value is None) == bool(words)
    assert {told.chance, told.control} == ({None} if words else {0.0, 0.01})


def test_recipients_are_told_with_what_they_want_and_why(tables):
    people, noisy = tables
    one = {"name": "Lab", "audience": "partner", "intruder": "journalist", "attempt": 0.3, "argument": "audited yearly"}
    found = unmask.assess(unmask.Release(people, noisy, id="person"), only=["nearest"], recipients=[one])
    made = unmask.certify(found, initial=False, check=False)
    page = to_html(made)
    assert "journalist, who does not know who is in the release" in page and "audited yearly" in page
    assert "30\N{NO-BREAK SPACE}%" in page or "30 %" in page
    assert "audited yearly" not in to_html(made.for_the_public())


def test_the_public_version_hides_paths_commands_and_the_originals_checksum(assessment, certificate):
    public = certificate.for_the_public()
    text = str(public.to_dict())
    original = assessment.document.manifest.inputs["original"]["keyed"]
    assert original and original in str(certificate.to_dict()) and "/secret/path.csv" in str(certificate.to_dict())
    assert original not in text and "/secret/path.csv" not in text and assessment.document.digest not in text
    assert assessment.document.manifest.inputs["released"]["sha256"] in text
    assert public.public and public.verdict == certificate.verdict
    assert all(column.reason == "" and "%" not in column.treatment for column in public.columns)


def test_a_certificate_without_more_work(assessment):
    bare = unmask.certify(assessment, initial=False, check=False)
    assert bare.initial == () and bare.checks == () and bare.statement.missing
    assert bare.people["largest risk in the untreated table"] is None


def test_synthetic_and_row_order_releases_are_certified(tables):
    people, noisy = (table.drop("person") for table in tables)
    for roles in ({"synthetic": True}, {}):
        found = unmask.assess(unmask.Release(people, noisy, **roles), only=["copies", "uniqueness"])
        made = unmask.certify(found, check=False)
        assert made.verdict == found.verdict
        assert made.data["kind of release"] == ("synthetic" if roles else "one row for each person")


def test_a_policy_of_ones_own_judges_the_untreated_table_too(assessment):
    policy = unmask.Policy.load("public")
    lax = {key: replace(limit, value=1.0, people=None) for key, limit in policy.thresholds.items()}
    own = replace(policy, name="ours", thresholds=lax)
    found = unmask.assess(assessment.release, only=["nearest"], policy=own)
    assert unmask.certify(found, check=False).initial == ()  # nothing is judged by it
