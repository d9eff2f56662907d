from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from naive import groups as naive
from unmask import Release
from unmask.assessment import discover, run_measure
from unmask.errors import ParameterError, RoleError
from unmask.evidence import Context
from unmask.groups.population.measure import population_risk
from unmask.groups.uniqueness import group_risk

KEYS7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
KEYS9 = [*KEYS7, "age", "hhcivil"]
KEYS = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]))
SCHEMA = {"word": pl.String, "whole": pl.Int64}


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@given(st.lists(KEYS, min_size=1, max_size=12), st.lists(KEYS, max_size=30))
def test_register_by_definition(rows, others):
    everybody = rows + others
    found = population_risk(frame(rows), quasi=["word", "whole"], population=frame(everybody))
    people = [sum(row == other for other in everybody) for row in rows]
    records = [sum(row == other for other in rows) for row in rows]
    assert found.per_record == pytest.approx([1 / f for f in people])
    alone = [f for f, r in zip(people, records, strict=True) if r == 1]
    assert found.tau1.value == sum(f == 1 for f in alone)
    assert found.tau2.value == pytest.approx(sum(1 / f for f in alone))
    assert found.unique_share == pytest.approx(alone.count(1) / len(alone) if alone else 0.0)
    prosecutor, journalist, marketer = found.intruders
    assert (prosecutor.highest, prosecutor.average) == pytest.approx((1 / min(records), len(set(rows)) / len(rows)))
    assert journalist.highest == pytest.approx(1 / min(people))
    assert marketer.average == pytest.approx(sum(1 / f for f in people) / len(rows))
    assert prosecutor.n_above == sum(1 / r > 0.2 for r in records)
    assert not found.notes


def test_a_register_that_lacks_people_is_told():
    found = population_risk(frame([("a", 1), ("a", 1)]), quasi=["word"], population=frame([("a", 1), ("b", 1)]))
    assert found.per_record.tolist() == [0.5, 0.5]
    assert "does not hold everybody" in found.notes[0]


@pytest.mark.casc
@pytest.mark.parametrize(("keys", "name"), [(KEYS7, "7"), (KEYS9, "9")])
def test_sdcmicro_individual_risk(keys, name):
    """sdcMicro 5.8.1: fk, Fk and the approximate individual risk."""
    wanted = reference.golden("fk_testdata_output")
    found = population_risk(reference.data("household"), quasi=keys, weight="sampling_weight", method="approximate")
    assert found.classes.spread(found.classes.counts).tolist() == wanted[f"fk{name}"].to_list()
    assert found.classes.spread(found.classes.weights) == pytest.approx(wanted[f"Fk{name}"].to_numpy(), abs=1e-9)
    assert found.per_record == pytest.approx(wanted[f"rk{name}_approx"].to_numpy(), abs=1e-9)


@pytest.mark.casc
def test_sdcmicro_eight_records():
    wanted = reference.golden("fk_francdat")
    found = population_risk(wanted, quasi=["Key1", "Key2", "Key3", "Key4"], weight="w")
    assert found.per_record == pytest.approx(wanted["rk_exact"].to_numpy(), abs=1e-9)


@pytest.mark.casc
def test_sdcmicro_global_and_household_risk():
    wanted = json.loads((reference.REFERENCE / "golden" / "scalars.json").read_text())["measure_risk"]["keys7_w_hid"]
    options = {"quasi": KEYS7, "weight": "sampling_weight", "household": "ori_hid", "method": "approximate"}
    found = population_risk(reference.data("household"), **options)
    assert found.expected == pytest.approx(wanted["global_risk_ER"], abs=1e-9)
    assert found.average == pytest.approx(wanted["global_risk"], abs=1e-9)
    assert found.households.expected == pytest.approx(wanted["hier_risk_ER"], abs=1e-9)
    assert found.households.average == pytest.approx(wanted["hier_risk"], abs=1e-9)


def test_average_is_over_records_not_classes():
    """pyCANON's average re-identification risk averages 1/size over classes: (1 + 1/3)/2 here, not (1 + 1)/4."""
    table = frame([("a", 1), ("b", 1), ("b", 1), ("b", 1)])
    found = population_risk(table, quasi=["word"], population=table)
    assert found.average == 0.5
    assert found.intruders[0].average == 0.5


def test_people_without_household_are_alone():
    table = pl.DataFrame({"k": [1, 2, 3, 4], "home": [7, 7, None, None], "w": [2.0, 2.0, 2.0, 2.0]})
    found = population_risk(table, quasi="k", weight="w", household="home")
    risk = found.per_record[0]
    assert found.households.n_households == 3
    assert found.households.expected == pytest.approx(2 * (1 - (1 - risk) ** 2) + 2 * risk)


def test_same_on_every_engine(engine):
    rng = np.random.default_rng(2)
    words, wholes = ["a", "b", "c", None], [1, 2, 3, None]
    drawn = rng.integers(0, [4, 4, 9], (40, 3))
    rows = [(words[a], wholes[b], 5.0, int(home)) for a, b, home in drawn]
    table = pl.DataFrame(rows, schema={**SCHEMA, "w": pl.Float64, "home": pl.Int64}, orient="row")
    everybody = pl.concat([table] * 3)
    for options in ({"weight": "w", "household": "home"}, {"population": None}):
        given_there = {**options, "population": engine.frame(everybody)} if "population" in options else options
        given_here = {**options, "population": everybody} if "population" in options else options
        here = population_risk(table, quasi=["word", "whole"], **given_here)
        there = population_risk(engine.frame(table), quasi=["word", "whole"], **given_there)
        assert there.class_risk.tolist() == here.class_risk.tolist()
        assert there.per_record.tolist() == here.per_record.tolist()
        assert (there.tau1, there.tau2, there.intruders, there.households) == (
            here.tau1,
            here.tau2,
            here.intruders,
            here.households,
        )


