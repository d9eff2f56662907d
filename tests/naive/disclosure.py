"""Slow, obvious twins of attribute disclosure: the slides' definitions, word for word."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def rank_interval(values, masked, i, p) -> bool:
    """Algorithm 7 with the ends clamped into the array. The position of a tied value is the middle of its ranks."""
    ranked = sorted(values)
    n = len(ranked)
    below, upto = sum(v < masked[i] for v in ranked), sum(v <= masked[i] for v in ranked)
    position = min(max((below + upto - 1) / 2, 0), n - 1)
    w = p * n / 200
    low, high = max(math.ceil(position - w), 0), min(math.floor(position + w), n - 1)
    return ranked[low] <= values[i] <= ranked[high]  # nobody where the window lies between two ranks


def sd_interval(values, masked, i, p) -> bool:
    """Algorithm 8."""
    return abs(values[i] - masked[i]) <= p * np.std(values, ddof=1) / 100 + 1e-12


def sadr(a, b) -> float:
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a)


def marginal_agreement(a, b) -> float:
    return sum(x == y for x in a for y in b) / (len(a) * len(b))


def auc(mine, others) -> float:
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in mine for b in others) / (len(mine) * len(others))


def recognised(mine, others, false_alarms) -> float:
    """The best accusation by score, with a lot among equals, that accuses this share of strangers."""
    best = 0.0
    for level in {*mine, *others}:
        above_m, at_m = sum(v > level for v in mine) / len(mine), sum(v == level for v in mine) / len(mine)
        above_o, at_o = sum(v > level for v in others) / len(others), sum(v == level for v in others) / len(others)
        if above_o <= false_alarms + 1e-12:
            lot = 1.0 if above_o + at_o <= false_alarms else (false_alarms - above_o) / at_o
            best = max(best, above_m + min(1.0, lot) * at_m)
    return best


def overlap(a, b) -> float:
    """Share of the rows of a that have an equal row of their own in b."""
    left, found = list(b), 0
    for row in a:
        if row in left:
            left.remove(row)
            found += 1
    return found / len(a)


def learnt_by_insiders(values, person, coalition) -> bool:
    """Whether some c members other than the person, taking their records away, leave one value (or one record)."""
    others = [k for k in range(len(values)) if k != person]
    for size in range(1, min(coalition, len(others)) + 1):
        for insiders in combinations(others, size):
            left = [values[k] for k in range(len(values)) if k not in insiders]
            if len(set(left)) == 1:
                return True
    return False


def bounded_by_insiders(amounts, person, coalition, p) -> bool:
    """Whether c members who know the total bound the person's amount to within p % from above."""
    others = [k for k in range(len(amounts)) if k != person]
    total = sum(amounts)
    return any(
        total - sum(amounts[k] for k in insiders) <= amounts[person] * (1 + p / 100) + 1e-9
        for size in range(1, min(coalition, len(others)) + 1)
        for insiders in combinations(others, size)
    )
