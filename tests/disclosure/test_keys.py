"""Keys in a synthetic table: the definitions written slowly, and releases whose answer is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from naive import keys as naive
from unmask.disclosure.beyond import beyond_outside, no_surer
from unmask.disclosure.key_baselines import Pairs, beyond_fresh, clustered, forest, tally
from unmask.disclosure.key_codes import Coded, column_codes
from unmask.disclosure.key_lookup import looked_up
from unmask.disclosure.keys import _beside
from unmask.errors import ParameterError, RoleError
from unmask.selfcheck import shuffle

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2, None]), st.sampled_from("xyz")), min_size=1, max_size=12
)
NAMES = ["a", "b", "t"]


def frame(rows):
    return pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64, "t": pl.String}, orient="row")


@given(ROWS, ROWS)
def test_equals_the_definition(people, rows):
    one, two = frame(people), frame(rows)
    found = unmask.key_disclosure(one, two, keys=["a", "b"], target="t").shares
    wanted = naive.shares(one.to_dicts(), two.to_dicts(), ["a", "b"], "t")
    assert found == pytest.approx(wanted, nan_ok=True)


def test_four_people_by_hand():
    people = frame([("a", 1, "x"), ("a", 2, "x"), ("b", 1, "y"), ("b", 1, "x")])
    rows = frame([("a", 1, "x"), ("b", 1, "y"), ("b", 1, "y"), ("a", 2, "z")])
    found = unmask.key_disclosure(people, rows, keys=["a", "b"], target="t")
    assert found.shares["UiO"] == 0.5 and found.shares["repU"] == 0.5 and found.shares["iS"] == 1.0
    assert found.disclosed.tolist() == [True] * 4 and found.correct.tolist() == [True, False, True, False]
    assert found.in_both.tolist() == [True, False, False, False]
    assert found.cap.tolist() == [1.0, 0.0, 1.0, 0.0]


def test_whole_numbers_and_decimals_are_the_same_value():
    people, rows = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1.0, 3.0]})
    assert unmask.key_disclosure(people, rows, keys=["a"]).shares == {
        "UiO": 1.0, "UiOiS": 0.5, "repU": 0.5, "iS": 0.5, "UiS": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "target", "error"),
    [([], None, ParameterError), (["z"], None, RoleError), (["a"], "a", RoleError), (["a"], "q", RoleError)],
)
def test_bad_input(keys, target, error):
    table = pl.DataFrame({"a": [1], "t": ["x"]})
    with pytest.raises(error):
        unmask.key_disclosure(table, table, keys=keys, target=target)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(0, 3)), min_size=1, max_size=20))
def test_people_of_one_crowd_are_one_draw(pairs):
    gains, crowds = (np.array(side) for side in zip(*pairs, strict=True))
    found = clustered(np.bincount(crowds.astype(np.int64), gains), gains.size)
    mean, error = naive.clustered(gains, crowds)
    assert found.value == pytest.approx(mean)
    assert (found.low, found.high) == pytest.approx((max(mean - error, 0), min(mean + error, 1)))


def people(seed, n=400):
    draw = np.random.default_rng(seed)
    age, town = draw.integers(20, 80, n), draw.choice(list("abcdefgh"), n)
    ill = np.where(draw.random(n) < 0.1 + 0.005 * age, "yes", "no")
    return pl.DataFrame({"age": age, "town": town, "sex": draw.choice(["f", "m"], n), "ill": ill})


def assessed(original, released):
    release = unmask.Release(original, released, synthetic=True, quasi=["age", "town", "sex"], confidential=["ill"])
    return unmask.assess(release, only=["keys"])


def test_a_copy_is_above_and_other_people_are_not():
    copy = {f.key: f for f in assessed(people(1), people(1).sample(fraction=1.0, shuffle=True, seed=0)).findings}
    assert copy["keys.replicated"].outcome == "against" and copy["keys.disclosed"].outcome == "against"
    fresh = {f.key: f for f in assessed(people(1), people(2)).findings}
    assert {fresh[key].outcome for key in ("keys.replicated", "keys.disclosed")} <= {"for", "inconclusive"}
    assert fresh["keys.disclosed"].estimate.low == 0


def test_risk_rises_with_what_is_remembered():
    new, old = people(2), people(1)
    rates = []
    for share in (0, 100, 400):
        told = assessed(old, pl.concat([old[:share], new[share:]]))
        rates.append([f.estimate.value for f in told.findings if f.key.startswith("keys.")])
    assert rates[0][0] < rates[1][0] < rates[2][0] and rates[0][1] < rates[1][1] < rates[2][1]


def test_rows_in_any_order_and_keys_that_nobody_named():
    release = unmask.Release(people(1), people(1, 300), synthetic=True, confidential=["ill"])
    one, two = (unmask.assess(r, only=["keys"]) for r in (release, shuffle(release, 3)))
    assert [f.estimate for f in one.findings if f.measure == "keys"] == [
        f.estimate for f in two.findings if f.measure == "keys"
    ]
    told = {fact.name: fact.value for fact in one.document.measures[0].facts}
    assert set(told["keys"].split(", ")) <= {"age", "town", "sex"} and told["target"] == "ill"


def test_what_anybody_expects_is_named():
    table = people(3).with_columns(ill=pl.lit("no"), code=pl.col("town") + "1")
    notes = assessed(table, table).document.measures[0].notes
    assert any("no surprise" in note for note in notes)
    release = unmask.Release(table, table, synthetic=True, quasi=["town"], confidential=["code"])
    assert any("alone determines" in note for note in unmask.assess(release, only=["keys"]).document.measures[0].notes)


def test_one_row_each():
    one = people(1, 1)
    assert assessed(one, one).verdict != "safe"


@pytest.mark.slow
def test_other_people_are_seldom_above():
    """Rows of other people of the same population: the interval of the excess holds 0 in at least 93 % of draws."""
    above = 0
    for seed in range(150):
        both = people(1000 + seed, 800)
        key = both.select(pl.col("age") * 100 + pl.col("town").rank("dense") * 2 + (pl.col("sex") == "f")).to_series()
        dense = np.unique(key.to_numpy(), return_inverse=True)[1]
        ill = (both["ill"] == "yes").to_numpy().astype(np.int64)
        codes = {name: Coded(code, int(code.max()) + 1, 400) for name, code in (("key", dense), ("ill", ill))}
        found = beyond_fresh(tally(looked_up(codes, ("key",), "ill")[1]), 400, targets=True)
        above += found["correct"].excess.low > 0 or found["replicated"].excess.low > 0
    assert above <= 15


@given(ROWS, ROWS)
def test_digits_that_synthpop_prints(people, rows):
    """All figures of disclosure() by its tables of target and keys, in percent with two digits."""
    one, two = frame(people), frame(rows)
    found = unmask.key_disclosure(one, two, keys=["a", "b"], target="t").synthpop()
    wanted = naive.synthpop(one.to_dicts(), two.to_dicts(), ["a", "b"], "t")
    assert found == pytest.approx(wanted, nan_ok=True, abs=0.011)
    assert set(found) == set(wanted)


FEW = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2]), st.sampled_from("xy")), min_size=2, max_size=5)


@settings(max_examples=40, deadline=None)
@given(FEW, FEW)
def test_beyond_other_people_is_the_mean_over_all_halves(people, rows):
    one, two = frame(people), frame(rows)
    found = unmask.key_sweep(one, two, key_sets=[["a", "b"]], targets=["t"]).worst.beyond
    asked = one.to_dicts(), two.to_dicts(), ["a", "b"], "t"
    listed, counted = naive.beyond_by_listing(*asked), naive.beyond_other_people(*asked)
    for name, told in found.items():
        assert listed[name] == pytest.approx(counted[name][0], abs=1e-9)
        assert told.excess.value == pytest.approx(max(listed[name], 0.0), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(FEW, st.lists(st.tuples(st.sampled_from("ab"), st.just(1), st.sampled_from("xy")), min_size=1, max_size=2))
def test_independent_columns_are_the_mean_over_all_tables(people, rows):
    one, two = frame(people), frame(rows)
    found = unmask.key_sweep(one, two, key_sets=[["a", "b"]], targets=["t"]).worst.independent
    wanted = naive.drawn_rows(one.to_dicts(), two.to_dicts(), ["a", "b"], "t")
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


@given(FEW, FEW)
def test_the_model_is_learnt_without_the_person(people, rows):
    one, two = frame(people), frame(rows)
    found = unmask.key_sweep(one, two, key_sets=[["a", "b"]], targets=["t"]).worst.modelled
    pairs = Pairs({name: column_codes(one[name], two[name]) for name in NAMES})
    edges, parent = forest(("a", "b"), pairs), max("ab", key=lambda name: (pairs.told(name, "t"), name))
    parent = parent if pairs.told(parent, "t") > 0 else None
    present, right = 0.0, 0.0
    for place in range(one.height):
        chance, truth = naive.tree_without(one.to_dicts(), ["a", "b"], "t", place, edges, parent)
        present += 1 - (1 - chance) ** two.height
        right += (1 - chance * (1 - truth)) ** two.height - (1 - chance) ** two.height
    assert found["iS"] == pytest.approx(present / one.height, abs=1e-9)
    assert found["DiSCO"] == pytest.approx(right / one.height, abs=1e-9)


def test_a_model_knows_how_columns_go_together_and_nobody():
    """Town and post code determine each other: independent columns miss that; memory shows in the release alone."""
    old, new = (people(seed).with_columns(post=pl.col("town") + "1") for seed in (1, 2))
    keys = [["town", "post", "age"]]
    fresh, copy = (unmask.key_sweep(old, table, key_sets=keys, targets=["ill"]).worst for table in (new, old))
    assert fresh.independent["iS"] < fresh.shares["iS"] / 2
    assert fresh.modelled["iS"] == pytest.approx(fresh.shares["iS"], abs=0.08)
    assert fresh.modelled["DiSCO"] == pytest.approx(fresh.shares["DiSCO"], abs=0.08)
    assert copy.shares["repU"] > copy.modelled["repU"] + 0.2


def test_a_sweep_of_sets():
    found = unmask.key_sweep(people(1), people(2), key_sets=[["age"], ["town", "sex"]], targets=["ill", "town"])
    assert [(one.keys, one.target) for one in found.sets] == [
        (("age",), "ill"), (("age",), "town"), (("town", "sex"), "ill"),
    ]  # fmt: skip
    table = found.to_frame()
    row = table.row(by_predicate=(pl.col("keys") == "age") & (pl.col("target") == "ill") & (pl.col("figure") == "repU"),
                    named=True)  # fmt: skip
    assert row["release"] == unmask.key_disclosure(people(1), people(2), keys=["age"]).shares["repU"]
    assert None not in row.values()
    for sets, targets in (([], []), ([[]], []), ([["age"]], ["age"]), ([["nobody"]], [])):
        with pytest.raises((ParameterError, RoleError)):
            unmask.key_sweep(people(1), people(2), key_sets=sets, targets=targets)


NUMBERS = st.lists(st.one_of(st.none(), st.floats(allow_nan=False), st.sampled_from([0.1 + 0.2, 0.3, -0.0, 0.0])))


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_as_r_writes_them(left, right):
    """15 digits; 0.1 + 0.2 is 0.3, and there is one zero."""
    one, two = (pl.Series("x", side, dtype=pl.Float64) for side in (left, right))
    coded = column_codes(one, two)
    texts = [None if value is None else f"{value + 0.0:.15g}" for value in (*left, *right)]
    assert len(set(zip(coded.code.tolist(), texts, strict=True))) == len(set(texts)) == len(set(coded.code.tolist()))
    assert all((code == 0) == (text is None) for code, text in zip(coded.code.tolist(), texts, strict=True))


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3)), min_size=1))
def test_whole_numbers_are_compared_exactly(values):
    coded = column_codes(pl.Series("x", values, dtype=pl.Int64), pl.Series("x", values[::-1], dtype=pl.Int64))
    both = [*values, *values[::-1]]
    assert len(set(zip(coded.code.tolist(), both, strict=True))) == len(set(both)) == len(set(coded.code.tolist()))
    assert coded.code.max() < coded.size


def test_rows_moved_in_one_of_the_named_keys_are_found_by_the_others():
    draw = np.random.default_rng(3)
    old = pl.DataFrame({name: draw.integers(0, 40, 300) for name in "abcde"} | {"ill": draw.integers(0, 5, 300)})
    column = draw.integers(0, 5, 300)
    moved = old.with_columns(
        [pl.col(name) + pl.Series((column == k) * 12) for k, name in enumerate("abcde")]
    ).sample(fraction=1.0, shuffle=True, seed=1)  # fmt: skip
    found = unmask.assess(
        unmask.Release(old, moved, synthetic=True, quasi=list("abcde"), confidential=["ill"]), only=["keys"]
    )
    assert found.verdict == "unsafe"
    told = {fact.name for fact in found.document.measures[0].facts}
    assert {"keys", "repU", "repU of all keys", "DiSCO of all keys"} <= told


def test_expected_findings_name_level_and_pair():
    """60 of 62 are told "no"; of those aged 19 all are single, which no other level of a key tells."""
    table = pl.DataFrame(
        {"age": [19] * 10 + [40] * 52, "town": ["a", "b"] * 31, "wed": ["single"] * 10 + ["yes", "no"] * 26}
    )
    found = unmask.key_disclosure(table, table, keys=["age", "town"], target="wed")
    told = unmask.expected_findings(table, ["age", "town"], "wed", found.correct)
    pairs = {(one.key, one.key_level, one.level): (one.people, one.share) for one in told if one.key is not None}
    assert pairs["age", "19", "single"] == (10, 1.0)
    assert ("age", "40", "yes") not in pairs and all(one.key is not None for one in told)
    common = pl.DataFrame({"town": list("abcdefghij") * 10, "ill": ["no"] * 97 + ["yes"] * 3})
    right = unmask.key_disclosure(common, common, keys=["town"], target="ill").correct
    first = unmask.expected_findings(common, ["town"], "ill", right)[0]
    assert (first.key, first.level, first.people, first.share) == (None, "no", 70, 0.97)


def test_a_rare_secret_independent_of_everything_and_marginals_only():
    """Neither tells anything about anybody that other people's rows would not."""
    draw = np.random.default_rng(5)
    original = people(1, 500).with_columns(ill=pl.Series(draw.choice(["no", "yes"], 500, p=[0.98, 0.02])))
    fresh = people(2, 500).with_columns(ill=pl.Series(draw.choice(["no", "yes"], 500, p=[0.98, 0.02])))
    dealt = pl.DataFrame({name: original[name].shuffle(seed=k) for k, name in enumerate(original.columns)})
    for released in (fresh, dealt):
        assert assessed(original, released).verdict != "unsafe"


