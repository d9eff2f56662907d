"""Spaces for the tests of kernels: plain ones, and hypothesis strategies with everything that makes trouble."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unmask.kernels.base import Space


def plain(queries, points, norm=2, **options):
    queries, points = (np.ascontiguousarray(side, dtype=np.float64) for side in (queries, points))
    none = np.zeros(0)
    codes = (np.zeros((len(side), 0), dtype=np.int32) for side in (queries, points))
    return Space(queries, points, *codes, norm, np.ones(queries.shape[1]), none, none, **options)


@st.composite
def spaces(draw, max_queries=12, max_points=150):
    """Few distinct values, so that ties, duplicates and constants abound; missing values; codes; all norms."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_queries, n_points = draw(st.integers(1, max_queries)), draw(st.integers(1, max_points))
    p = draw(st.integers(0, 4))
    q = draw(st.integers(0 if p else 1, 3))
    kind = draw(st.sampled_from(["integers", "continuous", "constant", "huge", "tiny"]))
    lost = draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))
    sides = [_numbers(rng, kind, (n, p), lost) for n in (n_queries, n_points)]
    codes = [_codes(rng, (n, q), lost) for n in (n_queries, n_points)]
    if draw(st.booleans()):  # the release is (partly) the original
        m = min(n_queries, n_points)
        sides[1][:m], codes[1][:m] = sides[0][:m], codes[0][:m]
    norm = draw(st.sampled_from([0, 1, 2]))
    tolerance = draw(st.sampled_from([1e-9, 0.0, 0.2]))
    floor = draw(st.sampled_from([0.0, 0.0, 0.5]))
    unit = {"huge": 1e12, "tiny": 1e-12}.get(kind, 1.0)
    missing, step, code_missing = (unit * rng.integers(0, 4, size) / 2 for size in (p, q, q))
    return Space(*sides, *codes, norm, missing, step, code_missing, tolerance, floor)


def _numbers(rng, kind, shape, lost):
    values = {
        "integers": lambda: rng.integers(-2, 3, shape).astype(float),
        "continuous": lambda: rng.normal(size=shape),
        "constant": lambda: np.full(shape, 7.25),
        "huge": lambda: 1e15 + 1e12 * rng.integers(-2, 3, shape),
        "tiny": lambda: 1e-12 * rng.normal(size=shape),
    }[kind]()
    values[rng.random(shape) < lost] = np.nan
    return np.ascontiguousarray(values)


def _codes(rng, shape, lost):
    codes = rng.integers(0, 4, shape).astype(np.int32)
    codes[rng.random(shape) < lost] = -1
    return codes
