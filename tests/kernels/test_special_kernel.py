from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask.kernels.uniques import WorkBoundError, minimal_uniques, subset_counts

TABLES = st.integers(1, 5).flatmap(lambda m: st.lists(st.tuples(*[st.integers(0, 3)] * m), min_size=1, max_size=14))


def classes(rows):
    codes, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    return codes.astype(np.int32), counts


def named(codes, found):
    who, masks = found
    m = codes.shape[1]
    return [(tuple(codes[i]), tuple(k for k in range(m) if mask >> k & 1)) for i, mask in zip(who, masks, strict=True)]


@given(TABLES, st.integers(1, 5))
def test_equals_the_definition(rows, max_size):
    max_size = min(max_size, len(rows[0]))
    codes, counts = classes(rows)
    found = named(codes, minimal_uniques(codes, counts, max_size=max_size))
    wanted = {(rows[i], attributes) for i, attributes in naive.minimal_sample_uniques(rows, max_size)}
    assert len(found) == len(set(found))
    assert set(found) == wanted


def test_four_rows_by_hand():
    """Rows (0,0), (0,1), (1,1), (1,1): the first is unique by its second value, the second by both only."""
    codes, counts = np.array([[0, 0], [0, 1], [1, 1]], np.int32), np.array([1, 1, 2])
    assert named(codes, minimal_uniques(codes, counts)) == [((0, 0), (1,)), ((0, 1), (0, 1))]


def test_many_values_take_the_wide_codes():
    codes = np.stack([np.arange(600) // 2, np.arange(600) % 2], axis=1).astype(np.int32)
    who, masks = minimal_uniques(codes, np.ones(600, np.int64))
    assert who.tolist() == list(range(600))
    assert set(masks.tolist()) == {3}


def test_order_of_columns_and_rows_changes_nothing():
    rng = np.random.default_rng(3)
    codes, counts = classes(rng.integers(0, [2, 3, 4, 9], (200, 4)).tolist())
    found = set(named(codes, minimal_uniques(codes, counts)))
    columns, rows = rng.permutation(4), rng.permutation(len(codes))
    other = np.ascontiguousarray(codes[rows][:, columns])
    back = np.argsort(columns)
    mine = named(other, minimal_uniques(other, counts[rows]))
    assert {(tuple(np.array(row)[back]), tuple(sorted(columns[list(s)]))) for row, s in mine} == found


def test_work_is_bounded_and_progress_ends_at_all_sets():
    codes, counts = classes(np.random.default_rng(1).integers(0, 4, (300, 6)).tolist())
    with pytest.raises(WorkBoundError):
        minimal_uniques(codes, counts, max_work=500)
    seen = []
    minimal_uniques(codes, counts, max_size=4, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert [done * 56 for done in seen] == pytest.approx([round(done * 56) for done in seen])  # 6 + 15 + 20 + 15 sets


def test_nothing_to_find():
    empty = minimal_uniques(np.empty((0, 3), np.int32), np.empty(0, np.int64))
    assert [len(part) for part in empty] == [0, 0]
    same = minimal_uniques(np.zeros((1, 3), np.int32), np.array([5]))
    assert [len(part) for part in same] == [0, 0]


@given(TABLES, st.integers(1, 5), st.integers(1, 6))
def test_counts_of_every_set(rows, max_size, k):
    m = len(rows[0])
    max_size = min(max_size, m)
    masks, table = subset_counts(*classes(rows), max_size=max_size, k=k)
    assert masks.tolist() == [mask for mask in range(1, 2**m) if mask.bit_count() <= max_size]
    for mask, counted in zip(masks.tolist(), table.tolist(), strict=True):
        sizes = [len(g) for g in naive.groups(rows, [j for j in range(m) if mask >> j & 1]).values()]
        assert counted == [len(sizes), sizes.count(1), sum(s for s in sizes if s < k)]
