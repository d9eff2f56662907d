"""The measures of this room as attacks on a pair of tables: by hand, by definition, and through the report."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_groups as naive
from unmask import Release, assess
from unmask.evidence.measure import Context
from unmask.groups.anonymity import anonymity, assess_anonymity
from unmask.groups.joint import join
from unmask.groups.knowledge import assess_knowledge
from unmask.groups.population import assess_population
from unmask.groups.special import assess_special
from unmask.selfcheck import selfcheck

VALUES = st.tuples(
    st.sampled_from(["a", "b", "c"]), st.integers(0, 2), st.sampled_from(["p", "q"]), st.sampled_from("xyz")
)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=14)
NAMES = ["word", "whole", "side", "ill"]


def release(pairs, **roles):
    tables = [pl.DataFrame([pair[side] for pair in pairs], schema=NAMES, orient="row") for side in (0, 1)]
    kinds = dict.fromkeys(NAMES, "categorical")
    return Release(*tables, quasi=["word", "whole", "side"], kinds=kinds, **({"confidential": ["ill"]} | roles))


@given(PAIRS)
def test_special_by_definition(pairs):
    """Records with an MSU that carries the person's values share the credit."""
    people, records = ([pair[side][:3] for pair in pairs] for side in (0, 1))
    sets = naive.minimal_sample_uniques(records, 3)
    credit = []
    for i, person in enumerate(people):
        claimed = {j for j, attributes in sets if all(person[a] == records[j][a] for a in attributes)}
        credit.append(1 / len(claimed) if i in claimed else 0.0)
    assert assess_special(release(pairs), Context()).per_record.tolist() == pytest.approx(credit)


@given(PAIRS)
def test_shared_secrets_by_definition(pairs):
    people, records = ([pair[side] for pair in pairs] for side in (0, 1))
    found = assess_anonymity(release(pairs), Context())
    outside, inside = [], []
    for i, person in enumerate(people):
        group = [j for j, record in enumerate(records) if record[:3] == person[:3]]
        right = i in group and records[i][3] == person[3]
        gain = 1 - sum(record[3] == records[i][3] for record in records) / len(records)
        values = [records[j][3] for j in group]
        others = any(len({records[j][3] for j in group if j != k}) == 1 for k in group if k != i)
        outside.append(gain if right and len(set(values)) == 1 else 0.0)
        inside.append(gain if right and (len(set(values)) == 1 or others) else 0.0)
    assert found.per_record.tolist() == pytest.approx(outside)
    assert [o.estimate.value for o in found.observations] == pytest.approx([np.mean(outside), np.mean(inside)])


@given(PAIRS)
def test_credit_of_the_most_promising_attributes(pairs):
    """The set is one of all there are, and its credit is that of looking for its values."""
    given_release = release(pairs)
    joint = join(given_release)
    people, records = joint.original.tolist(), joint.released.tolist()
    found = assess_knowledge(given_release, Context())
    keys = [joint.names.index(name) for name in found.observations[0].claim.rstrip(".").split(": ")[1].split(", ")]
    credit = []
    for i, person in enumerate(people):
        crowd = [j for j, record in enumerate(records) if all(record[a] == person[a] for a in keys)]
        credit.append(1 / len(crowd) if i in crowd else 0.0)
    assert found.per_record.tolist() == pytest.approx(credit)


def test_a_lost_attribute_promises_nothing():
    """The number has most values, and masking has changed every one; the words are left."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"number": rng.normal(size=200), "word": rng.integers(0, 9, 200), "town": rng.integers(0, 9, 200)}
    )
    masked = table.with_columns(pl.Series("number", rng.normal(size=200)))
    kinds = {"word": "categorical", "town": "categorical"}
    found = assess_knowledge(Release(table, masked, kinds=kinds), Context())
    assert found.observations[0].claim.endswith("2 attributes: word, town.")
    assert found.observations[0].estimate.value == pytest.approx(81 / 200, abs=0.1)


def test_population_needs_a_weight():
    table = pl.DataFrame({"k": [1, 1, 2, 3] * 5, "w": [10.0] * 20, "s": ["x"] * 20})
    found = assess(Release(table, table, quasi=["k"], kinds={"k": "categorical"}), only=["population", "uniqueness"])
    assert {f.measure: f.outcome for f in found.findings}["population"] == "does not apply"
    evidence = assess_population(Release(table, table, quasi=["k"], kinds={"k": "categorical"}, weight="w"), Context())
    assert evidence.observations[0].estimate.value < 0.05
    assert evidence.observations[0].estimate.chance == pytest.approx(1 / 200)
    assert (evidence.per_record > 0).all()


@pytest.mark.parametrize("name", ["anonymity", "knowledge", "special"])
def test_selfcheck(name):
    assert all(check.passed for check in selfcheck(only=[name], size=150)), name


def test_the_report_tells_them(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.integers(0, 4, 200), "b": rng.integers(0, 9, 200), "ill": rng.integers(0, 3, 200)})
    options = {"kinds": dict.fromkeys(table.columns, "categorical"), "confidential": ["ill"]}
    found = assess(Release(table, table, **options), only=["anonymity", "knowledge", "special"])
    assert {"anonymity", "knowledge", "special"} <= set(found.records.columns)
    found.write_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Attacker knowledge" in page
    assert "Special uniques" in page


def test_fix_command(tmp_path, monkeypatch, capsys):
    from unmask.cli import main

    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {"sex": rng.integers(0, 2, 80), "age": rng.integers(20, 60, 80), "ill": rng.integers(0, 3, 80)}
    )
    source, fixed, steps, plan = (tmp_path / name for name in ("t.csv", "fixed.csv", "steps.csv", "plan.csv"))
    table.write_csv(source)
    run(monkeypatch, main, "fix", source, "--quasi", "sex,age", "--k", 4, "-o", fixed, "--steps", steps)
    assert "groups of 4" in capsys.readouterr().out
    assert anonymity(pl.read_csv(fixed), quasi=["sex", "age"]).k >= 4
    assert set(pl.read_csv(steps)["action"]) <= {"suppress", "coarsen", "leave out"}
    options = ["--quasi", "sex,age", "--confidential", "ill", "--only", "uniqueness", "--fix", plan, "--k", 3, "--l", 2]
    run(monkeypatch, main, "assess", source, source, *options, code=1)
    assert pl.read_csv(plan).columns == ["action", "attribute", "row", "width"]
    run(monkeypatch, main, "fix", source, "--quasi", "sex", "-o", source, code=2)


def run(monkeypatch, main, *arguments, code=0):
    monkeypatch.setattr("sys.argv", ["unmask", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == code
