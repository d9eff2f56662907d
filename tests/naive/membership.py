"""Slow twins of membership inference: pair by pair, person by person."""

from __future__ import annotations

import math
from math import exp, log

import numpy as np
from scipy.stats import beta

from naive.disclosure import auc, recognised
from naive.judged import Judged

ALARMS = (0.002, 0.005, 0.01, 0.02, 0.05)
KERNELS = {"values": (0.02, 1.0), "near values": (0.1, 1.0), "noise": (1.0, 2.5)}


def likeness(person, row, numbers, words, sd, kernel) -> float:
    """Product over columns of (1 + d^2/h^2)^-p; one sd between categories, or where one of two values is missing."""
    product, (width, power) = 1.0, kernel
    for name in (*numbers, *words):
        one, other = person[name], row[name]
        gap = name in words or one is None or other is None
        far = float(one != other) if gap else (one - other) / sd[name]
        product *= (1 + far**2 / width**2) ** -power
    return product


def matched(people, rows, like) -> list[float]:
    """Log of the sum over rows of K(person, row) over that of all other people together."""
    table = [[like(person, row) for row in rows] for person in people]
    scores = []
    for i in range(len(people)):
        total = 0.0
        for r in range(len(rows)):
            total += table[i][r] / sum(table[k][r] for k in range(len(people)) if k != i)
        scores.append(math.log(total))
    return scores


def density_ratio(people, rows, like) -> list[float]:
    """Log of the mean likeness to rows, less that to other people."""
    return [
        math.log(sum(like(person, row) for row in rows) / len(rows))
        - math.log(sum(like(person, other) for k, other in enumerate(people) if k != i) / (len(people) - 1))
        for i, person in enumerate(people)
    ]


def ranks(scores) -> list[float]:
    """Share of all people below, and half of the equal ones."""
    rounded = [round(score, 9) for score in scores]
    return [sum((b < a) + (b == a) / 2 for b in rounded) / len(rounded) for a in rounded]


def by_few_alarms(mine, others) -> float:
    return float(np.mean([recognised(mine, others, level) for level in ALARMS]))


def chosen(attacks, halves, worth) -> tuple[list[float], list[float]]:
    """Each half by the attack that is worth most on the other; ``halves``: of each member, and of each stranger."""
    n = len(halves[0])
    mine, others = [0.0] * n, [0.0] * len(halves[1])
    ranked = {name: ranks(scores) for name, scores in attacks.items()}
    for half in (0, 1):
        worths = {}
        for name, scores in ranked.items():
            a = [scores[i] for i in range(n) if halves[0][i] != half]
            b = [scores[n + i] for i in range(len(others)) if halves[1][i] != half]
            worths[name] = worth(a, b)
        best = max(worths, key=worths.get)
        for i in range(n):
            if halves[0][i] == half:
                mine[i] = ranked[best][i]
        for i in range(len(others)):
            if halves[1][i] == half:
                others[i] = ranked[best][n + i]
    return mine, others


def by_area(mine, others) -> float:
    return auc(mine, others)


def likelihood_ratio(seen, inside, asked) -> list[float]:
    """Person by person: normal densities with means over shadows with and without them, drawn to those of all.

    ``seen[s][i]``: statistic of person i in shadow s.
    """
    people = range(len(asked))
    logs = []
    for kind in (True, False):
        values = [[seen[s][i] for s in range(len(seen)) if inside[s][i] is kind] for i in people]
        means = [sum(v) / len(v) for v in values]
        squares = sum((x - m) ** 2 for v, m in zip(values, means, strict=True) for x in v)
        within = squares / sum(len(v) - 1 for v in values)
        overall = sum(means) / len(means)
        luck = sum(within / len(v) for v in values) / len(means)
        between = max(0.0, sum((m - overall) ** 2 for m in means) / len(means) - luck)
        weights = [between / (between + within / len(v)) for v in values]
        variance = sum(within * (1 + w / len(v)) + (1 - w) ** 2 * between for w, v in zip(weights, values, strict=True))
        sd = math.sqrt(variance / len(means))
        drawn = [overall + w * (m - overall) for w, m in zip(weights, means, strict=True)]
        logs.append([-(((asked[i] - drawn[i]) / sd) ** 2) / 2 - math.log(sd) for i in people])
    return [one - other for one, other in zip(*logs, strict=True)]


def beyond_claim(scores, halves, epsilon):
    """Guesses that are right beyond what a claim allows, by the half that shows most; by the rule of the other half."""

    def end(hits, n, level):
        return 0.0 if hits == 0 else float(beta.ppf(level, hits, n - hits + 1))

    def shown(rule, mine, others):
        (right, n), (wrong, m) = answers(rule, mine, others)
        low, high = end(right, n, 0.025), 1 - end(m - wrong, m, 0.025)
        return log(low / high) if low > 0 else -math.inf

    def answers(rule, mine, others):
        level, above = rule
        yes, no = (mine, others) if above else (others, mine)
        counts = [sum(x >= level if above else x <= level for x in side) for side in (yes, no)]
        return (counts[0], len(yes)), (counts[1], len(no))

    found = []
    for half in (0, 1):
        away, here = ([[x for x, h in zip(side, part, strict=True) if (h == half) is own]
                       for side, part in zip(scores, halves, strict=True)] for own in (False, True))  # fmt: skip
        rules = [(level, above) for above in (True, False) for level in sorted({*away[0], *away[1]})]
        best = max(rules, key=lambda rule: round(shown(rule, *away), 12))
        (right, yes), (wrong, no) = answers(best, *here)
        odds, low = yes / no, end(right, right + wrong, 0.025)
        allowed = odds / (odds + exp(-epsilon))
        least = log(low / (1 - low) / odds) if low > 0 else -math.inf
        found.append((least, right / (right + wrong) - allowed, low - allowed, 1 - allowed, right + wrong))
    _, value, low, high, n = max(found, key=lambda one: one[0])
    return Judged(max(0.0, value), 0.0, n, max(0.0, low), high)
