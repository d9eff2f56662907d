"""Local suppression, slowly: the fewest cells by trying all, and sdcMicro's localSuppression as it is published.

Rows are tuples, None is missing. sdcMicro (Templ, Kowarik, Meindl 2015, section 3.2; version 5.7) counts a missing
value as whatever it could be; the records of the smallest crowds come first, and each loses one value in every round:
in the least important attribute in which it differs from one of the records nearest to it. Of classes of more than k
only k are looked at.
"""

from collections import Counter
from itertools import combinations


def agree(one, other):
    """Whether two rows can be the same person's, where missing is whatever it could be."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def crowds(rows):
    """Rows that can be the same as each one (freqCalc with alpha = 1)."""
    return [sum(agree(row, other) for other in rows) for row in rows]


def smallest_group(rows):
    """Size of the smallest group of equal rows: missing is a value of its own."""
    return min(Counter(rows).values())


def cells(before, after):
    """Values that were there and are missing now."""
    return sum(
        a is not None and b is None
        for one, other in zip(before, after, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def fewest_cells(rows, k):
    """The fewest cells to blank until every row has k equal ones, itself included; every choice is tried."""
    places = [(i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value is not None]
    for size in range(len(places) + 1):
        for chosen in combinations(places, size):
            gone = set(chosen)
            blanked = [tuple(None if (i, j) in gone else v for j, v in enumerate(row)) for i, row in enumerate(rows)]
            if smallest_group(blanked) >= k:
                return size
    return None


def local_suppression(rows, k):
    """Blank values until every crowd has k rows, as sdcMicro does; attributes of many values are least important."""
    width = len(rows[0])
    values = [len({row[j] for row in rows} - {None}) for j in range(width)]
    order = sorted(range(width), key=lambda j: (-values[j], -j))  # the least important first
    taken, kept = Counter(), []
    for i, row in enumerate(rows):
        taken[row] += 1
        if taken[row] <= k:
            kept.append(i)
    work = {i: list(rows[i]) for i in kept}
    while True:
        sizes = dict(zip(kept, crowds([tuple(work[i]) for i in kept]), strict=True))
        risky = sorted((i for i in kept if sizes[i] < k), key=lambda i: (sizes[i], i))
        if not risky:
            return [tuple(work.get(i, row)) for i, row in enumerate(rows)]
        for i in risky:
            _blank_one(work, i, order)


def _blank_one(work, i, order):
    """Blank the least important value in which a record differs from one of the nearest; nothing if none differs."""
    differ = {
        o: [j for j in order if other[j] is not None and work[i][j] is not None and other[j] != work[i][j]]
        for o, other in work.items()
    }
    nearest = min((len(found) for found in differ.values() if found), default=0)
    near = {j for found in differ.values() if len(found) == nearest for j in found}
    for j in order:
        if j in near:
            work[i][j] = None
            return
