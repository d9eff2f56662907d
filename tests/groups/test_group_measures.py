"""The measures of this room as attacks on a pair of tables: by hand, by definition, and through the report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from naive import groups as naive
from naive import judged_groups as twin
from unmask import Release, assess
from unmask.assessment import discover, run_measure
from unmask.errors import RoleError, TableError
from unmask.evidence.measure import Context
from unmask.groups.anonymity import anonymity, assess_anonymity
from unmask.groups.knowledge_sweep import assess_knowledge
from unmask.groups.population.measure import assess_population
from unmask.groups.special_uniques import assess_special
from unmask.selfcheck import selfcheck
from unmask.study.study import Study

VALUES = st.tuples(
    st.sampled_from(["a", "b", "c"]), st.integers(0, 2), st.sampled_from(["p", "q"]), st.sampled_from("xyz")
)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=14)
NAMES = ["word", "whole", "side", "ill"]


def release(pairs, **roles):
    tables = [pl.DataFrame([pair[side] for pair in pairs], schema=NAMES, orient="row") for side in (0, 1)]
    kinds = dict.fromkeys(NAMES, "categorical")
    return Release(*tables, quasi=["word", "whole", "side"], kinds=kinds, **({"confidential": ["ill"]} | roles))


def known(pairs, others=()):
    """What the intruder looks for, in the words of the release (which may have merged some), and the records.

    Attributes of which no value stands in both tables are left out: on them nobody could match, and nobody tries.
    """
    people, records = ([pair[side][:3] for pair in pairs] for side in (0, 1))
    people, strangers = naive.in_the_words_of(records, people, [other[:3] for other in others])
    kept = [a for a in range(3) if {person[a] for person in people} & {record[a] for record in records}]
    assume(kept)
    return tuple([tuple(row[a] for a in kept) for row in rows] for rows in (people, strangers, records))


MERGED = [(("a", 0, "p", "x"), ("z", 0, "p", "x")), (("b", 0, "q", "x"), ("z", 1, "p", "x"))] * 3


@given(PAIRS)
@example(MERGED)
def test_special_by_definition(pairs):
    """Records with an MSU that carries the person's values share the credit."""
    people, _, records = known(pairs)
    sets = naive.minimal_sample_uniques(records, 3)
    credit = []
    for i, person in enumerate(people):
        claimed = {j for j, attributes in sets if all(person[a] == records[j][a] for a in attributes)}
        credit.append(1 / len(claimed) if i in claimed else 0.0)
    assert assess_special(Study(release(pairs)), Context()).per_record.tolist() == pytest.approx(credit)


@given(PAIRS)
@example(MERGED)
def test_small_groups_by_definition(pairs):
    people, _, records = known(pairs)
    found = assess_anonymity(Study(release(pairs)), Context())
    groups = [[j for j, record in enumerate(records) if record == person] for person in people]
    credit = [1 / len(group) if i in group else 0.0 for i, group in enumerate(groups)]
    assert found.per_record.tolist() == pytest.approx(credit)
    (told,) = found.observations
    assert told.estimate.value == pytest.approx(twin.small_groups(credit, [len(group) for group in groups], 11)[1])


@given(PAIRS)
@example(MERGED)
def test_credit_of_the_most_promising_attributes(pairs):
    """The set is one of all there are, and its credit is that of looking for its values."""
    known(pairs)
    given_release = release(pairs)
    matcher = Study(given_release).comparable
    people, records = matcher.original.tolist(), matcher.released.tolist()
    found = assess_knowledge(Study(given_release), Context())
    keys = [matcher.names.index(name) for name in found.observations[0].claim.rstrip(".").split(": ")[1].split(", ")]
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
    found = assess_knowledge(Study(Release(table, masked, kinds=kinds)), Context())
    assert found.observations[0].claim.endswith("2 attributes: word, town.")
    assert found.observations[0].estimate.value == pytest.approx(81 / 200, abs=0.1)


def test_population_needs_to_know_something():
    table = pl.DataFrame({"k": [1, 1, 2, 3] * 5, "w": [10.0] * 20, "s": ["x"] * 20})
    options = {"quasi": ["k"], "kinds": {"k": "categorical"}}
    found = assess(Release(table, table, **options), only=["population", "uniqueness"])
    assert {f.measure: f.outcome for f in found.findings}["population"] == "does not apply"
    evidence = assess_population(Study(Release(table, table, **options, weight="w")), Context())
    assert evidence.observations[0].estimate.value < 0.05
    assert evidence.observations[0].estimate.chance == pytest.approx(1 / 200)
    assert (evidence.per_record > 0).all()
    assert "do not cover a wrong model" in evidence.notes[-1]
    (note,) = assess_population(Study(Release(table, table, **options, population=200)), Context()).notes
    assert note.startswith("without a register nobody knows who is alone in the population")
    with pytest.raises(RoleError, match="at least as many"):
        Release(table, table, **options, population=19)
    with pytest.raises(RoleError, match="population table"):
        Release(table, table, **options, population=table.drop("k"))
    days = table.select(k=pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 1, 20)))
    with pytest.raises(TableError, match="only one of the tables has dates"):
        assess_population(Study(Release(days, days, population=pl.DataFrame({"k": [True, False]}))), Context())


