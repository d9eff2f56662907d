"""Whole-number keys as one number: a group-by of one column takes a fraction of the memory of one of nine.

A bare polars group_by of nine keys where nearly every record is unique takes five times the table's memory; grouped by
one packed number, and sorted by it, a fraction. The number is in mixed radix, the first key highest and missing after
all values, so that its order is that of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl

PACKED = "packed"
ROOM = 2**62


@dataclass(frozen=True, slots=True)
class Packing:
    """For each key its least value, how many numbers it needs (missing included), and its type."""

    names: tuple[str, ...]
    least: tuple[int, ...]
    width: tuple[int, ...]
    kinds: tuple[Any, ...]

    def pack(self, frame: Any) -> Any:  # noqa: ANN401 - a narwhals frame
        """Replace the keys by one number."""
        packed = nw.lit(0, nw.Int64)
        for name, least, width in zip(self.names, self.least, self.width, strict=True):
            digit = (nw.col(name).cast(nw.Int64) - least).fill_null(width - 1)
            packed = packed * width + digit
        others = [name for name in frame.collect_schema().names() if name not in self.names]
        return frame.select(packed.alias(PACKED), *others)

    def unpack(self, counted: pl.DataFrame) -> pl.DataFrame:
        """Give the keys back, in place of the number."""
        rest, columns = counted[PACKED], []
        for name, least, width, kind in reversed(
            list(zip(self.names, self.least, self.width, self.kinds, strict=True))
        ):
            digit = rest % width
            value = digit.set(digit == width - 1, None) + least
            columns.append(value.cast(kind).alias(name))
            rest = rest // width
        return counted.drop(PACKED).with_columns(columns[::-1])


def find_packing(frame: Any, names: Sequence[str]) -> Packing | None:  # noqa: ANN401 - a narwhals frame
    """Tell how to pack the keys of a polars table in process; None unless all are whole numbers that fit into one."""
    schema = frame.collect_schema()
    if len(names) < 2 or not isinstance(frame, nw.DataFrame) or not frame.implementation.is_polars():
        return None
    if len(frame) == 0 or not all(schema[name].is_integer() for name in names):
        return None
    ends = frame.select(
        *(nw.col(name).min().alias(f"{name} low") for name in names),
        *(nw.col(name).max().alias(f"{name} high") for name in names),
    ).row(0)
    least = tuple(0 if low is None else int(low) for low in ends[: len(names)])
    most = tuple(0 if high is None else int(high) for high in ends[len(names) :])
    width = tuple(high - low + 2 for low, high in zip(least, most, strict=True))  # one more for missing
    room = 1
    for each in width:
        room *= each
    if room >= ROOM or max(map(abs, (*least, *most))) >= ROOM:
        return None
    kinds = nw.to_native(frame).schema
    return Packing(tuple(names), least, width, tuple(kinds[name] for name in names))
