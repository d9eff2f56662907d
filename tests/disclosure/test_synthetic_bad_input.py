"""Synthetic releases that cannot be judged, or hardly: one clear answer each."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import command_line
from disclosure import synthetic_tables as tables
from unmask import Release, Synthesiser, assess, datasets
from unmask.errors import ParameterError, RoleError

QUICK = ["copies", "keys", "membership"]
INSIDE, OUTSIDE = tables.people(120, 0)
MADE = tables.copula(INSIDE, np.random.default_rng(0))


def found(original=INSIDE, released=MADE, control=OUTSIDE, only=QUICK, **roles):
    release = Release(original, released, control=control, synthetic=True, **roles)
    return assess(release, only=only, utility="none")


def patients(seed, n=120):
    return datasets.patients(n, seed=seed).select("sex", "town", "insurance", "diagnosis")


def reasons(assessment, outcome):
    return {f.measure: f.reason for f in assessment.findings if f.outcome == outcome}


def test_a_control_of_the_original_is_refused_once_and_before_the_work():
    with pytest.raises(RoleError, match=r"overlaps the original(?s:.*)60 of 160"):
        found(control=pl.concat([INSIDE[:60], OUTSIDE[:100]]), only=None)


def test_a_few_members_among_the_people_outside_hide_nobody():
    """Three people whose rows were moved a little are in the control table: they are left out, and it is said."""
    made = tables.memorised(INSIDE, np.random.default_rng(0), 0.5, 0.005)
    clean, mixed = (
        found(released=made, control=control, only=["copies"])
        for control in (OUTSIDE, pl.concat([OUTSIDE, INSIDE.sample(3, seed=1)]))
    )
    assert [f.estimate for f in mixed.findings] == [f.estimate for f in clean.findings]
    assert [line for line in mixed.document.warnings if line.startswith("3 of 123 control rows equal")]
    assert not [line for line in clean.document.warnings if "left out" in line and "control rows" in line]


def test_equal_people_outside_stay_where_many_are_alike():
    control = patients(3)
    told = found(patients(1), patients(2), pl.concat([control, patients(1)[:2]]), only=["copies"])
    assert not [line for line in told.document.warnings if "control rows" in line]


def test_a_synthetic_table_with_other_columns():
    renamed = MADE.rename({name: f"x_{name}" for name in MADE.columns})
    other = found(released=renamed)
    assert other.verdict == "inconclusive"
    assert "unknown is not safe" in reasons(other, "could not run")["columns"]
    some = found(released=MADE.drop(MADE.columns[:5]))
    assert not reasons(some, "could not run") and some.verdict != "safe"


def test_a_synthetic_table_of_another_type():
    name = MADE.columns[0]
    words = found(released=MADE.with_columns(pl.lit("much").alias(name)))
    assert "unknown is not safe" in reasons(words, "could not run")["columns"]
    euros = found(released=MADE.with_columns(pl.format("{} EUR", name).alias(name)))
    assert not reasons(euros, "could not run")
    plain = {f.key: f.estimate for f in found().findings}
    assert {f.key: f.estimate for f in euros.findings} == plain  # it is read


@pytest.mark.parametrize("n", [1, 2, 5, 20, 49])
@pytest.mark.parametrize("outside", [False, True])
def test_fewer_than_fifty_people_are_never_safe_and_nothing_crashes(n, outside):
    told = found(INSIDE[:n], MADE[:n], OUTSIDE if outside else None)
    assert told.verdict != "safe"
    assert not reasons(told, "could not run")
    assert [line for line in told.document.warnings if line.endswith(f"people on, and these are {n}")]


def test_a_release_of_one_row():
    assert not reasons(found(released=MADE[:1]), "could not run")


@pytest.mark.parametrize("outside", [False, True])
def test_one_key(outside):
    told = found(
        patients(1), patients(2), patients(3) if outside else None, quasi=["town"], confidential=["diagnosis"],
        only=[*QUICK, "singling", "inference", "linkability"],
    )  # fmt: skip
    assert told.verdict != "unsafe"
    assert not reasons(told, "could not run")
    assert "keys" in {f.measure for f in told.findings if f.estimate is not None}
    alone = found(*(patients(k).select("town") for k in (1, 2, 3)), only=["linkability"])
    assert "two columns" in reasons(alone, "does not apply")["linkability"]


@pytest.mark.parametrize("value", ["a", None])
@pytest.mark.parametrize("outside", [False, True])
def test_a_constant_target_is_told_as_no_surprise(value, outside):
    one, two, three = (patients(k).with_columns(ill=pl.lit(value, dtype=pl.String)) for k in (1, 2, 3))
    told = found(one, two, three if outside else None, confidential=["ill"], only=[*QUICK, "inference"])
    assert told.verdict != "unsafe"
    assert not reasons(told, "could not run")
    by = {f.key: f for f in told.findings}
    assert by["keys.disclosed"].estimate.low == 0 and by["keys.disclosed"].outcome != "against"
    (notes,) = (entry.notes for entry in told.document.measures if entry.name == "keys")
    assert any("100%" in line or "no surprise" in line for line in notes)


FAILS = {
    "raise SystemExit(3)": "the synthesiser failed",
    "import time; time.sleep(60)": "the synthesiser was stopped after 1 seconds",
    "import sys; open(sys.argv[2], 'w')": "wrote no table that can be read",
    "import sys; open(sys.argv[2], 'w').write('a\\n1\\n')": "another kind of table",
}


@pytest.mark.parametrize("code", FAILS)
def test_a_synthesiser_that_fails_or_hangs(code, tmp_path):
    (tmp_path / "make.py").write_text(code)
    maker = Synthesiser(
        f"'{sys.executable}' '{tmp_path}/make.py' {{in}} {{out}} {{seed}}", 1 if "sleep" in code else 60
    )
    told = found(masking=maker, only=["membership"])
    assert told.verdict == "inconclusive"
    assert FAILS[code] in reasons(told, "could not run")["membership"]
    assert str(tmp_path) not in reasons(told, "could not run")["membership"]


def test_a_synthesiser_is_a_command():
    with pytest.raises(ParameterError, match=r"is a command(?s:.*)masking="):
        Synthesiser(lambda table, _seed: table)  # type: ignore[arg-type]


def test_on_the_command_line_an_overlap_is_exit_2(tmp_path, capsys):
    names = {"people": INSIDE, "made": MADE, "others": pl.concat([INSIDE[:60], OUTSIDE])}
    for name, table in names.items():
        table.write_csv(tmp_path / f"{name}.csv")
    paths = [str(tmp_path / f"{name}.csv") for name in names]
    code = command_line.run("assess", *paths[:2], "--synthetic", "--control", paths[2], "--only", "copies")
    assert code == 2
    assert "overlaps the original" in capsys.readouterr().err
