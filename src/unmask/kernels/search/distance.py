"""The distance that decides: float64, one fixed order of operations per pair.

Attribute after attribute, numeric first, then nominal. Screening may be done in any precision and any order, but what
is compared, counted and reported comes from here, so that a result depends on the two records alone: not on the
position of a row, on the number of threads or on the path of a search.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, Floats, Ints, Space
from unmask.kernels.compiling import in_chunks, inner, lean

CHUNK = 16384


@inner
def pair(space: Space, query: int, point: int) -> float:
    """Reduced distance of one query and one point."""
    a, b, c, d = space.queries[query], space.points[point], space.query_codes[query], space.point_codes[point]
    total = 0.0
    for k in range(a.shape[0]):
        gap = a[k] - b[k]
        if gap != gap:  # noqa: PLR0124  NaN: either is missing
            part = space.missing[k]
        elif space.norm == EUCLIDEAN:
            part = gap * gap
        else:
            part = abs(gap)
        if space.norm != CHEBYSHEV:
            total += part
        elif part > total:
            total = part
    for k in range(c.shape[0]):
        if c[k] < 0 or d[k] < 0:
            part = space.code_missing[k]
        elif c[k] == d[k]:
            part = 0.0
        else:
            part = space.step[k]
        if space.norm != CHEBYSHEV:
            total += part
        elif part > total:
            total = part
    return total


@lean
def _pairs(space: Space, queries: Ints, points: Ints, out: Floats) -> None:
    for i in range(queries.shape[0]):
        out[i] = pair(space, queries[i], points[i])


def distance_of_pairs(space: Space, queries: Ints, points: Ints) -> Floats:
    """Reduced distances of the pairs (queries[i], points[i])."""
    asked, met = (np.ascontiguousarray(rows, dtype=np.int64) for rows in (queries, points))
    found = np.empty(len(asked))
    in_chunks(lambda part: _pairs(space, asked[part], met[part], found[part]), len(asked), chunk=CHUNK)
    return found
