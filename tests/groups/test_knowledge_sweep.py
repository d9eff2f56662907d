from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask.errors import EngineError, ParameterError
from unmask.groups.knowledge_sweep import knowledge_sweep

ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.sampled_from([0.5, None]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)
SCHEMA = {"a": pl.String, "b": pl.Int64, "c": pl.Float64, "d": pl.Int64}
KEYS = list(SCHEMA)


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def sizes(rows, attributes):
    return [len(members) for members in naive.groups(rows, sorted(attributes)).values()]


@given(ROWS)
def test_every_set_by_definition(rows):
    found = knowledge_sweep(frame(rows), quasi=KEYS, k=3)
    assert len(found.masks) == 15
    for mask, groups, alone, below in zip(
        found.masks.tolist(), found.n_groups, found.n_unique, found.n_below, strict=True
    ):
        counted = sizes(rows, [j for j in range(4) if mask >> j & 1])
        assert (groups, alone, below) == (len(counted), counted.count(1), sum(s for s in counted if s < 3))


@pytest.mark.parametrize("kind", ["average", "unique", "below"])
@given(rows=ROWS)
def test_shapley_is_the_mean_over_all_orders(rows, kind):
    found = knowledge_sweep(frame(rows), quasi=KEYS, k=3)

    def value(known):
        counted = sizes(rows, known)
        return {"average": len(counted), "unique": counted.count(1), "below": sum(s for s in counted if s < 3)}[
            kind
        ] / len(rows)

    assert list(found.shapley(kind).values()) == pytest.approx(naive.shapley(4, value), abs=1e-12)
    assert sum(found.shapley(kind).values()) == pytest.approx(value({0, 1, 2, 3}) - value(()), abs=1e-12)


@given(ROWS)
def test_smallest_sets_are_minimal(rows):
    found = knowledge_sweep(frame(rows), quasi=KEYS)
    alone = {s: sizes(rows, s).count(1) for s in _subsets(4)}
    minimal = {s for s, n in alone.items() if n and not any(alone[t] for t in alone if set(t) < set(s))}
    assert {(tuple(KEYS[j] for j in s), alone[s]) for s in minimal} == set(found.smallest_sets())


def _subsets(m):
    return [tuple(j for j in range(m) if mask >> j & 1) for mask in range(1, 2**m)]


def test_growth_and_a_sweep_that_stops_early():
    rng = np.random.default_rng(0)
    rows = [("ab"[a], int(b), [0.5, None][c], int(d)) for a, b, c, d in rng.integers(0, [2, 5, 2, 9], (80, 4))]
    whole, short = knowledge_sweep(frame(rows), quasi=KEYS), knowledge_sweep(frame(rows), quasi=KEYS, max_size=2)
    growth = whole.growth()
    assert growth["known"].to_list() == [1, 2, 3, 4]
    assert growth["mean"].to_list() == sorted(growth["mean"].to_list())  # more knowledge, more risk
    assert short.growth().rows() == growth.rows()[:2]
    assert knowledge_sweep(frame(rows), quasi=KEYS, max_size=1).growth().rows() == growth.rows()[:1]
    assert sum(short.shapley().values()) == pytest.approx(growth["mean"][1] - 1 / 80)
    assert all(alone > 0.2 * 80 for _, alone in whole.smallest_sets(share=0.2))
    assert whole.smallest_sets(share=1.0) == []


def test_same_on_every_engine(engine):
    rng = np.random.default_rng(1)
    rows = [
        (["a", "b", None][a], int(b), [0.5, None][c], int(d)) for a, b, c, d in rng.integers(0, [3, 4, 2, 5], (50, 4))
    ]
    here, there = knowledge_sweep(frame(rows), quasi=KEYS), knowledge_sweep(engine.frame(frame(rows)), quasi=KEYS)
    for part in ("masks", "n_groups", "n_unique", "n_below"):
        assert getattr(there, part).tolist() == getattr(here, part).tolist()


def test_refusals(monkeypatch):
    table = frame([("a", 1, 0.5, 2)])
    for options in ({"max_size": 0}, {"max_size": 5}, {"k": 0}):
        with pytest.raises(ParameterError):
            knowledge_sweep(table, quasi=KEYS, **options)
    with pytest.raises(ParameterError, match="unknown risk"):
        knowledge_sweep(table, quasi=KEYS).risk("other")
    monkeypatch.setattr(sys.modules["unmask.groups.knowledge_sweep"], "MAX_SETS", 3)  # the function has its name
    with pytest.raises(EngineError, match="too many sets"):
        knowledge_sweep(table, quasi=KEYS)
