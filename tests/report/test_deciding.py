from __future__ import annotations

from unmask.evidence.catalogue import ENTRIES
from unmask.evidence.estimate import Estimate
from unmask.report.deciding import by_family, by_question, deciding
from unmask.report.document import FindingEntry


def finding(key, value, outcome):
    return FindingEntry(
        key.split(".")[0], key, "c", outcome, "r", Estimate(value, value, value, 100, 0.01), 0.09, "why"
    )


def test_what_is_above_its_limit_decides_whatever_is_larger():
    found = [finding("nearest.rate", 0.2, "against"), finding("values.rate", 1.0, "not judged")]
    assert deciding(found).key == "nearest.rate"
    assert deciding([*found, finding("learned.rate", 0.9, "inconclusive")]).key == "nearest.rate"
    assert deciding([]) is None


def test_people_found_are_told_before_people_known():
    found = [finding("nearest.known", 1.0, "against"), finding("nearest.rate", 0.8, "against")]
    assert deciding(found).key == "nearest.rate"
    assert deciding([found[0], finding("channel.rate", 0.1, "for")]).key == "nearest.known"


def test_of_two_the_larger_share_decides():
    assert (
        deciding([finding("model.excess", 0.2, "against"), finding("cells.rare", 0.3, "against")]).key == "cells.rare"
    )


def test_every_question_and_family_has_its_finding(demo):
    document = demo.assessment.document
    questions = {entry.name: entry for entry in by_question(document)}
    assert list(questions) == ["singling out", "linkability", "inference"]
    assert [entry.finding.measure for entry in questions.values()][1] == document.intruders[-1].measure
    families = {entry.name: entry for entry in by_family(document)}
    assert list(families) == ["linkage", "graph", "maximum knowledge", "groups", "disclosure"]
    assert families["graph"].finding is None and families["graph"].ran == 0
    assert sum(entry.ran for entry in families.values()) == 20
    assert sum(entry.attacks for entry in families.values()) == len(ENTRIES)