@given(PAIRS, st.lists(VALUES, max_size=8))
@example(MERGED, [("c", 0, "p", "x"), ("b", 0, "p", "x")])
def test_register_in_the_report_by_definition(pairs, strangers):
    """1/F where the person's own record carries their values; F people of the register, at least the records alike."""
    register = pl.DataFrame([r[:3] for r in [*(pair[0] for pair in pairs), *strangers]], schema=NAMES[:3], orient="row")
    people, others, records = known(pairs, strangers)
    everybody = people + others
    found = assess_population(Study(release(pairs, population=register)), Context())
    credit, alone = [], []
    for person, record in zip(people, records, strict=True):
        f, big = records.count(record), max(everybody.count(record), records.count(record))
        credit.append(1 / big if person == record else 0.0)
        alone.append(float(person == record and f == big == 1))
    assert found.per_record.tolist() == pytest.approx(credit)
    assert [o.estimate.value for o in found.observations] == pytest.approx([np.mean(credit), np.mean(alone)])


def test_a_register_is_written_as_the_release():
    """The register holds ages, the release bands: F counts the people of the band."""
    original = pl.DataFrame({"age": [21, 25, 38, 57], "sex": ["f", "f", "m", "m"]})
    released = original.with_columns(age=pl.Series(["20-29", "20-29", "30-39", "50-59"]))
    register = pl.DataFrame({"age": [21, 25, 27, 38, 31, 57], "sex": ["f", "f", "f", "m", "m", "m"]})
    found = assess_population(Study(Release(original, released, population=register)), Context())
    assert found.per_record.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 2, 1])


@pytest.mark.parametrize(("known", "source"), [("w", "sum of"), ("register", "counted"), ("number", "models")])
def test_every_kind_of_knowledge_reaches_the_report(known, source, tmp_path):
    rng = np.random.default_rng(3)
    people = pl.DataFrame({"a": rng.integers(0, 12, 900), "b": rng.integers(0, 12, 900), "w": [3.0] * 900})
    table = people.head(300)
    kinds = {"a": "categorical", "b": "categorical"}
    options = {"w": {"weight": "w"}, "register": {"population": people}, "number": {"population": 900}}[known]
    options |= {} if known == "w" else {"ignored": ["w"]}
    found = assess(Release(table, table, kinds=kinds, **options), only=["population"])
    assert {f.key: f.outcome in {"for", "against", "inconclusive"} for f in found.findings} == {
        "population.rate": True,
        "population.unique": True,
    }
    found.write_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for word in (source, "prosecutor", "journalist", "marketer", "tau1", "tau2", "P(PU|SU)", "DIS", "by removal"):
        assert word in page, word
    if known == "number":
        for model in ("pitman", "poisson-gamma", "zayatz", "log-linear"):
            assert f"people alone here, and in the population, {model}" in page, model
    truth = people.group_by("a", "b").len()
    true_risk = table.join(truth, on=["a", "b"])["len"].to_numpy()
    estimate = found.findings[0].estimate
    assert estimate.low <= (1 / true_risk).mean() <= estimate.high


