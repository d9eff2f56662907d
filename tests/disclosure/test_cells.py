from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unmask
from naive import disclosure as naive
from unmask import Release, assess, cell_disclosure
from unmask.disclosure.cells import assess_cells
from unmask.errors import ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.study.study import Study

WARD = pl.DataFrame(
    {
        "town": ["A"] * 3 + ["B"] * 4 + ["C"] * 2 + ["D"],
        "ill": ["money"] * 3 + ["eating"] * 3 + ["money"] + ["eating", "money"] + ["eating"],
    }
)


def release(table, **roles):
    return Release(table, table, quasi=["town"], confidential=["ill"], **roles)


def test_mr_scrooge_and_dona_obdulia():
    """The slides: all in A have the money disorder; all in B but one have eating disorders, and that one knows it."""
    found = cell_disclosure(release(WARD))
    assert found.external_per_record.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert found.internal_per_record.tolist() == [1, 1, 1, 1, 1, 1, 0, 1, 1, 0]
    assert found.groups.filter(pl.col("attack") == "external")["size"].to_list() == [1, 3]
    assert found.groups.filter((pl.col("attack") == "internal") & (pl.col("size") == 4))["rows"].to_list() == [
        [4, 5, 6, 7]
    ]
    assert found.groups.filter((pl.col("attack") == "internal") & (pl.col("size") == 4))["people"].to_list() == [3]
    three = cell_disclosure(release(WARD), coalition=3)
    assert three.internal_per_record.tolist() == [1] * 9 + [0]  # three members of B know the fourth


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xyz")), min_size=2, max_size=12), st.integers(1, 3))
def test_equals_definition(rows, coalition):
    table = pl.DataFrame(rows, schema=["town", "ill"], orient="row")
    found = cell_disclosure(release(table), coalition=coalition)
    for i, (town, _) in enumerate(rows):
        group = [k for k, row in enumerate(rows) if row[0] == town]
        values, person = [rows[k][1] for k in group], group.index(i)
        assert found.external_per_record[i] == float(len(set(values)) == 1)
        assert found.internal_per_record[i] == float(naive.learnt_by_insiders(values, person, coalition))


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 5.0, 90.0, 100.0]), min_size=2, max_size=5), min_size=2, max_size=4),
    st.integers(1, 2),
)
def test_microaggregates_equal_definition(groups, coalition):
    """The published mean times the group's size is its total, from which insiders subtract."""
    flat = [(float(g), amount) for g, group in enumerate(groups) for amount in group]
    table = pl.DataFrame(flat, schema=["town", "wage"], orient="row")
    masked = table.with_columns(wage=pl.col("wage").mean().over("town"))
    if table["wage"].n_unique() < 2:
        return
    kinds = {"town": "numeric", "wage": "numeric"}
    found = cell_disclosure(
        Release(table, masked, quasi=["town"], confidential=["wage"], kinds=kinds), coalition=coalition, within=0.0
    )
    at = 0
    for group in groups:
        for person in range(len(group)):
            bounded = naive.bounded_by_insiders(group, person, coalition, 0.0)
            assert found.internal_per_record[at] >= float(bounded and len(group) > 1)
            at += 1


def test_p_percent_by_hand():
    """100, 50 and 2: who has 50 knows that the largest is at most 102, within 2 %. Who has 2 learns little."""
    table = pl.DataFrame({"town": ["A"] * 3 + ["B"] * 3, "wage": [100.0, 50.0, 2.0, 40.0, 50.0, 60.0]})
    masked = table.with_columns(wage=pl.col("wage").mean().over("town"))
    base = Release(table, masked, quasi=["town"], confidential=["wage"])
    assert cell_disclosure(base, within=0.03).internal_per_record.tolist() == [
        1,
        1,
        0,
        0,
        1,
        0,
    ]  # 50: near both
    assert cell_disclosure(base, within=0.01).internal_per_record.tolist() == [0, 0, 0, 0, 1, 0]
    assert cell_disclosure(base, within=0.01, coalition=2).internal_per_record.tolist() == [1] * 6


