from __future__ import annotations

import numpy as np
import pytest

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
    """Of 1, 1, 2, 3 the singletons are 2 and 3; 3 is released, twice.

    Of three, alone in their half, one of two rows of four is drawn in 5/6 of the cases. Each of the pair is alone in
    2/3 of the cases, meets a row in half of these, and the other of the pair in all: (5/6 + 2 (1/3 - 2/3)) 2 / 4.
    """
    found, who = replicated_uniques(rows(1, 1, 2, 3), rows(1, 3, 3, 4))
    assert who.tolist() == [0, 0, 0, 1]
    assert found.value == pytest.approx(1 / 12)


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
