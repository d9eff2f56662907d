"""How like rows are to candidates, and how much each row is one's own rather than anybody else's.

Row by row: the products of all candidates lie in one short array, so that nothing of the size of all pairs is made.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unmask.kernels.base import Codes, Floats
from unmask.kernels.compiling import inner, kernel

__all__ = ["dense_rows", "matched_rows"]


@inner
def _times(product: Floats, ours: Floats, value: float, unit: float, farthest: float) -> None:
    """Multiply by 1 + (d/h)^2; a value missing on one side is one sd away, on both none."""
    if np.isnan(value):
        for i in range(product.size):
            if not np.isnan(ours[i]):
                product[i] *= 1.0 + unit
        return
    for i in range(product.size):
        far = ours[i] - value
        far = 1.0 if np.isnan(far) else min(max(far, -farthest), farthest)
        product[i] *= 1.0 + unit * far * far


@inner
def _raised(ratio: float, power: float) -> float:
    if power == 1.0:
        return ratio
    if power == 2.5:
        return ratio * ratio * sqrt(ratio)
    raised: float = ratio**power
    return raised


@inner
def _shared(product: Floats, power: float, least: float, total: Floats) -> None:
    """Add to each candidate K of their own over the sum of K of all others."""
    top = 0
    for i in range(1, product.size):
        if product[i] < product[top]:
            top = i
    nearest = product[top]
    others = 0.0
    for i in range(product.size):
        product[i] = _raised(nearest / product[i], power)
        others += product[i] if i != top else 0.0
    others = max(others, least)
    for i in range(product.size):
        if i != top:
            total[i] += product[i] / max(1.0 + others - product[i], least)
    total[top] += 1.0 / others


@inner
def _fill(product: Floats, people: Floats, words: Codes, row: Floats, row_words: Codes, how: Floats) -> None:
    """Of each candidate and one row: the product over columns of 1 + (d/h)^2."""
    product[:] = 1.0
    for k in range(people.shape[0]):
        _times(product, people[k], row[k], how[0], how[2])
    for k in range(words.shape[0]):
        for i in range(product.size):
            if words[k, i] != row_words[k]:
                product[i] *= 1.0 + how[0]


@kernel
def matched_rows(people: Floats, rows: Floats, words: Codes, row_words: Codes, how: Floats) -> Floats:
    """For each candidate the sum over rows of K of their own over that of all others.

    ``people``, ``words``: columns x candidates; ``rows``, ``row_words``: rows x columns. ``how``: 1/h^2, the power, the
    farthest difference, the least sum.
    """
    total, product = np.zeros(people.shape[1]), np.empty(people.shape[1])
    for j in range(rows.shape[0]):
        _fill(product, people, words, rows[j], row_words[j], how)
        _shared(product, how[1], how[3], total)
    return total


@kernel
def dense_rows(people: Floats, rows: Floats, words: Codes, row_words: Codes, how: Floats) -> Floats:
    """For each candidate the log of the sum over rows of K; arguments as of `matched_rows`.

    K of the nearest row so far is 1, and sums change with it: no K is too small for a number.
    """
    product = np.empty(people.shape[1])
    total, nearest = np.zeros(product.size), np.full(product.size, np.inf)
    for j in range(rows.shape[0]):
        _fill(product, people, words, rows[j], row_words[j], how)
        for i in range(product.size):
            if product[i] < nearest[i]:
                total[i] = total[i] * _raised(product[i] / nearest[i], how[1]) + 1.0
                nearest[i] = product[i]
            else:
                total[i] += _raised(nearest[i] / product[i], how[1])
    logs: Floats = np.log(total) - how[1] * np.log(nearest)
    return logs
