"""Coordinates and matrices of distances: which go together, and which are refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.errors import RoleError

TOWN = pl.DataFrame({"name": list("abc"), "x": [0.0, 3.0, 0.0], "y": [0.0, 0.0, 4.0]})
FAR = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])


def test_coordinates_are_two_columns_of_both_files():
    assert Release(TOWN, TOWN, coordinates=("x", "y")).coordinates == ("x", "y")
    assert Release(TOWN, TOWN).coordinates == ()
    for wrong in (("x",), "x", ("x", "x"), ("x", "y", "name")):
        with pytest.raises(RoleError, match="two columns"):
            Release(TOWN, TOWN, coordinates=wrong)
    with pytest.raises(RoleError, match="in the release"):
        Release(TOWN, TOWN.drop("y"), coordinates=("x", "y"))
    with pytest.raises(RoleError, match="in the original"):
        Release(TOWN.drop("y"), TOWN, coordinates=("x", "y"))


def test_a_matrix_takes_the_place_of_released_coordinates():
    release = Release(TOWN, TOWN.select("name"), coordinates=("x", "y"), distances=FAR)
    assert release.coordinates == ("x", "y")
    assert release.distances.tolist() == FAR.tolist()
    assert release.known_distances is None
    assert set(release.sources) == {"original", "released", "distances"}
    both = Release(TOWN, TOWN, distances=FAR, known_distances=2 * FAR)
    assert both.known_distances.tolist() == (2 * FAR).tolist()
    assert {"distances", "known_distances"} <= set(both.sources)


def test_what_does_not_go_together():
    with pytest.raises(RoleError, match="need to be compared"):
        Release(TOWN, TOWN, distances=FAR)
    with pytest.raises(RoleError, match="without released ones"):
        Release(TOWN, TOWN, known_distances=FAR)


def test_each_matrix_has_the_size_of_its_own_file():
    people = TOWN.with_row_index("id")
    release = Release(people, people[:2], id="id", distances=FAR[:2, :2], known_distances=FAR)
    assert release.distances.shape == (2, 2)
    assert release.known_distances.shape == (3, 3)
