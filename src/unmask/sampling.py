"""Some people in place of all: those whose id has the smallest hash, the same whatever the engine, order or threads.

The hash is SHA-256 of ``seed:id``, which every engine has. Without an id a person is told by what both tables hold of
them: people who are equal in both are interchangeable.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unmask.errors import ParameterError

if TYPE_CHECKING:
    from unmask.arrays import Rows
    from unmask.tables import Release

BETWEEN = "\x1f"  # values of a row
AT_ONCE = 50_000  # people
NOTHING = "\x00"  # a missing value, which is not an empty text


def people_by_hash(release: Release, size: int, seed: int) -> Rows:
    """Rows of the original of so many people who are in both tables, in the order of the table; all if there are few.

    A larger sample of the same seed contains the smaller one.
    """
    if size < 1:
        raise ParameterError("a sample needs at least one person", got=str(size), allowed="a whole number from 1")
    there = np.asarray(release.paired_rows)
    if size >= there.size:
        return there
    parts = np.array_split(there, -(-there.size // AT_ONCE))  # texts of all would take as much room as the tables
    marks = np.array([_mark(f"{seed}:{name}") for part in parts for name in _names(release, part)], dtype=np.uint64)
    return np.sort(there[np.argsort(marks, kind="stable")[:size]])


def _mark(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _names(release: Release, there: Rows) -> list[str]:
    """What tells each of these people: their id, or what both tables hold of them."""
    if release.id is not None and release.id in release.original.columns:
        return release.original[release.id].gather(there).cast(pl.String).fill_null(NOTHING).to_list()
    own, made = _texts(release.original[there]), _texts(release.released[np.asarray(release.truth)[there]])
    return [f"{one}{BETWEEN}{other}" for one, other in zip(own, made, strict=True)]


def _texts(table: pl.DataFrame) -> list[str]:
    columns = [pl.col(name).cast(pl.String).fill_null(NOTHING) for name in sorted(table.columns)]
    return table.select(pl.concat_str(columns, separator=BETWEEN).alias("text"))["text"].to_list()
