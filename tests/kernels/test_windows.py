from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unmask.kernels.windows import NEVER, count_reached, rank_gaps

VALUE = st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0])


@given(st.lists(st.tuples(VALUE, st.one_of(VALUE, st.just(float("nan")))), min_size=1, max_size=20))
def test_gap_is_the_least_doubled_window_that_reaches(rows):
    values, masked = (np.array([row[k] for row in rows]) for k in (0, 1))
    gaps, positions, ordered, masked_ordered = rank_gaps(values, masked)
    assert ordered.tolist() == sorted(values) and masked_ordered.tolist() == sorted(masked[~np.isnan(masked)])
    assert (np.diff(positions) >= 0).all()
    for i, gap in enumerate(gaps):
        if np.isnan(masked[i]):
            assert gap == NEVER
            continue
        below, upto = (ordered < masked[i]).sum(), (ordered <= masked[i]).sum()
        middle = min(max(below + upto - 1, 0), 2 * (len(rows) - 1))
        ranks = 2 * np.flatnonzero(ordered == values[i])
        inside = ranks.min() <= middle <= ranks.max()
        assert gap == (0 if inside else np.abs(ranks - middle).min())


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=20),
    st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True),
)
def test_count_reached(gaps, limits):
    limits = np.array(sorted(limits))
    total, histogram = np.zeros(len(gaps), dtype=np.int64), np.zeros(len(limits) + 1, dtype=np.int64)
    count_reached(np.array(gaps), limits, total, histogram)
    assert total.tolist() == [int((limits >= gap).sum()) for gap in gaps]
    assert histogram.tolist() == np.bincount(total, minlength=len(limits) + 1).tolist()