def test_models_need_the_number_of_people():
    rows = pl.DataFrame({"k": [1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 7]})
    with pytest.raises(RoleError, match="nothing is known"):
        population_risk(rows, quasi="k")
    found = population_risk(rows, quasi="k", population=1000)
    assert {model.name for model in found.models} >= {"pitman", "poisson-gamma", "zayatz"}
    assert 0 <= found.tau1.low <= found.tau1.value <= found.tau1.high <= found.n_unique
    assert found.tau1.value <= found.tau2.value
    removal = found.dis_by_removal(rounds=2000, seed=3)
    assert removal.low <= found.dis.value <= removal.high
    whole = population_risk(rows, quasi="k", population=11)  # everybody is in the file: a sample unique is unique
    assert whole.tau1.value == whole.tau2.value == whole.n_unique
    crowd = population_risk(pl.DataFrame({"k": [1, 1]}), quasi="k", population=50)
    assert crowd.tau1.value == 0


@settings(max_examples=15)  # four models are fitted each time
@given(st.lists(KEYS, min_size=1, max_size=12))
def test_row_order_changes_nothing(rows):
    order = np.random.default_rng(0).permutation(len(rows))
    one, two = (
        population_risk(frame(r), quasi=["word", "whole"], population=100) for r in (rows, [rows[i] for i in order])
    )
    assert (one.tau1, one.tau2, one.dis) == (two.tau1, two.tau2, two.dis)
    assert one.per_record[order].tolist() == two.per_record.tolist()
    assert len(naive.groups(rows, [0, 1])) == one.classes.n_classes


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"weight": "w", "population": 9}, "told twice"),
        ({"weight": "w", "threshold": 2.0}, "threshold"),
        ({"weight": "w", "method": "other"}, "unknown method"),
        ({"weight": "zero"}, "positive number"),
        ({"weight": "gap"}, "1 missing"),
        ({"population": 1}, "smaller than the table"),
    ],
)
def test_refusals(options, match):
    table = pl.DataFrame({"k": [1, 2], "w": [1.5, 2.0], "zero": [0.0, 1.0], "gap": [None, 1.0]})
    with pytest.raises((ParameterError, RoleError), match=match):
        population_risk(table, quasi="k", **options)


def test_no_sample_unique_is_still_a_sample():
    """Pairs of a sample of 100 from a million are not half of the people who look like them."""
    pairs = pl.DataFrame({"k": [i for i in range(50) for _ in range(2)]})
    drawn, whole = (population_risk(pairs, quasi="k", population=n) for n in (1_000_000, 100))
    p = 100 / 1_000_000
    wanted = sum((p * p * (1 - p) ** (h - 2)) * (h - 1) / h for h in range(2, 400_000))  # negative binomial, f = 2
    assert drawn.per_record == pytest.approx([wanted] * 100, rel=1e-6)
    assert whole.per_record.tolist() == [0.5] * 100


def test_a_register_of_another_kind():
    """Values that cannot be written as the table has them look like nobody in it: they are neither missing nor cut."""
    table = pl.DataFrame({"k": [1, 2, None]})
    words = pl.DataFrame({"k": ["1", "1", "2", "x", "y", None, None]})
    assert population_risk(table, quasi="k", population=words).per_record.tolist() == [1 / 2, 1.0, 1 / 2]
    parts = pl.DataFrame({"k": [1.0, 1.2, 1.7, 2.0, 2.0, None]})
    assert population_risk(table, quasi="k", population=parts).per_record.tolist() == [1.0, 1 / 2, 1.0]
    with pytest.raises(RoleError, match="another kind"):
        population_risk(pl.DataFrame({"k": [[1], [2]]}), quasi="k", population=words)


@pytest.mark.parametrize("people", [float("nan"), float("inf"), True, -5])
def test_a_number_of_people_is_a_number(people):
    table = pl.DataFrame({"k": [1, 2]})
    with pytest.raises(ParameterError, match="the population is"):
        population_risk(table, quasi="k", population=people)
    with pytest.raises(ParameterError, match="the population is"):
        group_risk(table, quasi="k", population=people)
    counted = population_risk(table, quasi="k", population=np.int64(10))
    assert counted.population == 10
    assert counted.tau1 == population_risk(table, quasi="k", population=10).tau1


@pytest.mark.parametrize("told", ["number", "weights"])
def test_nobody_who_is_alone_in_the_sample_is_taken_for_one_of_many_for_sure(told):
    """A third of the people have a job of their own, the others stand in large crowds: what models and weights expect
    is a fraction of the truth, so that only the upper end may be held against a limit."""
    missed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        job = np.where(rng.random(6000) < 1 / 3, np.arange(6000) + 100, rng.integers(0, 8, 6000)).astype(str)
        country = pl.DataFrame({"job": job, "sex": rng.choice(["f", "m"], 6000)})
        survey = country.sample(150, seed=seed).with_columns(weight=pl.lit(40.0))
        roles = {"weight": "weight"} if told == "weights" else {"population": 6000}
        release = Release(survey, survey, quasi=["job", "sex"], **roles)
        found = run_measure(discover()["population"], release, Context()).observations
        unique = next(entry.estimate for entry in found if entry.key == "population.unique")
        truth = float((survey["job"].cast(pl.Int64) >= 100).mean())
        missed += unique.value < truth / 4
        rate = next(entry.estimate for entry in found if entry.key == "population.rate")
        assert unique.high >= truth and rate.high >= truth
    assert missed >= (6 if told == "weights" else 1)  # or the simulation would show nothing
