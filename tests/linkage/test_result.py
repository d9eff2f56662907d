from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from unmask import Linkage, Release, link_nearest
from unmask.errors import ParameterError

RECORDS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
)


def linkage(records, truth=None):
    margin, credit = (np.array(column, dtype=float) for column in zip(*records, strict=True))
    n = len(records)
    return Linkage(
        links=np.arange(n),
        distances=np.zeros(n),
        credit=credit,
        tie_sizes=np.ones(n, dtype=int),
        margin=margin,
        total_distance=0.0,
        optimal=True,
        truth=np.arange(n) if truth is None else np.array(truth),
        n_candidates=n,
        direction="to_release",
    )


@given(RECORDS)
def test_curve_equals_definition(records):
    curve = linkage(records).curve
    slow = naive.precision_coverage(*zip(*records, strict=True))
    assert list(zip(curve.coverage, curve.precision, strict=True)) == [pytest.approx(point) for point in slow]


@given(RECORDS, st.randoms())
def test_known_is_the_largest_coverage_and_knows_no_order(records, random):
    slow = [
        coverage
        for coverage, precision in naive.precision_coverage(*zip(*records, strict=True))
        if precision >= 0.95 - 1e-12
    ]
    shuffled = records.copy()
    random.shuffle(shuffled)
    assert linkage(records).known().value == pytest.approx(max(slow, default=0.0))
    assert linkage(records).known() == linkage(shuffled).known()


def test_known_by_hand():
    records = [(3.0, 1.0), (2.0, 1.0), (1.0, 0.0), (0.5, 1.0)]
    assert linkage(records).known().value == 0.5
    assert linkage(records).known(precision=0.7).value == 1.0
    assert linkage([(1.0, 0.0)]).known().value == 0.0
    for bad in (0, 1.5):
        with pytest.raises(ParameterError, match="share"):
            linkage(records).known(precision=bad)


def test_who_is_not_there_is_not_counted():
    result = linkage([(1.0, 1.0), (1.0, 0.0), (1.0, 0.0)], truth=[0, -1, 2])
    assert result.estimate.n == 2
    assert result.estimate.value == 0.5
    assert result.chance == 1 / 3


def test_risk_of_who_was_asked_whichever_file_asks():
    """Who was not asked for has no risk that is known: not 0, which would read as safe."""
    people = pl.DataFrame({"id": range(8), "a": [float(v * v) for v in range(8)]})
    release = Release(people, people[[4, 3, 2, 1, 0]], id="id")
    for direction in ("to_release", "to_original"):
        whole = link_nearest(release, direction=direction, scale="none")
        assert whole.per_record(8).tolist() == [1.0] * 5 + [0.0] * 3
        some = link_nearest(release, direction=direction, sample=2, seed=1, scale="none")
        risk = some.per_record(8)
        assert np.nansum(risk) == 2
        assert np.isnan(risk).sum() == 6
