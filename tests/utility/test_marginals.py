from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from unmask.errors import RoleError
from unmask.utility import compare_marginals
from unmask.utility.marginals import ks_distance

NUMBERS = st.lists(st.integers(0, 9), min_size=4, max_size=30)


@given(NUMBERS, NUMBERS)
def test_ks_equals_scipy(x, y):
    assert ks_distance(np.array(x, float), np.array(y, float)) == pytest.approx(
        ks_2samp(x, y, method="asymp").statistic
    )


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.lists(st.sampled_from("abc"), min_size=1, max_size=20)
)
def test_hellinger_equals_its_definition(x, y):
    got = compare_marginals(pl.DataFrame({"t": x}), pl.DataFrame({"t": y})).hellinger[0]
    overlap = sum((x.count(v) / len(x) * y.count(v) / len(y)) ** 0.5 for v in "abc")
    assert got**2 == pytest.approx(max(0.0, 1 - overlap), abs=1e-12)


def test_alike_and_nothing_in_common():
    table = pl.DataFrame({"n": [1.0, 2.0, None, 4.0], "t": ["a", "b", "b", None]})
    same = compare_marginals(table, table)
    assert same.ks[0] == 0
    assert same.hellinger == pytest.approx([0, 0], abs=1e-7)
    other = compare_marginals(table, pl.DataFrame({"n": [9.0, 8.0], "t": ["x", "y"]}))
    assert other.hellinger == pytest.approx([1, 1])
    assert other.ks[0] == 1
    assert np.isnan(other.ks[1])
    assert other.worst == "n"


def test_clear_refusal():
    table = pl.DataFrame({"age": [1]})
    with pytest.raises(RoleError, match="did you mean 'age'"):
        compare_marginals(table, table, columns=["aeg"])
