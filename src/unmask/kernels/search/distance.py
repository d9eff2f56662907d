"""The distance that decides: float64, one fixed order of operations per pair.

Attribute after attribute, numeric first, then nominal. Screening may be done in any precision and any order, but what
is compared, counted and reported comes from here, so that a result depends on the two records alone: not on the
position of a row, on the number of threads or on the path of a search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from unmask.kernels.base.space import Space

from unmask.kernels.base.compiling import inner, kernel
from unmask.kernels.base.space import CHEBYSHEV, EUCLIDEAN, Codes, Floats

Rows = NDArray[np.int64]


@inner
def pair(
    a: Floats, b: Floats, c: Codes, d: Codes, norm: int, missing: Floats, step: Floats, code_missing: Floats
) -> float:
    """Reduced distance of one query (coordinates `a`, codes `c`) and one point (`b`, `d`)."""
    total = 0.0
    for k in range(a.shape[0]):
        gap = a[k] - b[k]
        if gap != gap:  # noqa: PLR0124  NaN: either is missing
            part = missing[k]
        elif norm == EUCLIDEAN:
            part = gap * gap
        else:
            part = abs(gap)
        if norm != CHEBYSHEV:
            total += part
        elif part > total:
            total = part
    for k in range(c.shape[0]):
        if c[k] < 0 or d[k] < 0:
            part = code_missing[k]
        elif c[k] == d[k]:
            part = 0.0
        else:
            part = step[k]
        if norm != CHEBYSHEV:
            total += part
        elif part > total:
            total = part
    return total


@kernel
def _pairs(space: Space, queries: Rows, points: Rows) -> Floats:
    out = np.empty(queries.shape[0])
    for i in range(queries.shape[0]):
        q, p = queries[i], points[i]
        out[i] = pair(
            space.queries[q],
            space.points[p],
            space.query_codes[q],
            space.point_codes[p],
            space.norm,
            space.missing,
            space.step,
            space.code_missing,
        )
    return out


def distance_of_pairs(space: Space, queries: Rows, points: Rows) -> Floats:
    """Reduced distances of the pairs (queries[i], points[i])."""
    found: Floats = _pairs(space, np.asarray(queries, dtype=np.int64), np.asarray(points, dtype=np.int64))
    return found
