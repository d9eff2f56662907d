"""A Study: a release and everything that was made of it, each thing once.

Measures receive it in place of the release and ask it for encodings; nobody encodes for himself. What it hands out is
shared and must not be changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from unmask.errors import RoleError
from unmask.tables.encode import Encoding, assemble, encode_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unmask.tables.encode import EncodedColumn
    from unmask.tables.release import Release

Others = Literal["control", "population"]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What every attack needs of a release, made on demand and kept."""

    release: Release
    _columns: dict[str, EncodedColumn] = field(default_factory=dict, init=False, repr=False)
    _encodings: dict[tuple[str, ...], Encoding] = field(default_factory=dict, init=False, repr=False)
    _related: dict[str, Study] = field(default_factory=dict, init=False, repr=False)

    def encoding(self, columns: Iterable[str] | None = None) -> Encoding:
        """Both tables as arrays: what the intruder knows, or the columns named."""
        names = self.release.quasi if columns is None else tuple(columns)
        if names not in self._encodings:
            sizes = self.release.original.height, self.release.released.height
            self._encodings[names] = assemble([self._column(name) for name in names], *sizes)
        return self._encodings[names]

    def _column(self, name: str) -> EncodedColumn:
        if name not in self._columns:
            self._columns[name] = encode_column(self.release, name)
        return self._columns[name]

    def beside(self, others: Others, columns: Iterable[str] | None = None) -> Study:
        """The same release with other people beside those of the original, on one codebook: they have no row in it.

        There is one such study for all columns that can be put under each other; those named must be among them.
        """
        table = self.release.control if others == "control" else self.release.population
        if table is None:
            raise RoleError(f"there is no {others} table", hint=f"give one in {others}=")
        if others not in self._related:
            fitting = [name for name in self.release.original.columns if self.release.fits(table, name)]
            self._related[others] = Study(self.release.with_people(table, fitting))
        wanted = self.release.quasi if columns is None else columns
        absent = [name for name in wanted if name not in self._related[others].release.original.columns]
        if absent:
            self.release.with_people(table, absent)  # says what is wrong with them
        return self._related[others]

    def everybody(self, columns: Iterable[str] | None = None) -> Study:
        """The people of the original and, if there are any, of control beside them."""
        return self if self.release.control is None else self.beside("control", columns)

    @property
    def alone(self) -> Study:
        """The original as its own release: for columns that the release does not have."""
        if "alone" not in self._related:
            table = self.release.original
            rows = np.arange(table.height, dtype=np.int64)
            self._related["alone"] = Study(self.release.with_tables(table, table, rows))
        return self._related["alone"]


def as_study(release: Release | Study) -> Study:
    """Take a release, or the study of one that others share."""
    return release if isinstance(release, Study) else Study(release)
