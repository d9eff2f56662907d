"""The same test body on every engine: ``engine.frame(columns)`` builds the table where it says."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import warnings
from typing import NamedTuple

import pandas as pd
import polars as pl
import pytest

NEEDS = {
    "polars": [],
    "polars lazy": [],
    "pandas": [],
    "duckdb": ["duckdb"],
    "spark": ["pyspark", "java"],
}
SPARK_TYPES = {pl.String: "string", pl.Int64: "bigint", pl.Float64: "double", pl.Boolean: "boolean"}


def _missing(name):
    found = shutil.which("java") if name == "java" else importlib.util.find_spec(name)
    return found is None


def _params():
    for engine, needed in NEEDS.items():
        missing = [name for name in needed if _missing(name)]
        # under CI nothing is skipped: what is missing there must fail
        marks = (
            [pytest.mark.skip(reason=f"{', '.join(missing)} not installed")]
            if missing and not os.environ.get("CI")
            else []
        )
        marks += [pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")] if engine == "spark" else []
        yield pytest.param(engine, id=engine.replace(" ", "-"), marks=marks)


class Engine(NamedTuple):
    name: str
    frame: object  # polars frame -> frame of the engine

    @property
    def in_process(self):
        return self.name in {"polars", "pandas"}


@pytest.fixture(scope="session")
def spark():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("unmask-tests")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.default.parallelism": "1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "ERROR",
            "spark.sql.codegen.wholeStage": "false",  # tables of sixty rows: compiling each query is what takes time
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session", params=_params())
def engine(request):
    name = request.param
    if name == "duckdb":
        import duckdb

        connection = duckdb.connect()
        return Engine(name, lambda table: connection.from_arrow(table.to_arrow()))
    if name == "spark":
        session = request.getfixturevalue("spark")

        def frame(table):
            schema = ", ".join(f"`{column}` {SPARK_TYPES[kind]}" for column, kind in table.schema.items())
            return session.createDataFrame(table.rows(), schema)

        return Engine(name, frame)
    makers = {
        "polars": lambda table: table,
        "polars lazy": lambda table: table.lazy(),
        "pandas": lambda table: pd.DataFrame(table.to_dict(as_series=False)),
    }
    return Engine(name, makers[name])