def other_columns(table):
    return table.rename({"age": "x", "town": "y", "sex": "z", "ill": "w"})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda t: t.with_columns(ill=pl.lit("no")), "no surprise"),
        (lambda t: t.select("age", "ill"), None),
        (lambda t: t[:30], None),
        (lambda t: t.with_columns(pl.col("age").cast(pl.String) + " years"), None),
    ],
)
def test_odd_tables_have_one_answer(make, words):
    """A constant target, one key, thirty people, a column of another type: an answer, and never "safe"."""
    table = make(people(1))
    keys = [name for name in ("age", "town", "sex") if name in table.columns]
    original = people(1).select(table.columns)[: table.height]
    original = table if words else original
    release = unmask.Release(original, table, synthetic=True, quasi=keys, confidential=["ill"])
    found = unmask.assess(release, only=["keys"])
    outcomes = {f.outcome for f in found.findings if f.measure == "keys"}
    assert found.verdict != "safe" and "could not run" not in outcomes and outcomes
    assert words is None or any(words in note for note in found.document.measures[0].notes)


def test_a_synthetic_table_with_other_columns():
    with pytest.raises(RoleError):
        unmask.key_disclosure(people(1), other_columns(people(1)), keys=["age"], target="ill")


def histogram(people, cells, draw):
    """Rows from a histogram of keys and target with Laplace noise, epsilon 1: most of its cells are noise."""
    counts = np.bincount(people, minlength=cells) + draw.laplace(0, 1, cells)
    weight = np.maximum(counts, 0.0)
    return draw.choice(cells, people.size, p=weight / weight.sum())


