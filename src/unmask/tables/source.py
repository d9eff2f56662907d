"""Where a table came from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unmask.tables.read import fingerprint


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, and a hash that tells whether it is still the same."""

    path: str | None
    sha256: str
    rows: int
    columns: int

    @classmethod
    def of(cls, source: Any, frame: pl.DataFrame) -> Source:  # noqa: ANN401 - a path or any frame
        """Note the path, if there is one, and the content."""
        path = str(source) if isinstance(source, (str, Path)) else None
        return cls(path, fingerprint(source, frame), frame.height, frame.width)
