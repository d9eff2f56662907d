"""Which cells to blank: never more than needed on small tables, never a group below k, and the bound is one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from naive import suppression as naive
from unmask import fix_list, parse_masking
from unmask.errors import UnmaskError
from unmask.masking import LocalSuppression
from unmask.masking.cells import fewest as exact
from unmask.masking.cells import moving

VALUE = st.one_of(st.none(), st.integers(0, 2), st.integers(0, 2))
ROWS = st.lists(st.tuples(VALUE, VALUE, st.integers(0, 1)), min_size=4, max_size=12)
HOUSEHOLD = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]


def frame(rows):
    return pl.DataFrame(rows, schema={f"c{j}": pl.Int64 for j in range(len(rows[0]))}, orient="row")


def planned(rows, k):
    table = frame(rows)
    plan = fix_list(table, quasi=table.columns, k=k, coarsen=False)
    return plan, [*plan.apply(table).iter_rows()]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(VALUE, st.integers(0, 2)), min_size=3, max_size=5), st.integers(2, 3))
def test_no_choice_of_cells_is_smaller(rows, k):
    plan, fixed = planned(rows, k)
    assert naive.smallest_group(fixed) >= k
    assert plan.n_cells == naive.cells(rows, fixed) == naive.fewest_cells(rows, k) == plan.least
    assert plan.fewest


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_sdcmicro_completed_to_the_same_k_blanks_at_least_as_many(rows, k):
    """What sdcMicro blanks, and what is then still missing to groups of k, is one suppression of the table."""
    theirs = naive.local_suppression(rows, k)
    assert min(naive.crowds(theirs)) >= k
    _, completed = planned(theirs, k)
    plan, fixed = planned(rows, k)
    assert naive.smallest_group(fixed) >= k
    assert plan.n_cells <= naive.cells(rows, completed)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_without_a_solver_nobody_is_in_a_small_group_either(rows, k):
    table = frame(rows)
    with pytest.MonkeyPatch.context() as patch:
        best = fix_list(table, quasi=table.columns, k=k, coarsen=False)
        patch.setattr(exact, "MOST_CHOICES", 0)
        moved = fix_list(table, quasi=table.columns, k=k, coarsen=False)
        patch.setattr(moving, "MOST_GROUPS", 0)
        greedy = fix_list(table, quasi=table.columns, k=k, coarsen=False)
    assert best.n_cells <= moved.n_cells <= greedy.n_cells
    for plan in (moved, greedy):
        fixed = [*plan.apply(table).iter_rows()]
        assert naive.smallest_group(fixed) >= k
        assert naive.cells(rows, fixed) == plan.n_cells
        assert plan.least <= best.n_cells


def test_one_who_stands_alone_takes_company_and_no_more():
    """One of eleven differs: four others lose the same cell, and six stay as they are."""
    rows = [(1, 1)] * 10 + [(1, 2)]
    plan, fixed = planned(rows, 5)
    assert plan.n_cells == 5
    assert fixed.count((1, None)) == 5
    assert fixed.count((1, 1)) == 6
    assert "no way to blank fewer" in plan.words


def test_by_the_count_of_sdcmicro_one_blank_record_hides_everybody():
    """Why k is not counted so here: nobody else has changed, and each is as alone as before."""
    rows = [(i, i) for i in range(6)]
    blanked = [(None, None), *rows[1:]]
    assert min(naive.crowds(blanked)) == 2
    assert naive.smallest_group(blanked) == 1


def test_sdcmicros_algorithm_on_four_rows():
    rows = [(1, 1), (1, 1), (1, 2), (2, 3)]
    theirs = naive.local_suppression(rows, 2)
    assert theirs == [(1, 1), (1, 1), (1, None), (None, 3)]  # (2, 3) is nearest to (1, ?), from which one value differs
    assert naive.crowds(theirs) == [3, 3, 4, 2]


@pytest.mark.casc
def test_household_against_sdcmicro():
    table = reference.data("household").select(HOUSEHOLD[:7]).head(400)
    rows = [*table.iter_rows()]
    theirs = naive.local_suppression(rows, 3)
    _, completed = planned(theirs, 3)
    plan, fixed = planned(rows, 3)
    assert naive.smallest_group(fixed) >= 3 > naive.smallest_group(theirs)
    assert plan.fewest
    assert plan.n_cells == 69 < naive.cells(rows, completed)


def test_as_a_masking():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"town": rng.choice(["a", "b", "c"], 60), "age": rng.integers(0, 9, 60), "x": rng.normal(size=60)}
    )
    masked = parse_masking("local_suppression(5, columns=[town, age])").apply(table)
    assert masked.group_by("town", "age").len()["len"].min() >= 5
    assert masked["x"].equals(table["x"])
    assert masked.schema == table.schema
    assert str(LocalSuppression(5)) == "local_suppression(5)"
    again = parse_masking("local_suppression(5, columns=[town, age])").apply(table[::-1])
    assert again.select("town", "age").sort("town", "age").equals(masked.select("town", "age").sort("town", "age"))
    for text in ("local_suppression(1)", "local_suppression(99)", "local_suppression(5, columns=[nonsuch])"):
        with pytest.raises(UnmaskError):
            parse_masking(text).apply(table)
