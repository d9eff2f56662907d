"""Facts in the report: words first, the field's code beside them, shares as percent."""

from __future__ import annotations

import re

import pytest

from unmask.evidence import Fact
from unmask.report.facts import WORDS, named, shown
from unmask.report.html import render


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("ill: DDMBAR", "ill: told by a model without the person", "DDMBAR"),
        ("DR_min in people", "records that are alone in people", "DR_min"),
        ("ill, tree: adr", "ill, tree: guessed right without the person's row", "adr"),
        ("tau1, log-linear", "people alone here, and in the population, log-linear", "tau1"),
        ("t", "distance of a group from the file", "t"),
        ("total distance", "total distance", ""),  # begins with a code, and is none
        ("k", "smallest group", "k"),
    ],
)
def test_a_code_is_told_in_words(name, words, code):
    assert named(name) == (words, code)


def test_shares_are_percent_and_other_numbers_are_not():
    assert shown(Fact("a", 0.796, "of people", share=True)) == "79.6 %"
    assert shown(Fact("a", 0.796, "sd")) == "0.796" and shown(Fact("a", 1, "k")) == "1"
    assert shown(Fact("a", "boosting", "the learner")) == "boosting"


def test_every_share_of_the_demo_is_percent(demo):
    """What is a share by its words is shown as one, in the table and in what stands beside it."""
    facts = [fact for entry in demo.assessment.document.measures for fact in entry.facts]
    assert sum(fact.share for fact in facts) > 20
    plain = [fact for fact in facts if not fact.share and isinstance(fact.value, float) and 0 < fact.value < 1]
    told = ("KS distance", "p-value", "noise of", ": t", "ALC", "interaction")  # on scales of their own
    assert not [fact.name for fact in plain if not any(word in fact.name for word in told)]
    assert not [fact.meaning for fact in facts if fact.share and re.search(r"\b0\.\d", fact.meaning)]


def test_the_page_shows_words_with_the_code_in_small_type(demo):
    page = render(demo.assessment.document)
    assert f'{WORDS["DR_min"]} <code class="small soft">DR_min</code>' in page
    assert ">DR_min<" not in page.replace('soft">DR_min<', "")
