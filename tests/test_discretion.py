"""The one policy of what is told about few people, and every place that has to keep it."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.discretion import LEAST, STEPS, in_public, on_a_coarse_map, outline, round_cuts, too_few, without_numbers


@pytest.mark.parametrize(("people", "told"), [(0, False), (0.5, True), (1, True), (LEAST - 1, True), (LEAST, False)])
def test_small_counts(people, told):
    assert too_few(people) is told


def test_what_is_told_in_public():
    assert in_public(1 / 3) == 0.33 and in_public(None) is None and in_public(0.12345, 3) == 0.123
    assert outline("changed: 12 % of people have their own value (noise(0.3))") == "changed"
    assert without_numbers("it has no control table") and not without_numbers("row 17 is alone")


@settings(max_examples=25)
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 4)), min_size=30, max_size=60))
def test_cuts_are_rounded_to_a_tenth_of_the_middle(values):
    present = np.sort(np.array(values))
    cuts = round_cuts(present, np.quantile(present, [0.25, 0.5, 0.75]))
    low, high = np.quantile(present, [0.1, 0.9])
    if high > low:
        unit = 10.0 ** np.floor(np.log10((high - low) / 10))
        assert (high - low) / 100 <= unit * 1.000001  # so coarse
        assert np.allclose(cuts / unit, np.round(cuts / unit), atol=1e-3)


def test_a_map_has_coarse_steps():
    places = np.random.default_rng(1).uniform(size=(50, 2))
    assert np.unique(on_a_coarse_map(places)).size <= STEPS + 1
    assert np.abs(on_a_coarse_map(places) - places).max() <= 0.5 / STEPS + 1e-12


@pytest.fixture(scope="module")
def told():
    """Two hundred people: a rare town with one holder, one of ten and one of eleven people, and one who earns most."""
    draw = np.random.default_rng(3)
    towns = ["Alone"] + ["Ten"] * 10 + ["Eleven"] * 11 + ["Many"] * 178
    people = pl.DataFrame(
        {"town": towns, "income": np.round(draw.lognormal(3, 1, 200), 3), "age": draw.integers(0, 99, 200)}
    )
    people[0, "income"] = 98_765.432
    noisy = unmask.parse_masking("noise(0.05)").apply(people, 1)
    return unmask.assess(
        unmask.Release(people, noisy), only=["nearest", "uniqueness"], by=["town", "income"], show_values=True
    )


def test_no_group_is_small_enough_to_point_at_somebody_even_if_values_are_shown(told):
    towns, incomes = told.document.people.groups
    assert min(group.n for entry in (towns, incomes) for group in entry.groups) >= LEAST
    assert {group.name for group in towns.groups} == {"Many", "Eleven", "(other)"}  # the others together are eleven
    text = unmask.report.document.to_json(told.document)
    assert "Alone" not in text and "Ten" not in text.replace("Tenth", "")


def test_no_extreme_value_is_told(told):
    text = unmask.report.document.to_json(told.document)
    assert "98765" not in text and "98,765" not in text and "9.88e" not in text


def test_the_public_certificate_has_no_rows_small_counts_and_reasons_with_numbers(told):
    from unmask.certificate.render import to_html, to_jsonld

    public = unmask.certify(told, initial=False, check=False).for_the_public()
    told_rows = told.document.check.words  # "row 1 with row 1": how rows were paired
    text = str(public.to_dict()).replace(told_rows, "")
    assert not re.search(r"\brows? \d", text) and told.document.exposed
    for form in (to_html(public), to_jsonld(public)):
        for warning in told.document.warnings:
            assert warning not in form
    for risk in (*public.initial, *public.residual):
        assert risk.value is None or not too_few(round(risk.value * risk.n)) or risk.value == 0
        assert risk.value is None or risk.value == round(risk.value, 2)
