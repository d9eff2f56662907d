"""A release is studied once: what a Study makes it keeps, and nobody makes it again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, datasets
from unmask.errors import RoleError, TableError
from unmask.study.study import Study, as_study
from unmask.tables.encode import encode

PEOPLE = datasets.patients(60, seed=1).drop("patient")
OTHERS = datasets.patients(40, seed=2).drop("patient")


def test_a_study_is_frozen_and_shared():
    study = Study(Release(PEOPLE, PEOPLE))
    with pytest.raises(AttributeError):
        study.release = None
    assert as_study(study) is study
    assert as_study(study.release).release is study.release


def test_encodings_are_those_of_the_tables_and_made_once():
    release = Release(PEOPLE, PEOPLE, confidential=["diagnosis"])
    study = Study(release)
    for columns in (None, ["height"], ("town", "height", "cost"), release.quasi[::-1], ["diagnosis"]):
        found, wanted = study.encoding(columns), encode(release, columns)
        assert found is study.encoding(columns)
        assert found.names == wanted.names and found.notes == wanted.notes and found.foreign == wanted.foreign
        for side in ("original", "released"):
            for part in ("numeric", "codes"):
                mine, theirs = (getattr(getattr(one, side), part) for one in (found, wanted))
                assert np.array_equal(mine, theirs, equal_nan=part == "numeric")


def test_people_beside_the_original_are_on_the_same_codebook():
    study = Study(Release(PEOPLE, PEOPLE, control=OTHERS))
    both = study.beside("control")
    assert both is study.beside("control", ["height"]) is study.everybody()
    assert both.release.original.height == 100 and (both.release.truth[60:] == -1).all()
    alone = Study(Release(PEOPLE, PEOPLE))
    assert alone.everybody() is alone
    with pytest.raises(RoleError, match="no population table"):
        study.beside("population")


def test_a_column_that_does_not_fit_is_refused_only_when_asked_for():
    other = OTHERS.with_columns(pl.date(2026, 1, 1).alias("height")).drop("cost")
    study = Study(Release(PEOPLE, PEOPLE, control=other, quasi=["town", "sex"]))
    assert set(study.beside("control").release.original.columns) == set(PEOPLE.columns) - {"height", "cost"}
    with pytest.raises(TableError, match="only one of the tables has dates"):
        study.beside("control", ["town", "height"])
    with pytest.raises(RoleError, match="no column 'cost'"):
        study.beside("control", ["cost"])
