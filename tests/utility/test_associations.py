"""Pairs of columns: against the definitions, and what a broken or a lost relation costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import utility as naive
from unmask.utility.associations import association, compare_associations, mutual_information

codes = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), min_size=2, max_size=40)


@given(codes)
def test_equals_the_definitions(pairs):
    x, y = (np.array(side, dtype=np.int32) for side in zip(*pairs, strict=True))
    assert association(x, y) == pytest.approx(naive.cramers_v(x.tolist(), y.tolist()), abs=1e-6)
    assert mutual_information(x, y) == pytest.approx(naive.mutual_information(x.tolist(), y.tolist()), abs=1e-12)


def test_the_broken_pair_is_named_and_a_lost_column_has_nothing_left():
    rng = np.random.default_rng(3)
    a, c = (rng.integers(0, 3, 500).astype(np.int32) for _ in range(2))
    sides = {"a": (a, a), "b": (a, rng.permutation(a)), "c": (c, None)}
    told = compare_associations(sides, None)
    assert told.pairs == 3
    assert told.most_changed[0].columns == told.strongest[0] == ("a", "b")
    assert told.most_changed[0].v == (pytest.approx(1), pytest.approx(0, abs=0.1))
    assert told.bits_kept < 0.1
    assert told.correlation_change is None


def test_nothing_changed_and_nothing_to_compare():
    a = np.array([0, 1, 1, 2], dtype=np.int32)
    told = compare_associations({"a": (a, a), "b": (a, a)}, (np.eye(2), np.array([[1, 0.5], [0.5, 1]])))
    assert (told.v_change, told.bits_kept, told.correlation_change, told.most_changed) == (0, 1, 0.5, ())
    assert compare_associations({"a": (a, a)}, None) is None
