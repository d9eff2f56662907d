"""Distances between the records of a file, however they are given: the door of the graph attack.

A file is a table and one of: a square matrix (array, or a path to .npy, .csv, .parquet), the names of the table's own
distance columns, `Coordinates`, or a function of two rows. Pseudometrics are welcome (two people may live at one
address); what is not a distance is refused here, by size and kind, never by quoting a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.errors import ParameterError, TableError, did_you_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
        assert self.matrix is not None or self.points is not None  # noqa: S101  # one of the two is always there
        return len(self.points) if self.points is not None else len(self.matrix if self.matrix is not None else ())

    def distances(self) -> Floats:
        """All distances."""
        return self.matrix if self.matrix is not None else self.rows(np.arange(self.n))

    def rows(self, records: Ints) -> Floats:
        """Distances of some records to all."""
        if self.matrix is not None:
            return np.ascontiguousarray(self.matrix[records], dtype=np.float64)
        assert self.points is not None  # noqa: S101  # one of the two is always there
        return between(self.points[records], self.points, self.kind)

    def block(self, records: Ints) -> Floats:
        """Distances among some records."""
        if self.matrix is not None:
            return np.ascontiguousarray(self.matrix[np.ix_(records, records)], dtype=np.float64)
        assert self.points is not None  # noqa: S101  # one of the two is always there
        return between(self.points[records], self.points[records], self.kind)

    def order(self, codes: Ints) -> Ints:
        """Records by label and content, so that no result depends on the order in which the file came."""
        if self.points is not None:
            return np.lexsort((self.points[:, 1], self.points[:, 0], codes))
        assert self.matrix is not None  # noqa: S101  # one of the two is always there
        total, far = np.empty(self.n), np.empty(self.n)
        for begin in range(0, self.n, 512):
            block = np.sort(self.matrix[begin : begin + 512], axis=1)
            total[begin : begin + 512] = block.sum(axis=1)
            far[begin : begin + 512] = block[:, -1]
        return np.lexsort((far, total, codes))


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
    chosen = frame.select(_known(frame, name, f"label of the {side} file") for name in labels)
    if isinstance(distances, Coordinates):
        return Place(chosen, None, _points(frame, distances, side), distances.kind)
    matrix = _matrix(frame, distances, [c for c in frame.columns if c not in set(labels)], side)
    return Place(chosen, _checked(matrix, frame.height, side), None, None)


def _known(frame: pl.DataFrame, name: str, role: str) -> str:
    if name not in frame.columns:
        raise TableError(
            f"no such column for the {role}",
            got=repr(name),
            allowed=", ".join(frame.columns),
            hint=did_you_mean(name, frame.columns),
        )
    return name


def _numbers(frame: pl.DataFrame, columns: Sequence[str], side: str) -> Floats:
    try:
        return frame.select(pl.col(list(columns)).cast(pl.Float64)).to_numpy().astype(np.float64)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"columns of the {side} file are not numbers", got=", ".join(columns)) from error


def _points(frame: pl.DataFrame, where: Coordinates, side: str) -> Floats:
    points = _numbers(frame, [_known(frame, c, f"coordinates of the {side} file") for c in (where.x, where.y)], side)
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise TableError(f"coordinates of the {side} file are missing or infinite", got=f"first in row {row}")
    if where.kind not in {"lonlat", "planar"}:
        raise ParameterError("unknown kind of coordinates", got=repr(where.kind), allowed="'lonlat', 'planar'")
    if where.kind == "lonlat" and (np.abs(points) > [360.0, 90.0]).any():
        raise TableError(
            f"coordinates of the {side} file are not degrees",
            allowed="longitude within 360, latitude within 90 degrees",
            hint="kind='planar' takes any unit; longitude comes first",
        )
    return points


def _matrix(frame: pl.DataFrame, distances: Distances, others: list[str], side: str) -> Floats:
    if isinstance(distances, str | Path):
        return _read(Path(distances), side)
    if callable(distances):
        values = _numbers(frame, [c for c in others if frame[c].dtype.is_numeric()], side)
        matrix = np.zeros((len(values), len(values)))
        for i in range(len(values)):
            for j in range(i):
                matrix[i, j] = matrix[j, i] = distances(values[i], values[j])
        return matrix
    if isinstance(distances, list | tuple) and all(isinstance(name, str) for name in distances):
        return _numbers(frame, [_known(frame, c, f"distances of the {side} file") for c in distances], side)
    matrix = np.asarray(distances)
    if matrix.dtype.kind not in "fiu":
        raise TableError(f"distances of the {side} file are not numbers", got=f"dtype {matrix.dtype}")
    return matrix if matrix.dtype in {np.dtype(np.float32), np.dtype(np.float64)} else matrix.astype(np.float64)


def _read(path: Path, side: str) -> Floats:
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        if path.suffix == ".parquet":
            return pl.read_parquet(path).to_numpy().astype(np.float64)
        if path.suffix == ".csv":
            return pl.read_csv(path, has_header=_has_header(path)).cast(pl.Float64).to_numpy()
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise TableError(
            f"cannot read the distances of the {side} file", got=str(path), hint=type(error).__name__
        ) from error
    raise TableError(f"unknown type of the {side} file's distances", got=path.suffix, allowed=".npy, .csv, .parquet")


def _has_header(path: Path) -> bool:
    """A first line with anything that is not a number is a header."""
    with path.open(encoding="utf-8") as file:
        first = file.readline().strip().split(",")
    try:
        [float(cell) for cell in first]
    except ValueError:
        return True
    return False


def _checked(matrix: Floats, n: int, side: str) -> Floats:
    """Refuse what is not a matrix of distances of n records; even out rounding of the two halves."""
    what = f"distances of the {side} file"
    if matrix.shape != (n, n):
        shape = " x ".join(map(str, matrix.shape))
        raise TableError(f"{what} do not fit the table", got=shape, allowed=f"{n} x {n}, one row per record")
    for begin in range(0, n, 1024):
        rows = np.asarray(matrix[begin : begin + 1024])
        if not np.isfinite(rows).all():
            row = begin + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise TableError(
                f"{what} are missing or infinite", got=f"first in row {row}", hint="fill or remove the record"
            )
        if (rows < 0).any():
            row = begin + int(np.flatnonzero((rows < 0).any(axis=1))[0])
            raise TableError(f"{what} are negative", got=f"first in row {row}", allowed="0 or more")
        slack = 1e-6 * max(float(rows.max()), 1e-300)
        if (np.abs(rows - matrix[:, begin : begin + 1024].T) > slack).any():
            raise TableError(
                f"{what} are not symmetric", allowed="d(i, j) = d(j, i)", hint="a one-way distance is not one"
            )
        if (np.abs(np.diagonal(rows[:, begin : begin + 1024])) > slack).any():
            raise TableError(f"{what} have a diagonal that is not zero", allowed="d(i, i) = 0")
    if n > 4096:  # halves that differ by rounding matter little at this size, a copy would
        return matrix
    even = np.asarray(matrix, dtype=np.float64)
    return (even + even.T) / 2


def label_codes(one: Place, two: Place) -> tuple[Ints, Ints, list[Floats]]:
    """Code the labels of both files: equal code, equal label (missing equals missing). Also each column's values.

    The third result holds, per column, one number for each code: the value where it is a number, else its rank.
    """
    a, b = one.labels, two.labels
    columns, values = [], []
    for name in a.columns:
        left, right = a[name], b[name]
        if left.dtype.is_numeric() and right.dtype.is_numeric():
            both = np.concatenate([left.cast(pl.Float64).to_numpy(), right.cast(pl.Float64).to_numpy()])
        else:
            text = [
                s.cast(pl.String, strict=False).fill_null("\0missing").to_numpy().astype(str) for s in (left, right)
            ]
            both = np.unique(np.concatenate(text), return_inverse=True)[1].astype(np.float64)
        columns.append(np.unique(both, return_inverse=True)[1])
        values.append(both)
    if not columns:
        return np.zeros(one.n, dtype=np.int64), np.zeros(two.n, dtype=np.int64), []
    _, first, codes = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
    codes = codes.reshape(-1)
    return codes[: a.height], codes[a.height :], [v[first] for v in values]
