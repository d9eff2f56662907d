"""What is left of a table: bounds, what each kind of change costs, and the parts by hand."""

import numpy as np
import polars as pl
import pytest

from unmask import datasets, parse_masking, what_is_left
from unmask.utility.associations import association
from unmask.utility.left import _detail


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    census = datasets.census(400, seed=1)
    sex = pl.Series("sex", rng.choice(["f", "m"], 400))
    zips = pl.Series("zip", [f"{75000 + int(k)}" for k in rng.integers(0, 40, 400)])
    return census.select("wages", "total_income", "interest").with_columns(sex, zips)


def test_the_same_table_is_all_of_it(people):
    left = what_is_left(people, people, keep=["mean(wages) by sex"])
    assert left.value == left.relations == left.analyses == 1
    assert set(left.columns.values()) == {1.0}


def test_nothing_is_left_of_columns_that_are_gone(people):
    left = what_is_left(people, people.select("sex"))
    assert left.columns == {name: float(name == "sex") for name in people.columns}
    assert left.relations == 0


@pytest.mark.parametrize("masking", ["noise({})", "pram({}, columns=[sex, zip])", "rank_swap(share={})"])
def test_stronger_maskings_leave_less(people, masking):
    values = [what_is_left(people, parse_masking(masking.format(s)).apply(people, 1)).value for s in (0.05, 0.2, 0.5)]
    assert 1 >= values[0] > values[1] > values[2] > 0


def test_shuffled_columns_keep_distributions_and_no_relations(people):
    table = people.select("wages", "total_income")
    left = what_is_left(table, parse_masking("shuffle()").apply(table, 1))
    assert set(left.columns.values()) == {1.0}
    assert left.relations < 0.1


def test_coarser_words_keep_their_share_of_what_was_said(people):
    """Four groups of ten equally likely codes say log 4 of log 40."""
    table = pl.DataFrame({"code": [f"{k // 10}{k % 10}" for k in range(40)] * 10})
    left = what_is_left(table, parse_masking("prefix(1, columns=[code])").apply(table))
    assert left.columns["code"] == pytest.approx(np.log(4) / np.log(31), abs=0.1)  # rare codes are one of 31
    assert left.relations is None


def test_bounds_and_order_of_rows(people):
    released = parse_masking("chain([noise(0.5), pram(0.3, columns=[sex, zip])])").apply(people, 1)
    left = what_is_left(people, released)
    assert all(0 <= part <= 1 for part in (*left.columns.values(), left.relations))
    order = np.random.default_rng(0).permutation(people.height)
    assert what_is_left(people[order], released[order]).value == pytest.approx(left.value)
    assert what_is_left(people, released[order], paired=False).value <= left.value + 1e-12


def test_association_is_none_for_strangers_and_whole_for_twins():
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, (2, 2000)).astype(np.int32)
    assert association(x, x) == pytest.approx(1)
    assert association(x, y) < 0.05
    assert association(x, np.zeros(2000, dtype=np.int32)) == 0
    assert _detail(x, x) == 1
    assert _detail(x, y) < 0.02


def test_degenerate_tables():
    empty = pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Float64), "b": ["x", "x"]})
    assert what_is_left(empty, empty).value == 1
    one = pl.DataFrame({"a": [1.0]})
    assert what_is_left(one, one).value == 1
