"""Distances between the records of a file, however they are given: the door of the graph attack.

A file is a table and one of: a square matrix (array, or a path to .npy, .csv, .parquet), the names of the table's own
distance columns, `Coordinates`, or a function of two rows. Pseudometrics are welcome (two people may live at one
address); what is not a distance is refused here, by size and kind, never by quoting a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import narwhals as nw
import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import TableError, check_name
from unmask.tables import read_matrix

Metric = Callable[[Floats, Floats], float]
Distances = Any  # array, path, column names, Coordinates or Metric

EARTH = 6371.0  # km, as in Example 2 of the paper


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Columns that say where each record is: longitude and latitude in degrees (distances in km), or planar."""

    x: str
    y: str
    kind: Literal["lonlat", "planar"] = "lonlat"


@dataclass(frozen=True, slots=True)
class Place:
    """One file of the attack: its labels, and its distances or the points they come from."""

    labels: pl.DataFrame
    matrix: Floats | None  # (n, n), or None when points say it all
    points: Floats | None  # (n, 2), or None
    kind: Literal["lonlat", "planar"] | None

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.square if self.points is None else self.points)

    @property
    def square(self) -> Floats:
        """The matrix, where there are no points: one of the two is always there."""
        return cast("Floats", self.matrix)

    def distances(self) -> Floats:
        """All distances."""
        return self.matrix if self.matrix is not None else self.rows(np.arange(self.n))

    def rows(self, records: Ints) -> Floats:
        """Distances of some records to all."""
        if self.points is None or self.matrix is not None:
            return np.ascontiguousarray(self.square[records], dtype=np.float64)
        return between(self.points[records], self.points, self.kind)

    def block(self, records: Ints) -> Floats:
        """Distances among some records."""
        if self.points is None or self.matrix is not None:
            return np.ascontiguousarray(self.square[np.ix_(records, records)], dtype=np.float64)
        return between(self.points[records], self.points[records], self.kind)

    def content(self, order: Ints) -> Iterable[Floats]:
        """What says where each record is, in some order: its place, or its distances to everybody."""
        if self.points is not None:
            return self.points[order]
        return (self.rows(order[k : k + 1])[0, order] for k in range(len(order)))

    def order(self, codes: Ints) -> Ints:
        """Records by label and content, so that no result depends on the order in which the file came."""
        first, second = self.keys()
        return np.lexsort((second, first, codes))

    def keys(self) -> tuple[Floats, Floats]:
        """Two numbers that say where each record is, whatever the order of the rows."""
        return row_keys(self.square) if self.points is None else (self.points[:, 0], self.points[:, 1])


def row_keys(matrix: Floats) -> tuple[Floats, Floats]:
    """Two numbers of each record that say where it is and do not depend on the order of the others: sum, largest."""
    total, far = np.empty(len(matrix)), np.empty(len(matrix))
    for begin in range(0, len(matrix), 512):
        block = np.sort(matrix[begin : begin + 512], axis=1)
        total[begin : begin + 512] = block.sum(axis=1)
        far[begin : begin + 512] = block[:, -1]
    return total, far


def between(a: Floats, b: Floats, kind: str | None) -> Floats:
    """Distances of points a to points b: kilometres on the sphere (haversine), or planar."""
    if kind == "planar":
        return np.asarray(np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1]))
    one, two = unit_vectors(a), unit_vectors(b)
    square = (one[:, None, 0] - two[:, 0]) ** 2  # of the chord: four times the haversine
    square += (one[:, None, 1] - two[:, 1]) ** 2
    square += (one[:, None, 2] - two[:, 2]) ** 2
    return np.asarray(2 * EARTH * np.arcsin(np.minimum(np.sqrt(square) / 2, 1.0)))


