"""What is given to Spark as a table: a DataFrame of its own, a path that it can read, or any other frame.

Paths go to Spark as they are: of this machine, of HDFS, of S3 (s3a://). Text files have no types: all of a column must
be read in one way, else it is text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from unmask.engines.sources import MARKS, TEXTS, Source, files_of
from unmask.engines.spark import Spark, is_spark
from unmask.errors import TableError
from unmask.tables import format_of

SEPARATORS = ",;\t|"
DIGITS = r"^[+-]?\\d{1,18}$"  # in text of SQL a backslash is written twice
FORMS = {
    "BIGINT": DIGITS,
    "DOUBLE": r"^[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?$",
    "DATE": r"^\\d{4}-\\d{2}-\\d{2}$",
    "TIMESTAMP_NTZ": r"^\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?$",
    "BOOLEAN": r"^(true|false|True|False|TRUE|FALSE)$",
}


def open_spark_source(spark: Spark, given: Any, where: str, view: str) -> Source:  # noqa: ANN401 - a path or frame
    """Let queries read what is given."""
    files: tuple[Path, ...] = ()
    if isinstance(given, str | Path):
        files = _local_files(str(given), where)
        query = _read(spark, str(given), files, f"source_{view}")
    else:
        frame = given if is_spark(given) else _sent(spark, given, where)
        query = spark.give(f"source_{view}", frame)
    return Source(query, spark.described(f"SELECT * FROM {query}"), files, where)


def _local_files(given: str, where: str) -> tuple[Path, ...]:
    """The files of a path of this machine, where it is one: their fingerprints are reported."""
    return () if "://" in given else files_of(given, where)


def _sent(spark: Spark, given: Any, where: str) -> Any:  # noqa: ANN401 - any frame, a frame of Spark
    """Send a frame of another kind to Spark."""
    try:
        frame = nw.from_native(given)
    except TypeError as error:
        raise TableError(
            f"{where} is neither a path nor a table", got=type(given).__name__, allowed="a path, or a frame"
        ) from error
    table = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    with spark.ours():
        return spark.session.createDataFrame(table)


def _read(spark: Spark, given: str, files: tuple[Path, ...], view: str) -> str:
    first = files[0] if files else Path(given)
    paths = [str(path.resolve()) for path in files] or [given]
    if format_of(first) not in TEXTS:  # a folder of elsewhere is of Parquet
        with spark.ours():
            frame = spark.session.read.option("mergeSchema", "true").parquet(*paths)
        return spark.give(view, frame)
    with spark.ours():
        line = spark.session.read.text(paths).first()
        separator = max(SEPARATORS, key=(line[0] if line else "").count)
        reader = spark.session.read.option("header", "true").option("sep", separator)
        frame = reader.option("escape", '"').option("multiLine", "true").csv(paths)
    return _typed(spark, spark.give(f"{view}_text", frame), view)


def _typed(spark: Spark, texts: str, view: str) -> str:
    """Columns of text as what all their values are: whole numbers, numbers, dates, times, true and false; else text."""
    names = [spark.dialect.name(name) for name in spark.described(f"SELECT * FROM {texts}")]
    plain = [f"CASE WHEN {name} IN ({MARKS}) THEN NULL ELSE {name} END" for name in names]
    asked = ", ".join(
        f"count({value}), {', '.join(_fitting(value, kind, form) for kind, form in FORMS.items())}" for value in plain
    )
    found, step = spark.row(f"SELECT {asked} FROM {texts}"), len(FORMS) + 1
    chosen = []
    for at, (name, value) in enumerate(zip(names, plain, strict=True)):
        there, *fitting = found[at * step : (at + 1) * step]
        kinds = [kind for kind, many in zip(FORMS, fitting, strict=True) if many == there > 0]
        chosen.append(f"CAST({value} AS {kinds[0] if kinds else 'STRING'}) AS {name}")
    return spark.give(view, spark.frame(f"SELECT {', '.join(chosen)} FROM {texts}"))


def _fitting(value: str, kind: str, form: str) -> str:
    return f"count(CASE WHEN ({value}) RLIKE '{form}' THEN try_cast({value} AS {kind}) END)"
