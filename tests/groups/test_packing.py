"""Whole-number keys packed into one number: the same classes in the same order."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask.groups.counting.classes import count_classes
from unmask.groups.counting.packing import find_packing

NUMBERS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([2**40, -(2**20)]))
ROWS = st.lists(st.tuples(NUMBERS, st.one_of(st.none(), st.integers(0, 255)), NUMBERS), min_size=1, max_size=20)
SCHEMA = {"a": pl.Int64, "b": pl.UInt8, "c": pl.Int64}


@given(ROWS)
def test_the_same_classes_in_the_same_order(rows):
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    packed, plain = (count_classes(t, ["a", "b", "c"]) for t in (table, table.lazy()))
    assert packed.columns.equals(plain.columns)
    assert packed.columns.schema == plain.columns.schema
    assert packed.counts.tolist() == plain.counts.tolist()
    groups = naive.groups(rows, [0, 1, 2])
    assert dict(zip(packed.columns.rows(), packed.counts.tolist(), strict=True)) == {
        key: len(members) for key, members in groups.items()
    }
    assert packed.codes(narrow=True).tolist() == plain.codes().tolist()


@pytest.mark.parametrize(
    ("table", "packs"),
    [
        (pl.DataFrame({"a": [1, None], "b": [0, 9]}), True),
        (pl.DataFrame({"a": [1, 2]}), False),  # one key is one number already
        (pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), False),
        (pl.DataFrame({"a": [0, 2**40], "b": [0, 2**40]}), False),  # too wide
        (pl.DataFrame({"a": [2**63], "b": [1]}, schema={"a": pl.UInt64, "b": pl.Int64}), False),
        (pl.DataFrame({"a": [None], "b": [None]}, schema={"a": pl.Int64, "b": pl.Int64}), True),
    ],
)
def test_when_keys_are_packed(table, packs):
    assert (find_packing(nw.from_native(table), table.columns) is not None) == packs
    assert count_classes(table, table.columns).columns.equals(count_classes(table.lazy(), table.columns).columns)


def test_weights_are_summed_in_packed_groups():
    table = pl.DataFrame({"a": [1, 1, None], "b": [2, 2, 3], "w": [0.5, 1.5, 4.0]})
    assert count_classes(table, ["a", "b"], weight="w").weights.tolist() == [2.0, 4.0]
