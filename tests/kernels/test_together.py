"""Queries that walk a tree together decide as each would alone, whatever lists overflow and whoever else walks."""

from __future__ import annotations

import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import plain, spaces

from naive import nearest as naive
from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, MANHATTAN
from unmask.kernels.search import decide, nearest, plant
from unmask.kernels.search.nearest import decision_of
from unmask.kernels.search.together import MANY, decide_part
from unmask.kernels.search.truth import nobody_met


def noisy(n, p, noise):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, p))
    return points + noise * rng.normal(size=(n, p)), points


@pytest.mark.parametrize("norm", [CHEBYSHEV, MANHATTAN, EUCLIDEAN])
@pytest.mark.parametrize("noise", [0.01, 0.3, 2.0])
def test_lists_that_overflow_lose_nobody(norm, noise):
    space, truth = plain(*noisy(9000, 5, noise), norm), np.arange(9000)
    tree = plant(space)
    found, wanted = decide(space, truth, tree=tree), decision_of(space, truth, nearest(space, tree=tree))
    assert (found.closer == wanted.closer).all()
    assert (found.ties == wanted.ties).all()
    assert 0 < found.closer.mean() < 1 or noise == 0.01


def test_ranks_that_tie_are_counted_whichever_way():
    rng, n = np.random.default_rng(0), 9000
    points = rng.integers(0, 100, (n, 4)).astype(float)
    points[:, 0] = 200 * rng.integers(0, 3, n)
    queries = points + rng.integers(-2, 3, (n, 4))
    queries[::3, 0] = points[::3, 0] + 200  # of 400 they become 600: all with 400 are as near as their own
    space, truth = plain(queries, points, CHEBYSHEV), np.arange(n)
    tree = plant(space)
    assert tree.sharp
    found, wanted = decide(space, truth, tree=tree), decision_of(space, truth, nearest(space, tree=tree))
    assert (found.closer == wanted.closer).all()
    assert (found.ties == wanted.ties).all()
    assert (found.ties > n // 4).sum() > n // 12
    assert ((found.ties > 0) & (found.ties <= MANY)).sum() > n // 4


@settings(max_examples=60, deadline=None)
@given(space=spaces(max_queries=60), seed=st.integers(0, 9), size=st.integers(1, 7))
def test_who_else_walks_does_not_matter(space, seed, size):
    tree, rng = plant(space), np.random.default_rng(seed)
    truth = rng.integers(0, len(space.points), len(space.queries))
    distances = np.array([naive.distance(space, i, j) for i, j in enumerate(truth)])
    together, apart = nobody_met(distances, tree.position[truth]), nobody_met(distances)
    decide_part(space, tree, np.arange(len(truth)), together)
    for some in np.split(rng.permutation(len(truth)), range(size, len(truth), size)):
        decide_part(space, tree, some, apart)  # nor where the true point is
    wanted = naive.decide(space, truth)
    for met in (together, apart):
        assert list(zip(met.closer, np.where(met.closer, 0, met.ties), strict=True)) == wanted


@settings(max_examples=60, deadline=None)
@given(space=spaces(max_queries=60), seed=st.integers(0, 9))
def test_copies_that_nobody_noticed_count(space, seed):
    truth = np.random.default_rng(seed).integers(-1, len(space.points), len(space.queries))
    with patch.object(sys.modules[decision_of.__module__], "_has_copies", return_value=False):
        found = decide(space, truth)
    assert list(zip(found.closer, found.ties, strict=True)) == naive.decide(space, truth)
