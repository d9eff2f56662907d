"""Who looks for whom: samples, directions, and what is not asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, link_nearest
from unmask.errors import ParameterError
from unmask.study.scene import inverse, spread

PEOPLE = pl.DataFrame({"id": range(8), "a": [float(v * v) for v in range(8)]})


def test_from_one_person_on():
    release = Release(PEOPLE, PEOPLE[:5], id="id")
    one = link_nearest(release, sample=1, seed=3)
    assert one.estimate.n == 1 == one.asked.sum()
    four = link_nearest(release, sample=4)
    assert four.asked.sum() == 4 and not four.asked[5:].any()  # nobody who cannot be found is drawn
    assert link_nearest(release, sample=5).asked is None  # all who can be found: everybody is asked
    with pytest.raises(ParameterError, match="at least one"):
        link_nearest(release, sample=0)


def test_turned_round_and_spread():
    assert inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]
    assert spread(np.array([5, 7]), np.array([1, 3]), 4, -1).tolist() == [-1, 5, -1, 7]
