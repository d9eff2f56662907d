"""A release is studied once: what a Study makes it keeps, and nobody makes it again."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from unmask import Release, assess, datasets, parse_masking
from unmask.assessment import discover
from unmask.errors import RoleError, TableError
from unmask.kernels.search import tree
from unmask.study import metric
from unmask.study.memory import digest, outline
from unmask.study.study import Study, as_study
from unmask.tables import encode as tables
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


def test_without_a_known_column_those_that_are_named_are_encoded():
    released = PEOPLE.select("diagnosis", size="height")
    study = Study(Release(PEOPLE.select("diagnosis", "height"), released, confidential=["diagnosis"]))
    assert study.encoding(["diagnosis"]).names == ("diagnosis",)
    with pytest.raises(RoleError, match="no column under the name"):
        study.encoding()


def test_spaces_and_trees_are_made_once_for_each_choice():
    study = Study(Release(PEOPLE, parse_masking("noise(0.3)").apply(PEOPLE, 1)))
    whole = study.index()
    assert study.index(seed=5) is whole  # no lot is drawn
    assert study.index(study.release.quasi) is whole is study.index_of(whole.space)
    assert study.index(metric="permutation", seed=5) is study.index(metric="permutation", seed=6)  # mean ranks
    drawn = [study.index(metric="permutation", ranks="ordinal", seed=seed) for seed in (5, 6)]
    others = [study.index(scale="original"), study.index(metric="gower"), study.index(weights={"height": 2.0})]
    assert len({id(index) for index in (whole, *drawn, *others, study.index(["height", "bmi"]))}) == 7
    assert study.index(weights={"height": 1.0}) is whole  # the same space, by whatever words
    assert study.index(study.encoding().names) is whole
    assert whole.tree() is whole.tree()


def test_spaces_of_one_outline_are_told_apart():
    """Two rows that no outline looks at, exchanged: the sums are the same too."""
    values = np.random.default_rng(0).normal(size=(3000, 2))
    people = pl.DataFrame({"a": values[:, 0], "b": values[:, 1]})
    study = Study(Release(people, people))
    space = study.index().space
    points = space.points.copy()
    points[[1, 2]] = points[[2, 1]]
    other = space._replace(points=points)
    assert outline(*space) == outline(*other)
    apart = study.index_of(other)
    assert apart is not study.index()
    assert apart is study.index_of(other._replace(points=points.copy()))
    assert study.index() is study.index_of(space._replace(points=space.points.copy()))


def watch(monkeypatch, function, key, made):
    """Count the calls of a function by what it is given, in whichever module it is called."""

    def watched(*given, **options):
        result = function(*given, **options)
        made.append((key(*given, **options), result, digest(*arrays(result))))
        return result

    for name, module in list(sys.modules.items()):
        # the one-to-one matching has trees of its own, over its classes of records (it plants them twice)
        if name.startswith("unmask.") and name != "unmask.kernels.search.costs":
            for held in [held for held, value in vars(module).items() if value is function]:
                monkeypatch.setattr(module, held, watched)


def content(*things):
    """What arrays and columns hold."""
    return digest(*(str(thing.to_list()) if isinstance(thing, pl.Series) else thing for thing in things))


def sides(encoding):
    return tuple(part for side in (encoding.original, encoding.released) for part in (side.numeric, side.codes))


def arrays(result):
    """The arrays that others share."""
    parts = result if isinstance(result, tuple) else (result.original, result.released)
    return [part for part in parts if isinstance(part, np.ndarray)]


@pytest.mark.parametrize("kind", ["all roles", "numbers", "synthetic"])
def test_a_whole_assessment_makes_nothing_twice_and_changes_nothing(kind, monkeypatch):
    people = datasets.patients(70, seed=5).drop("patient").with_row_index("id")
    masked = parse_masking("noise(0.3)").apply(people, 1).with_columns(people["id"])
    outside = datasets.patients(50, seed=6).drop("patient")
    secret = {"confidential": ["diagnosis", "cost"], "control": outside}
    homes = {"home": pl.col("id") // 3}
    release = {
        "all roles": lambda: Release(
            people.with_columns(**homes), masked[:60], id="id", household="home", population=500, masking="noise(0.3)",
            **secret,
        ),
        "numbers": lambda: Release(*(datasets.census(70, seed=k).with_row_index("id") for k in (0, 1)), id="id"),
        "synthetic": lambda: Release(people.drop("id"), masked.drop("id"), synthetic=True, **secret),
    }[kind]()  # fmt: skip
    discover()
    encoded, spaces, trees = [], [], []
    watch(
        monkeypatch,
        tables.encode_column,
        lambda given, name: content(name, given.original[name], given.released[name], given.truth),
        encoded,
    )
    watch(
        monkeypatch,
        metric.build_space,
        lambda encoding, *, seed=0, **how: content(
            sides(encoding), tuple(sorted(how.items())), seed if how.get("ranks") == "ordinal" else 0
        ),
        spaces,
    )
    watch(monkeypatch, tree.plant, lambda space, **how: content(tuple(space), tuple(how.items())), trees)
    found = assess(release)
    assert not [finding.key for finding in found.findings if finding.outcome == "could not run"]
    for made in (encoded, spaces, trees):
        keys = [key for key, _, _ in made]
        assert keys
        assert len(keys) == len(set(keys))
        assert all(digest(*arrays(result)) == before for _, result, before in made)
