"""Releases of the same people that are published already: read, and paired with the original.

They are paired as the release is, by the id or by the order of rows. How rows of two releases belong together is not
the intruder's to know: they must find out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

import polars as pl

from unmask.arrays import Rows
from unmask.errors import ParameterError, RoleError, TableError
from unmask.tables.pairing import for_reading, pair

NAME = "earlier"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A release that is published already, and the row of it that was made from each original record (-1: none)."""

    table: pl.DataFrame = field(repr=False)
    truth: Rows = field(repr=False)

    def of(self, rows: Rows) -> Earlier:
        """The same for some of the original records, in this order."""
        return replace(self, truth=for_reading(self.truth[rows]))


def numbered(given: Any) -> dict[str, Any]:  # noqa: ANN401 - a path or any frame, or several
    """Give each earlier release a name: "earlier 1", "earlier 2"; refuse one that is given twice."""
    if isinstance(given, Real) or (isinstance(given, (list, tuple)) and any(isinstance(one, Real) for one in given)):
        raise ParameterError("an earlier release is a table", got="a number", hint="give a path or a frame")
    several = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    marks = {str(Path(one).resolve()) if isinstance(one, (str, Path)) else id(one) for one in several}
    if len(marks) < len(several):
        raise ParameterError(
            "an earlier release is given twice", hint="name each once: a second copy of it tells nothing new"
        )
    return {f"{NAME} {number}": one for number, one in enumerate(several, 1)}


def as_given(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Sources by name as parameters of a release: the earlier ones together, in their order."""
    names = sorted(
        (name for name in tables if name.startswith(f"{NAME} ")), key=lambda name: int(name.rpartition(" ")[2])
    )
    rest = {name: table for name, table in tables.items() if name not in names}
    return {**rest, NAME: [tables[name] for name in names]} if names else rest


def published_before(
    read: Mapping[str, pl.DataFrame], original: pl.DataFrame, column: str | None, *, synthetic: bool
) -> tuple[Earlier, ...]:
    """Pair every earlier release with the original; errors name which one it is."""
    names = [name for name in read if name.startswith(f"{NAME} ")]
    if names and synthetic:
        raise RoleError(
            "earlier releases are joined to this one by whose rows they are, and a synthetic row is nobody's",
            hint="assess each synthetic release by itself, with --second for another one",
        )
    return tuple(_paired(read[name], original, column, name) for name in names)


def _paired(table: pl.DataFrame, original: pl.DataFrame, column: str | None, name: str) -> Earlier:
    which = f"earlier release {name.rpartition(' ')[2]}"
    if column is not None and column not in table.columns:
        raise RoleError(
            f"the {which} has no id column {column!r}", got=f"{table.width} columns",
            hint="add the id, which only pairs the rows and need not be published",
        )  # fmt: skip
    try:
        truth, _ = pair(original, table, column, synthetic=False)
    except TableError as error:
        raise TableError(
            f"the {which} has no rows that belong to the original's: {error.what}", got=error.got, hint=error.hint
        ) from None
    return Earlier(table, for_reading(truth))
