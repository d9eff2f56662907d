from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, datasets, singling_out
from unmask.disclosure.singling import _fits, assess_singling
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle
from unmask.study.study import Study


def people(seed, n=200):
    return datasets.patients(n, seed=seed).drop("patient")


def test_a_copy_singles_out_and_a_draw_does_not():
    copy = singling_out(Release(people(1), people(1), control=people(3), synthetic=True), claims=200)
    assert copy.original.value == 1.0 and copy.excess.low > 0.4
    draw = singling_out(Release(people(1), people(2), control=people(3), synthetic=True), claims=200)
    assert draw.excess.low == 0.0
    assert copy.per_record.sum() > draw.per_record.sum() > 0


def test_descriptions():
    table = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 1.0]])
    assert _fits(table, np.array([2.0, 1.0]), np.array([1, 0])).tolist() == [False, True, False]
    assert _fits(table, np.array([1.0]), np.array([-1])).tolist() == [True, False, False]
    assert _fits(table, np.array([np.nan]), np.array([0])).tolist() == [False, False, True]


def test_false_alarms_are_rare():
    alarms = 0
    for seed in range(12):
        tables = [datasets.census(120, seed=100 * seed + k) for k in range(3)]
        found = singling_out(Release(tables[0], tables[1], control=tables[2], synthetic=True), claims=100, seed=seed)
        alarms += found.excess.low > 0
    assert alarms <= 2


def test_row_order_refusals_and_evidence():
    base = Release(people(1), people(2), control=people(3), synthetic=True)
    assert singling_out(shuffle(base, 1), claims=50).excess == singling_out(base, claims=50).excess
    with pytest.raises(ParameterError, match="whole numbers"):
        singling_out(base, claims=0)
    with pytest.raises(RoleError, match="outside"):
        singling_out(Release(people(1), people(2), synthetic=True))
    same = pl.DataFrame({"c": ["x"] * 50})
    with pytest.raises(EngineError, match="no description"):
        singling_out(Release(same, same, control=pl.DataFrame({"c": ["y"] * 30}), synthetic=True), claims=5)
    found = assess_singling(Study(base), Context())
    assert found.observations[0].key == "singling.excess" and not found.identity  # a description, and no row, is found


def test_few_descriptions_are_not_many_because_they_are_found_again():
    """Coarse tables with a handful of cells of one row: one that fits by luck is not half of all, nor of people."""
    alarms = unsure = some = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        tables = [pl.DataFrame({c: rng.choice(list("abcd"), 250) for c in "xyz"}) for _ in range(3)]
        tables = [t.filter((pl.col("x") != "a") | pl.Series(rng.random(250) < 0.15)) for t in tables]
        try:
            found = singling_out(Release(*tables[:2], control=tables[2], synthetic=True), claims=100, seed=seed).excess
        except EngineError:
            continue
        some += 1
        alarms += found.low > 0
        unsure += found.high > 0.09
        assert found.n < 20 and found.value <= found.n / 150  # no more people than descriptions
    assert some > 12 and alarms == 0 and unsure == 0
