from __future__ import annotations

import unmask
from unmask.report.words import intruder, others


def test_the_worst_comes_first_and_the_rest_is_counted():
    people = unmask.datasets.census(150)
    release = unmask.Release(people, unmask.parse_masking("noise(0.3)").apply(people, 1))
    document = unmask.assess(release, only=["nearest", "one_to_one", "uniqueness", "permuted", "population"]).document
    lines = intruder(document)
    against = [finding for finding in document.findings if finding.outcome == "against"]
    assert lines[0].startswith(max(against, key=lambda finding: finding.estimate.value).claim)
    told = [finding for finding in document.findings if finding.outcome in {"against", "inconclusive"}]
    assert len(lines) == len(told)
    assert "2 within their limits" in others(document)
    assert "1 not applicable" in others(document)
