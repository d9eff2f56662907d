"""The names of measures: aliases, and what is offered for a wrong one."""

from __future__ import annotations

import pytest

from unmask.assessment import choose, discover
from unmask.errors import ParameterError
from unmask.evidence.catalogue import ENTRIES, HEADINGS, guess, meant

TITLES = {name: entry.title for name, entry in discover().items()}


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("nearst", "nearest"),
        ("neighbour", "nearest"),
        ("neighbor", "nearest"),
        ("one-to-one", "one_to_one"),
        ("assignmnt", "one_to_one"),
        ("onetoone", "one_to_one"),
        ("kanon", "anonymity"),
        ("k-anonymity", "anonymity"),
        ("ldiversity", "anonymity"),
        ("suda3", "special_uniques"),
        ("special", "special_uniques"),
        ("fellegi", "probabilistic"),
        ("sunter", "probabilistic"),
        ("transparant", "transparent"),
        ("sdi", "intervals"),
        ("knowledgecurve", "knowledge_curve"),
        ("unique", "uniqueness"),
        ("member", "membership"),
        ("household_risk", "household"),
        ("dominanc", "magnitude"),
        ("attributes", "attribute_test"),
        ("distances", "nearest"),
    ],
)
def test_a_wrong_name_leads_to_the_measure_that_was_meant(typed, name):
    assert guess(typed, TITLES).startswith(f"did you mean {name!r}?")


@pytest.mark.parametrize("typed", ["xyzzy", "q", "", "12345", "un", "co"])
def test_nothing_is_offered_for_nonsense(typed):
    assert guess(typed, TITLES) is None


def test_words_of_a_title_lead_to_it():
    assert "'values'" in guess("disclosures", {"values": "Value disclosure", "graph": "Distances alone"})
    assert "'graph'" in guess("distances", {"values": "Value disclosure", "graph": "Distances alone"})


@pytest.mark.parametrize(("alias", "name"), [(alias, name) for name, e in ENTRIES.items() for alias in e.aliases])
def test_an_alias_means_its_measure_everywhere(alias, name):
    assert meant(alias) == name
    assert [chosen.name for chosen in choose(discover(), [alias], ())] == [name]
    assert name not in [chosen.name for chosen in choose(discover(), None, [alias])]


def test_the_alias_that_was_like_what_was_typed_is_named():
    with pytest.raises(ParameterError, match=r"did you mean 'anonymity'\? \(it is also called 'k_anonymity'\)"):
        choose(discover(), ["kanon"], ())
    assert "also called" not in guess("nearst", TITLES)


def test_every_measure_answers_one_of_the_three_questions():
    filed = [name for names in HEADINGS.values() for name in names]
    assert sorted(filed) == sorted(ENTRIES)
    assert list(HEADINGS) == ["singling out", "linkability", "inference"]
