from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from naive import groups as naive
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.groups.anonymity import anonymity
from unmask.groups.counting.wildcard import number_rows

MODELS = ("distinct", "entropy", "recursive", "alpha", "t", "delta", "beta", "enhanced_beta")
KEYS5 = ["urbrur", "roof", "walls", "water", "sex"]
KEYS7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
KEYS9 = [*KEYS7, "age", "hhcivil"]
SCHEMA = {"word": pl.String, "whole": pl.Int64, "ill": pl.Float64}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from([0.0, 1.0, 4.0, 4.5, None])
    ),
    min_size=1,
    max_size=14,
)


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def sample(n=60, seed=5):
    rng = np.random.default_rng(seed)
    words, wholes, ills = ["a", "b", "c", None], [1, 2, 3, None], [0.0, 1.0, 2.5, 7.0, None]
    return frame([(words[a], wholes[b], ills[c]) for a, b, c in rng.integers(0, [4, 4, 5], (n, 3))])


@pytest.mark.parametrize("ground", ["equal", "ordered", "numeric"])
@given(rows=ROWS, c=st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_every_model_by_its_definition(rows, c, ground):
    found = anonymity(frame(rows), quasi=["word", "whole"], confidential=["ill"], ground={"ill": ground}, c=c)
    groups = naive.groups(rows, [0, 1])
    assert found.k == min(len(members) for members in groups.values())
    for at, key in enumerate(found.classes.columns.rows()):
        wanted = naive.diversity([rows[i][2] for i in groups[key]], [row[2] for row in rows], c, ground)
        for model in MODELS:
            assert getattr(found.attribute("ill"), model)[at] == pytest.approx(wanted[model], abs=1e-9), model


def test_weights_of_wildcard_crowds_are_sums_by_hand():
    """The gap may be "a" or "b", so each of the three stands with its own and with the gap."""
    table = pl.DataFrame({"k": ["a", "b", None], "w": [2.0, 3.0, 10.0]})
    for incomplete, wanted in ((1.0, {"a": 12, "b": 13, None: 15}), (0.5, {"a": 7, "b": 8, None: 15})):
        found = anonymity(table, quasi=["k"], weight="w", missing="wildcard", incomplete=incomplete)
        assert dict(zip(found.classes.columns["k"], found.class_weights.tolist(), strict=True)) == wanted


@given(rows=ROWS)
def test_weights_take_the_other_path_to_the_same_numbers(rows):
    table = frame(rows).with_columns(w=pl.lit(2.0))
    one = anonymity(table, quasi=["word", "whole"], confidential="ill")
    two = anonymity(table, quasi=["word", "whole"], confidential="ill", weight="w")
    assert one.table().equals(two.table())
    assert two.class_weights.tolist() == (2 * one.class_sizes).tolist()


def test_worked_example_of_t_closeness():
    """Li et al. 2007: incomes 3k..11k; {3,4,5} is 0.375 away, {6,8,11} is 0.167."""
    rows = pl.DataFrame({"k": [1] * 3 + [2] * 3 + [3] * 3, "income": [3, 4, 5, 6, 8, 11, 7, 9, 10]})
    found = anonymity(rows, quasi="k", confidential="income", ground={"income": "ordered"}).attribute("income")
    assert found.t.tolist()[:2] == pytest.approx([0.375, 1 / 6])


@pytest.mark.parametrize("missing", [1, 2])
def test_people_without_a_value_are_left_out_of_an_ordered_scale(missing):
    """One of them is enough for missing to have a code, which is no step of the scale."""
    rows = pl.DataFrame({"k": [*"aaabbb"], "ill": [1, 2, 3, 1, 1, 3]})
    blank = pl.DataFrame({"k": ["a"] * missing, "ill": pl.Series([None] * missing, dtype=pl.Int64)})
    options = {"quasi": "k", "confidential": "ill", "ground": {"ill": "ordered"}}
    whole, more = (anonymity(each, **options).attribute("ill") for each in (rows, pl.concat([rows, blank])))
    assert more.t.tolist() == pytest.approx(whole.t.tolist())
    assert more.t.tolist() == pytest.approx([1 / 12, 1 / 12])


@given(rows=ROWS, alpha=st.sampled_from([0.0, 0.5, 1.0]))
def test_wildcards_by_all_pairs(rows, alpha):
    found = anonymity(frame(rows), quasi=["word", "whole", "ill"], missing="wildcard", incomplete=alpha)
    assert found.classes.spread(found.class_sizes).tolist() == naive.wildcard_sizes(rows, alpha)


@pytest.mark.parametrize("ground", ["equal", "ordered", "numeric"])
@given(rows=ROWS, alpha=st.sampled_from([0.0, 0.5, 1.0]), c=st.sampled_from([0.5, 2.0]))
def test_diversity_of_wildcard_crowds_by_all_pairs(rows, alpha, c, ground):
    """Each record of the crowd brings its value with the weight with which it is counted in f.

    Weights are halves, so twice the crowd is a list of whole records, and its models are those of a plain group.
    """
    options = {"missing": "wildcard", "incomplete": alpha, "ground": {"ill": ground}, "c": c}
    found = anonymity(frame(rows), quasi=["word", "whole"], confidential=["ill"], **options)
    crowds = naive.wildcard_crowds(rows, [0, 1], alpha)
    spread = {model: found.classes.spread(getattr(found.attribute("ill"), model)) for model in MODELS}
    for i, crowd in enumerate(crowds):
        doubled = [row[2] for weight, row in crowd for _ in range(int(2 * weight))]
        wanted = naive.diversity(doubled, [row[2] for row in rows], c, ground)
        for model in MODELS:
            assert spread[model][i] == pytest.approx(wanted[model], abs=1e-9), model


@given(rows=ROWS)
def test_with_nothing_missing_a_wildcard_changes_nothing(rows):
    whole = [("a" if word is None else word, 1 if number is None else number, ill) for word, number, ill in rows]
    options = {"quasi": ["word", "whole"], "confidential": ["ill"], "ground": {"ill": "ordered"}}
    plain, wild = (anonymity(frame(whole), missing=missing, **options) for missing in ("value", "wildcard"))
    assert plain.table().equals(wild.table())


@pytest.mark.casc
@pytest.mark.parametrize("alpha", ["1", "0.5", "0"])
def test_sdcmicro_frequencies_with_missing_keys(alpha):
    """sdcMicro 5.8.1, freqCalc(alpha): fk and Fk."""
    table, wanted = reference.golden("fk_testdata_na_input"), reference.golden("fk_testdata_na_output")
    found = anonymity(table, quasi=KEYS7, weight="sampling_weight", missing="wildcard", incomplete=float(alpha))
    assert found.classes.spread(found.class_sizes) == pytest.approx(wanted[f"fk_alpha{alpha}"].to_numpy(), abs=1e-9)
    assert found.classes.spread(found.class_weights) == pytest.approx(wanted[f"Fk_alpha{alpha}"].to_numpy(), abs=1e-9)


@pytest.mark.casc
def test_sdcmicro_records_that_violate_k():
    counts = json.loads((reference.REFERENCE / "golden" / "scalars.json").read_text())["k_anonymity"]
    household, gaps = reference.data("household"), reference.golden("fk_testdata_na_input")
    made = {
        "keys9": anonymity(household, quasi=KEYS9),
        "keys7": anonymity(household, quasi=KEYS7),
        "keys7_na_alpha1": anonymity(gaps, quasi=KEYS7, missing="wildcard", incomplete=1.0),
        "keys7_na_alpha0": anonymity(gaps, quasi=KEYS7, missing="wildcard", incomplete=0.0),
    }
    for name, wanted in counts.items():
        assert {key: made[name].n_below(int(key[1:])) for key in wanted} == wanted


@pytest.mark.casc
@pytest.mark.parametrize(("name", "c"), [("electcon", 2.0), ("relat", 1.0)])
def test_sdcmicro_l_diversity(name, c):
    wanted = reference.golden(f"ldiv_testdata_keys5_{name}_c{c:.0f}")
    found = anonymity(reference.data("household"), quasi=KEYS5, confidential=[name], c=c)
    for model in ("Distinct", "Entropy", "Recursive"):
        mine = found.classes.spread(getattr(found.attribute(name), model.lower()))
        assert mine == pytest.approx(wanted[f"{name}_{model}_Ldiversity"].to_numpy(), abs=1e-9)


def test_same_on_every_engine(engine):
    table = sample()
    options = {"quasi": ["word", "whole"], "confidential": ["ill"], "ground": {"ill": "numeric"}}
    here, there = anonymity(table, **options), anonymity(engine.frame(table), **options)
    assert there.table().rows() == here.table().rows()
    options = {"quasi": ["word", "whole"], "confidential": ["ill"], "missing": "wildcard", "incomplete": 0.5}
    wild = [anonymity(t, **options) for t in (table, engine.frame(table))]
    assert wild[0].class_sizes.tolist() == wild[1].class_sizes.tolist()
    assert wild[0].table().rows() == wild[1].table().rows()
    assert there.per_record.tolist() == here.per_record.tolist()


def test_pandas_index_means_nothing():
    """pyCANON looks rows up by label: with an index that is not 0..n-1 it reads the wrong records."""
    table = sample()
    shuffled = pd.DataFrame(table.to_dict(as_series=False), index=np.random.default_rng(0).integers(0, 9, table.height))
    one, two = (anonymity(t, quasi=["word", "whole"], confidential="ill") for t in (table, shuffled))
    rows = table.rows()
    assert one.worst == two.worst
    assert two.per_record.tolist() == [1 / naive.matches(rows, i, [0, 1]) for i in range(len(rows))]


def test_levels_keep_their_order():
    """Low < middle < high, though not in the alphabet."""
    levels = pl.Enum(["low", "middle", "high"])
    column = pl.Series("s", ["low", "low", "high", "high", "middle", "low"], dtype=levels)
    table = pl.DataFrame({"k": [1, 1, 2, 2, 3, 3]}).with_columns(column)
    named = anonymity(table, quasi="k", confidential="s", ground={"s": "ordered"}).attribute("s").t
    numbered = table.with_columns(column.to_physical().cast(pl.Int64))
    assert (
        named.tolist()
        == anonymity(numbered, quasi="k", confidential="s", ground={"s": "ordered"}).attribute("s").t.tolist()
    )
    assert (
        named.tolist()
        != anonymity(table.with_columns(column.cast(pl.String)), quasi="k", confidential="s", ground={"s": "ordered"})
        .attribute("s")
        .t.tolist()
    )


def test_degenerate_tables():
    one = anonymity(
        pl.DataFrame({"a": [None], "s": ["x"]}, schema={"a": pl.Int64, "s": pl.String}), quasi="a", confidential="s"
    )
    assert one.k == 1
    assert one.worst["s"] == {
        "distinct": 1,
        "entropy": 1,
        "recursive": 1,
        "alpha": 1,
        "t": 0,
        "delta": 0,
        "beta": 0,
        "enhanced_beta": 0,
    }
    empty = pl.DataFrame({"a": [1, 1], "s": [None, None]}, schema={"a": pl.Int64, "s": pl.Float64})
    assert anonymity(empty, quasi="a", confidential="s").worst["s"]["t"] == 0


def test_number_rows_survives_large_products():
    codes = np.random.default_rng(0).integers(0, 2**20, (50, 5)).astype(np.int32)
    codes[10] = codes[3]
    number = number_rows(codes)
    assert number[10] == number[3]
    assert len(np.unique(number)) == 49


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"confidential": ["word"]}, RoleError, "both known and confidential"),
        ({"confidential": ["il"]}, RoleError, "did you mean 'ill'"),
        ({"missing": "drop"}, ParameterError, "missing keys"),
        ({"incomplete": 2.0}, ParameterError, "incomplete"),
        ({"alpha": 2.0}, ParameterError, "incomplete"),
        ({"c": 0.0}, ParameterError, "recursive"),
        ({"confidential": "ill", "ground": {"ill": "other"}}, ParameterError, "ground distance"),
        ({"quasi": ["whole"], "confidential": "word", "ground": {"word": "numeric"}}, RoleError, "no numbers"),
    ],
)
def test_refusals(options, error, match):
    with pytest.raises(error, match=match):
        anonymity(sample(), **{"quasi": ["word", "whole"], **options})


def test_too_many_patterns_of_missing_keys(monkeypatch):
    monkeypatch.setattr("unmask.groups.counting.wildcard.MAX_PAIRS", 3)
    with pytest.raises(EngineError, match="patterns"):
        anonymity(sample(), quasi=["word", "whole"], missing="wildcard")
    with pytest.raises(ParameterError, match="none was given"):
        anonymity(sample(), quasi=["word"]).attribute("ill")
