"""Slow, obvious twins of what groups/ counts: the definitions themselves, row by row."""

from __future__ import annotations

from itertools import combinations
from math import exp, log


def matches(rows, i, attributes):
    """How many records (i included) share record i's values on the attributes."""
    return sum(all(row[a] == rows[i][a] for a in attributes) for row in rows)


def minimal_sample_uniques(rows, max_size=None):
    """{(record, attributes)}: unique there, and on no proper subset."""
    m = len(rows[0]) if rows else 0
    found = set()
    for i in range(len(rows)):
        for size in range(1, (max_size or m) + 1):
            for attributes in combinations(range(m), size):
                smaller = any(set(old) < set(attributes) for who, old in found if who == i)
                if not smaller and matches(rows, i, attributes) == 1:
                    found.add((i, attributes))
    return found
