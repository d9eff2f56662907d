"""Published tables, slowly: every filling of the inner cells is tried."""

from __future__ import annotations

from itertools import product


def fillings(n_inner, cells, most):
    """All ways to fill inner cells with 0 .. most people that agree with cells (members, low, high)."""
    return [
        filling
        for filling in product(range(most + 1), repeat=n_inner)
        if all(low <= sum(filling[i] for i in members) <= high for members, low, high in cells)
    ]


def ends(ways, members):
    """Least and largest sum of some inner cells over all fillings."""
    sums = [sum(way[i] for i in members) for way in ways]
    return min(sums), max(sums)


def learnt(ways, groups):
    """People whose value follows: for each group (lists of inner cells, one list a value) the value that alone is left.

    Returns the inner cells of such values.
    """
    known = set()
    for values in groups:
        possible = [members for members in values if any(sum(way[i] for i in members) for way in ways)]
        if len(possible) == 1 and all(sum(way[i] for i in possible[0]) for way in ways):
            known |= set(possible[0])
    return known
