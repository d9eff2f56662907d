"""What to change, for page 1: only where something is to change, and what a search found with its figures."""

from __future__ import annotations

from dataclasses import replace

import unmask
from unmask.advice import advice_of, found_safe
from unmask.datasets import census, patients
from unmask.evidence import Policy
from unmask.protect import Point
from unmask.report.front import front

INTERNAL = Policy.load("internal")  # which may call so few people safe


def release(n=120, **more):
    table = patients(n, seed=0)
    return unmask.Release(table, table.drop("longitude", "latitude"), id="patient", confidential=["diagnosis"], **more)


def test_a_release_that_is_not_safe_has_a_change_to_try():
    advice = advice_of(release(), INTERNAL, "unsafe")
    assert advice.k == 3 and advice.verdict == ""
    assert advice.words.startswith("drop ") and advice.masking
    assert {column for column, _ in advice.steps} <= {*release().released.columns, "people who still stand out"}


def test_there_is_none_where_none_would_help():
    assert advice_of(release(), INTERNAL, "safe") is None
    assert advice_of(release(60), INTERNAL, "inconclusive") is None  # no release of so few people can be called safe
    people = census(60)
    assert advice_of(unmask.Release(people, people, synthetic=True), INTERNAL, "unsafe") is None
    silent = replace(INTERNAL, thresholds={"nearest.rate": INTERNAL.threshold("nearest.rate")})
    assert advice_of(release(), silent, "unsafe") is None


def test_an_unsafe_release_of_too_few_people_has_a_change_all_the_same():
    """100 people published as they are, under a policy that says "safe" from 381 on: a change comes first."""
    table = census(100).select("gross_income", "federal_tax", "interest")
    told = unmask.assess(unmask.Release(table, table), only=["nearest", "anonymity"], utility="whole")
    page = front(told.document)
    assert told.verdict == "unsafe" and told.document.advice is not None
    assert page.next.startswith(told.document.advice.words.capitalize()[:5]) and "looks like 10 others" in page.next
    assert "At best that is inconclusive" in page.next and "needs 381 people" in page.next
    assert page.command.startswith("unmask mask ") and "protect" not in page.command  # which would refuse so few
    made = unmask.parse_masking(told.document.advice.masking).apply(table, seed=0)
    if made.width:
        after = unmask.assess(unmask.Release(table, made), only=["nearest", "anonymity"])
        assert after.verdict == "inconclusive"
    plain = front(unmask.assess(unmask.Release(table, table), only=["nearest"]).document)
    assert plain.next.startswith("Publish fewer columns, or coarser ones.") and plain.command == ""
    made = unmask.assess(unmask.Release(table, table, synthetic=True), only=["copies"])
    assert front(made.document).next.startswith("Make the table again")


def test_what_a_search_found_names_only_columns_of_the_release():
    point = Point(
        "drop([town, longitude, latitude])", 1, "whole", "safe", "", "nearest", 0.04, 0.02, 0.06, 0, 0.43, 0.4, 0.4,
        None, 1.0,
    )  # fmt: skip
    advice = found_safe(point, release(), "folder/better.csv")
    assert advice.words == "drop town" and advice.file == "better.csv"
    assert (advice.verdict, advice.found, advice.left, advice.k) == ("safe", 0.04, 0.43, 0)


def test_an_assessment_names_the_change_and_its_digest_does_not_hang_on_it():
    few = release()
    named = unmask.assess(few, policy="internal", only=["nearest"], utility="whole")
    plain = unmask.assess(few, policy="internal", only=["nearest"])
    assert named.document.advice is not None and plain.document.advice is None
    again = unmask.assess(few, policy="internal", only=["nearest"], utility="whole")
    assert again.document.advice == named.document.advice and again.document.digest == named.document.digest
