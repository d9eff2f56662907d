"""Utility beside the risk in every report: JSON, terminal, HTML, verify, and what is refused before the work."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

import unmask
from unmask import Release, assess, datasets, parse_masking
from unmask.beside import published
from unmask.errors import ParameterError, RoleError
from unmask.report import render, show

FEW = ["nearest"]


@pytest.fixture(scope="module")
def tables():
    people = datasets.patients(120)
    return people, parse_masking("chain([noise(0.5), drop([longitude, latitude])])").apply(people, 1)


@pytest.fixture(scope="module")
def assessment(tables):
    release = Release(*tables, id="patient", confidential=["diagnosis", "cost"])
    return assess(release, only=FEW, keep=["mean(cost) by sex"], utility="whole")


def test_it_is_in_the_document(assessment):
    told = assessment.to_dict()["utility"]
    assert told["value"] == pytest.approx(
        (told["columns_left"] + told["relations_left"] + told["analyses_left"]) / 3, abs=1e-5
    )
    gone = {one["name"] for one in told["columns"] if one["left"] == 0}
    assert gone == {"longitude", "latitude"}
    assert [one["column"] for one in told["predicted"]] == ["diagnosis", "cost"]
    assert told["analyses"][0]["analysis"] == "mean(cost) by sex"
    assert assessment.document.manifest.keep == ("mean(cost) by sex",)
    assert assessment.document.manifest.utility == "whole"


def test_it_is_on_the_screen_and_in_the_html(assessment):
    screen = io.StringIO()
    show(assessment.document, Console(file=screen, width=200))
    text, html = screen.getvalue(), render(assessment.document)
    assert f"Utility: {assessment.document.utility.words}" in text
    assert "mean(cost) by sex: " in text
    assert "What is left of the data" in html
    assert "of the skill is left" in html
    assert "labels dealt at random" in html


def test_quick_whole_and_none(tables):
    release = Release(*tables, id="patient")
    quick = assess(release, only=FEW).document
    assert quick.manifest.utility == "quick"
    assert quick.utility.told_apart is None
    none = assess(release, only=FEW, utility="none").document
    assert none.utility is None
    assert "What is left of the data" not in render(none)
    with pytest.raises(ParameterError, match="whole, quick or none"):
        assess(release, only=FEW, utility="hole")


def test_rows_go_by_the_id_and_not_by_their_order(tables):
    people, masked = tables
    shuffled = masked.sample(fraction=1, shuffle=True, seed=3)
    one, two = (assess(Release(people, side, id="patient"), only=FEW).document.utility for side in (masked, shuffled))
    assert one == two
    assert one.paired
    some = assess(Release(people, masked.head(60), id="patient"), only=FEW).document.utility
    assert not some.paired


def test_names_of_people_that_are_not_published_are_no_loss(tables):
    people, masked = tables
    named = people.with_columns(name=pl.format("person {}", pl.int_range(pl.len())))
    assert "name" not in published(Release(named, masked, id="patient"))
    assert "longitude" in published(Release(named, masked, id="patient"))
    assert "patient" not in published(Release(named, masked, id="patient"))
    assert "sex" not in published(Release(named, masked, id="patient", ignored=["sex"]))


@pytest.mark.parametrize(
    ("keep", "error"), [("mean(cots)", RoleError), ("mode(cost)", ParameterError), ("cost ~ ", ParameterError)]
)
def test_an_analysis_that_cannot_be_computed_is_refused_before_the_work(tables, keep, error):
    with pytest.raises(error):
        assess(Release(*tables, id="patient"), only=FEW, keep=[keep])


def test_verify_looks_as_closely(tables, tmp_path):
    paths = [tmp_path / "original.csv", tmp_path / "release.csv"]
    for table, path in zip(tables, paths, strict=True):
        table.write_csv(path)
    done = assess(Release(*map(str, paths), id="patient"), only=FEW, keep=["mean(cost)"], utility="whole")
    done.write_json(tmp_path / "report.json")
    assert unmask.verify(tmp_path / "report.json").same
