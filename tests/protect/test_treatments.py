"""What can be done to a column: bits that are left, what it costs, and the cheapest combinations of columns."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.masking import parse_masking
from unmask.protect import (
    Treatment,
    chained,
    path,
    steps_of,
    suggest_maskings,
    then_blank,
    treatments,
    weigh,
    weigh_together,
)
from unmask.protect.treatments import bits_left, hull


def test_a_column_with_a_hierarchy_is_written_at_its_levels_and_then_left_out(tmp_path):
    tree = tmp_path / "towns.csv"
    tree.write_text("Berg;north;*\nMoor;north;*\nSee;south;*\n")
    table = pl.DataFrame({"town": ["Berg", "Moor", "See"] * 20, "sex": ["f", "m"] * 30})
    found = suggest_maskings(table, {"town": "categorical", "sex": "categorical"}, table.columns, {"town": str(tree)})
    shown = [parse_masking(text).apply(table, 1) for text in found]
    assert [one["town"].unique().sort().to_list() if "town" in one.columns else None for one in shown] == [
        ["north", "south"], None, None
    ]  # fmt: skip
    levels = [text for text in treatments(table, "town", "categorical", str(tree)) if "hierarchy(" in text]
    assert len(levels) == 1  # the second is one group for all


def slow_bits(x, y):
    """The definition: log2 of n over the people at least as near to the released value as its own person."""
    crowd = [sum(abs(other - b) <= abs(a - b) for other in x) for a, b in zip(x, y, strict=True)]
    return sum(np.log2(len(x) / size) for size in crowd) / len(x)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=25))
def test_bits_of_numbers_are_those_of_the_definition(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    assert bits_left(pl.Series(x), pl.Series(y)) == pytest.approx(slow_bits(x, y))


def test_a_thousand_people_are_told_apart_by_ten_bits():
    values = pl.Series("v", np.arange(1024.0))
    assert bits_left(values, values) == 10
    assert bits_left(values, values * 0) == pytest.approx(slow_bits(values.to_numpy(), np.zeros(1024)))
    assert bits_left(values, pl.Series(["low"] * 512 + ["high"] * 512)) == 1
    assert bits_left(pl.Series(["a", "b"] * 8), pl.Series(["a", "b"] * 8)) == 1
    assert bits_left(pl.Series(["a", "b", "a", "b"]), pl.Series(["x", "x", "y", "y"])) == pytest.approx(0, abs=1e-12)
    assert bits_left(pl.Series([None, None], dtype=pl.Float64), pl.Series([1.0, 2.0])) == 0


def test_half_of_the_values_missing_is_half_of_the_bits():
    values = pl.Series("v", np.arange(64.0))
    half = pl.Series("v", [float(k) if k % 2 else None for k in range(64)])
    assert bits_left(values, half) == pytest.approx(5 / 2)


CHOICES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=0, max_size=4)


@settings(max_examples=60)
@given(st.lists(CHOICES, min_size=1, max_size=3))
def test_no_combination_is_cheaper_at_as_few_bits(columns):
    options = {}
    for number, found in enumerate(columns):
        name = f"c{number}"
        whole = Treatment(name, "", 8.0, 0.0)
        options[name] = (
            whole,
            *(Treatment(name, f"m{k}", float(b), float(c)) for k, (b, c) in enumerate(found)),
            Treatment(name, "drop", 0.0, 9.0),
        )
    every = [(sum(t.bits for t in chosen), sum(t.cost for t in chosen)) for chosen in product(*options.values())]
    states = path(options)
    assert all(one.masking == "drop" or one.bits == 0 for one in states[-1].values())
    for state in states:
        bits, cost = sum(t.bits for t in state.values()), sum(t.cost for t in state.values())
        assert cost <= min(c for b, c in every if b <= bits + 1e-9) + 1e-9
    costs = [sum(t.cost for t in state.values()) for state in states]
    assert costs == sorted(costs)


def test_what_is_dearer_and_leaves_more_is_never_taken():
    good, bad = Treatment("c", "good", 3.0, 0.1), Treatment("c", "bad", 4.0, 0.2)
    whole, gone = Treatment("c", "", 8.0, 0.0), Treatment("c", "drop", 0.0, 0.5)
    assert hull((whole, good, bad, gone)) == [whole, good, gone]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    n = 200
    return pl.DataFrame(
        {
            "income of all": np.exp(rng.normal(10, 1, n)).round(),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "postcode": [f"{k:05d}" for k in rng.integers(0, 99999, n)],
            "born": pl.Series(rng.integers(0, 20000, n)).cast(pl.Date),
        }
    )


@pytest.mark.parametrize(
    ("column", "kind"),
    [("income of all", "numeric"), ("sex", "categorical"), ("postcode", "categorical"), ("born", "date")],
)
def test_every_treatment_that_is_named_can_be_applied_and_the_last_leaves_the_column_out(people, column, kind):
    named = treatments(people, column, kind)
    for text in named:
        masked = parse_masking(text).apply(people, 1)
        assert masked.drop(column, strict=False).equals(people.drop(column))
    assert column not in parse_masking(named[-1]).apply(people, 1).columns
    found = weigh(people, column, named, lambda table: 1.0 - 0.1 * (column not in table.columns), 1)
    assert found[0] == Treatment(column, "", found[0].bits, 0.0)
    assert found[-1].bits == 0
    assert found[-1].cost == pytest.approx(0.1)
    assert all(one.bits <= found[0].bits + 1e-9 for one in found)


def test_extremes_alone_can_be_cut_off(people):
    named = [text for text in treatments(people, "age", "numeric") if text.startswith("top_bottom")]
    assert named == [f"top_bottom(bottom={q}, top={1 - q}, columns=[age])" for q in (0.02, 0.05, 0.1)]
    cut = parse_masking(named[-1]).apply(people, 1)["age"]
    low, high = np.quantile(people["age"], [0.1, 0.9], method="nearest")
    assert cut.to_list() == np.clip(people["age"].to_numpy(), low, high).tolist()


def test_numbers_that_are_drawn_anew_point_to_nobody(people):
    """Values of unrelated columns say nothing; a column that follows from another keeps what that one says."""
    numbers = ("income of all", "age")
    (_, drawn) = (one for one in weigh_together(people, numbers, lambda _: 0.9, 1) if one.drawn)
    assert drawn.masking.endswith("given=[])")
    assert drawn.columns == numbers
    assert drawn.bits < 0.5
    assert drawn.cost == pytest.approx(0.1)
    near = people.with_columns(next_year=pl.col("age") + pl.Series(np.random.default_rng(2).normal(1, 0.5, 200)))
    (alone,) = (one for one in weigh(near, "age", treatments(near, "age", "numeric"), lambda _: 0.9, 1) if one.drawn)
    assert alone.bits > 3


def test_cells_are_blanked_only_of_what_is_true(people):
    state = {
        "age": Treatment("age", "data_shuffling([age])", 0.0, 0.1),
        "sex": Treatment("sex", "", 1.0, 0.0),
        "postcode": Treatment("postcode", "prefix(2, columns=[postcode])", 1.0, 0.0),
        "born": Treatment("born", "drop([born])", 0.0, 0.2),
    }
    assert list(then_blank(state, 5).values())[-1].masking == "local_suppression(5, columns=[sex, postcode])"


def test_a_treatment_that_changes_nothing_is_none(people):
    found = weigh(people, "sex", ("rare(25, columns=[sex])", "drop([sex])"), lambda _: 0.9, 1)
    assert [one.masking for one in found] == ["", "drop([sex])"]


def test_one_value_for_all_is_no_treatment(people):
    """No attack can compare a column that says nothing, and so nothing is safe with it: it is left out."""
    assert parse_masking("rare(25, columns=[postcode])").apply(people, 1)["postcode"].n_unique() == 1
    found = weigh(people, "postcode", ("rare(25, columns=[postcode])", "drop([postcode])"), lambda _: 0.9, 1)
    assert [one.masking for one in found] == ["", "drop([postcode])"]


def test_levels_of_a_hierarchy_take_the_place_of_what_is_guessed(people, tmp_path):
    file = tmp_path / "sexes.csv"
    file.write_text("sex,letter,anyone\nf,F,person\nm,M,person\n")
    named = treatments(people, "sex", "categorical", str(file))
    assert len(named) == 2  # the first level, and leaving it out: one group for all says no more than that
    assert parse_masking(named[0]).apply(people, 1)["sex"].unique().sort().to_list() == ["F", "M"]


def test_numbers_together_leave_the_bits_of_their_group(people):
    numbers = ("income of all", "age")
    found = weigh_together(people, numbers, lambda _: 0.5, 1)
    alike = "consistent(microaggregation("
    by_size = {one.masking.removeprefix(alike).split(",")[0]: one for one in found if one.masking.startswith(alike)}
    assert by_size["5"].bits == pytest.approx(np.log2(200 / 5))
    assert found[-1].masking == "drop(['income of all', age])"


@pytest.mark.parametrize("moved", ["rank_swap(share=0.2, columns=[income])", "data_shuffling([income], given=[age])"])
def test_a_number_that_moves_to_somebody_else_is_nobodys_own(moved):
    """The largest income is known to be somebody's, in whatever record it stands; a mean of five is not."""
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(18, 90, 200), "income": rng.permutation(200) * 11 + 20_000})
    table = table.with_columns(income=pl.when(pl.col("income") == 20_000).then(9_000_000).otherwise("income"))
    state = {"age": Treatment("age", "noise(0.2, columns=[age])"), "income": Treatment("income", moved)}
    steps = steps_of(state, 5)
    assert [step.columns for step in steps] == [("income",), ("age",), ("income",)]
    released = parse_masking(chained(step.masking for step in steps)).apply(table, 1)["income"]
    assert released.value_counts()["count"].min() >= 5
    assert released.max() < 3_000_000
    assert released.dtype == table["income"].dtype  # whole numbers stay whole
    assert released.mean() == pytest.approx(table["income"].mean(), rel=0.001)


def test_nothing_is_shared_where_no_value_moves():
    state = {"age": Treatment("age", "noise(0.2, columns=[age])"), "town": Treatment("town", "")}
    assert [step.masking for step in steps_of(state, 5)] == ["noise(0.2, columns=[age])"]
    alone = {"age": Treatment("age", "chain([dates(year, columns=[born]), rank_swap(share=0.1, columns=[age])])")}
    assert [step.columns for step in steps_of(alone, 5)] == [("age",), ("age",)]
    assert len(steps_of(alone, 1)) == 1
