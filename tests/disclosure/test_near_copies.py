"""People known by a near copy: who is claimed, how many may be wrong, and that harmless tables claim nobody."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from disclosure import synthetic_tables as tables
from unmask import Release, assess, copy_risk, parse_masking
from unmask.disclosure.near_copies import SURE, Counted, Side, most_wrong, nearer


def side(*rows):
    return Side(np.array(rows, dtype=float), np.zeros((len(rows), 1), dtype=np.int32))


def known(original, released, control=None):
    return copy_risk(Release(original, released, control=control, synthetic=True)).known


def test_one_row_must_be_nearer_whichever_column_is_left_out():
    crowd = side((0, 0, 0), (4, 0, 0), (0, 9, 0))
    one = nearer(crowd, side((1, 0, 0)), crowd, itself=False)
    assert one[0] == 0  # without the first column somebody else is as near as can be
    near = nearer(crowd.take(np.arange(2)), side((0.5, 0.5, 0.5)), side((0, 0, 0), (4, 3, 3)), itself=False)
    assert near[0] == pytest.approx(np.log(np.sqrt(18 / 0.5)))  # without the first column
    assert near[1] == 0
    assert nearer(side((1, 1, 1)), side((9, 9, 9)), side((1, 1, 1)), itself=True)[0] == -SURE
    assert nearer(side((1, 1, 1)), side((1, 1, 1)), side((1, 1, 1)), itself=True)[0] == 0  # equal to both


def test_a_rare_value_by_itself_is_no_copy():
    """One row has each person's largest number, and nothing else of theirs."""
    rng = np.random.default_rng(0)
    values = np.exp(2 * rng.normal(size=(200, 5)))
    table = pl.DataFrame({f"v{k}": values[:, k] for k in range(5)})
    for maker in (tables.dealt, tables.marginals):
        assert known(table, maker(table, np.random.default_rng(1))).low == 0


@pytest.mark.parametrize("odds", [0.5, 1.0, 2.0])
def test_more_are_wrong_than_bounded_as_seldom_as_is_said(odds):
    """Coins in a row: at no place more heads than the bound, but with the chance of the level."""
    rng, level, counted = np.random.default_rng(1), 0.1, Counted(np.zeros(0), np.zeros(0), odds)
    heads = (rng.random((1000, 150)) < odds / (1 + odds)).cumsum(axis=1)
    tails = np.arange(1, 151) - heads
    bound = np.array([most_wrong(k, counted, level) for k in range(151)])
    beyond = (heads > bound[tails]).any(axis=1).mean()
    assert 0.02 < beyond <= 0.1 + 3 * np.sqrt(0.09 / 1000)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("make", [tables.copula, tables.independent, tables.private_histogram, tables.marginals])
def test_what_forgets_people_knows_nobody(make, outside):
    for seed in range(3):
        inside, others = tables.people(300, seed)
        found = known(inside, make(inside, np.random.default_rng(seed)), others if outside else None)
        assert found.low == 0 and found.value < 0.04


def test_the_order_of_rows_makes_no_difference():
    inside, others = tables.people(300, 2)
    made = tables.memorised(inside, np.random.default_rng(2), 0.1, 0.02)
    lots = [np.random.default_rng(k).permutation(300) for k in range(3)]
    assert known(inside, made, others) == known(inside[lots[0]], made[lots[1]], others[lots[2]])


def test_more_people_and_rows_than_are_compared(monkeypatch):
    """Drawn by lot: fewer copies stand among the rows that are drawn, and more than chance all the same."""
    monkeypatch.setattr("unmask.disclosure.near_copies.MOST_PEOPLE", 150)
    monkeypatch.setattr("unmask.disclosure.copies.MOST_OTHERS", 200)
    inside, _ = tables.people(300, 2)
    found = known(inside, tables.memorised(inside, np.random.default_rng(2), 0.5, 0.02))
    assert found.n == 150 and found.low > 0.05


def test_three_columns_say_nothing():
    inside, _ = tables.people(100)
    three = inside.select(inside.columns[:3])
    assert known(three, parse_masking("noise(0.01)").apply(three, seed=1)) is None


@pytest.mark.parametrize("outside", [False, True])
def test_a_private_histogram_of_single_people_remembers_nobody(outside):
    """Most cells hold nobody or one person, and Laplace noise (epsilon 1) is on every cell: rows equal people of the
    original up to e times as often as people outside, and that is no memory."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        law = [rng.dirichlet(np.ones(5)) for _ in range(6)]
        codes = [np.column_stack([rng.choice(5, 1000, p=p) for p in law]) @ 5 ** np.arange(6) for _ in range(2)]
        noisy = np.maximum(np.bincount(codes[0], minlength=5**6) + rng.laplace(size=5**6), 0)
        made = rng.choice(5**6, 1000, p=noisy / noisy.sum())
        original, control, released = (
            pl.DataFrame({f"c{k}": (side // 5**k % 5).astype(str) for k in range(6)}) for side in (*codes, made)
        )
        release = Release(original, released, control=control if outside else None, synthetic=True)
        assert assess(release, only=["copies"], utility="none").verdict != "unsafe"
