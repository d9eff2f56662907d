"""Distances that a tree cannot search: ordered weighted averages and Choquet integrals, in one pass over all pairs.

Both are given as linear weights plus, for the Choquet integral, one coefficient per pair of attributes: a 2-additive
integral is sum_k c_k d_k + sum_kl g_kl |d_k - d_l|, since min and max of two numbers are half their sum minus or plus
half their difference. ``ordered`` applies the linear weights to the differences sorted downwards (OWA).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Floats, Ints, Space
from unmask.kernels.compiling import in_chunks, inner, kernel

__all__ = ["Form", "credit_of", "hardest_of"]


class Form(NamedTuple):
    """How differences of attributes become one distance."""

    linear: Floats
    pairs: Floats  # (m (m - 1) / 2,), or none
    ordered: bool


def credit_of(space: Space, truth: Ints, form: Form) -> Floats:
    """Credit of each query: 1/ties where its true point is among the nearest."""
    credit = np.zeros(len(space.queries))
    in_chunks(lambda part: _credit(space, truth, form, np.arange(part.start, part.stop), credit), len(credit), chunk=64)
    return credit


def hardest_of(space: Space, truth: Ints, form: Form, k: int) -> Ints:
    """The k nearest points of each query other than its true one; -1 where there are fewer."""
    found = np.full((len(space.queries), k), -1, dtype=np.int64)
    in_chunks(lambda part: _hardest(space, truth, form, np.arange(part.start, part.stop), found), len(found), chunk=64)
    return found


@inner
def _differences(space: Space, i: int, j: int, out: Floats) -> None:
    p = space.queries.shape[1]
    for k in range(p):
        gap = space.queries[i, k] - space.points[j, k]
        out[k] = space.missing[k] if gap != gap else gap * gap  # noqa: PLR0124  NaN
    for k in range(space.query_codes.shape[1]):
        a, b = space.query_codes[i, k], space.point_codes[j, k]
        out[p + k] = space.code_missing[k] if a < 0 or b < 0 else (0.0 if a == b else space.step[k])


@inner
def _aggregate(d: Floats, form: Form) -> float:
    linear, pairs, ordered = form
    m = d.shape[0]
    if ordered:
        for a in range(1, m):
            value, b = d[a], a
            while b > 0 and d[b - 1] < value:
                d[b] = d[b - 1]
                b -= 1
            d[b] = value
    total = 0.0
    for k in range(m):
        total += linear[k] * d[k]
    if pairs.shape[0]:
        place = 0
        for k in range(m):
            for l in range(k + 1, m):  # noqa: E741
                total += pairs[place] * abs(d[k] - d[l])
                place += 1
    return total


@kernel
def _credit(space: Space, truth: Ints, form: Form, queries: Ints, credit: Floats) -> None:
    d = np.empty(form.linear.shape[0], np.float64)
    n = space.points.shape[0]
    row = np.empty(n, np.float64)
    for i in queries:
        least = np.inf
        for j in range(n):
            _differences(space, i, j, d)
            row[j] = _aggregate(d, form)
            least = min(least, row[j])
        limit = least + abs(least) * space.tolerance + space.floor + 1e-15
        if truth[i] >= 0 and row[truth[i]] <= limit:
            ties = 0
            for j in range(n):
                ties += row[j] <= limit
            credit[i] = 1.0 / ties


@kernel
def _hardest(space: Space, truth: Ints, form: Form, queries: Ints, found: Ints) -> None:
    d = np.empty(form.linear.shape[0], np.float64)
    k = found.shape[1]
    best = np.empty(k, np.float64)
    for i in queries:
        best[:] = np.inf
        for j in range(space.points.shape[0]):
            if j == truth[i]:
                continue
            _differences(space, i, j, d)
            value = _aggregate(d, form)
            if value >= best[k - 1]:
                continue
            at = k - 1
            while at > 0 and best[at - 1] > value:
                best[at], found[i, at] = best[at - 1], found[i, at - 1]
                at -= 1
            best[at], found[i, at] = value, j
