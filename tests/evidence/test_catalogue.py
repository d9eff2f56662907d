"""The names of measures: aliases, and what is offered for a wrong one."""

from __future__ import annotations

import re

import pytest

from unmask.assessment import choose, discover
from unmask.errors import ParameterError
from unmask.evidence.catalogue import (
    ALONE,
    ENTRIES,
    FAMILIES,
    HEADINGS,
    LABELS,
    LACKING,
    OF_NETWORKS,
    OF_PERSONS,
    UNPAIRED,
    family_of,
    guess,
    heading_of,
    meant,
    name_of,
    needs_of,
)

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


def test_every_figure_has_a_name_in_words_that_fits_a_terminal():
    keys = [key for entry in discover().values() for key in entry.keys]
    names = [name_of(key) for key in keys]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 26
    assert all(name_of(key) != key and "_" not in name_of(key) for key in keys)
    alone = {entry.keys[0] for entry in discover().values() if len(entry.keys) == 1}
    assert alone == ALONE


def test_every_label_belongs_to_a_measure_or_to_the_tables():
    others = {"check", "columns", "tables", *OF_NETWORKS, *OF_PERSONS}  # no releases of single records
    assert set(LABELS) - others == set(ENTRIES)
    assert {heading_of(name) for name in ENTRIES} == set(HEADINGS)
    assert {family_of(name) for name in ENTRIES} == set(FAMILIES)
    assert heading_of("check") is None and family_of("columns") is None


def test_a_figure_answers_the_question_of_its_measure():
    for entry in discover().values():
        assert {heading_of(key) for key in entry.keys} == {heading_of(entry.name)}
    assert heading_of("tables.small") == "singling out" and heading_of("tables.known") == "inference"


def test_what_a_measure_lacked_is_said_in_words():
    assert needs_of("transparent") == ("the masking method",)
    assert needs_of("nearest") == ()
    assert needs_of("transparent", UNPAIRED) == ("rows that belong together",)
    flags = {flag for entry in ENTRIES.values() for flag in re.findall(r"--[a-z]+", entry.needs)}
    assert flags <= set(LACKING)
