from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import spaces

from unmask.kernels.base import CHEBYSHEV, Space
from unmask.kernels.search import distance_of_pairs, least_distances, nearest


@settings(max_examples=300, deadline=None)
@given(space=spaces(), seed=st.integers(0, 9))
def test_least_distances_are_those_of_the_full_search(space, seed):
    assert np.array_equal(least_distances(space), nearest(space, seed=seed).least)


def test_categories_that_never_agree_are_at_their_constant():
    """Town and postcode of different places: every record differs in one of them, and thousands tie."""
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 5, 3000).astype(np.int32)
    points, codes = rng.uniform(0, 100, (3000, 2)), np.column_stack([towns, towns])
    asked = np.array([[1, 2], [3, 3], [-1, 0]], dtype=np.int32)
    queries = np.array([[50.0, 50.0], [np.nan, 50.0], [50.0, 50.0]])
    constants = np.array([20.0, 30.0]), np.array([33.0, 33.0]), np.array([25.0, 25.0])
    space = Space(queries, points, asked, codes, CHEBYSHEV, *constants)
    every = np.array([distance_of_pairs(space, np.full(3000, query), np.arange(3000)).min() for query in range(3)])
    assert least_distances(space).tolist() == every.tolist()
    assert every[:2].tolist() == [33.0, 20.0]
    assert every[2] == 25.0