def unit_vectors(points: Floats) -> Floats:
    """Longitude and latitude in degrees as points of the unit sphere."""
    lon, lat = np.deg2rad(points).T
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def read_place(given: tuple[Any, Distances], labels: Sequence[str], side: str) -> Place:
    """Check one file of the attack and make it arrays. ``side`` names it in messages."""
    try:
        table, distances = given
        frame = nw.from_native(table, eager_only=True).to_polars()
    except (TypeError, ValueError) as error:
        raise TableError(
            f"the {side} file must be a pair (table, distances)",
            got=type(given).__name__,
            allowed="a pandas, polars or pyarrow table, and a matrix, path, columns, Coordinates or function",
        ) from error
    if frame.height == 0:
        raise TableError(f"the {side} file has no records", got="0 rows", allowed="at least 1")
    chosen = pl.DataFrame([frame[_known(frame, name, f"label of the {side} file")] for name in dict.fromkeys(labels)])
    if isinstance(distances, Coordinates):
        return Place(chosen, None, _points(frame, distances, side), distances.kind)
    matrix = _matrix(frame, distances, [c for c in frame.columns if c not in set(labels)], side)
    return Place(chosen, read_matrix(matrix, frame.height, f"distances of the {side} file"), None, None)


def _known(frame: pl.DataFrame, name: str, role: str) -> str:
    check_name(name, frame.columns, f"no such column for the {role}", TableError)
    return name


def _numbers(frame: pl.DataFrame, columns: Sequence[str], side: str) -> Floats:
    try:
        return np.array([frame[name].cast(pl.Float64).to_numpy() for name in columns]).reshape(len(columns), -1).T
    except pl.exceptions.PolarsError as error:
        raise TableError(f"columns of the {side} file are not numbers", got=", ".join(columns)) from error


def _points(frame: pl.DataFrame, where: Coordinates, side: str) -> Floats:
    if where.x == where.y:
        raise TableError(f"coordinates of the {side} file are two columns", got=f"{where.x!r} twice")
    points = _numbers(frame, [_known(frame, c, f"coordinates of the {side} file") for c in (where.x, where.y)], side)
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise TableError(f"coordinates of the {side} file are missing or infinite", got=f"first in row {row + 1}")
    check_name(where.kind, ("lonlat", "planar"), "unknown kind of coordinates")
    if where.kind == "lonlat" and (np.abs(points) > [360.0, 90.0]).any():
        raise TableError(
            f"coordinates of the {side} file are not degrees",
            allowed="longitude within 360, latitude within 90 degrees",
            hint="kind='planar' (--planar) takes any unit; longitude comes first",
        )
    return points


def _matrix(frame: pl.DataFrame, distances: Distances, others: list[str], side: str) -> Distances:
    """Distances by a function or from columns as an array; an array or a path stays what it is."""
    if callable(distances):
        return _by_function(frame, distances, [c for c in others if frame[c].dtype.is_numeric()], side)
    if isinstance(distances, list | tuple) and all(isinstance(name, str) for name in distances):
        return _numbers(frame, [_known(frame, c, f"distances of the {side} file") for c in distances], side)
    return distances


def _by_function(frame: pl.DataFrame, metric: Metric, columns: list[str], side: str) -> Floats:
    """Ask for every pair both ways, so that a function that is no metric is refused like a matrix that is none."""
    if not columns:
        raise TableError(f"the {side} file has no column of numbers for its distances", hint="labels do not count")
    values = _numbers(frame, columns, side)
    try:
        return np.array([[float(metric(a, b)) for b in values] for a in values])
    except (TypeError, ValueError) as error:
        raise TableError(
            f"distances of the {side} file are not numbers", got="a function", hint=type(error).__name__
        ) from error


def label_codes(one: Place, two: Place) -> tuple[Ints, Ints, list[Floats]]:
    """Code the labels of both files: equal code, equal label (missing equals missing). Also each column's values.

    The third result holds, per column, one number for each code: the value where it is a number, else its rank.
    """
    a, b = one.labels, two.labels
    codes, values = np.zeros(one.n + two.n, dtype=np.int64), []
    for name in a.columns:
        left, right = a[name], b[name]
        if left.dtype.is_numeric() and right.dtype.is_numeric():
            both = pl.concat([left.cast(pl.Float64), right.cast(pl.Float64)]).to_numpy()
        else:
            text = pl.concat([series.cast(pl.String, strict=False) for series in (left, right)])
            text = text.fill_null("\0missing") if text.null_count() else text
            both = text.rank("dense").to_numpy().astype(np.float64) - 1.0
        _, column = np.unique(both, return_inverse=True)
        _, codes = np.unique(codes * (int(column.max()) + 1) + column, return_inverse=True)
        values.append(both)
    first = np.unique(codes, return_index=True)[1]
    return codes[: one.n], codes[one.n :], [v[first] for v in values]
