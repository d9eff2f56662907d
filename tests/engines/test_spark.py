"""Counts and links by Spark, held against the same tables on DuckDB and in memory: equal to the last digit.

On this machine, on a cluster of two workers of which three are killed, and on Connect. Sessions are slow to start: they
are shared, and what is in a process of its own (`spark_session.py`) does all at once.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import unmask
from engine_figures import KINDS, blocked, copied, figures, noisy, people, quiet, with_control
from unmask import engines, large_draws
from unmask.engines import spark as spark_file
from unmask.engines.spark_sources import open_spark_source
from unmask.errors import EngineError, ParameterError, TableError, UnmaskError
from unmask.study import Study
from unmask.tables import read as read_file

pytest.importorskip("duckdb")
needs_spark = pytest.mark.skipif(
    not os.environ.get("CI") and (find_spec("pyspark") is None or shutil.which("java") is None),
    reason="pyspark and Java are not installed",
)
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")


@pytest.fixture(scope="module")
def tables():
    return people()


@pytest.fixture(scope="module")
def wanted(tables):
    with engines.open_store(*tables, id="who", kinds=KINDS) as store:
        found = figures(store)
    return found | {"copied": copied(*with_control(tables)), "blocked": blocked(tables[0], noisy(tables[0]))}


@pytest.fixture(scope="module")
def frames(spark, tables):
    return [spark.createDataFrame(table.to_arrow()).repartition(3) for table in tables]


@pytest.fixture(scope="module")
def store(frames):
    with engines.open_store(*frames, id="who", kinds=KINDS) as opened:
        yield opened


@needs_spark
@pytest.mark.slow
def test_figures_equal_those_of_duckdb(store, wanted):
    assert figures(store) == {name: told for name, told in wanted.items() if name not in {"copied", "blocked"}}


@needs_spark
@pytest.mark.slow
def test_blocks_equal_those_of_duckdb(spark, frames, tables, wanted):
    other = spark.createDataFrame(noisy(tables[0]).to_arrow()).repartition(3)
    assert blocked(frames[0], other) == wanted["blocked"]


@needs_spark
@pytest.mark.slow
@pytest.mark.parametrize("held", ["in one part", "in many, drawn by their numbers"])
def test_copies_equal_those_of_duckdb(spark, frames, tables, wanted, held, monkeypatch):
    tables = with_control(tables)
    given = [*frames, spark.createDataFrame(tables[2].to_arrow()).repartition(2)]
    if held != "in one part":
        monkeypatch.setattr(large_draws, "SORTED", 0)
        wanted = {"copied": copied(*tables)}
    assert copied(*given) == wanted["copied"]


@needs_spark
@pytest.mark.slow
def test_links_equal_those_in_memory(store, tables):
    study = Study(unmask.Release(*tables, id="who", kinds=KINDS))
    assert store.names == study.comparable.names
    asked = engines.sample_people(store, 60, 1)
    near = engines.find_nearest(store, asked, engines.placed_by_distance(store), quiet)
    whole = unmask.link_nearest(study)
    place = {who: row for row, who in enumerate(tables[0]["who"])}
    rows = np.array([place[who] for who in asked.ids])
    assert near.credit.tolist() == whole.credit[rows].tolist()
    assert near.ties.tolist() == whole.tie_sizes[rows].tolist()
    assert near.ties.max() > 1 and 0 < near.credit.mean() < 1


@needs_spark
@pytest.mark.slow
@pytest.mark.parametrize("how", ["connect", "cluster"])
def test_figures_are_equal_on_connect_and_on_a_cluster_that_loses_workers(how, tables, wanted, tmp_path):
    for name, table in zip(("original", "released", "control"), with_control(tables), strict=True):
        table.write_parquet(tmp_path / f"{name}.parquet")
    noisy(tables[0]).write_parquet(tmp_path / "noisy.parquet")
    home = tmp_path / "spark"  # as installed, but a cluster writes its logs beside it
    home.mkdir()
    for part in Path(find_spec("pyspark").origin).parent.iterdir():
        (home / part.name).symlink_to(part)
    paths = [Path(unmask.__file__).parents[1], Path(__file__).parents[1]]
    places = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    places |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    program = Path(__file__).with_name("spark_session.py")
    done = subprocess.run(
        [sys.executable, str(program), how, str(tmp_path)],
        env={**os.environ, **places}, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / f"{how}.json").read_text())
    assert {name: found[name] for name in wanted} == json.loads(json.dumps(wanted))
    flags = sorted(path.name for path in tmp_path.glob("killed-*"))
    assert (found["killed"], flags) == ((1, ["killed-Search", "killed-Spread"]) if how == "cluster" else (0, []))
    assert found["classic"] == (how == "cluster")
    assert found["views"] == [] and found["inside"] and not found["outside"]  # nothing is left behind


@needs_spark
@pytest.mark.slow
def test_assess_large_tells_what_duckdb_tells(frames, tables):
    how = {"id": "who", "kinds": KINDS, "only": ["uniqueness", "nearest"], "sample": 40}
    here, there = (unmask.assess_large(*given, **how) for given in (tables, frames))
    assert [(f.key, f.estimate, f.outcome) for f in there.findings] == [
        (f.key, f.estimate, f.outcome) for f in here.findings
    ]
    assert there.verdict == here.verdict
    assert there.document.manifest.settings["engine"] == "spark"
    assert "pyspark" in there.document.manifest.versions
    with pytest.raises(ParameterError, match="counted by Spark"):
        unmask.assess_large(*frames, id="who", engine="duckdb")
    with pytest.raises(ParameterError, match="has its master already"):
        unmask.assess_large(*frames, id="who", master="local[1]")


@needs_spark
@pytest.mark.slow
def test_the_command_line_reads_text_as_duckdb_does(spark, tables, tmp_path):
    from typer.testing import CliRunner

    from unmask.cli.app import app

    original, released = (table.with_columns(pl.col("income").fill_nan(None)) for table in tables)
    original.write_csv(tmp_path / "o.csv", separator=";", null_value="NA", datetime_format="%Y-%m-%d %H:%M:%S")
    (tmp_path / "r").mkdir()
    released[:70].write_parquet(tmp_path / "r" / "a.parquet")
    released[70:].write_parquet(tmp_path / "r" / "b.parquet")
    given = ["assess", str(tmp_path / "o.csv"), str(tmp_path / "r"), "--id", "who", "--only", "anonymity"]
    told, before = [], {table.name for table in spark.catalog.listTables()}
    for engine in ("duckdb", "spark"):
        done = CliRunner().invoke(app, [*given, "--engine", engine, "--json", str(tmp_path / f"{engine}.json")])
        assert done.exit_code in {0, 1, 3}, done.output
        told.append(json.loads((tmp_path / f"{engine}.json").read_text()))
    assert told[0]["findings"] == told[1]["findings"]
    assert [(c["name"], c["kind"]) for c in told[0]["columns"]] == [(c["name"], c["kind"]) for c in told[1]["columns"]]
    assert told[0]["manifest"]["inputs"] == told[1]["manifest"]["inputs"]
    assert {table.name for table in spark.catalog.listTables()} == before


@needs_spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_text_files_are_decided_as_for_duckdb(tmp_path):
    """Days whose order one file shows, codes, words among numbers; in files whose names look like patterns."""
    n = 200
    days = pl.Series([dt.datetime(1950 + k % 50, 1 + k % 12, 1 + k % 28, 9, 30) for k in range(n)])  # noqa: DTZ001
    people = pl.DataFrame(
        {
            "who": range(n),
            "born": days.dt.strftime("%m/%d/%y"),
            "seen": days.dt.strftime("%m-%d-%Y %H:%M"),
            "plain": days.dt.strftime("%Y-%m-%dT%H:%M:%S"),
            "code": [f"{k % 40:03d}" for k in range(n)],
            "long": [10**17 + k for k in range(n)],
            "cost": [k / 8 for k in range(n)],
            "smokes": [("true", "False")[k % 2] for k in range(n)],
            "mark": [("t", "true", "f", None)[k % 4] for k in range(n)],
        }
    )
    early = people.filter(days.dt.day() <= 12).with_columns(pl.lit("90+").alias("cost"))
    early[0, "cost"] = "0.5"
    given = tmp_path / "people[1]{a}.csv", tmp_path / "release*.csv"
    for path, table in zip(given, (people, early), strict=True):
        table.write_csv(path)
    early.with_columns(pl.col("who") + n).write_csv(tmp_path / "release-other.csv")
    told = []
    for engine in ("duckdb", "spark"):
        with engines.open_store(*given, id="who", engine=engine) as store:
            groups = [side.tolist() for side in engines.count_groups(store)]
            keys = [(key.name, key.kinds, key.numeric, key.width, key.common) for key in (*store.keys, *store.left_out)]
            told.append((keys, groups, store.n_released, dict(store.sources[0].warnings)))
    assert told[0] == told[1]
    kinds = {name: kinds[0] for name, kinds, *_ in told[1][0]}
    assert kinds == {
        "born": "day", "seen": "time", "plain": "time", "code": "text", "long": "whole", "cost": "text",
        "smokes": "yes", "mark": "text",
    }  # fmt: skip
    assert list(told[1][3]) == ["cost"]


@needs_spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_part_of_a_text_table_with_other_columns_is_refused(tmp_path):
    (tmp_path / "o").mkdir()
    people = pl.DataFrame({"who": range(20), "age": range(20), "town": ["a", "b"] * 10})
    people[:10].write_csv(tmp_path / "o" / "p1.csv")
    people[10:].select("who", "town", "age").write_csv(tmp_path / "o" / "p2.csv")
    with (
        pytest.raises(TableError, match="in different orders"),
        engines.open_store(tmp_path / "o", people, id="who", engine="spark"),
    ):
        pass


@needs_spark
@pytest.mark.slow
def test_a_release_of_spark_is_brought_here_while_it_is_small(frames, tables, monkeypatch):
    release = unmask.Release(*frames, id="who")
    assert release.original.height == tables[0].height
    monkeypatch.setattr(read_file, "MOST_BROUGHT", 100)
    with pytest.raises(TableError, match="too large to be brought here") as caught:
        unmask.Release(*frames, id="who")
    assert "assess_large" in str(caught.value)


@needs_spark
@pytest.mark.slow
def test_errors_are_ours_and_quote_nothing(frames, tmp_path):
    with (
        pytest.raises(TableError, match="Spark cannot read a table") as caught,
        engines.open_store("file:///none/there.parquet", frames[1], id="who"),
    ):
        pass
    assert "none" not in str(caught.value)
    (tmp_path / "b.parquet").write_bytes(b"no parquet, but somebody's 12345")
    with (
        pytest.raises(UnmaskError, match="Spark c") as caught,
        engines.open_store(tmp_path / "b.parquet", frames[1], id="who"),
    ):
        pass
    assert "12345" not in str(caught.value)


@needs_spark
@pytest.mark.slow
def test_paths_with_a_scheme_go_to_spark_and_a_missing_connector_is_named(spark, tables, tmp_path, monkeypatch):
    from unmask.cli.app import main

    for name, table in zip(("o", "r"), tables, strict=True):
        table.write_parquet(tmp_path / f"{name}.parquet")
    given = [f"file://{tmp_path}/{name}.parquet" for name in ("o", "r")]
    with engines.open_store(*given, id="who", kinds=KINDS, engine="spark") as store:
        found = engines.count_groups(store)
    with engines.open_store(*tables, id="who", kinds=KINDS) as store:
        wanted = engines.count_groups(store)
    assert [side.tolist() for side in found] == [side.tolist() for side in wanted]
    with (
        pytest.raises(TableError, match="no connector") as caught,
        engines.open_store("s3a://ours/original", given[1], id="who", engine="spark"),
    ):
        pass
    assert "s3a://" in str(caught.value) and "ours" not in str(caught.value)
    asked = ["assess", "s3a://ours/original", given[1], "--engine", "spark", "--id", "who"]
    monkeypatch.setattr(sys, "argv", ["unmask", *asked])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert spark.range(3).count() == 3  # a session that was there is left as it is


# --- without Spark ----------------------------------------------------------------------------------------------------


def test_spark_is_named_where_it_or_java_is_missing(monkeypatch):
    pair = (pl.DataFrame({"id": [1]}),) * 2

    def missing(name):
        raise ModuleNotFoundError(name)

    with monkeypatch.context() as patch:
        patch.setattr(spark_file, "import_module", missing)
        with pytest.raises(EngineError, match="not installed") as caught:
            unmask.assess_large(*pair, id="id", engine="spark")
    assert "unmask[spark]" in str(caught.value)
    quiet_spark = SimpleNamespace(SparkSession=SimpleNamespace(builder=None, getActiveSession=lambda: None))
    quiet_spark.PySparkLogger = SimpleNamespace(getLogger=lambda _name: SimpleNamespace())
    monkeypatch.setattr(spark_file, "import_module", lambda _name: quiet_spark)
    monkeypatch.setattr(spark_file.shutil, "which", lambda *_words, **_more: None)
    with pytest.raises(EngineError, match="needs Java"):
        unmask.assess_large(*pair, id="id", engine="spark")


def test_many_machines_need_a_folder_that_all_reach(tmp_path):
    far = SimpleNamespace(conf=SimpleNamespace(get=lambda *_words: "spark://host:7077"))
    with pytest.raises(ParameterError, match="needs a folder"):
        spark_file._private(far, str(tmp_path))
    near = SimpleNamespace(conf=SimpleNamespace(get=lambda *_words: "local[2]"))
    assert spark_file._private(near, str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "spark"], "needs an id"),
        (["--engine", "spark", "--id", "id", "--memory", "1GB"], "--memory"),
        (["--engine", "duckdb", "--id", "id", "--master", "local[2]"], "--master"),
        (["--engine", "spark", "--id", "id", "--only", "channel"], "engine spark does not have"),
        (["--master", "local[2]"], "for an engine"),
    ],
)
def test_wrong_options_are_refused(more, words):
    from typer.testing import CliRunner

    from unmask.cli.app import app

    done = CliRunner().invoke(app, ["assess", "a.parquet", "b.parquet", *more])
    assert isinstance(done.exception, ParameterError)
    assert words in str(done.exception)


def test_options_of_spark_are_not_for_others():
    pair = (pl.DataFrame({"id": [1]}),) * 2
    with pytest.raises(ParameterError, match="for Spark"):
        unmask.assess_large(*pair, id="id", work="hdfs:///x")
    with pytest.raises(ParameterError, match="no engine 'sparc'"):
        unmask.assess_large(*pair, id="id", engine="sparc")


class Recorded:
    """A session that keeps the paths that it is given, and then has no connector for them."""

    def __init__(self):
        self.paths, self.read = [], self

    def option(self, *_words):
        return self

    def parquet(self, *paths):
        self.paths += paths
        scheme = paths[0].partition(":")[0]
        raise RuntimeError(f'No FileSystem for scheme "{scheme}" at somebody 12345')


@pytest.mark.parametrize(
    "path", ["s3a://ours/a b/original", "hdfs://host:8020/data/*", "abfss://c@acc.net/p", "gs://b/p"]
)
def test_paths_of_elsewhere_are_passed_on_untouched(path):
    session = Recorded()
    store = spark_file.Spark(session, "work")
    with pytest.raises(TableError, match="no connector") as caught:
        open_spark_source(store, path, "the original", "o")
    assert session.paths == [path]
    assert path.partition(":")[0] in str(caught.value)
    assert "12345" not in str(caught.value) and "ours" not in str(caught.value)


def test_a_class_that_is_missing_names_its_connector():
    error = RuntimeError("java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found")
    assert "s3a://" in str(spark_file._refused(error))


def test_the_command_line_hands_paths_over_as_they_are(monkeypatch):
    from typer.testing import CliRunner

    from unmask.cli import large as command
    from unmask.cli.app import app

    seen = []

    def stop(*given, **_options):
        seen.extend(given)
        raise TableError("stop")

    monkeypatch.setattr(command, "assess_large", stop)
    paths = ["s3a://ours/original", "hdfs://host:8020/released"]
    CliRunner().invoke(app, ["assess", *paths, "--engine", "spark", "--id", "id"])
    assert list(map(str, seen)) == paths
