"""Where the people of a release are: two columns of coordinates, or matrices of distances; for the graph attack."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from unmask.arrays import Floats
from unmask.errors import RoleError
from unmask.tables.matrix import matrix_fingerprint, read_matrix
from unmask.tables.roles import check_columns


def check_coordinates(
    given: Iterable[str] | None, original: pl.DataFrame, released: pl.DataFrame, *, matrix: bool
) -> tuple[str, ...]:
    """Return the two columns, or none. With a released matrix the release need not have them."""
    names = () if given is None else (given,) if isinstance(given, str) else tuple(given)
    check_columns(names, original.columns, "coordinates", "the original")
    if not matrix:
        check_columns(names, released.columns, "coordinates", "the release")
    if len(set(names)) not in {0, 2}:
        raise RoleError(
            "coordinates are two columns", got=", ".join(map(repr, names)), hint='coordinates=("longitude", "latitude")'
        )
    return names


Matrix = tuple["Floats | None", "tuple[str | None, str, int, int] | None"]


def read_matrices(distances: Any, known_distances: Any, original: int, released: int) -> dict[str, Matrix]:  # noqa: ANN401 - paths or arrays
    """Read the released and the known distances; with each, its path, hash and size."""
    found: dict[str, Matrix] = {}
    for name, given, n, what in (
        ("distances", distances, released, "distances of the release"),
        ("known_distances", known_distances, original, "known distances"),
    ):
        if given is None:
            found[name] = (None, None)
            continue
        matrix = read_matrix(given, n, what)
        path = str(given) if isinstance(given, (str, Path)) else None
        found[name] = (matrix, (path, matrix_fingerprint(given, matrix), n, n))
    return found


def check_places(coordinates: tuple[str, ...], distances: Floats | None, known: Floats | None) -> None:
    """Refuse released distances without places to compare them with, and the other way round."""
    if distances is not None and known is None and not coordinates:
        raise RoleError(
            "released distances need to be compared with where people are",
            got="distances only",
            allowed="coordinates (two columns of the original) or known_distances (a matrix of the original)",
        )
    if distances is None and known is not None:
        raise RoleError(
            "known distances without released ones", hint="give the published matrix in distances (--distances d.npy)"
        )
