"""Spark, which this file alone knows: DataFrames and SQL only, so that it runs with Connect as it does without.

Our tables are Parquet in a folder that all workers reach, read as views of the session under names that nobody else
has, and gone afterwards. What a worker that is lost was doing is done again by another: every value follows from the
tables that were given, and no number depends on the order of rows.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

import numpy as np

from unmask.arrays import Ints
from unmask.engines.dialect import SPARK
from unmask.errors import EngineError, ParameterError, TableError, UnmaskError
from unmask.folders import private_folder

LOCAL = "127.0.0.1"
ROWS = 250_000  # records that a worker searches at a time
SALTS = 4  # hashes that are tried until no two ids share one: of 62 bits, of a billion ids one try in ten fails
KNOWN_TYPES = {"INT": "INTEGER", "STRING": "VARCHAR"}  # by the names that `sources` knows
CONNECTOR = re.compile(r'No FileSystem for scheme "?(\w+)|Class org\.apache\.hadoop\.fs\.(\w+)\.\w+ not found')
UNREADABLE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER", "FAILED_READ", "CANNOT_READ", "DATA_SOURCE", "UNSUPPORTED_FILE")


def is_spark(given: Any) -> bool:  # noqa: ANN401 - whatever a user gives
    """Whether this is a DataFrame of Spark, classic or of Connect; Spark is not loaded for it."""
    return type(given).__module__.startswith("pyspark.sql") and hasattr(given, "sparkSession")


class Spark:
    """A session: queries in, arrays out. Errors of the engine are ours, without words that may quote a value."""

    dialect = SPARK
    name, package = "spark", "pyspark"
    together = 28  # sets that are grouped by one query: each of a few jobs takes longer to plan than to run

    def __init__(self, session: Any, work: str) -> None:  # noqa: ANN401 - no types here
        self._session = session
        self._mark = f"unmask_{uuid4().hex[:12]}_"
        self._work = work
        self._tables: dict[str, str] = {}  # and where their parts are; "": given
        self._made = 0

    @property
    def session(self) -> Any:  # noqa: ANN401 - of Spark
        """The session of Spark."""
        return self._session

    def frame(self, query: str) -> Any:  # noqa: ANN401 - of Spark
        """A query, not yet run. It names our tables plainly: the names that the session knows them by stand before."""
        with self.ours():
            return self._session.sql(self._named(query))

    def _named(self, query: str) -> str:
        known = ", ".join(f"{name} AS (SELECT * FROM {self._mark}{name})" for name in self._tables)
        return f"WITH {known} {query}" if known else query

    @contextmanager
    def ours(self) -> Iterator[None]:
        """Turn errors of the engine into ours."""
        try:
            yield
        except UnmaskError:
            raise
        except Exception as error:
            raise _refused(error) from error

    def row(self, query: str) -> tuple[Any, ...]:
        """The one row of a result."""
        frame = self.frame(query)
        with self.ours():
            return tuple(frame.collect()[0])

    def columns(self, query: str) -> dict[str, Ints]:
        """A small result of whole numbers, one array for each column; missing is 0."""
        table = self.table(query)
        return {
            name: np.asarray(table.column(name).fill_null(0).to_numpy(), dtype=np.int64) for name in table.column_names
        }

    def table(self, query: str) -> Any:  # noqa: ANN401 - an Arrow table
        """A small result, as an Arrow table."""
        frame = self.frame(query)
        with self.ours():
            return frame.toArrow()

    def keep(self, table: str, query: str) -> None:
        """Make a table of a result: written once, read as often as it is asked."""
        self._write(table, self.frame(query))

    def _write(self, table: str, frame: Any) -> None:  # noqa: ANN401 - of Spark
        self._made += 1
        place = f"{self._work}/{self._mark}{self._made}"
        with self.ours():
            form = frame.schema  # before its tables change: with Connect a query is read anew each time
            frame.write.parquet(place)
            self.drop(table)
            self._session.read.schema(form).parquet(place).createOrReplaceTempView(f"{self._mark}{table}")
        self._tables[table] = place

    def keep_groups(self, table: str, query: str, work: Any) -> None:  # noqa: ANN401 - what is done with a group
        """Make a table of what some work makes of each group (``block``) of a result, where it is."""
        frame = self.frame(query)

        def each(group: Any) -> Any:  # noqa: ANN401 - Arrow tables, on a worker
            return _work_on_group(group, work)

        with self.ours():
            self._write(table, frame.groupBy("block").applyInArrow(each, work.fields))

    def send(self, table: str, columns: Any) -> None:  # noqa: ANN401 - columns by name, or an Arrow table
        """Make a table of columns that are here."""
        with self.ours():
            self._write(table, self._session.createDataFrame(import_module("pyarrow").table(columns)))

    def hold(self, table: str, query: str) -> None:
        """Name a result that is asked more than once: to group again takes less than to write all groups."""
        self.give(table, self.frame(query))

    def give(self, table: str, frame: Any) -> str:  # noqa: ANN401 - of Spark
        """Let queries read a DataFrame; the name to write in them."""
        with self.ours():
            frame.createOrReplaceTempView(f"{self._mark}{table}")
        self._tables[table] = ""
        return table

    def drop(self, *tables: str) -> None:
        """Remove tables; where Spark alone reaches their parts, empty ones are left."""
        for table in [one for one in tables if one in self._tables]:
            place = self._tables.pop(table)
            with self.ours():
                self._session.catalog.dropTempView(f"{self._mark}{table}")
                if "://" in place:
                    self._session.range(0).write.mode("overwrite").parquet(place)
            if place:
                shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        """Remove all that is ours; a session that is gone has no views left."""
        for table in list(self._tables):
            with suppress(UnmaskError):
                self.drop(table)

    def described(self, query: str) -> dict[str, str]:
        """Names and types of the columns of a query."""
        frame = self.frame(query)
        with self.ours():
            found = [(name, kind.upper()) for name, kind in frame.dtypes]
        return {name: KNOWN_TYPES.get(kind, kind) for name, kind in found}

    def row_number(self, table: str) -> str:
        """A whole number from 0 that no other row of the table (``p``) has, the same if a row is computed again.

        It follows from the id: itself, or a hash of which it was counted that no two ids share it.
        """
        whole = self.described(f"SELECT id FROM {table}")["id"] == "BIGINT"
        if whole and self.row(f"SELECT min(id) FROM {table}")[0] >= 0:
            return "p.id"
        for salt in range(SALTS):
            number = f"(xxhash64(p.id, {salt}) & {2**62 - 1})"
            n, different = self.row(f"SELECT count(*), count(DISTINCT {number}) FROM {table} AS p")
            if n == different:
                return number
        raise EngineError("the ids have no hash that tells them apart", hint="use whole numbers from 0 as ids")

    def over_parts(self, query: str, work: Any, rows: int) -> Iterator[Any]:  # noqa: ANN401 - a search
        """What some work makes of each partition, where it is; the workers need unmask, as they need Arrow."""
        frame, limit = self.frame(query), min(rows, ROWS)

        def scan(batches: Iterator[Any]) -> Iterator[Any]:
            yield from _search_partition(batches, work, limit)

        with self.ours():
            found = frame.mapInArrow(scan, work.fields).toArrow()
        if found.num_rows:
            yield work.made([found.column(name).to_numpy() for name in found.column_names])


def _work_on_group(group: Any, work: Any) -> Any:  # noqa: ANN401 - on a worker
    """Work on one group on one thread: the others belong to other tasks."""
    import numba  # noqa: PLC0415 - slow to load, and the driver may not need it
    import pyarrow as pa  # noqa: PLC0415

    numba.set_num_threads(1)
    return pa.table(work(group))


def _search_partition(batches: Iterator[Any], work: Any, limit: int) -> Iterator[Any]:  # noqa: ANN401 - on a worker
    """Search a partition, some batches at a time, on one thread: the others belong to other tasks."""
    import numba  # noqa: PLC0415 - slow to load, and the driver may not need it
    import pyarrow as pa  # noqa: PLC0415

    numba.set_num_threads(1)
    found, held, n = [], [], 0
    for batch in batches:
        held.append(batch)
        n += batch.num_rows
        if n >= limit:
            found.append(work(pa.Table.from_batches(held)))
            held, n = [], 0
    if n:
        found.append(work(pa.Table.from_batches(held)))
    if found:
        one = work.joined(found)
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in one], names=list(one._fields))


def _refused(error: Exception) -> UnmaskError:
    """What Spark could not do, by the kind of its error: its words may quote a cell."""
    condition = str(getattr(error, "getCondition", lambda: None)() or type(error).__name__)
    missing = CONNECTOR.search(str(error))
    if missing:
        scheme = next(word for word in missing.groups() if word)
        return TableError(
            "Spark has no connector for such a path", got=f"{scheme}://",
            hint="add the package of your storage to Spark (spark.jars.packages), such as hadoop-aws for s3a",
        )  # fmt: skip
    if any(word in condition for word in UNREADABLE):
        return TableError(
            f"Spark cannot read a table ({condition})", hint="is it there, whole, and of one form in all parts?"
        )
    return EngineError(f"Spark could not answer ({condition})", hint="its own log says more, and may quote values")


@contextmanager
def open_spark(given: tuple[Any, ...], master: str | None, work: str | None) -> Iterator[Spark]:
    """The session of the frames that are given, or one of our own, which ends with this.

    ``work``: a folder for tables on the way, which all workers reach; on this machine alone it is a private one.
    """
    sessions = [one.sparkSession for one in given if is_spark(one)]
    if any(one is not sessions[0] for one in sessions):
        raise ParameterError("the frames are of different sessions of Spark", hint="make all in one session")
    if sessions and master is not None:
        raise ParameterError("a frame of Spark has its master already", got=master, hint="leave out the master")
    session, opened = (sessions[0], False) if sessions else start(master or "local[*]")
    spark = None
    with private_folder() as private:
        try:
            spark = Spark(session, (work or _private(session, str(private))).rstrip("/"))
            yield spark
        finally:
            if spark is not None:
                spark.close()
            if opened:
                session.stop()


def _private(session: Any, folder: str) -> str:  # noqa: ANN401 - of Spark
    """A folder of this machine, where the workers are on it."""
    if str(session.conf.get("spark.master", "")).startswith("local"):
        return folder
    raise ParameterError(
        "Spark on many machines needs a folder for tables on the way",
        hint="work= (--work) names one that all workers reach, such as hdfs:///tmp/unmask or s3a://bucket/tmp",
    )


def start(master: str) -> tuple[Any, bool]:
    """A session at a master (local[2], spark://host:7077, yarn) or at a server of Connect (sc://host:15002).

    Also whether it is new: one that is there already is used, and left as it is.
    """
    remote = master.startswith("sc://")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Spark, about other packages
            sql = import_module("pyspark.sql")
            # it would write the words of errors, which may quote a cell, to the screen
            import_module("pyspark.logger").PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
            builder = sql.SparkSession.builder
            active = None if remote else sql.SparkSession.getActiveSession()
            if active is not None:
                return active, False
            if not remote:
                _find_java()
            if master.startswith("local"):
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run here, with what is installed here
            chosen = builder.remote(master) if remote else builder.master(master).appName("unmask")
            for key, value in ({} if remote else _settings(master)).items():
                chosen = chosen.config(key, value)
            return chosen.getOrCreate(), True
    except ModuleNotFoundError:
        raise EngineError("the engine spark is not installed", hint="pip install 'unmask[spark]'") from None
    except UnmaskError:
        raise
    except Exception as error:
        raise EngineError(
            f"no session of Spark could be had ({type(error).__name__})",
            got=master,
            hint="is the master there? local[2] runs Spark on this machine",
        ) from error


def _settings(master: str) -> dict[str, str]:
    """Quiet, and without a page; on this machine alone, nothing listens to others."""
    found = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if master.startswith("local"):
        found |= {"spark.driver.bindAddress": LOCAL, "spark.driver.host": LOCAL}
    return found


def _find_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and shutil.which("java", path=os.path.join(home, "bin"))):  # noqa: PTH118
        raise EngineError(
            "Spark needs Java, and there is none", hint="install Java 17 or 21, or give a server of Connect: sc://host"
        )
