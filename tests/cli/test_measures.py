"""`unmask measures`: what there is, and one of them."""

from __future__ import annotations

import json

import pytest

from command_line import run
from unmask.assessment import discover
from unmask.evidence.catalogue import FAMILIES


def test_all_are_listed_by_family(capsys):
    assert run("measures") == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n {family.upper()} ") for family in FAMILIES]
    assert places == sorted(places)
    for measure in discover().values():
        assert f" {measure.name} " in shown
        for alias in measure.aliases:
            assert alias in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", ["special_uniques", "suda2", "special"])
def test_one_is_told_by_any_of_its_names(capsys, name):
    assert run("measures", name) == 0
    shown, measure = capsys.readouterr().out, discover()["special_uniques"]
    assert shown.startswith(f"special_uniques: {measure.title}\n\n{measure.story}\n")
    for text in (
        measure.family,
        measure.needs,
        "special, suda2, suda",
        *measure.keys,
        "docs/measures/special_uniques.md",
    ):
        assert text in shown


def test_json_has_the_same(capsys):
    assert run("measures", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in told] == [name for family in FAMILIES.values() for name in family]
    for entry in told:
        measure = discover()[entry["name"]]
        assert entry["page"] == measure.page and entry["aliases"] == list(measure.aliases)
        assert entry["story"] == measure.story and entry["needs"] and entry["family"] in FAMILIES
    assert run("measures", "dbrl", "--json") == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == ["nearest"]


def test_a_wrong_name_is_answered_with_a_guess(capsys):
    assert run("measures", "neighbour") == 2
    assert "did you mean 'nearest'?" in capsys.readouterr().err


def test_help_lists_the_measures_by_family(capsys):
    assert run("assess", "--help") == 0
    shown = capsys.readouterr().out
    told = shown[shown.index("Measures, for --only and --skip") :]
    for family, measures in FAMILIES.items():
        words = told[told.index(f"  {family}: ") :].split(":")[1].replace(",", " ").split()
        assert words[: len(measures)] == list(measures)
