"""Copies and members in a synthetic release by an engine, held against memory: the same figures, to the last digit."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unmask
from unmask import large_assessment as whole
from unmask import large_copies, large_draws
from unmask.assessment import discover
from unmask.cli.app import app
from unmask.disclosure import outside
from unmask.errors import EngineError, ParameterError, RoleError, TableError
from unmask.evidence import UNPAIRED, Context
from unmask.study import Study
from unmask.tables import Encoded

pytest.importorskip("duckdb")
NAMES = ["bmi", "height", "weight", "sex", "town"]


def people(n=200, seed=3, alike=3):
    """Numbers with gaps and ties, and categories; some people are alike."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "bmi": np.where(rng.random(n) < 0.05, np.nan, rng.normal(25, 4, n).round(1)),
            "height": rng.normal(170, 9, n).round(),
            "weight": rng.normal(70, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "town": [None if rng.random() < 0.05 else str(word) for word in rng.choice(list("uvwxyz"), n)],
        }
    )
    return pl.concat([table, *[table[:20]] * alike])


def made(original, seed=5, kept=50):
    """A synthetic table that holds some of the people, and others."""
    return pl.concat([original.sample(kept, seed=seed), people(seed=seed + 10)]).sample(
        fraction=1, shuffle=True, seed=1
    )


ORIGINAL, CONTROL = people(), people(150, seed=77, alike=0)
RELEASED = made(ORIGINAL)


@pytest.fixture(params=["sorted", "hashed"])
def order(request, monkeypatch):
    """Few rows are drawn in the order of their values, many in that of a number made of them: both are tried."""
    if request.param == "hashed":
        monkeypatch.setattr(outside, "SORTED", 0)
        monkeypatch.setattr(large_draws, "SORTED", 0)
        monkeypatch.setattr(large_draws, "PART", 37)
    return request.param


@pytest.mark.parametrize("control", [None, CONTROL], ids=["alone", "control"])
def test_findings_are_those_of_assess(order, control, monkeypatch):
    monkeypatch.setattr("unmask.disclosure.copies.MOST_OTHERS", 120)  # some are drawn
    monkeypatch.setattr("unmask.disclosure.copies.MOST_ROWS", 90)
    asked = {"only": ["copies", "membership"]}
    here = unmask.assess(
        unmask.Release(ORIGINAL, RELEASED, synthetic=True, control=control, quasi=NAMES), utility="none", **asked
    )
    there = unmask.assess_large(ORIGINAL, RELEASED, synthetic=True, control=control, quasi=NAMES, **asked)
    known = [[(f.key, f.claim, f.outcome, f.estimate) for f in one.findings] for one in (here, there)]
    assert [f for f in known[1] if f[0] != "check.untried"] == known[0]
    assert {"copies.exact", "copies.unique", "copies.known", "copies.whole"} <= {f[0] for f in known[1]}
    assert ("membership.auc" in {f[0] for f in known[1]}) == (control is not None)
    facts = [[(fact.name, fact.value) for m in one.document.measures for fact in m.facts] for one in (here, there)]
    assert facts[0] == facts[1]


def test_order_of_rows_and_threads_make_no_difference():
    how = {"synthetic": True, "only": ["copies", "membership"]}
    first = unmask.assess_large(ORIGINAL, RELEASED, control=CONTROL, **how)
    turned = unmask.assess_large(ORIGINAL.reverse(), RELEASED.reverse(), control=CONTROL.reverse(), threads=2, **how)
    assert [(f.key, f.claim, f.estimate) for f in turned.findings] == [
        (f.key, f.claim, f.estimate) for f in first.findings
    ]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda table: table, True),
        (lambda table: table.with_columns(pl.col("height") * 3 + 1, pl.col("weight").exp()), True),  # order is kept
        (lambda table: table.with_columns(-pl.col("height")), False),
        (lambda table: table.with_columns(pl.col("height").shuffle(seed=1)), False),
        (lambda table: table.with_columns(pl.col("town").fill_null("u")), False),
        (lambda table: table[1:], False),
    ],
)
def test_a_release_that_is_the_original_is_seen(change, same):
    released = change(ORIGINAL).sample(fraction=1, shuffle=True, seed=2)
    wanted = unmask.copy_risk(unmask.Release(ORIGINAL, released, synthetic=True)).whole
    found = unmask.assess_large(ORIGINAL, released, synthetic=True, only=["copies"])
    assert next(f for f in found.findings if f.key == "copies.whole").estimate.value == wanted == same


def test_rows_are_drawn_as_in_memory(order):
    study = Study(unmask.Release(ORIGINAL, RELEASED, synthetic=True, quasi=NAMES).in_order_of_content())
    side = study.encoding().original
    with unmask.engines.open_store(ORIGINAL, RELEASED, quasi=NAMES) as store:
        found = large_draws.Drawer(store)
        for count in (1, 17, 259, 260, 999):
            drawn, wanted = found.some("original", count, 4), side.take(outside.draw(side, count, 4))
            assert np.array_equal(drawn.numeric, wanted.numeric, equal_nan=True)
            assert np.array_equal(drawn.codes, wanted.codes)


def test_equals_of_some_people_add_up_over_parts():
    with unmask.engines.open_store(ORIGINAL, RELEASED, quasi=NAMES) as store:
        work = large_copies.Equalling(large_draws.Rows.of(store), large_draws.Drawer(store).some("original", 40, 1))
        one, many = (unmask.engines.pass_over(store, work, lambda *_: None, rows=rows) for rows in (1000, 13))
    assert [side.tolist() for side in one] == [side.tolist() for side in many]
    assert one.number.max() > 0 and [entry.split()[0] for entry in work.fields.split(", ")] == list(one._fields)


