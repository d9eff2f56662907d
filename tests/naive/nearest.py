"""Nearest records by definition: every pair, plain Python."""

from __future__ import annotations

import math


def distance(space, i, j):
    parts = []
    for k in range(space.queries.shape[1]):
        a, b = float(space.queries[i, k]), float(space.points[j, k])
        if math.isnan(a) or math.isnan(b):
            parts.append(float(space.missing[k]))
        else:
            parts.append((a - b) * (a - b) if space.norm == 2 else abs(a - b))
    for k in range(space.query_codes.shape[1]):
        a, b = int(space.query_codes[i, k]), int(space.point_codes[j, k])
        if a < 0 or b < 0:
            parts.append(float(space.code_missing[k]))
        else:
            parts.append(0.0 if a == b else float(space.step[k]))
    if space.norm == 0:
        return max(parts, default=0.0)
    total = 0.0
    for part in parts:
        total += part
    return total


def distances(space):
    return [[distance(space, i, j) for j in range(len(space.points))] for i in range(len(space.queries))]


def tie_limit(space, d):
    return d * (1.0 + space.tolerance) + space.floor


def nearest(space):
    """Return (least, second, set of ties) per query."""
    found = []
    for row in distances(space):
        least = min(row)
        ties = {j for j, d in enumerate(row) if d <= tie_limit(space, least)}
        second = min((d for j, d in enumerate(row) if j not in ties), default=math.inf)
        found.append((least, second, ties))
    return found


def decide(space, truth):
    """Return (closer, ties) per query."""
    found = []
    for (_, _, ties), true, row in zip(nearest(space), truth, distances(space), strict=True):
        closer = true < 0 or any(tie_limit(space, d) < row[true] for d in row)
        found.append((closer, 0 if closer else len(ties)))
    return found


def ranks(space, truth):
    """Count the points strictly closer than the true one, per query; -1 without a true one."""
    return [
        -1 if true < 0 else sum(tie_limit(space, d) < row[true] for d in row)
        for row, true in zip(distances(space), truth, strict=True)
    ]


def mixed(h):
    """Scramble 32 bits."""
    h %= 2**32
    for _ in range(2):
        h = (h ^ h >> 16) * 0x45D9F3B % 2**32
    return h ^ h >> 16


def stem(seed, query, salt):
    """The part of scrambled() that is the same for all points."""
    h = mixed(mixed(mixed(seed ^ 0x9E3779B1) ^ seed >> 32) + salt)
    return mixed(mixed(h ^ query) ^ query >> 32)


def scrambled(seed, query, point, salt):
    """32 bits that look random."""
    return mixed(mixed(stem(seed, query, salt) ^ point) ^ point >> 32)


def drawn(space, query, ties, seed):
    """A member of the group of equal points that waits the shortest; a group is known by its first row."""
    groups = {}
    for row in sorted(ties):
        numbers = (None if math.isnan(x) else x for x in space.points[row].tolist())
        groups.setdefault((*numbers, *space.point_codes[row].tolist()), []).append(row)

    def waits(members):
        high, low = (scrambled(seed, query, members[0], salt) for salt in (1, 2))
        return -math.log((high * 2.0**32 + low + 1.0) / 2.0**64) / len(members), members[0]

    members = min(groups.values(), key=waits)
    return members[scrambled(seed, query, members[0], 3) % len(members)]