def test_generalised_bands_strangers_and_control():
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"age": rng.integers(20, 60, 200).astype(float), "ill": rng.choice(["u", "v"], 200)})
    bands = people.with_columns(
        (pl.col("age") // 10 * 10).cast(int).cast(str) + "-" + (pl.col("age") // 10 * 10 + 9).cast(int).cast(str)
    )
    base = Release(people, bands, quasi=["age"], confidential=["ill"], control=people.sample(50, seed=1))
    found = cell_disclosure(base)
    assert found.external.value == 0.0 == found.external.control
    alike = bands.with_columns(ill=pl.when(pl.col("age") == "20-29").then(pl.lit("u")).otherwise(pl.col("ill")))
    truth = people.with_columns(ill=pl.when(pl.col("age") < 30).then(pl.lit("u")).otherwise(pl.col("ill")))
    found = cell_disclosure(
        Release(truth, alike, quasi=["age"], confidential=["ill"], control=truth.sample(50, seed=1))
    )
    assert found.external.value == pytest.approx((people["age"] < 30).mean())
    assert found.external.control is not None and found.external.chance > 0


def test_refusals_and_evidence():
    with pytest.raises(RoleError, match="no confidential"):
        cell_disclosure(Release(WARD, WARD))
    with pytest.raises(ParameterError, match="coalition"):
        cell_disclosure(release(WARD), coalition=0)
    evidence = assess_cells(Study(release(WARD)), Context())
    assert [o.key for o in evidence.observations] == ["cells.external", "cells.internal", "cells.claimed"]
    assert not any("money" in note for note in evidence.notes)  # no values of the data


@pytest.mark.parametrize(
    "ask",
    [
        cell_disclosure,
        unmask.model_disclosure,
        unmask.absent_disclosure,
        unmask.attribute_inference,
    ],
)
def test_a_former_percent_means_the_same_and_what_may_be_either_is_refused(ask):
    rows = pl.DataFrame({"x": [float(v % 5) for v in range(40)], "s": [float(v * v % 7) for v in range(40)]})
    both = Release(rows, rows, quasi=["x"], confidential=["s"], control=rows.with_columns(pl.col("x") + 0.5))
    with pytest.warns(DeprecationWarning, match="within=0.2"):
        former = ask(both, p=20)
    assert repr(former) == repr(ask(both, within=0.2))
    for p in (0.2, 1):
        with pytest.raises(ParameterError, match="can be either"):
            ask(both, p=p)
    for within in (-0.1, 10):
        with pytest.raises(ParameterError, match="within"):
            ask(both, within=within)


@pytest.mark.parametrize("given_away", [False, True])
def test_a_rare_secret_is_not_lost_in_the_average(given_away):
    """Forty of 2,000 are ill. In crowds of a hundred nobody learns who; with a crowd of their own everybody does."""
    rng = np.random.default_rng(3)
    ill = np.where(np.arange(2000) < 40, "yes", "no")
    place = rng.integers(0, 20, 2000)
    town = np.where(ill == "yes", 20, place) if given_away else place
    table = pl.DataFrame({"town": [f"t{k}" for k in town], "ill": ill})
    found = cell_disclosure(Release(table, table, quasi=["town"], confidential=["ill"]))
    assert found.rare.n == 40
    assert found.rare.value == (1.0 if given_away else 0.0)
    assert found.external.value - found.external.chance < 0.05  # over everybody it hardly shows
    assessment = assess(Release(table, table, quasi=["town"], confidential=["ill"]), only=["cells"])
    outcomes = {f.key: f.outcome for f in assessment.findings}
    assert outcomes["cells.rare"] == ("against" if given_away else "for")
    assert outcomes["cells.external"] == "for"


@pytest.mark.parametrize("towns", [3, 10, 40])
def test_strangers_with_a_rare_secret_learn_nothing_that_everybody_does_not_know(towns):
    """Groups in which all but one have no secret: another member learns what is true of 98 in 100 anyway."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tables = [
            pl.DataFrame(
                {
                    "sex": rng.choice(["f", "m"], 1000),
                    "town": rng.choice([f"t{k}" for k in range(towns)], 1000),
                    "secret": np.where(rng.random(1000) < 0.02, "yes", "no"),
                }
            )
            for _ in range(2)
        ]
        found = cell_disclosure(Release(*tables, quasi=["sex", "town"], confidential=["secret"]))
        assert abs(found.internal.excess) < 0.09 and abs(found.external.excess) < 0.05
