"""The same people are asked for whatever the order of rows and columns, and a larger sample holds the smaller."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.errors import ParameterError
from unmask.sampling import people_by_hash


def tables(n: int = 60) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(1)
    own = pl.DataFrame(
        {"id": [f"P{k:03d}" for k in range(n)], "age": rng.integers(20, 80, n), "pay": rng.normal(size=n).round(3)}
    )
    return own, own.with_columns(pl.col("pay") + 0.1)


def names(release: unmask.Release, rows: np.ndarray) -> set[str]:
    return set(release.original["id"].gather(rows))


def test_people_of_the_smallest_sha256_of_seed_and_id():
    own, made = tables()
    release = unmask.Release(own, made, id="id")
    by_hand = sorted(own["id"], key=lambda name: hashlib.sha256(f"7:{name}".encode()).hexdigest())[:10]
    assert names(release, people_by_hash(release, 10, 7)) == set(by_hand)
    assert names(release, people_by_hash(release, 10, 8)) != set(by_hand)


@pytest.mark.parametrize("with_id", [True, False])
def test_row_order_makes_no_difference(with_id):
    own, made = tables()
    order = np.random.default_rng(3).permutation(own.height)
    how = {"id": "id"} if with_id else {"ignored": ["id"]}
    release, shuffled = unmask.Release(own, made, **how), unmask.Release(own[order], made[order], **how)
    one, other = people_by_hash(release, 20, 0), people_by_hash(shuffled, 20, 0)
    assert len(one) == 20
    assert names(release, one) == names(shuffled, other)


def test_released_rows_in_another_order_make_no_difference():
    own, made = tables()
    order = np.random.default_rng(4).permutation(own.height)
    both = unmask.Release(own, made, id="id"), unmask.Release(own, made[order], id="id")
    assert np.array_equal(*(people_by_hash(release, 15, 0) for release in both))


def test_a_larger_sample_contains_the_smaller_and_all_is_all():
    release = unmask.Release(*tables(), id="id")
    assert set(people_by_hash(release, 10, 0)) < set(people_by_hash(release, 30, 0))
    assert np.array_equal(people_by_hash(release, 60, 0), release.paired_rows)


@pytest.mark.parametrize("with_id", [True, False])
def test_names_that_are_hashed_in_parts_make_no_difference(with_id, monkeypatch):
    release = unmask.Release(*tables(), **({"id": "id"} if with_id else {"ignored": ["id"]}))
    at_once = people_by_hash(release, 20, 0)
    monkeypatch.setattr("unmask.sampling.AT_ONCE", 7)
    assert np.array_equal(people_by_hash(release, 20, 0), at_once)


def test_only_people_who_are_in_both_tables():
    own, made = tables()
    release = unmask.Release(own, made[:25], id="id")
    rows = people_by_hash(release, 10, 0)
    assert len(rows) == 10
    assert set(rows) <= set(release.paired_rows)


def test_nobody_is_no_sample():
    with pytest.raises(ParameterError, match="at least one person"):
        people_by_hash(unmask.Release(*tables(), id="id"), 0, 0)
