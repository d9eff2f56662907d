from __future__ import annotations

from math import exp

import numpy as np
import pytest

from naive.definitions import wilson
from unmask.disclosure.copies import replicated_uniques
from unmask.disclosure.equal_rows import counts_of
from unmask.tables.encode import Encoded


def rows(*values):
    codes = np.array(values, dtype=np.int32).reshape(len(values), -1)
    return Encoded(np.empty((len(values), 0)), codes)


def test_counts_by_hand():
    own, there = counts_of(rows(1, 1, 2, 3), rows(1, 3, 3, 4))
    assert own.tolist() == [2, 2, 1, 1]
    assert there.tolist() == [1, 1, 0, 2]


def test_replicas_by_hand():
    """Of 1, 1, 2 .. 7 the singletons are 2 .. 7; four of them are released, twice each.

    They are alone in their half, and of four rows of eight one of two is theirs in 11/14 of the cases. Each of the pair
    is alone in 4/7 of the cases and meets the other of the pair in all of them, which counts e times, as a release with
    epsilon 1 may show: (4 11/14 - 2 e 4/7) 2 / 8.
    """
    found, who = replicated_uniques(rows(1, 1, 2, 3, 4, 5, 6, 7), rows(2, 2, 3, 3, 4, 4, 5, 5))
    assert who.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
    assert found.value == pytest.approx((22 - 8 * exp(1)) / 28)


def test_nothing_beyond_other_people_is_not_nothing():
    """Fewer equals than other people have: the upper end is that of nobody among so many."""
    pairs = rows(*[k // 2 for k in range(60)])
    found, _ = replicated_uniques(pairs, rows(*range(100, 160)))
    assert found.value == 0 and found.high == pytest.approx(wilson(0, 60)[1])


def test_a_copy_is_found_and_an_expected_repeat_is_not():
    rng = np.random.default_rng(1)
    people = rng.integers(0, 10**6, (500, 2))
    found, _ = replicated_uniques(rows(*people.tolist()), rows(*people[::-1].tolist()))
    assert found.value > 0.99
    coarse = [rng.integers(0, 30, (800, 2)).tolist() for _ in range(3)]
    for control in (None, rows(*coarse[2])):
        found, _ = replicated_uniques(rows(*coarse[0]), rows(*coarse[1]), control)
        assert found.low <= 0.01


@pytest.mark.parametrize("cells", [50, 400, 3000, 10**6])
def test_other_people_are_no_replicas(cells):
    """A fresh sample of the same population is called so at most at the level, with and without control."""
    rng = np.random.default_rng(cells)
    weight = rng.dirichlet(np.full(cells, 0.5)) if cells < 10**6 else None
    alarms = np.zeros(2)
    for _ in range(60):
        tables = [rows(*rng.choice(cells, 300, p=weight).tolist()) for _ in range(3)]
        found = [replicated_uniques(tables[0], tables[1], control)[0] for control in (None, tables[2])]
        alarms += [estimate.low > 0.01 for estimate in found]
    assert (alarms <= 6).all(), alarms  # 60 draws at 2.5 %: more than six in one of a thousand runs


def test_two_copied_people_among_many():
    rng = np.random.default_rng(0)
    people, others = rng.integers(0, 10**9, (200, 1)), rng.integers(0, 10**9, (198, 1))
    found, who = replicated_uniques(rows(*people.tolist()), rows(*others.tolist(), *people[:2].tolist()))
    assert who[:2].tolist() == [1, 1] and who.sum() == 2
    assert found.value == pytest.approx(0.01)
