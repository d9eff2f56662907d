from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask.errors import ParameterError, RoleError
from unmask.groups.magnitude import dominance

SCHEMA = {"word": pl.String, "whole": pl.Int64, "ill": pl.String, "money": pl.Float64}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([1, None]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from([0.0, 1.0, 2.0, 50.0, -3.0, None]),
    ),
    min_size=1,
    max_size=14,
)


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@given(ROWS, st.integers(1, 3), st.sampled_from([0.5, 0.85]), st.sampled_from([0.0, 0.1, 0.5]))
def test_dominance_by_definition(rows, n, share, p):
    found = dominance(frame(rows), quasi=["word", "whole"], magnitude="money", n=n, share=share, p=p)
    wanted = naive.dominance(rows, [0, 1], 3, n, share, p)
    flags = zip(found.dominated.tolist(), found.estimable.tolist(), strict=True)
    assert dict(zip(found.classes.columns.rows(), flags, strict=True)) == wanted
    assert found.n_dominated == sum(d for d, _ in wanted.values())
    assert found.n_estimable == sum(e for _, e in wanted.values())
    assert found.per_record.tolist() == [any(wanted[row[:2]]) for row in rows]


def test_p_percent_by_hand():
    """100, 50 and 9: the second subtracts their 50 from 159 and is at most 9 off the largest, 9 % of it."""
    rows = [("a", 1, "x", amount) for amount in (100.0, 50.0, 9.0)]
    assert dominance(frame(rows), quasi="word", magnitude="money", p=0.10).estimable.tolist() == [True]
    assert dominance(frame(rows), quasi="word", magnitude="money", p=0.05).estimable.tolist() == [False]


def test_same_on_every_engine(engine):
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, [3, 2, 3, 6], (60, 4))
    rows = [(["a", "b", None][a], [1, None][b], "xyz"[c], [0.0, 1.0, 2.5, 7.0, 7.0, None][d]) for a, b, c, d in drawn]
    table = frame(rows)
    here, there = (dominance(t, quasi=["word", "whole"], magnitude="money") for t in (table, engine.frame(table)))
    assert there.table().rows() == here.table().rows()
    assert there.per_record.tolist() == here.per_record.tolist()


def test_refusals():
    table = frame([("a", 1, "x", 1.0)])
    with pytest.raises(RoleError, match="not a magnitude"):
        dominance(table, quasi=["word"], magnitude="ill")
    with pytest.raises(ParameterError, match="dominance rule"):
        dominance(table, quasi=["word"], magnitude="money", share=0.0)
    with pytest.raises(RoleError, match="without end"):
        dominance(frame([("a", 1, "x", float("inf"))]), quasi=["word"], magnitude="money")


def test_not_a_number_is_missing():
    """One NaN must not make the total of a cell NaN, and the cell safe."""
    rows = [("a", 1, "x", amount) for amount in (100.0, float("nan"), 1.0)]
    found = dominance(frame(rows), quasi="word", magnitude="money")
    assert found.table().rows() == [("a", 3, 101.0, True, True)]
