"""A space: two files as coordinates and codes, and how their differences add up to a distance.

The accumulated ("reduced") distance of query i and point j is the sum (norm 1 and 2) or the maximum (norm 0,
Chebyshev) over attributes of one contribution each:

- numeric: ``|a-b|`` (norm 1 and 0) or ``(a-b)**2`` (norm 2); ``missing[k]`` when either is NaN;
- nominal: ``0`` when the codes agree, ``step[k]`` when they differ, ``code_missing[k]`` when either is -1.

All constants are already in the unit in which contributions accumulate (squared for norm 2), and coordinates are
already scaled and weighted. The distance that people read is the square root for norm 2 and the same number else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Singles = NDArray[np.float32]

CHEBYSHEV, MANHATTAN, EUCLIDEAN = 0, 1, 2
EVERY = slice(None)


class Space(NamedTuple):
    """Coordinates (C-contiguous float64, NaN missing) and codes (int32, -1 missing) of two files, and their metric."""

    queries: Floats  # (n_queries, p): the intruder's records
    points: Floats  # (n_points, p): the candidates
    query_codes: Codes  # (n_queries, q)
    point_codes: Codes  # (n_points, q)
    norm: int  # 1, 2, or 0 for the maximum
    missing: Floats  # (p,)
    step: Floats  # (q,)
    code_missing: Floats  # (q,)
    tolerance: float = 1e-9  # reduced distances d <= least * (1 + tolerance) + floor are ties
    floor: float = 0.0

    def of(self, queries: Any = EVERY, points: Any = EVERY) -> Space:  # noqa: ANN401 - whatever numpy takes for rows
        """Return the space of some queries and some points."""
        return self._replace(
            queries=np.ascontiguousarray(self.queries[queries]),
            points=np.ascontiguousarray(self.points[points]),
            query_codes=np.ascontiguousarray(self.query_codes[queries]),
            point_codes=np.ascontiguousarray(self.point_codes[points]),
        )

    def only(self, numeric: list[int], codes: list[int]) -> Space:
        """Return the space of some numbers and some categories: they contribute as before."""
        return self._replace(
            queries=np.ascontiguousarray(self.queries[:, numeric]),
            points=np.ascontiguousarray(self.points[:, numeric]),
            query_codes=np.ascontiguousarray(self.query_codes[:, codes]),
            point_codes=np.ascontiguousarray(self.point_codes[:, codes]),
            missing=self.missing[numeric],
            step=self.step[codes],
            code_missing=self.code_missing[codes],
        )

    def swapped(self) -> Space:
        """Return the space with queries and points exchanged: distances are symmetric."""
        return self._replace(
            queries=self.points, points=self.queries, query_codes=self.point_codes, point_codes=self.query_codes
        )
