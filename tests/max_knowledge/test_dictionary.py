from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from deniability_tables import correlated, frame, shuffled
from naive import max_knowledge as naive
from unmask.errors import ParameterError
from unmask.max_knowledge import dictionary_test
from unmask.max_knowledge.dictionary import dictionary_rows
from unmask.max_knowledge.ranks import ranked
from unmask.tables.release import Release


def test_small_dictionaries_are_used_whole():
    rng = np.random.default_rng(0)
    xs, ys = rng.integers(0, 9, (2, 8, 3)).astype(float)
    test = dictionary_test(Release(frame(xs), frame(ys), kinds=dict.fromkeys("abc", "numeric")), ranks="average")
    assert test.reference.size == 8**3
    assert sorted(test.reference) == pytest.approx(sorted(naive.linkage(naive.dictionary(xs), ys)))
    assert test.ks == pytest.approx(naive.ks(test.distances.tolist(), test.reference.tolist()))


def test_a_dictionary_of_just_the_size_asked_for_is_used_whole():
    rng = np.random.default_rng(1)
    xs, ys = rng.normal(size=(2, 10, 3))
    test = dictionary_test(Release(frame(xs), frame(ys)), size=1000)
    assert sorted(test.reference) == pytest.approx(sorted(naive.linkage(naive.dictionary(xs), ys)))
    assert dictionary_test(Release(frame(xs), frame(ys)), size=999).reference.size == 999


def test_samples_keep_the_marginals():
    table = correlated(300)
    both = ranked(Release(table, table))
    rows = list(dictionary_rows(both, 5000, 1))
    assert len(rows) == table.width
    drawn = both.space.queries[rows[0], 0]
    assert drawn.mean() == pytest.approx(both.space.queries[both.query_of, 0].mean(), rel=0.02)
    assert abs(np.corrcoef(drawn, both.space.queries[rows[1], 1])[0, 1]) < 0.05


def test_identity_discloses_and_independence_does_not():
    table = correlated(400)
    same = dictionary_test(Release(table, table))
    assert same.minimum == same.mean == 0
    assert same.direction == "disclosive"
    assert same.ks > 0.99
    assert same.risk.min() > 0.9
    assert same.deniable < 0.01
    none = dictionary_test(Release(shuffled(table, 5), shuffled(table, 6)))
    assert none.ks < 0.1
    assert none.risk.max() < 0.9
    assert none.risk.mean() < 0.05
    assert none.deniable > 0.9


def test_least_protected_records_come_first():
    table = correlated(300)
    masked = table.with_columns(pl.all() + np.random.default_rng(0).normal(size=300))
    test = dictionary_test(Release(table, masked))
    rows = test.least_protected(20)
    assert (np.diff(test.distances[rows]) >= 0).all()
    assert test.distances[rows[0]] == test.minimum
    assert test.minimum_share == test.minimum / 300
    with pytest.raises(ParameterError):
        test.least_protected(0)


def test_row_order_and_seed():
    table = correlated(120)
    masked = table.with_columns((pl.all() * 3).round() / 3)
    test = dictionary_test(Release(table, masked), seed=4)
    order = np.random.default_rng(0).permutation(120)
    moved = dictionary_test(Release(table[order], masked[order]), seed=4)
    assert moved.distances.tolist() == test.distances[order].tolist()
    assert (moved.reference == test.reference).all()
    assert (moved.ks, moved.p_value, moved.direction) == (test.ks, test.p_value, test.direction)
    assert dictionary_test(Release(table, masked), seed=5).reference.tolist() != test.reference.tolist()


def test_clear_refusal():
    table = correlated(10)
    with pytest.raises(ParameterError, match="size"):
        dictionary_test(Release(table, table), size=0)


def test_of_one_attribute_the_dictionary_is_the_original():
    table = frame(np.random.default_rng(0).normal(size=(30, 1)))
    test = dictionary_test(Release(table, table), ranks="average")
    assert test.reference.tolist() == [0.0] * 30
    assert test.ks == 0.0
