"""Slow twin of near copies: one person, one row, one left-out column at a time."""

from __future__ import annotations

from math import ceil, comb, exp, floor, inf, log
from statistics import NormalDist

from naive.definitions import wilson
from naive.judged import Judged

TIMES, LEVEL, HINT, MOST = 2.0, 0.025, 0.05, 50.0


def scales(people, rows, outside, numbers):
    """Two ways to write the numbers of all records: in sd around the middle, and as normal scores of their place."""
    written = []
    for by_rank in (False, True):
        tables = [[dict(record) for record in side] for side in (people, rows, outside)]
        for name in numbers:
            pool = sorted(record[name] for record in (*people, *rows))
            mean = sum(pool) / len(pool)
            sd = (sum((x - mean) ** 2 for x in pool) / len(pool)) ** 0.5
            for record in (record for side in tables for record in side):
                x = record[name]
                place = (sum(y < x for y in pool) + sum(y <= x for y in pool) + 1) / 2 / (len(pool) + 1)
                record[name] = NormalDist().inv_cdf(place) if by_rank else (x - pool[len(pool) // 2]) / sd
        written.append(tables)
    return written


def apart(one, other, columns, words):
    return sum(float(one[c] != other[c]) if c in words else (one[c] - other[c]) ** 2 for c in columns) ** 0.5


def ratio(far, near):
    if far < 3.1e-5 and near < 3.1e-5:
        return 0.0
    return MOST if near < 3.1e-5 else -MOST if far < 3.1e-5 else log(far / near)


def nearer(person, rows, others, columns, words):
    """How much nearer one row is than all others, or (below 0) one of the others than all rows; at least `TIMES`."""
    for sign, ours, theirs in ((1, rows, others), (-1, others, rows)):
        best = min(ours, key=lambda record: apart(person, record, columns, words))
        least = inf
        for left_out in (None, *columns):
            used = [c for c in columns if c != left_out]
            far = min(apart(person, record, used, words) for record in theirs)
            least = min(least, ratio(far, apart(person, best, used, words)))
        if least >= log(TIMES):
            return sign * least
    return 0.0


def known(people, rows, outside, numbers, words) -> Judged:
    """People known: claims, less those that are known to be wrong, where that is no luck; and surely."""
    columns, counted = [*numbers, *words], []
    for mine, made, others in scales(people, rows, outside, numbers):
        ours = [nearer(p, made, [q for q in mine if q is not p], columns, words) for p in mine]
        counted.append((ours, [-x for x in ours], 2.0, 2.0))
        if others:
            counted.append((ours, [nearer(p, made, mine, columns, words) for p in others], len(mine) / len(others), 1))
    least = shown = 0
    for ours, theirs, odds, each in counted:
        for size in {x for x in ours if x > 0}:
            heads, wrong = sum(x >= size for x in ours), sum(x >= size for x in theirs)
            tails, level = ceil(wrong / each), LEVEL / len(counted)
            c = next_root(level, odds)
            least = max(least, heads - floor(c * (1 + tails)))
            p = odds / (1 + odds)
            luck = sum(
                comb(heads + tails, k) * p**k * (1 - p) ** (heads + tails - k) for k in range(heads, heads + tails + 1)
            )
            shown = max(shown, heads - wrong) if luck < HINT else shown
    shown, n = max(shown, least), len(people)
    return Judged(shown / n, 0.0, n, least / n, wilson(shown, n)[1])


def next_root(level, odds):
    """The c for which heads = c (1 + tails) is reached with this chance: found by halving, not by a formula."""
    low, high = 1e-6, 1e3
    for _ in range(200):
        c = (low + high) / 2
        t = -log(level) / c  # e^-tc = level
        low, high = (c, high) if (odds * exp(t) + level) / (1 + odds) > 1 else (low, c)
    return (low + high) / 2