@pytest.mark.parametrize("known", ["900", "register.csv"])
def test_population_on_the_command_line(known, tmp_path, monkeypatch):
    from unmask.cli.app import main

    rng = np.random.default_rng(3)
    people = pl.DataFrame({"a": rng.integers(0, 12, 900), "b": rng.integers(0, 12, 900), "home": np.arange(900) // 2})
    people.write_csv(tmp_path / "register.csv")
    people.head(300).write_csv(tmp_path / "t.csv")
    (tmp_path / "run.toml").write_text(
        f'original = "t.csv"\nreleased = "t.csv"\npopulation = {known if known == "900" else repr(known)}\n'
        'household = "home"\ncategorical = ["a", "b"]\nonly = ["population", "household"]\n'
    )
    monkeypatch.chdir(tmp_path)
    table, typed, configured = "t.csv", "typed.json", "configured.json"
    options = ["--population", known, "--household", "home", "--categorical", "a,b", "--only", "population,household"]
    for arguments in (
        [table, table, *options, "--json", typed, "--quiet"],
        ["--config", "run.toml", "--json", configured, "--quiet"],
    ):
        monkeypatch.setattr("sys.argv", ["unmask", "assess", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code in {0, 1, 3}
    one, two = (json.loads((tmp_path / name).read_text()) for name in (typed, configured))
    assert one["digest"] == two["digest"]
    assert {f["key"] for f in one["findings"]} == {"population.rate", "population.unique", "household.rate"}
    run(monkeypatch, main, "verify", typed)  # the same again, from the manifest
    run(monkeypatch, main, "assess", table, table, "--population", "7", "--quiet", code=2)
    run(monkeypatch, main, "assess", table, table, "--population", "nowhere.csv", "--quiet", code=2)


def test_the_selfcheck_of_population_has_a_number_of_people_a_register_and_weights():
    checks = selfcheck(only=["population"], size=150)
    assert all(check.passed for check in checks)
    assert {check.table for check in checks if check.chance is not None} == {"numeric", "mixed", "surveyed"}


def test_the_report_tells_them(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.integers(0, 4, 200), "b": rng.integers(0, 9, 200), "ill": rng.integers(0, 3, 200)})
    options = {"kinds": dict.fromkeys(table.columns, "categorical"), "confidential": ["ill"]}
    found = assess(Release(table, table, **options), only=["anonymity", "knowledge_sweep", "special_uniques"])
    assert {"anonymity", "knowledge_sweep", "special_uniques"} <= set(found.records.columns)
    found.write_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "The worst three attributes that the intruder may know" in page
    assert "Special uniques" in page


def test_fix_command(tmp_path, monkeypatch, capsys):
    from unmask.cli.app import main

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


def carried_out(table, steps):
    """The list of changes, done by hand: blank a cell, write a number in steps of a width, leave a column out."""
    columns = {name: table[name].to_list() for name in table.columns}
    for action, attribute, row, width in sorted(steps.rows(), key=lambda step: step[0] == "suppress"):
        if action == "suppress":
            columns[attribute][row - 1] = None
        elif action == "leave out":
            columns[attribute] = [None] * table.height
        else:
            columns[attribute] = [None if x is None else x // width * width for x in columns[attribute]]
    return pl.DataFrame(columns, schema_overrides=dict.fromkeys(table.columns, pl.Int64), strict=False)


@pytest.mark.parametrize(("k", "l"), [(4, 1), (3, 2)])
def test_a_fixed_release_is_assessed_again_and_meets_k_and_l(tmp_path, monkeypatch, k, l):  # noqa: E741
    """By `unmask fix`, and by carrying out the list that `unmask assess --fix` writes."""
    from unmask.cli.app import main

    rng = np.random.default_rng(7)
    table = pl.DataFrame(
        {"sex": rng.integers(0, 2, 90), "age": rng.integers(20, 60, 90), "ill": rng.integers(0, 3, 90)}
    )
    monkeypatch.chdir(tmp_path)
    table.write_csv("t.csv")
    roles = ["--quasi", "sex,age", "--confidential", "ill", "--categorical", "sex,ill"]
    wanted = ["--k", k, "--l", l]
    assert told(monkeypatch, main, "t.csv", roles) == (1.0, 1.0)  # as it is, somebody is alone
    run(monkeypatch, main, "fix", "t.csv", "--quasi", "sex,age", "--confidential", "ill", *wanted, "-o", "fixed.csv")
    found = told(monkeypatch, main, "fixed.csv", roles)
    assert found[0] >= k
    assert found[1] >= l
    told(monkeypatch, main, "t.csv", [*roles, "--fix", "plan.csv", *wanted])
    by_hand = carried_out(table, pl.read_csv("plan.csv"))
    found = anonymity(by_hand, quasi=["sex", "age"], confidential="ill")
    assert found.k >= k
    assert found.worst["ill"]["distinct"] >= l


def told(monkeypatch, main, release, options):
    """k and the fewest confidential values of a group, as the report of a release says them."""
    arguments = ["assess", "t.csv", release, *options, "--only", "anonymity", "--json", "report.json", "--quiet"]
    monkeypatch.setattr("sys.argv", ["unmask", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code in {0, 1, 3}
    report = json.loads(Path("report.json").read_text())
    facts = {fact["name"]: fact["value"] for fact in report["measures"][0]["facts"]}
    return facts["k"], facts["ill: distinct"]


def run(monkeypatch, main, *arguments, code=0):
    monkeypatch.setattr("sys.argv", ["unmask", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == code


@pytest.mark.parametrize(
    "name",
    ["uniqueness", "household", "population", "anonymity", "magnitude", "cells", "knowledge_sweep", "special_uniques"],
)
def test_a_column_coded_otherwise_hides_nobody(name):
    """On it no record equals anybody: it is left out, and the others find what they find without it."""
    rng = np.random.default_rng(0)
    n = 240
    columns = {"age": rng.integers(20, 60, n), "sex": rng.choice(["m", "f"], n), "town": rng.choice(list("ABCDEF"), n)}
    original = pl.DataFrame({**columns, "home": np.arange(n) // 2, "income": rng.gamma(2, 1000, n).round()})
    tokens = [f"#{ord(town)}{lot}" for town, lot in zip(original["town"], rng.integers(0, 5, n), strict=True)]
    released = original.with_columns(town=pl.Series(tokens))  # one of five by lot: a label for each would be read
    roles = {"confidential": ["income"], "household": "home", "population": 10_000}
    both = [
        run_measure(discover()[name], Study(Release(original, released, **roles, **more)), Context())
        for more in ({}, {"ignored": ["town"]})
    ]
    values = [[each.estimate.value for each in evidence.observations] for evidence in both]
    assert values[0] == values[1] and max(values[0]) > 0
