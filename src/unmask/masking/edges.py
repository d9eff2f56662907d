"""Where the values of a column end: at an edge that a rule has drawn (adults only, 1 to 7), or in a tail of few people.

An edge may be kept, since it tells of no one person. The end of a tail is somebody's own value, and is not.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats

AT_THE_EDGE = 5  # people whose mean stands for the edge: nobody's own value
ENOUGH = 100  # people from which on it can be told from a tail how densely they stand
PART = 4  # the people next to the edge, a quarter of all, to compare with
SPARSER = 2  # times as far apart as those: more is a tail


def lower_edge(values: Floats) -> float | None:
    """The mean of the five smallest values where they stand as densely as the lowest quarter; None for a tail.

    Five equal values are an edge in any table; else it takes a hundred to tell.
    """
    ordered = np.sort(values[~np.isnan(values)])
    if ordered.size < AT_THE_EDGE:
        return None
    gap, steps = ordered[AT_THE_EDGE - 1] - ordered[0], AT_THE_EDGE - 1
    quarter = ordered.size // PART
    usual = steps * (ordered[quarter - 1] - ordered[0]) / (quarter - 1) if ordered.size >= ENOUGH else 0.0
    return float(ordered[:AT_THE_EDGE].mean()) if gap <= SPARSER * usual else None


def kept_within(values: Floats, before: Floats, digits: int) -> Floats:
    """Values beyond the smallest or largest of ``before`` moved to its edge, where there is one, and to 0 at least.

    What was never negative (never positive) stays so. ``digits``: decimals to which an edge is rounded.
    """
    if np.isnan(before).all():
        return values
    for sign in (1.0, -1.0):
        low, edge = np.nanmin(sign * before), lower_edge(sign * before)
        if edge is not None:
            values = np.where(sign * values < low, sign * round(edge, digits), values)
        if low >= 0:
            values = sign * np.maximum(sign * values, 0.0)
    return values
