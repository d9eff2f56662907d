"""An order of columns that follows what they hold: never their names, their places, their units or their labels.

Whatever is drawn by lot over columns, and whichever of two equally good ones comes first, must not depend on how a
table was told. Numbers are described by moments that no unit changes, categories by how often each occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.tables.encode import as_text, to_floats
from unmask.tables.sums import centre_and_spread, total

if TYPE_CHECKING:
    import polars as pl

    from unmask.arrays import Floats
    from unmask.tables.release import Release

    Description = tuple[float, ...]

DIGITS = 8  # of moments: another unit changes the last bits of a number


def by_content(release: Release, names: Iterable[str]) -> tuple[str, ...]:
    """The same names in the order of what their columns hold; names themselves decide between equal columns only."""
    chosen = list(names)
    if len(chosen) < 2:
        return tuple(chosen)
    tables = release.original, release.released
    codes = {name for name, column in release.columns.items() if column.kind == "categorical"}
    columns = [[table.get_column(name, default=None) for name in chosen] for table in tables]
    told = {
        name: [() if column is None else _described(column, as_codes=name in codes) for column in both]
        for name, *both in zip(chosen, *columns, strict=True)
    }
    return tuple(sorted(chosen, key=lambda name: (told[name], name)))


def reordered(release: Release) -> dict[str, Any]:
    """Tables, columns and roles of a release in the order of what its columns hold."""
    names = by_content(release, dict.fromkeys((*release.original.columns, *release.released.columns)))
    place = {name: number for number, name in enumerate(names)}

    def in_order(columns: Iterable[str]) -> list[str]:
        return sorted(columns, key=lambda name: place.get(name, len(place)))

    tables = {role: getattr(release, role) for role in ("original", "released", "control", "population")}
    changed: dict[str, Any] = {
        role: table.select(in_order(table.columns)) for role, table in tables.items() if table is not None
    }
    known, unshared = (tuple(in_order(part)) for part in (release.roles.quasi, release.roles.unshared))
    columns = {name: release.columns[name] for name in in_order(release.columns)}
    return {**changed, "columns": columns, "roles": replace(release.roles, quasi=known, unshared=unshared)}


def _described(column: pl.Series, *, as_codes: bool) -> Description:
    """Numbers that tell a column from others, whatever its unit or its labels."""
    present = column.drop_nulls()
    is_number = (column.dtype.is_numeric() or column.dtype.is_temporal()) and not as_codes
    told = _moments(to_floats(present, column.name)) if is_number else _counts(present)
    return (float(not is_number), float(present.n_unique()), float(column.null_count()), *told)


def _moments(values: Floats) -> Description:
    """Skewness, whichever way the unit runs, and kurtosis."""
    mean, spread = centre_and_spread(values)
    if spread == 0:
        return (0.0, 0.0)
    standard = (values - mean) / spread
    cubes = standard * standard * standard  # far faster than a power
    return tuple(abs(round(total(power) / power.size, DIGITS)) for power in (cubes, cubes * standard))


def _counts(present: pl.Series) -> Description:
    count = as_text(present).alias("").value_counts()["count"].to_numpy().astype(np.float64)
    return tuple(float((count**power).sum()) for power in (2, 3))
