"""What is given to Spark as a table: a DataFrame of its own, a path that it can read, or any other frame.

Paths go to Spark as they are: of this machine, of HDFS, of S3 (s3a://). Cells of text files are texts: what they are is
decided over all tables (`texts`).
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from unmask.engines.files import BOM, TEXTS, files_of, refuse_other_columns
from unmask.engines.sources import Source
from unmask.engines.spark import Spark, is_spark
from unmask.errors import TableError
from unmask.tables import format_of

SEPARATORS = ",;\t|"
GLOBS = "\\[]{}*?"  # what Hadoop takes for a pattern; a backslash before each takes that away


def open_spark_source(spark: Spark, given: Any, where: str, view: str) -> Source:  # noqa: ANN401 - a path or frame
    """Let queries read what is given."""
    files: tuple[Path, ...] = ()
    raw = False
    if isinstance(given, str | Path):
        files = _local_files(str(given), where)
        raw = _are_texts(str(given), files)
        query = _read(spark, str(given), files, (where, f"source_{view}"))
    else:
        frame = given if is_spark(given) else _sent(spark, given, where)
        query = spark.give(f"source_{view}", frame)
    told = given if files else None
    return Source(query, spark.described(f"SELECT * FROM {query}"), files, where, told, raw=raw)


def _are_texts(given: str, files: tuple[Path, ...]) -> bool:
    return format_of(files[0] if files else Path(given)) in TEXTS


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


def _read(spark: Spark, given: str, files: tuple[Path, ...], names: tuple[str, str]) -> str:
    where, view = names
    paths = [_literal(str(path.resolve())) for path in files] or [given]
    if not _are_texts(given, files):  # a folder of elsewhere is of Parquet
        with spark.ours():
            frame = spark.session.read.option("mergeSchema", "true").parquet(*paths)
        return spark.give(view, frame)
    with spark.ours():
        separator = _separator(_first_line(spark, paths))
    header = _header(spark, files, separator, where)
    with spark.ours():
        reader = spark.session.read.option("header", "true").option("sep", separator)
        reader = reader.option("enforceSchema", "false")  # parts of elsewhere are held against the first header
        reader = reader.schema(", ".join(f"{spark.dialect.name(name)} STRING" for name in header)) if header else reader
        frame = reader.option("escape", '"').option("multiLine", "true").csv(paths)
    return spark.give(view, frame)


def _first_line(spark: Spark, paths: list[str]) -> str:
    line = spark.session.read.text(paths).first()
    return str(line[0]) if line else ""


def _separator(line: str) -> str:
    return max(SEPARATORS, key=line.count)


def _header(spark: Spark, files: tuple[Path, ...], separator: str, where: str) -> list[str]:
    """The columns of files of this machine; parts with other ones are refused: Spark would read them by their places.

    Spark itself finds no header in a file whose name has signs of a pattern.
    """
    with spark.ours():
        lines = {path: _first_line(spark, [_literal(str(path.resolve()))]) for path in files}
    headers = {path: next(csv.reader([line.removeprefix(BOM)], delimiter=separator)) for path, line in lines.items()}
    if not headers:
        return []
    refuse_other_columns(headers, where, in_order=True)
    return next(iter(headers.values()))


def _literal(path: str) -> str:
    """A path as Spark reads it: this file, whatever signs of a pattern are in its name."""
    return "".join(f"\\{sign}" if sign in GLOBS else sign for sign in path)
