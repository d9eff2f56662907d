"""Minimal sample uniques and whom they find, in one walk, beside the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask.kernels.uniques import claims, find_claims, group_rows, kinds, scarce

CASES = st.tuples(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 30), st.integers(0, 20), st.integers(1, 9))


def drawn(seed, m, n, others, values):
    """Records, and people of whom many have the values of a record, changed here and there."""
    rng = np.random.default_rng(seed)
    top = rng.integers(1, values + 1, m)
    records = rng.integers(0, top, (n, m)).astype(np.int32)
    people = records[rng.integers(0, n, others)]
    changed = rng.random(people.shape) < 0.3
    return records, np.where(changed, rng.integers(0, values + 3, people.shape), people).astype(np.int32)


def told(records, people, max_size, apart=()):
    """MSUs of each set, pairs with how often each is told, MSUs that were listed, and records that have one."""
    of = group_rows(records)
    number, pairs, listed, special = {}, [], [], []
    for found in find_claims(of, people, max_size=max_size, apart=apart):
        assert not number.keys() & found.number.keys()
        number |= found.number
        pairs += zip(found.people.tolist(), of.first[found.records].tolist(), strict=True)
        listed += zip(of.first[found.listed].tolist(), found.masks.tolist(), strict=True)
        special = sorted(of.first[found.special].tolist())
    return number, pairs, listed, special


def wanted(records, people, max_size, apart=()):
    number, pairs, listed, special = {}, set(), set(), set()
    for row, attributes in naive.minimal_sample_uniques([tuple(r) for r in records.tolist()], max_size):
        mask = sum(1 << k for k in attributes)
        number[mask] = number.get(mask, 0) + 1
        special.add(row)
        if set(attributes) & set(apart):
            listed.add((row, mask))
        else:
            pairs |= {(i, row) for i in range(len(people)) if all(people[i, k] == records[row, k] for k in attributes)}
    return number, pairs, listed, sorted(special)


@given(
    CASES,
    st.integers(1, 3),
    st.sampled_from([(0, 0), (0, 1), (0, 8), (2, 2), (24, 8)]),
    st.sampled_from([0, 3, 1 << 20]),
    st.integers(0, 2),
)
def test_equals_the_definition(case, max_size, most, enough, overlaps):
    """Small groups and large ones, whatever is handed over at once, with and without attributes that are apart.

    ``most`` records are few, and pairs with equal values scarce, as far as these numbers.
    """
    records, people = drawn(*case)
    max_size, apart = min(max_size, records.shape[1]), set(range(min(overlaps, records.shape[1])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "FEW", most[0])
        patch.setattr(claims, "SCARCE", most[1])
        patch.setattr(claims, "ENOUGH", enough)
        number, pairs, listed, special = told(records, people, max_size, apart)
    assert len(listed) == len(set(listed))
    assert (number, set(pairs), set(listed), special) == wanted(records, people, max_size, apart)


@pytest.mark.parametrize("most", [(0, 0), (0, 8), (24, 8)])
@pytest.mark.parametrize(("m", "values"), [(13, 3), (13, 40), (25, 6), (36, 99), (3, 2)])
def test_many_rows_and_columns(monkeypatch, most, m, values):
    """Attributes and pairs of them take several words; parts are of many records; beside the search set by set."""
    from unmask.kernels.uniques import minimal_uniques

    monkeypatch.setattr(claims, "FEW", most[0])
    monkeypatch.setattr(claims, "SCARCE", most[1])
    rng = np.random.default_rng(m * values)
    records = rng.integers(0, np.linspace(2, values + 1, m).astype(int), (120, m)).astype(np.int32)
    number, pairs, listed, special = told(records, records, 3)
    of = group_rows(records)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in of.table.T], axis=1).astype(np.int32)
    who, masks = minimal_uniques(codes, of.counts, max_size=3)
    assert number == dict(zip(*(side.tolist() for side in np.unique(masks, return_counts=True)), strict=True))
    assert special == sorted(of.first[np.unique(who)].tolist())
    assert not listed
    assert {pair for pair in pairs if pair[0] == pair[1]} == {(row, row) for row in special}
    assert all(i == j or not (records[i] == records[j]).all() for i, j in pairs)


@pytest.mark.parametrize("left", [0, 5, 77, 200])
def test_where_the_count_of_rows_is_full_it_begins_anew(monkeypatch, left):
    """What was remembered of each value before is forgotten then; and only then, since it is not looked at."""
    plain, rooms = claims._room, []

    def nearly_full(*sizes):
        rooms.append(plain(*sizes))
        rooms[-1].scarce.since[0] = scarce.FULL - left
        return rooms[-1]

    monkeypatch.setattr(claims, "FEW", 0)
    records, people = drawn(3, 4, 60, 40, 30)
    usual = told(records, people, 3)
    monkeypatch.setattr(claims, "_room", nearly_full)
    assert told(records, people, 3) == usual
    assert usual[1]
    assert rooms[0].scarce.since[0] < scarce.FULL // 2


def test_words_tell_on_which_attributes_a_record_is_unique_by_itself():
    """On the first of 40 attributes and the last; a row that comes twice has all bits."""
    rows = np.zeros((4, 40), np.int32)
    rows[0, 0], rows[1, 39], rows[1, 31] = 1, 1, 2
    numbered = kinds.number_values(group_rows(rows), rows)
    assert numbered.records.shape[1] % 16 == 0
    assert numbered.records.ctypes.data % 64 == 0
    single = [int(high) << 31 | int(low) for low, high in numbered.records[:3, -2:]]
    places = numbered.order.tolist()
    assert single == [1 << places.index(0), 1 << places.index(39) | 1 << places.index(31), -1]


def test_order_of_rows_and_columns_changes_nothing():
    rng = np.random.default_rng(5)
    records, people = (rng.integers(0, [2, 9, 5, 7, 4], (80, 5)).astype(np.int32) for _ in range(2))
    number, pairs, _, special = told(records, people, 3)
    rows, others, columns = (rng.permutation(n) for n in (80, 80, 5))
    again, mine, _, other = told(records[rows][:, columns], people[others][:, columns], 3)
    back = {sum(1 << int(columns[k]) for k in range(5) if mask >> k & 1): count for mask, count in again.items()}
    assert back == number
    assert {(int(others[i]), int(rows[j])) for i, j in mine} == set(pairs)
    assert sorted(rows[other].tolist()) == special


def test_degenerate_tables():
    """One record, records that are all equal, no people, and people without any value of the records."""
    one, same = np.zeros((1, 3), np.int32), np.full((5, 3), 7, np.int32)
    assert told(one, same, 3) == ({1: 1, 2: 1, 4: 1}, [], [], [0])
    assert told(one, np.zeros((2, 3), np.int32), 1)[1] == [(0, 0), (1, 0)] * 3
    assert told(same, same, 3) == ({}, [], [], [])
    assert told(np.arange(4, dtype=np.int32)[:, None], np.empty((0, 1), np.int32), 1) == ({1: 4}, [], [], [0, 1, 2, 3])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**30)), min_size=1, max_size=30))
def test_equal_rows_are_counted(rows):
    of = group_rows(np.array(rows))
    assert [rows[i] for i in of.first] == list(dict.fromkeys(rows))
    assert of.counts.tolist() == [rows.count(row) for row in dict.fromkeys(rows)]
    assert of.table.tolist() == [list(row) for row in dict.fromkeys(rows)]
