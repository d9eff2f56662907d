from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import REFERENCE
from unmask.errors import RoleError, TableError
from unmask.utility import compare_moments


@pytest.mark.casc
@pytest.mark.parametrize(
    ("file", "key"), [("num_census_y05", "census13_noise0.5"), ("num_census_y005", "census13_noise0.05")]
)
def test_il1s_equals_sdcmicro_5_8_1(file, key):
    census = pl.read_csv(REFERENCE / "data/census.csv")
    masked = pl.read_csv(REFERENCE / f"golden/{file}.csv", infer_schema_length=None)
    golden = json.loads((REFERENCE / "golden/scalars.json").read_text())["dUtility"][key]
    moments = compare_moments(census, masked)
    assert moments.il1s == pytest.approx(golden["IL1s"], rel=1e-9)
    assert moments.il1 == pytest.approx(golden["IL1old"], rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 30), st.integers(0, 999))
def test_equals_numpy(n, seed):
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    got = compare_moments(pl.DataFrame(x, schema=list("abc")), pl.DataFrame(y, schema=list("abc")))
    assert got.means[1] == pytest.approx(y.mean(axis=0))
    assert got.variances[0] == pytest.approx(x.var(axis=0, ddof=1))
    assert got.correlations[1] == pytest.approx(np.corrcoef(y.T))
    change = np.corrcoef(y.T) - np.corrcoef(x.T)
    assert got.correlation_norm == pytest.approx(sum(v * v for v in change.ravel()) ** 0.5)
    assert got.eigenvalues[0].sum() == pytest.approx(3)
    assert got.il1s == pytest.approx(
        sum(abs(x[i, j] - y[i, j]) / (2**0.5 * x[:, j].std(ddof=1)) for i in range(n) for j in range(3))
    )
    assert got.quantiles[0][2] == pytest.approx(np.median(x, axis=0))


def test_nothing_changed():
    table = pl.DataFrame({"a": [1, 2, 4], "b": [3.0, 1.0, 2.0], "word": ["x", "y", "z"]})
    same = compare_moments(table, table)
    assert same.names == ("a", "b")
    assert (same.mean_shift == 0).all()
    assert (same.variance_ratio == 1).all()
    assert same.correlation_norm == same.covariance_norm == same.eigenvalue_shift == same.il1s == 0


@pytest.mark.parametrize("table", [
    pl.DataFrame({"a": [1.0], "b": [2.0]}),
    pl.DataFrame({"a": [1.0, 1.0, 1.0], "b": [2.0, 3.0, None]}),
    pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, schema={"a": pl.Float64, "b": pl.Float64}),
])  # fmt: skip
def test_degenerate(table):
    moments = compare_moments(table, table)
    assert np.isfinite(moments.correlation_norm)
    assert (moments.variance_ratio == 1).all()


def test_other_numbers_of_rows_have_no_il1s():
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    assert compare_moments(table, table[:2]).il1s is None
    assert compare_moments(table, table[:2]).il1 is None


def test_clear_refusals():
    table = pl.DataFrame({"age": [1, 2], "town": ["a", "b"]})
    with pytest.raises(RoleError, match="did you mean 'age'"):
        compare_moments(table, table, columns=["agee"])
    with pytest.raises(RoleError, match="no column is numeric"):
        compare_moments(table[["town"]], table[["town"]])
    with pytest.raises(TableError):
        compare_moments(table, table[:0])
