from __future__ import annotations

from types import SimpleNamespace

import pytest

import unmask
from unmask.evidence.catalogue import FAMILIES
from unmask.evidence.policy import kind_of
from unmask.report.words import HOW, how, ordered, others, sentence, span


def test_every_finding_is_counted():
    people = unmask.datasets.census(150)
    release = unmask.Release(people, unmask.parse_masking("noise(0.3)").apply(people, 1))
    document = unmask.assess(release, only=["nearest", "one_to_one", "uniqueness", "permuted", "population"]).document
    counted = {word: sum(f.outcome == word for f in document.findings) for word in ("for", "against")}
    assert f"{counted['against']} above their limits, {counted['for']} within their limits" in others(document)
    assert "1 not applicable" in others(document)


def test_findings_come_by_family_the_plainest_first():
    names = ["values", "channel", "check", "nearest", "uniqueness"]
    found = [entry.measure for entry in ordered([SimpleNamespace(measure=name) for name in names])]
    assert found == ["check", "nearest", "channel", "uniqueness", "values"]


def test_every_kind_of_figure_says_how_to_read_it():
    kinds = {kind_of(key) for entry in unmask.assessment.discover().values() for key in entry.keys}
    assert kinds - {"whole"} <= set(HOW)
    assert list(FAMILIES)  # the order that findings are shown in


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0.229, 0.28, "22.9-28 %"), (0.5, 0.5, "50 %"), (0, 0.0038, "0-0.38 %")]
)
def test_an_interval_has_one_unit(low, high, text):
    assert span(low, high) == text


def test_a_sentence_ends_once():
    estimate = unmask.Estimate(0.5, 0.4, 0.6, 10, 0.1)
    assert sentence("Half are found.", estimate) == (
        "Half are found (50 %; 95 % CI 40-60 %; blind guessing finds 10 %)."
    )


def test_a_share_of_copies_below_everybody_is_explained():
    """99.4 % of equal rows stood beside "700 of 700 people", and nothing said what was taken off."""
    assert "taken off" in how(["copies.exact"]) and "below 100 %" in how(["copies.exact"])
