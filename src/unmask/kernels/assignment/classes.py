"""Classes of equal records, in an order that depends on their values alone.

A solver that sees classes in this order cannot know in which rows the records stood, so it cannot decide a tie by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Floats, Ints, Space
from unmask.kernels.groups import identical

FEW = 4  # keys by which rows are sorted that one does not tell apart


class Classes(NamedTuple):
    """Classes of one file."""

    label: Ints  # (n,) class of each record
    size: Ints  # (classes,)
    start: Ints  # (classes + 1,) into members
    members: Ints  # (n,) records by class
    values: Floats
    codes: Codes


def classify(values: Floats, codes: Codes) -> Classes:
    """Group equal records and sort the groups by their values."""
    groups = identical(values, codes)
    distinct, kinds = values[groups.first] + 0.0, codes[groups.first]
    order = _order([*distinct.T, *kinds.T], len(distinct))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    label = place[groups.label]
    size = np.diff(groups.start)[order]
    start = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    members = order if len(order) == len(label) else np.argsort(label, kind="stable")  # no two are equal: no sorting
    return Classes(
        label, size, start, members,
        np.ascontiguousarray(distinct[order]), np.ascontiguousarray(kinds[order]),
    )  # fmt: skip


def _order(keys: list[NDArray[Any]], n: int) -> Ints:
    """Order of distinct rows by their keys, the first one first; most often one key tells nearly all rows apart."""
    order, tied = np.arange(n), np.arange(n)  # places whose rows are not told apart yet
    for count in (1, FEW, len(keys)):
        if not keys or not len(tied):
            break
        some = [key[order[tied]] for key in keys[:count]]
        by = np.lexsort(some[::-1])
        order[tied] = order[tied][by]
        same = np.ones(len(tied) - 1, np.bool_)
        for key in some:
            before, after = key[by[:-1]], key[by[1:]]
            same &= (before == after) | ((before != before) & (after != after))  # noqa: PLR0124 - NaN
        tied = tied[np.append(same, False) | np.append(False, same)]
    return order


def both(space: Space) -> tuple[Classes, Classes]:
    """Classes of the queries and of the points."""
    return classify(space.queries, space.query_codes), classify(space.points, space.point_codes)


def of_classes(space: Space, queries: Classes, points: Classes) -> Space:
    """Return the space of the classes."""
    return space._replace(
        queries=queries.values, query_codes=queries.codes, points=points.values, point_codes=points.codes
    )
