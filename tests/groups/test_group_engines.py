"""group_risk on every engine and with weights; the examples of the docs pages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from unmask import group_risk
from unmask.errors import RoleError

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = pl.DataFrame(
    {
        "word": ["a", "a", None, None, "b", "c"],
        "n": [0.5, 0.5, None, None, 1.0, float("nan")],
        "w": [2.0, 3.5, 1.0, 1.0, 1.0, 4.0],
    }
)


def test_same_on_every_engine(engine):
    here, there = (group_risk(table, quasi=["word", "n"]) for table in (TABLE, engine.frame(TABLE)))
    assert there.sizes.size.tolist() == here.sizes.size.tolist() == [1, 2]
    assert there.sizes.groups.tolist() == here.sizes.groups.tolist() == [2, 2]
    assert (there.minimum, there.average, there.threshold) == (here.minimum, here.average, here.threshold)
    assert there.per_record.tolist() == [1 / 2, 1 / 2, 1 / 2, 1 / 2, 1, 1]


def test_weights_count_people(engine):
    found = group_risk(engine.frame(TABLE), quasi=["word", "n"], weight="w")
    assert (found.n_records, found.n_groups, found.n_unique) == (6 + 2 + 1 + 4, 4, 1)
    assert found.minimum == 1 / 13
    assert found.average == 4 / 13
    assert found.per_record == pytest.approx([1 / 6, 1 / 6, 1 / 2, 1 / 2, 1, 1 / 4])


def test_nan_in_parquet_is_missing_on_duckdb_too(tmp_path):
    """DuckDB answers isnan() from the file's statistics, in which NaN does not count."""
    duckdb = pytest.importorskip("duckdb")
    table = pl.DataFrame({"x": [1.0, float("nan"), None, 2.0, float("inf"), -0.0, 0.0], "y": list("aaabccc")})
    for part in (table, table.filter(pl.col("x").is_not_null() & ~pl.col("x").is_infinite())):
        part.write_parquet(tmp_path / "nan.parquet")
        there = duckdb.from_parquet(str(tmp_path / "nan.parquet"))
        found = [group_risk(one, quasi=["x", "y"]).per_record.tolist() for one in (part, there)]
        assert found[0] == found[1]


def test_wrong_weights():
    with pytest.raises(RoleError, match="positive"):
        group_risk(TABLE.with_columns(w=pl.lit(0.0)), quasi=["word"], weight="w")
    with pytest.raises(RoleError, match="weight"):
        group_risk(TABLE, quasi=["word"], weight="weigth")
