"""What a file holds, by its name; and compressed text files, such as .csv.gz and .jsonl.zst."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from unmask.errors import TableError

TEXTS = (".csv", ".tsv", ".txt")
RECORDS = (".json", ".jsonl", ".ndjson")
PACKED = (".gz", ".zst")
FORMATS = (
    "CSV/TSV or JSON (lines), also as .gz or .zst, Excel .xlsx, Parquet, Arrow/Feather, Stata .dta, SPSS .sav, "
    "SAS .sas7bdat or .xpt, or a frame"
)


def format_of(path: str | Path) -> str:
    """Suffix that says what a file holds: .csv of people.csv.gz. Only text is compressed from outside."""
    *_, inner, outer = ["", "", *(suffix.lower() for suffix in Path(path).suffixes)]
    return inner if outer in PACKED and inner in (*TEXTS, *RECORDS) else outer


def unpacked(path: Path) -> bytes:
    """Bytes of a text file, unpacked where its name ends in .gz or .zst."""
    raw, outer = path.read_bytes(), path.suffix.lower()
    if outer not in PACKED:
        return raw
    try:
        return gzip.decompress(raw) if outer == ".gz" else _zstd(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(
            f"{path.name} is not a whole {outer} archive",
            hint="is the suffix right? copy or download it again",
        ) from error


def packed(raw: bytes, path: Path) -> bytes:
    """Pack a text file as its name says; the same text gives the same bytes."""
    outer = path.suffix.lower()
    if outer == ".gz":
        return gzip.compress(raw, mtime=0)
    if outer != ".zst":
        return raw
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return bytes(pa.Codec("zstd").compress(raw, asbytes=True))


def _zstd(raw: bytes) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return bytes(pa.CompressedInputStream(pa.BufferReader(raw), "zstd").read())


def unreadable(path: Path) -> TableError:
    """Each library raises an error of its own: its words may quote a value, and its name says nothing to a user."""
    return TableError(f"{path.name} is not a readable {path.suffix} file", hint="is the suffix right, the file whole?")