def test_fewer_people_are_held_and_compared_and_that_is_told(monkeypatch):
    monkeypatch.setattr(large_copies, "MOST_HELD", 100)
    monkeypatch.setattr(large_copies, "MOST_COMPARED", 90)
    with unmask.engines.open_store(ORIGINAL, RELEASED, quasi=NAMES) as store:
        found = large_copies.assess_copies(store, Context(seed=1))
    whole_ = unmask.copy_risk(unmask.Release(ORIGINAL, RELEASED, synthetic=True, quasi=NAMES), seed=1)
    assert found.observations[0].estimate.value == pytest.approx(whole_.exact.value, abs=0.1)
    assert "100 people, drawn by a hash of values" in " ".join(found.notes)
    with unmask.engines.open_store(ORIGINAL, RELEASED, control=CONTROL, quasi=NAMES) as store:
        found = large_copies.assess_copies(store, Context(seed=1))
    assert next(one for one in found.observations if one.key == "copies.closer").estimate.n == 90
    assert "90 people of either table" in " ".join(found.notes)
    copied = found.observations[0]
    assert copied.key == "copies.exact" and "beyond what rows of other people show" in copied.claim
    assert copied.estimate.value == pytest.approx(whole_.exact.value, abs=0.1)  # few rows hold few copies of few people


def test_a_synthetic_release_is_never_safe_on_an_engine():
    """Other attacks on such releases are not tried: they are named, and what needs pairs does not apply."""
    fresh = people(600, seed=50, alike=0).with_columns(pl.col("height") + 300, pl.col("weight") * 9)
    found = unmask.assess_large(ORIGINAL, fresh, synthetic=True, control=CONTROL, policy="internal")
    assert found.verdict != "safe"
    untried = next(f for f in found.findings if f.key == "check.untried")
    assert untried.outcome == "inconclusive"
    release = unmask.Release(ORIGINAL, fresh, synthetic=True, control=CONTROL, confidential=["bmi"])
    possible = {name for name, entry in discover().items() if entry.applies(release) != UNPAIRED}
    assert {*whole.UNTRIED, "copies", "membership"} == possible
    assert {f.measure for f in found.findings if f.outcome == "does not apply"} == set(whole.MEASURES) - {
        "copies", "membership"
    }  # fmt: skip
    assert found.document.manifest.settings["synthetic"] is True
    assert found.document.manifest.inputs["control"]["rows"] == CONTROL.height


def test_a_table_that_is_not_read_to_its_end_is_no_sample(monkeypatch):
    with unmask.engines.open_store(ORIGINAL, RELEASED, quasi=NAMES) as store:
        parts = store.duck.over_parts
        monkeypatch.setattr(store.duck, "over_parts", lambda query, *more: parts(f"{query} LIMIT 100", *more))
        with pytest.raises(EngineError, match="not read to its end"):
            large_draws.Drawer(store).some("released", 50, 1)


def test_control_people_must_be_outside():
    with_ids = [table.with_row_index("who") for table in (ORIGINAL, CONTROL)]
    found = unmask.assess_large(with_ids[0], RELEASED, synthetic=True, id="who", control=with_ids[1], only=["copies"])
    assert [f.outcome for f in found.findings if f.measure == "copies"] == ["could not run"]
    again = unmask.assess_large(ORIGINAL, RELEASED, synthetic=True, control=ORIGINAL[30:150], only=["copies"])
    assert "overlaps the original" in next(f.reason for f in again.findings if f.measure == "copies")
    assert {again.verdict, found.verdict} <= {"inconclusive"}


def test_wrong_tables_and_options_are_refused():
    with pytest.raises(ParameterError, match="needs an id"):
        unmask.assess_large(ORIGINAL, RELEASED)
    with pytest.raises(ParameterError, match="for a synthetic release"):
        unmask.assess_large(ORIGINAL, RELEASED, id="sex", control=CONTROL)
    with pytest.raises(RoleError, match="control table"):
        unmask.assess_large(ORIGINAL, RELEASED, synthetic=True, control=CONTROL.drop("bmi"))
    with pytest.raises(TableError, match="of another kind"):
        unmask.assess_large(ORIGINAL, RELEASED, synthetic=True, control=CONTROL.with_columns(bmi=pl.lit("x")))
    with pytest.raises(TableError, match="no rows"):
        unmask.assess_large(ORIGINAL, RELEASED, synthetic=True, control=CONTROL[:0])


def test_the_command_line(tmp_path):
    for name, table in (("o", ORIGINAL), ("r", RELEASED), ("c", CONTROL)):
        table.write_parquet(tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("o", "r")]
    given = ["assess", *paths, "--engine", "duckdb", "--synthetic", "--control", str(tmp_path / "c.parquet")]
    done = CliRunner().invoke(app, [*given, "--json", str(tmp_path / "r.json")])
    assert done.exit_code == 1, done.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verdict"] == "unsafe" and report["manifest"]["settings"]["synthetic"] is True
    assert "singling" in next(f["claim"] for f in report["findings"] if f["key"] == "check.untried")


def test_content_numbers_tell_rows_apart():
    side = Encoded(np.array([[0.0], [-0.0], [np.nan], [1.0]]), np.array([[1], [1], [1], [-1]], dtype=np.int32))
    numbers = outside.content_numbers(side)
    assert numbers[0] == numbers[1] and len(np.unique(numbers)) == 3
