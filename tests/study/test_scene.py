"""Who looks for whom: samples, directions, and what is not asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, link_nearest
from unmask.errors import ParameterError
from unmask.study.scene import inverse, set_scene, spread
from unmask.study.study import Study

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


def test_people_who_are_named_are_asked_for_in_either_direction():
    study, named = Study(Release(PEOPLE, PEOPLE[[6, 2, 7, 4]], id="id")), np.array([2, 4, 7])
    there = set_scene(study, "to_release", named, 0, {})
    assert there.rows.tolist() == [2, 4, 7] and there.truth.tolist() == [1, 3, 2] and there.n_queries == 8
    back = set_scene(study, "to_original", named, 0, {})  # their rows in the release ask, and look for them
    assert back.rows.tolist() == [1, 2, 3] and back.truth.tolist() == [2, 7, 4] and back.n_queries == 4
