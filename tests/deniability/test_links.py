"""The search kernels against blocks of the whole distance matrix, on rank spaces with ties, gaps and categories."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.deniability.links import least_distances, nearest_points, right_credit
from unmask.deniability.permutation import ranked
from unmask.engines import local
from unmask.tables.release import Release


@pytest.mark.parametrize("ranks", ["ordinal", "average", "dense"])
def test_equal_to_the_whole_matrix(ranks):
    rng = np.random.default_rng(0)

    def table():
        age = pl.Series(rng.integers(0, 30, 300)).set(pl.Series(rng.random(300) < 0.1), None)
        return pl.DataFrame({"age": age, "pay": rng.normal(size=300).round(1), "town": rng.choice(["A", "B"], 300)})

    space = ranked(Release(table(), table()), ranks=ranks).space
    truth = rng.integers(-1, 300, len(space.queries))
    assert least_distances(space) == pytest.approx(local.nearest(space).least)
    assert right_credit(space, truth) == pytest.approx(local.credit(space, truth))
    chosen = nearest_points(space, 1)
    assert local.distance_to(space, chosen) == pytest.approx(least_distances(space))
