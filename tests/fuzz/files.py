"""Nasty files, from a seed: text that no program should write, damaged tables of every format, and what is no file."""

from __future__ import annotations

import functools
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fuzz.columns import DIGITS, WORD, column, names

if TYPE_CHECKING:
    import random

GOOD = pl.DataFrame(
    {
        "id": range(1, 7),
        "age": [31.5, 42.5, 53.5, float(f"{DIGITS}.5"), 75.5, 86.5],
        "town": ["x", "y", f"{WORD}1", "x", "y", f"{WORD}2"],
        "born": pl.Series(["1990-05-17", "1955-01-31", "1948-02-29", "1990-05-17", None, "2001-01-01"]).str.to_date(),
    }
)
CELLS = (
    "", " ", "1", "2.5", "-0", "1e400", "-1e400", "NaN", "nan", "inf", "0x1F", "1_000", "1,5",
    "1.234,56", "0007", "=1+1",
    f"=HYPERLINK({WORD})", f"@SUM({WORD})", f"+{WORD}", f"-{WORD}", f"{WORD}1", f"{WORD}2", DIGITS,
    f"{DIGITS}.5", "m", "f",
    "0001-01-01", "9999-12-31", "1990-05-17", "17.05.1990", "05/17/90",
    "1990-05-17T10:00:00+05:45", "true", "NA", "null",
    ".", "*", "^.*$", "9223372036854775808", "1" * 40, "٣", "½", "²", "🦄", "\u202e", "é",
    "e\u0301", "\\", "\\N", "'", "''", "`",
    "10-19", ">65", "<script>", "\x1b[31m", "#N/A", "#REF!", "yes", "no", "\x0b", "\x0c", "\u2028", "\x85", "\x1a",
)  # fmt: skip


# --- text ------------------------------------------------------------------------------------------------------------


def text(rng: random.Random) -> tuple[str, bytes]:
    """Name and bytes of a text file that somebody's program could have written."""
    width = rng.choice((1, 1, 2, 2, 3, 4, 8)) if rng.random() > 0.004 else rng.choice((200, 3000))
    rows = rng.choice((0, 1, 1, 2, 2, 3, 6, 20))
    separator = rng.choice(",,,;\t|")
    head = header(rng, width)
    lines = [separator.join(quoted(rng, cell, separator) for cell in head)]
    kinds = [rng.sample(CELLS, rng.choice((1, 2, 6))) for _ in range(width)]
    for _ in range(rows):
        cells = [rng.choice(kind) for kind in kinds]
        if rng.random() < 0.002:
            cells[0] = "x" * 300_000
        if rng.random() < 0.01:
            cells = cells[:-1] or [*cells, *cells]
        lines.append(separator.join(quoted(rng, cell, separator, odd=0.02) for cell in cells))
    end = rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    whole = end.join(lines) + rng.choice(("", end, end * 3))
    name = {"\t": "tsv"}.get(separator, rng.choice(("csv", "csv", "txt")))
    return packed(rng, f"{rng.choice(('a', 'ä b', 'x.y', '-a'))}.{name}", encoded(rng, whole))


def header(rng: random.Random, width: int) -> list[str]:
    """Names of columns: plain, bad, blank or repeated; never a value."""
    head = names(rng, width)
    if rng.random() < 0.08:
        head[rng.randrange(width)] = rng.choice(("", " ", head[0]))
    return head


