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


def merging(ours, theirs):
    """Which released category each original one always became, if some were merged; tested where values repeat."""
    if len(set(theirs)) >= len(set(ours)):
        return {}
    unchanged = sum(a == b for a, b in zip(ours, theirs, strict=True))
    if set(theirs) <= set(ours) and unchanged > len(ours) / 2:
        return {}
    became = {a: {b for x, b in zip(ours, theirs, strict=True) if x == a} for a in ours}
    repeated = sum(ours.count(a) > 1 for a in ours)
    if max(map(len, became.values())) > 1 or repeated < 0.8 * len(ours):
        return {}
    return {a: min(there) for a, there in became.items()}


def in_the_words_of(records, *groups_of_people):
    """People's values as the release writes them; the first group are those whose records these are, row by row."""
    rules = [merging([p[k] for p in groups_of_people[0]], [r[k] for r in records]) for k in range(len(records[0]))]
    return [
        [tuple(rule.get(value, value) for rule, value in zip(rules, person, strict=True)) for person in people]
        for people in groups_of_people
    ]


# --- groups -----------------------------------------------------------------------------------------------------------


def groups(rows, attributes):
    """{key values: record numbers}."""
    found = {}
    for i, row in enumerate(rows):
        found.setdefault(tuple(row[a] for a in attributes), []).append(i)
    return found


def shares(values, domain):
    return {v: sum(x == v for x in values) / len(values) for v in domain}


def diversity(values, everyone, c, ground="equal"):
    """All models of one group: its confidential values against those of everyone (None: missing)."""
    domain = sorted(set(everyone), key=lambda v: (v is None, v))
    p, q = shares(values, domain), shares(everyone, domain)
    present = [v for v in domain if p[v] > 0]
    r = sorted((sum(x == v for x in values) for v in present), reverse=True)
    gains = {v: (p[v] - q[v]) / q[v] for v in present}
    return {
        "distinct": len(present),
        "entropy": exp(-sum(p[v] * log(p[v]) for v in present)),
        "recursive": max([1, *(low for low in range(1, len(r) + 1) if r[0] < c * sum(r[low - 1 :]))]),
        "alpha": max(p.values()),
        "t": earth_movers(values, everyone, ground),
        "delta": max(abs(log(p[v] / q[v])) for v in present),
        "beta": max(0.0, *gains.values()),
        "enhanced_beta": max(
            0.0, *(g if g <= -log(q[v]) + 1e-12 else float("inf") for v, g in gains.items() if g > 0), 0.0
        ),
    }


def earth_movers(values, everyone, ground):
    """By a linear programme: the least work that turns one distribution into the other."""
    import numpy as np
    from scipy.optimize import linprog

    if ground != "equal":
        values, everyone = [v for v in values if v is not None], [v for v in everyone if v is not None]
        if not values:
            return 0.0
    domain = sorted(set(everyone), key=lambda v: (v is None, v))
    m = len(domain)
    if m < 2:
        return 0.0
    p, q = shares(values, domain), shares(everyone, domain)
    if ground == "equal":
        cost = 1.0 - np.eye(m)
    elif ground == "ordered":
        cost = np.abs(np.subtract.outer(range(m), range(m))) / (m - 1)
    else:
        cost = np.abs(np.subtract.outer(domain, domain)) / (domain[-1] - domain[0])
    out = [[1.0 if k // m == i else 0.0 for k in range(m * m)] for i in range(m)]
    into = [[1.0 if k % m == j else 0.0 for k in range(m * m)] for j in range(m)]
    flow = linprog(cost.ravel(), A_eq=[*out, *into], b_eq=[*(p[v] for v in domain), *(q[v] for v in domain)])
    return flow.fun


def wildcard_sizes(rows, alpha):
    """The very same pattern, compatible complete records, alpha times compatible incomplete ones: all pairs."""
    sizes = []
    for one in rows:
        size = 0.0
        for other in rows:
            compatible = all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
            if one == other:
                size += 1
            elif compatible:
                size += alpha if None in other else 1
        sizes.append(size)
    return sizes


def wildcard_crowds(rows, attributes, alpha):
    """For each record [(weight, record)] of its crowd: all pairs, weighed as in ``wildcard_sizes``."""
    keys = [tuple(row[a] for a in attributes) for row in rows]
    crowds = []
    for one in keys:
        crowd = []
        for other, row in zip(keys, rows, strict=True):
            compatible = all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
            weight = 1.0 if one == other else (alpha if None in other else 1.0) if compatible else 0.0
            crowd += [(weight, row)] if weight else []
        crowds.append(crowd)
    return crowds


def shapley(m, value):
    """Average over all orders in which attributes become known. ``value``: frozenset -> risk."""
    from itertools import permutations

    total, orders = [0.0] * m, 0
    for order in permutations(range(m)):
        known, orders = frozenset(), orders + 1
        for j in order:
            total[j] += value(known | {j}) - value(known)
            known |= {j}
    return [t / orders for t in total]


def dominance(rows, attributes, magnitude, n, share, p):
    """{key: (dominated, estimable)}."""
    found = {}
    for key, members in groups(rows, attributes).items():
        x = sorted((abs(rows[i][magnitude] or 0.0) for i in members), reverse=True)
        total = sum(x)
        largest, second = x[0], x[1] if len(x) > 1 else 0.0
        found[key] = total > 0 and sum(x[:n]) > share * total, largest > 0 and total - largest - second < p * largest
    return found


def amount_guesses(people, records, attributes, magnitude, p, share):
    """[(insider close, outsider close)] for each person; guesses from the total of the records that look like them."""
    found = []
    for i, person in enumerate(people):
        known = [person[a] for a in attributes]
        total = sum(abs(r[magnitude] or 0.0) for r in records if [r[a] for a in attributes] == known)
        others = [
            abs(o[magnitude] or 0.0) for j, o in enumerate(people) if j != i and [o[a] for a in attributes] == known
        ]
        x = abs(person[magnitude] or 0.0)
        guess = total - max(others, default=0.0)
        inside = guess > 0 and abs(guess - x) < p * x
        found.append((inside, total > 0 and abs(total - x) < (1 - share) / share * x))
    return found


def household_risks(risks, homes):
    """1 - prod(1 - r) over everybody with the same home; None: alone."""
    found = []
    for i, home in enumerate(homes):
        safe = 1.0
        for j, other in enumerate(homes):
            if i == j or (home is not None and other == home):
                safe *= 1 - risks[j]
        found.append(1 - safe)
    return found
