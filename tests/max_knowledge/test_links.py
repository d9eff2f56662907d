"""What the engine finds against the whole distance matrix, on rank spaces with ties, gaps and categories."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.kernels.search import distance_of_pairs
from unmask.max_knowledge.links import least_distances, nearest_points, right_credit
from unmask.max_knowledge.ranks import ranked
from unmask.tables.release import Release


@pytest.mark.parametrize("ranks", ["ordinal", "average", "dense"])
def test_equal_to_the_whole_matrix(ranks):
    rng = np.random.default_rng(0)

    def table():
        age = pl.Series(rng.integers(0, 30, 300)).set(pl.Series(rng.random(300) < 0.1), None)
        return pl.DataFrame({"age": age, "pay": rng.normal(size=300).round(1), "town": rng.choice(["A", "B"], 300)})

    space = ranked(Release(table(), table()), ranks=ranks).space
    n_queries, n_points = len(space.queries), len(space.points)
    rows, columns = np.divmod(np.arange(n_queries * n_points), n_points)
    matrix = distance_of_pairs(space, rows, columns).reshape(n_queries, n_points)
    least = matrix.min(axis=1)
    assert least_distances(space) == pytest.approx(least)
    truth = rng.integers(-1, n_points, n_queries)
    nearest = matrix <= least[:, None] * (1 + 1e-9)
    right = np.where(truth >= 0, nearest[np.arange(n_queries), truth], 0) / nearest.sum(axis=1)
    assert right_credit(space, truth) == pytest.approx(right)
    assert nearest[np.arange(n_queries), nearest_points(space, 1)].all()
