"""Coordinate noise: places move a random distance in metres in a random direction, on the sphere [GEO]_."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import ParameterError, TableError
from unmask.masking.base import Masking, as_polars, at_least, check_seed, generator, known, matrix

RADIUS = 6_371_008.8  # mean radius of the Earth, metres


class _Displacement(Masking):
    """Move every place that has both coordinates; subclasses draw how far."""

    lon: str
    lat: str

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Move the places; longitudes come back in [-180, 180)."""
        frame = as_polars(table)
        names = known(frame, (self.lon, self.lat))
        place = matrix(frame, names)
        if (np.abs(place[:, 1]) > 90).any():
            row = int(np.flatnonzero(np.abs(place[:, 1]) > 90)[0])
            raise TableError(f"column {self.lat!r} has a latitude beyond 90 degrees", got=f"row {row}")
        rng = generator(check_seed(seed), "coordinates")
        distance, bearing = self._distances(len(place), rng), 2 * np.pi * rng.random(len(place))
        moved = displaced(place, distance, bearing)
        absent = np.isnan(moved[:, 0])  # either coordinate is missing: the other stays as it is
        moved[absent] = place[absent]
        return frame.with_columns([pl.Series(name, moved[:, j]).fill_nan(None) for j, name in enumerate(names)])

    @abstractmethod
    def _distances(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n distances in metres."""


@dataclass(frozen=True)
class CoordinateNoise(_Displacement):
    """Move places by normal noise of `sd` metres in each of two directions."""

    sd: float
    lon: str = "lon"
    lat: str = "lat"
    family: ClassVar[str] = "coordinate_noise"

    def _check(self) -> None:
        at_least("sd", self.sd, 0)

    def _distances(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.rayleigh(self.sd, n)


@dataclass(frozen=True)
class Donut(_Displacement):
    """Move places to a point drawn uniformly from the ring between `inner` and `outer` metres around them."""

    inner: float
    outer: float
    lon: str = "lon"
    lat: str = "lat"
    family: ClassVar[str] = "donut"

    def _check(self) -> None:
        at_least("inner", self.inner, 0)
        at_least("outer", self.outer, 0, strict=True)
        if self.inner > self.outer:
            raise ParameterError("inner is above outer", got=f"{self.inner} and {self.outer}")

    def _distances(self, n: int, rng: np.random.Generator) -> Floats:
        distances: Floats = np.sqrt(rng.uniform(self.inner**2, self.outer**2, n))
        return distances


def displaced(place: Floats, distance: Floats, bearing: Floats) -> Floats:
    """Return where one gets from (lon, lat) in degrees, going `distance` metres along a great circle."""
    lon, lat = np.radians(place[:, 0]), np.radians(place[:, 1])
    angle = distance / RADIUS
    sine = np.sin(lat) * np.cos(angle) + np.cos(lat) * np.sin(angle) * np.cos(bearing)
    new_lat = np.arcsin(np.clip(sine, -1, 1))
    east, north = np.sin(bearing) * np.sin(angle) * np.cos(lat), np.cos(angle) - np.sin(lat) * np.sin(new_lat)
    new_lon = np.degrees(lon + np.arctan2(east, north))
    return np.column_stack([(new_lon + 180) % 360 - 180, np.degrees(new_lat)])
