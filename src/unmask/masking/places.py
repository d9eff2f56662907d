"""Maskings of places in their own unit, and of distances between people: those that the graph attack knows [KROLL]_.

A matrix of distances is a table of n columns and n rows. `coordinate_noise` and `donut` move places by metres.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import TableError, check_name
from unmask.masking.base import Masking, as_polars, at_least, check_seed, generator, known, matrix
from unmask.study import Displacement, mask_distances, mask_points

KINDS = ("lonlat", "planar")


class PlaceMasking(Masking):
    """A masking that the graph attack knows: ``moves`` is its name there, the first parameter its strength."""

    moves: ClassVar[Displacement]

    @property
    def strength(self) -> float:
        """The first parameter."""
        return float(getattr(self, fields(self)[0].name))

    def _check(self) -> None:
        name = fields(self)[0].name
        at_least(name, getattr(self, name), 0)


class _OfPlaces(PlaceMasking):
    """Move every place that has both coordinates."""

    x: str
    y: str
    kind: str

    def _check(self) -> None:
        super()._check()
        check_name(self.kind, KINDS, "kind is unknown")

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Move the places."""
        frame = as_polars(table)
        names = known(frame, (self.x, self.y))
        place = matrix(frame, names)
        there = ~np.isnan(place).any(axis=1, keepdims=True)  # where one is missing the other stays
        rng = generator(check_seed(seed), "places")
        moved = mask_points(np.where(there, place, 0.0), self.strength, self.moves, self.kind, rng)
        moved = np.where(there, moved, place)
        return frame.with_columns([pl.Series(name, moved[:, j]).fill_nan(None) for j, name in enumerate(names)])


@dataclass(frozen=True)
class PlaceNoise(_OfPlaces):
    """Normal noise of standard deviation `sd` on each coordinate, in its unit."""

    sd: float
    x: str = "lon"
    y: str = "lat"
    kind: str = "lonlat"
    family: ClassVar[str] = "place_noise"
    moves: ClassVar[Displacement] = "coordinates"


@dataclass(frozen=True)
class PlaceDonut(_OfPlaces):
    """Move places to a point drawn uniformly from the ring between `radius` / 2 and `radius` around them."""

    radius: float
    x: str = "lon"
    y: str = "lat"
    kind: str = "lonlat"
    family: ClassVar[str] = "place_donut"
    moves: ClassVar[Displacement] = "donut"


@dataclass(frozen=True)
class PlaceGrid(_OfPlaces):
    """Move places to the middle of the square of side `side` that they are in."""

    side: float
    x: str = "lon"
    y: str = "lat"
    kind: str = "lonlat"
    family: ClassVar[str] = "place_grid"
    moves: ClassVar[Displacement] = "aggregation"


class _OfDistances(PlaceMasking):
    """Change a square matrix of distances."""

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Change the distances; both halves alike."""
        frame = as_polars(table)
        square = frame.width == frame.height and all(kind.is_numeric() for kind in frame.schema.values())
        if not square:
            raise TableError(
                f"{self.family} masks a square matrix of distances",
                got=f"{frame.height} rows, {frame.width} columns",
                hint="place_noise masks coordinates in a table",
            )
        values: Floats = matrix(frame, tuple(frame.columns))
        moved = mask_distances(values, self.strength, self.moves, generator(check_seed(seed), "distances"))
        return pl.DataFrame({name: moved[:, j] for j, name in enumerate(frame.columns)})


@dataclass(frozen=True)
class DistanceNoise(_OfDistances):
    """Normal noise of standard deviation `sd` on each distance, never below 0."""

    sd: float
    family: ClassVar[str] = "distance_noise"
    moves: ClassVar[Displacement] = "distances"


@dataclass(frozen=True)
class DistanceRounding(_OfDistances):
    """Distances as multiples of `step`."""

    step: float
    family: ClassVar[str] = "distance_rounding"
    moves: ClassVar[Displacement] = "rounding"
