"""Is an Arrow or Parquet file whole? Looked at before polars reads it.

polars trusts the sizes that such a file tells. Where they are damaged it writes to the screen past Python, or asks for
more memory than there is and ends the process, which nothing can catch. pyarrow holds every size against the file
first; a block at a time, so that no second copy of the table is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import TableError

if TYPE_CHECKING:
    import polars as pl

MAGIC = b"ARROW1"  # begins a file of Arrow; a stream of it begins otherwise
CATEGORIES, LEVELS = b"_PL_CATEGORICAL2", b"_PL_ENUM_VALUES2"  # notes of polars about a column
WIDTHS = (b"u8;", b"u16;", b"u32;")


def is_stream(path: Path) -> bool:
    """Whether the Arrow tables of a file follow each other without a list of them at its end."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) != MAGIC


def check_arrow(path: Path) -> None:
    """Refuse an Arrow file whose blocks do not lie in it, or hold what their types do not allow."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with pa.memory_map(str(path)) as file:
        if is_stream(path):
            with pa.ipc.open_stream(file) as stream:
                _check(path, stream.schema, stream)
            return
        with pa.ipc.open_file(file) as found:
            blocks = (found.get_batch(number) for number in range(found.num_record_batches))
            _check(path, found.schema, blocks)


def check_parquet(path: Path) -> None:
    """Refuse a Parquet file whose pages do not lie in it, or hold another number of rows than they say."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import

    with pq.ParquetFile(path, memory_map=True) as file:
        about = file.metadata
        said = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        rows = _check(path, file.schema_arrow, file.iter_batches())
        if not rows == sum(said) == about.num_rows and about.num_columns:
            raise _damaged(path)


def checked(path: Path, check: Callable[[Path], None], read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    """Read a file that is whole. What pyarrow has no type for, as whole numbers of 128 bits, polars reads alone."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with suppress(pa.ArrowNotImplementedError):
        check(path)
    return read(path)


def _check(path: Path, schema: Any, blocks: Iterable[Any]) -> int:  # noqa: ANN401 - of pyarrow, which has no types
    """Look at each block; the number of rows."""
    for field in schema:
        for key, words in (field.metadata or {}).items():
            if key in {CATEGORIES, LEVELS} and not _in_order(words, 2 if key == CATEGORIES else None):
                raise _damaged(path)
    rows = 0
    for block in blocks:
        block.validate(full=True)
        rows += block.num_rows
    return rows


def _in_order(words: bytes, pieces: int | None) -> bool:
    """Whether a note of polars is texts, each after its length and a ";"; of categories two and the width of codes."""
    while words if pieces is None else pieces:
        length, mark, rest = words.partition(b";")
        if not mark or not length.isdigit() or int(length) > len(rest):
            return False
        words = rest[int(length) :]
        pieces = None if pieces is None else pieces - 1
    return pieces is None or words in WIDTHS


def _damaged(path: Path) -> TableError:
    return TableError(f"{path.name} is damaged: its parts do not fit together", hint="save it again")
