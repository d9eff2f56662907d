"""People with the same rows, and what their candidates share: by definition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from small_persons import disturbed, few_rows

from naive import persons as naive
from unmask import Persons
from unmask.persons.alike import alike
from unmask.persons.shared import shared

KNOWN = ["sex", "ward"]


def bags_of(table, *columns):
    return naive.bags(table.select(columns).rows(), table["id"].to_list())


@pytest.mark.parametrize("seed", range(4))
def test_the_same_rows_by_definition(seed):
    table = few_rows(30, most=3, seed=seed, wards=2)
    other = disturbed(table, seed)
    found = alike(Persons(table, other, id="id", quasi=KNOWN))
    one, two = bags_of(table, *KNOWN), bags_of(other, *KNOWN)
    asked = [p for p in one if p in two]
    same = naive.same_rows(one, two)
    assert found.size.tolist() == [len(same[p]) for p in asked]
    assert found.own.tolist() == [p in same[p] for p in asked]
    sets = {p: {q for q in two if set(two[q]) == set(one[p])} for p in asked}
    assert found.by_set.tolist() == [len(sets[p]) for p in asked]
    assert found.by_set_own.tolist() == [p in sets[p] for p in asked]
    classes = [frozenset((row, bag.count(row)) for row in bag) for bag in two.values()]
    assert (found.groups, found.smallest) == (len(set(classes)), min(classes.count(one) for one in classes))


def test_overlapping_intervals_need_one_row_each():
    """7.5 is in 0-10 and in 5-20, 2.5 in the first alone: two rows are laid on two, or not at all."""
    table = pl.DataFrame({"id": [1, 1, 2, 2, 3, 3], "day": [2.5, 7.5, 7.5, 8.5, 2.5, 3.5]})
    other = pl.DataFrame({"id": [1, 1, 2, 2, 3, 3], "day": ["0-10", "5-20", "5-20", "5-20", "0-10", "0-10"]})
    found = alike(Persons(table, other, id="id"))
    assert found.size.tolist() == [2, 3, 1]  # 1: itself and 3; 2: everybody; 3: itself
    assert found.own.tolist() == [True, True, True]


@pytest.mark.parametrize("seed", range(4))
def test_what_candidates_share_by_definition(seed):
    table = few_rows(30, most=3, seed=seed, wards=2, days=4)
    other = disturbed(table, seed, moved=0.0)
    found = shared(Persons(table, other, id="id", quasi=["sex", "ward", "day"], confidential=["secret"]))
    one, two = (bags_of(side, "sex", "ward", "day") for side in (table, other))
    mine, theirs = (
        {p: {row[0] for row in rows} for p, rows in bags_of(side, "secret").items()} for side in (table, other)
    )
    candidates = {p: naive.have(one[p], two) for p in one if p in two}
    attack, without = naive.learnt(candidates, mine, theirs)
    assert found.attack.tolist() == [attack[p] for p in candidates]
    assert found.without.tolist() == [without[p] for p in candidates]
    assert found.estimate.value == pytest.approx(max(0.0, np.mean([attack[p] - without[p] for p in candidates])))


def test_without_a_secret_nothing_is_learnt():
    table = few_rows(12)
    assert shared(Persons(table, table, id="id")) is None
