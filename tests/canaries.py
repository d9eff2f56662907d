"""Values that nothing but the tables can hold, and a search for them in whatever was written, however it is encoded.

A text is a canary by its word, a number by the range it lies in, a date by its year: any other number, rounded or not,
written with separators, in an array or in a compressed file, that lies in the range gives a value away.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import json
import re
import urllib.parse
import zipfile
from datetime import date, timedelta

import numpy as np
import polars as pl

WORDS = ("Zyxid", "Qovtown", "Wubdiag", "Kifctrl", "Jexhouse")  # id, quasi, confidential, control, household
LOW, HIGH = 918_000_000.0, 919_000_000.0  # numbers of quasi, confidential and control columns
YEAR = 1747  # dates
ROUND = 100_000  # ends of bands are so round that they are nobody's value: a masking names them
ROWS = 96
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"\d{1,3}(?:[,._ '\u00a0\u202f]\d{3})+(?:[.,]\d+)?")
SHORT = re.compile(r"\b918(?:\.\d+)?\s?(?:M|million)\b")
LONG_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{8,}={0,2}")
DATE = re.compile(rf"{YEAR}-\d\d|\b\d\d?[./]\d\d?[./]{YEAR}\b")
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd


def people(rows: int = ROWS, *, word: str = "", seed: int = 1) -> pl.DataFrame:
    """People whose every cell is a canary, but for one column of plain groups; some are alone with their values."""
    draw = np.random.default_rng(seed)
    towns = draw.integers(0, 8, rows)
    towns[0] = 99  # a town with one holder
    income = LOW + draw.integers(1, 900_000, rows)
    cost = LOW + draw.integers(1, 900_000, rows) + 0.25
    income[1], cost[2] = HIGH - 7, HIGH - 5.75  # extreme values
    return pl.DataFrame(
        {
            "person": [f"Zyxid{word}{row:04d}" for row in range(rows)],
            "town": [f"Qovtown{word}{town:02d}" for town in towns],
            "sex": [("f", "m")[row] for row in draw.integers(0, 2, rows)],
            "born": [date(YEAR, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 360, rows)],
            "income": income,
            "diagnosis": [f"Wubdiag{word}{kind:02d}" for kind in draw.integers(0, 5, rows)],
            "cost": cost,
        }
    )


def leaks(content: bytes, depth: int = 3) -> set[str]:
    """Every canary in these bytes: as it is, escaped, quoted, in base64, compressed, in a table or in an array."""
    found = _in_text(content.decode("utf-8", "replace")) | _in_text(content.decode("utf-16-le", "ignore"), plain=True)
    if depth:
        for inner in _inside(content):
            found |= leaks(inner, depth - 1)
    return found


def _in_text(text: str, *, plain: bool = False) -> set[str]:
    """Canaries of a text in every spelling."""
    spellings = {text} if plain else {text, html.unescape(text), urllib.parse.unquote(text), _unescaped(text)}
    found: set[str] = set()
    for one in spellings:
        lower = one.lower()
        found |= {word for word in WORDS if word.lower() in lower}
        found |= {hit[0] for hit in DATE.finditer(one)}
        found |= {hit[0] for hit in SHORT.finditer(one)}
        found |= {hit[0] for form in (NUMBER, GROUPED) for hit in form.finditer(one) if _is_canary(hit[0])}
    return found


def _is_canary(token: str) -> bool:
    digits = token if NUMBER.fullmatch(token) else re.sub(r"\D", "", GROUPED.fullmatch(token)[0][:11])
    number = float(digits)
    return LOW <= number <= HIGH and number % ROUND != 0


def _unescaped(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})", lambda hit: chr(int(hit[1] or hit[2], 16)), text)


def _inside(content: bytes) -> list[bytes]:
    """What is packed, encoded or stored in these bytes."""
    parts = [_decoded(hit[0]) for hit in LONG_BASE64.finditer(content)]
    if content.startswith(PACKED[0]):
        parts.append(gzip.decompress(content))
    if content.startswith(PACKED[1]):
        parts.append(_zstd(content))
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts += [archive.read(name) for name in archive.namelist()]
    if content.startswith((b"PAR1", b"ARROW1")):
        parts.append(_cells(content))
    if content.startswith(b"\x93NUMPY"):
        parts.append(json.dumps(np.load(io.BytesIO(content)).ravel().tolist()).encode())
    return [part for part in parts if part]


def _zstd(content: bytes) -> bytes:
    return pl.read_csv(content, has_header=False, infer_schema=False).write_csv().encode()


def _cells(content: bytes) -> bytes:
    read = pl.read_parquet if content.startswith(b"PAR1") else pl.read_ipc
    table = read(io.BytesIO(content))
    return "\n".join([*table.columns, *(str(cell) for row in table.iter_rows() for cell in row)]).encode()


def _decoded(text: bytes) -> bytes:
    """What a text is as base64: itself, and its bytes as numbers."""
    try:
        raw = base64.b64decode(text.replace(b"-", b"+").replace(b"_", b"/") + b"=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return b""
    numbers = [str(float(n)) for kind in ("<f8", "<f4", "<i8") for n in _numbers(raw, kind) if LOW <= n <= HIGH]
    words = raw if any(word.lower().encode() in raw.lower() for word in WORDS) else b""
    return words + " ".join(numbers).encode()


def _numbers(raw: bytes, kind: str) -> np.ndarray:
    size = np.dtype(kind).itemsize
    if len(raw) < size or len(raw) % size:
        return np.empty(0)
    with np.errstate(all="ignore"):
        found = np.frombuffer(raw, dtype=kind)
        return found[np.isfinite(found)]


def search(folder, *, besides=()) -> dict[str, set[str]]:
    """Files under a folder that hold a canary, in their content or their name; ``besides``: data by design."""
    data = {path.resolve() for path in besides}
    found = {}
    for path in sorted(folder.rglob("*")):
        here = leaks(str(path.relative_to(folder)).encode())
        if path.is_file() and path.resolve() not in data:
            here |= leaks(path.read_bytes())
        if here:
            found[str(path.relative_to(folder))] = here
    return found