def test_noise_that_makes_rows_agree_is_no_disclosure():
    """A noisy histogram of 300 people in 80 cells: rows agree far more often than people do, for anybody alike.

    Truth: right targets of its people less those of 20,000 others, looked up in the same release; 1 % here.
    """
    truth, outside, halves, covered = [], [], [], 0
    for seed in range(30):
        draw = np.random.default_rng(seed)
        mine, others, many = (draw.integers(0, 80, n) for n in (300, 300, 20_000))
        rows = histogram(mine, 80, draw)
        codes = [(side // 2, side % 2) for side in (mine, rows, others)]
        key, target = zip(*codes, strict=True)
        known = beyond_outside((key[0], key[1], many // 2), (target[0], target[1], many % 2))
        truth.append(known.released - known.fresh)
        outside.append(beyond_outside(key, target).excess)
        codes = {name: Coded(np.concatenate(both), int(np.concatenate(both).max()) + 1, 300)
                 for name, both in (("key", key[:2]), ("target", target[:2]))}  # fmt: skip
        right = beyond_fresh(tally(looked_up(codes, ("key",), "target")[1]), 300, targets=True)["correct"]
        halves.append(no_surer(right, key[:2], target[:2], draw).excess)
        covered += outside[-1].low <= 0.012 <= outside[-1].high
    assert np.mean(truth) < 0.02 and covered >= 27
    assert np.mean([one.value for one in outside]) < 0.04
    assert np.mean([one.value for one in halves]) > 0.1  # nothing but people outside tells the noise from memory ...
    assert sum(one.low > 0.09 for one in halves) == 0  # ... so without them nobody is accused


@pytest.mark.parametrize("outsiders", [None, 60, 400])
def test_memory_is_found_with_and_without_people_outside(outsiders):
    original = people(1)
    released = pl.concat([original[:300], people(2, 100)])
    release = unmask.Release(
        original, released, synthetic=True, quasi=["age", "town", "sex"], confidential=["ill"],
        control=None if outsiders is None else people(3, outsiders),
    )  # fmt: skip
    found = {f.key: f for f in unmask.assess(release, only=["keys"]).findings}
    assert found["keys.disclosed"].outcome == "against"


def test_a_control_that_is_in_the_original_is_refused():
    release = unmask.Release(
        people(1), people(2), synthetic=True, quasi=["age", "town"], confidential=["ill"], control=people(1)[:200]
    )
    with pytest.raises(RoleError, match="overlaps the original"):
        unmask.assess(release, only=["keys"])


def test_what_is_told_beside_a_figure():
    figures = SimpleNamespace(independent={"gcap": 0.25}, modelled={"gcap": 0.5})
    assert _beside(figures, "gcap") == "; independent columns: 25 %; a model without the person: 50 %"
    assert _beside(figures, "other") == ""
