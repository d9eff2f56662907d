"""Bags of rows by their definitions: every way to lay rows on rows, people looked at one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np


def bags(rows, people):
    """Rows of each person."""
    found = {}
    for row, person in zip(rows, people, strict=True):
        found.setdefault(person, []).append(row)
    return found


def laid(one, two, cost):
    """The least total over all ways to lay the smaller bag on the larger."""
    if len(one) > len(two):
        return laid(two, one, lambda a, b: cost(b, a))
    ways = permutations(range(len(two)), len(one))
    return min(sum(cost(a, two[k]) for a, k in zip(one, way, strict=True)) for way in ways)


def distance(original, released, numbers):
    """Cost of two rows: each column in units of what two rows at random differ by; and what a row more costs."""
    columns = range(len(original[0]))

    def plain(c, a, b):
        return (a[c] - b[c]) ** 2 if c in numbers else float(a[c] != b[c])

    mean = [np.mean([plain(c, a, b) for a in original for b in released]) for c in columns]
    used = [c for c in columns if mean[c] > 0]

    def cost(a, b):
        each = [min(plain(c, a, b) / mean[c], 4.0 if c in numbers else np.inf) for c in used]
        return min(sum(each), len(used))

    return cost, len(used) / 2


def table(one, two, cost, more):
    """Costs of everybody of one side with everybody of the other."""
    return {
        (p, q): laid(a, b, cost) + more * abs(len(a) - len(b)) for p, a in one.items() for q, b in two.items()
    }  # fmt: skip


def nearest(costs, people, others):
    """Credit of each person by whoever is nearest; those as near share it."""
    found = {}
    for p in people:
        best = min(costs[p, q] for q in others)
        near = [q for q in others if costs[p, q] <= best + 1e-5 * (1 + abs(best))]
        found[p] = (p in near) / len(near)
    return found


def same_rows(one, two):
    """Who of the other side has the same rows, each as often."""
    return {p: {q for q, b in two.items() if Counter(a) == Counter(b)} for p, a in one.items()}


def have(points, two):
    """Who of the other side has all these rows."""
    return {q for q, b in two.items() if set(points) <= set(b)}


def in_order(wanted, rows):
    """Whether rows (time, what) hold what is wanted at different rows, none before the one that it follows."""
    return any(
        all(rows[k][1] == what for k, what in zip(way, wanted, strict=True))
        and all(rows[a][0] <= rows[b][0] for a, b in pairwise(way))
        for way in permutations(range(len(rows)), len(wanted))
    )


def rarest(sets, had):
    """Of what all have, what fewest people have."""
    common = set.intersection(*sets) if sets else set()
    return min(common, key=lambda value: (had[value], value)) if common else None


def learnt(candidates, mine, theirs):
    """Claims about each person that are right, with and without their own rows."""
    had = Counter(value for values in theirs.values() for value in values)
    usual = min(had, key=lambda value: (-had[value], value))
    attack, without = {}, {}
    for p, people in candidates.items():
        for found, whom in ((attack, people), (without, people - {p})):
            told = rarest([theirs[q] for q in whom], had)
            found[p] = float((usual if told is None else told) in mine[p])
    return attack, without