def quoted(rng: random.Random, cell: str, separator: str, *, odd: float = 0.0) -> str:
    """A cell as a program writes it, now and then as none should."""
    if rng.random() < odd:
        return rng.choice((f'"{cell}', f'{cell}"', f'"{cell}"x', f'""{cell}""', f'"{cell}\n{cell}"', f"'{cell}'"))
    if any(sign in cell for sign in (separator, '"', "\n", "\r")) or rng.random() < 0.1:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def encoded(rng: random.Random, whole: str) -> bytes:
    """Bytes in one encoding or another, with or without a mark, seldom with a zero byte or a broken sign."""
    way = rng.random()
    if way < 0.05:
        return whole.encode("utf-16")
    if way < 0.08:
        return whole.encode(rng.choice(("utf-16-le", "utf-16-be", "utf-32")))
    if way < 0.13:
        return whole.encode("utf-8-sig")
    raw = whole.encode("cp1252" if way < 0.18 else "utf-8", errors="replace")
    if way < 0.21:
        place = rng.randrange(len(raw) + 1)
        return raw[:place] + rng.choice((b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80")) + raw[place:]
    return raw


def packed(rng: random.Random, name: str, raw: bytes) -> tuple[str, bytes]:
    """The file, or a compressed one, whole or cut short."""
    way = rng.random()
    if way > 0.08:
        return name, raw
    whole = gzip.compress(raw, mtime=0) if way < 0.07 else zlib.compress(raw)
    return f"{name}.gz", whole[: rng.randrange(len(whole) + 1)] if way < 0.04 else whole


def records(rng: random.Random) -> tuple[str, bytes]:
    """JSON that holds a table, nearly one, or none."""
    n = rng.choice((0, 1, 2, 5))
    odd = [None, True, 1, 2.5, 1e308, 2**70, f"{WORD}", "", [1], {"a": 1}, "1990-05-17", [], {}]
    keys = names(rng, rng.choice((1, 2, 4)))
    rows = [{key: rng.choice(odd) for key in keys if rng.random() > 0.05} for _ in range(n)]
    if rng.random() < 0.5:
        return "a.jsonl", "\n".join(map(json.dumps, rows)).encode()
    whole = rng.choice(
        [rows, rows, {"data": rows}, {key: [row.get(key) for row in rows] for key in keys}, 7, "x", None]
    )
    raw = json.dumps(whole).encode()
    raw = raw.replace(b"2.5", b"NaN") if rng.random() < 0.1 else raw
    return packed(rng, "a.json", raw[:-1] if rng.random() < 0.1 else raw)


# --- tables of every format, whole and damaged ------------------------------------------------------------------------


def _statistical(write: str, suffix: str, folder: Path) -> bytes:
    import pyreadstat

    path = folder / f"good{suffix}"
    frame = GOOD.with_columns(pl.col("born").cast(pl.String).fill_null("")).to_pandas()
    getattr(pyreadstat, write)(frame, str(path))
    return path.read_bytes()


def _bytes(write: str, frame: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    getattr(frame, write)(buffer)
    return buffer.getvalue()


@functools.cache
def templates() -> dict[str, bytes]:
    """A whole small table in every format, by suffix."""
    made = {
        ".csv": GOOD.write_csv().encode(),
        ".csv.gz": gzip.compress(GOOD.write_csv().encode(), mtime=0),
        ".json": _bytes("write_json", GOOD),
        ".jsonl": _bytes("write_ndjson", GOOD),
        ".parquet": _bytes("write_parquet", GOOD),
        ".arrow": _bytes("write_ipc", GOOD),
        ".feather": _bytes("write_ipc_stream", GOOD),
        ".xlsx": _bytes("write_excel", GOOD),
    }
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in {".dta": "write_dta", ".sav": "write_sav", ".xpt": "write_xport"}.items():
            made[suffix] = _statistical(write, suffix, Path(folder))
    made[".sas7bdat"] = b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + b"\0" * 4000
    return made


def damaged(rng: random.Random) -> tuple[str, bytes]:
    """A table of any format with a broken head, tail or middle, or under another format's name."""
    made = templates()
    suffix = rng.choice(list(made))
    raw = bytearray(made[suffix])
    way = rng.random()
    if way < 0.3:  # the head
        for _ in range(rng.randint(1, 8)):
            raw[rng.randrange(min(64, len(raw)))] = rng.randrange(256)
    elif way < 0.6:  # anywhere
        for _ in range(rng.randint(1, 12)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    elif way < 0.8:
        raw = raw[: rng.randrange(len(raw))]
    elif way < 0.9:
        place = rng.randrange(len(raw))
        raw[place:place] = rng.randbytes(rng.randint(1, 40))
    else:
        suffix = rng.choice(list(made))
    return f"a{suffix}", bytes(raw)


def typed(rng: random.Random) -> tuple[str, bytes]:
    """A file with types that text does not have: nested, dictionaries, decimals, durations, binary, zones."""
    n = rng.choice((0, 1, 2, 6))
    columns = [column(rng, n, nested=0.1).alias(name) for name in names(rng, rng.choice((1, 2, 4)))]
    frame = pl.DataFrame([one for one in columns if one.dtype != pl.Int128])
    suffix, write = rng.choice([("parquet", "write_parquet"), ("arrow", "write_ipc"), ("feather", "write_ipc_stream")])
    return f"a.{suffix}", _bytes(write, frame)


# --- what is no file --------------------------------------------------------------------------------------------------


def _put(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


def _linked(folder: Path, to: str) -> Path:
    path = folder / "link.csv"
    path.symlink_to(to)
    return path


def _locked(folder: Path) -> Path:
    path = _put(folder / "locked.csv", GOOD.write_csv().encode())
    path.chmod(0)
    return path


def _pipe(folder: Path) -> Path:
    path = folder / "pipe.csv"
    os.mkfifo(path)
    return path


def _folder(folder: Path) -> Path:
    path = folder / "folder.csv"
    path.mkdir()
    return path


PLACES: dict[str, Callable[[Path], Path]] = {
    "pipe": _pipe,
    "folder": _folder,
    "no permission": _locked,
    "dangling link": lambda folder: _linked(folder, "nowhere.csv"),
    "link to itself": lambda folder: _linked(folder, "link.csv"),
    "link to a folder": lambda folder: _linked(folder, "."),
    "good link": lambda folder: _linked(folder, str(_put(folder / "good.csv", GOOD.write_csv().encode()))),
    "empty": lambda folder: _put(folder / "empty.csv", b""),
    "no suffix": lambda folder: _put(folder / "table", GOOD.write_csv().encode()),
    "long name": lambda folder: folder / f"{'x' * 300}.csv",
    "zero byte": lambda folder: folder / "a\0b.csv",
    "nowhere": lambda folder: folder / "no" / "such.csv",
    "endless": lambda folder: _linked(folder, "/dev/zero"),
    "nothing": lambda folder: _linked(folder, "/dev/null"),
    "below a file": lambda folder: _put(folder / "good.csv", b"a,b\n1,2\n") / "a.csv",
}
