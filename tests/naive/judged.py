"""Slow twins of the numbers that a policy judges: what each finding says, recomputed from the two tables alone.

Tables are lists of dicts; ``truth`` says which released row was made from each original one (None: none). A twin
returns `Judged`: the value, what a blind guess gets, the people counted, and the ends of the interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from naive.definitions import wilson

DRAWS = 20_000


class Judged(NamedTuple):
    value: float
    chance: float
    n: int
    low: float
    high: float
    slack: float = 1e-6  # of the ends: resampling draws its own lots


def rate(credits_, chance) -> Judged:
    """Mean credit. Counts get the score interval; shared credits the wider of it and of resampled people."""
    n, value = len(credits_), sum(credits_) / len(credits_)
    low, high = wilson(sum(credits_), n)
    if set(credits_) <= {0.0, 1.0}:
        return Judged(value, chance, n, low, high)
    means = resampled(credits_)
    return Judged(
        value, chance, n, min(low, np.quantile(means, 0.025)), max(high, np.quantile(means, 0.975)), slack=0.02
    )


def in_chains(credits_, chance) -> Judged:
    """The rate of a one-to-one matching: every error comes with two others, as if there were fewer people."""
    plain = rate(credits_, chance)
    fewer = plain.n / (1 + 2 * plain.value)
    low, high = wilson(plain.value * fewer, fewer)
    return plain._replace(low=min(plain.low, low), high=max(plain.high, high))


def excess(with_row, without, among=1) -> Judged:
    """What is gained record by record, at least 0; a figure that was chosen as the largest has wider ends."""
    gains = [a - b for a, b in zip(with_row, without, strict=True)]
    n, value, tail = len(gains), sum(gains) / len(gains), 0.025 / among
    if len(set(gains)) == 1:
        low, high = wilson(max(0.0, gains[0]) * n, n)
        return Judged(max(0.0, value), 0.0, n, min(low, max(0.0, value)), high)
    means = resampled(gains)
    ends = [min(1.0, max(0.0, end)) for end in np.quantile(means, [tail, 1 - tail])]
    value = min(1.0, max(0.0, value))
    return Judged(value, 0.0, n, min(ends[0], value), max(ends[1], value), slack=0.035)


def resampled(values):
    """Means of as many values drawn with replacement, again and again."""
    return np.random.default_rng(99).choice(np.array(values, dtype=float), (DRAWS, len(values))).mean(axis=1)


# --- distances --------------------------------------------------------------------------------------------------------


def mean_and_sd(values) -> tuple[float, float]:
    known = [v for v in values if v is not None]
    mean = sum(known) / len(known)
    return mean, (sum((v - mean) ** 2 for v in known) / (len(known) - 1)) ** 0.5 if len(known) > 1 else 0.0


def standardised(values, mean, sd):
    return [None if v is None else (v - mean) / sd for v in values]


def squares(original, released, numbers, words, scale="own") -> np.ndarray:
    """Squared distance of every pair: standardised numbers; categories that differ count 2 / (share that differ)."""
    total = np.zeros((len(original), len(released)))
    for name in numbers:
        a, b = [r[name] for r in original], [r[name] for r in released]
        (mean_a, sd_a), (mean_b, sd_b) = mean_and_sd(a), mean_and_sd(b)
        if scale == "original":
            mean_b, sd_b = mean_a, sd_a
        if scale == "released":
            mean_a, sd_a = mean_b, sd_b
        total += filled(
            [
                [None if x is None or y is None else (x - y) ** 2 for y in standardised(b, mean_b, sd_b)]
                for x in standardised(a, mean_a, sd_a)
            ]
        )
    for name in words:
        pairs = [
            [None if a[name] is None or b[name] is None else float(a[name] != b[name]) for b in released]
            for a in original
        ]
        known = [d for row in pairs for d in row if d is not None]
        differ = sum(known) / len(known)
        total += filled(pairs) * (2 / differ if differ else 0.0)
    return total


def differences(original, released, numbers) -> np.ndarray:
    """Sum of the differences of numbers, each file standardised by its own mean and sd, for every pair."""
    total = np.zeros((len(original), len(released)))
    for name in numbers:
        a, b = [r[name] for r in original], [r[name] for r in released]
        total += [[abs(x - y) for y in standardised(b, *mean_and_sd(b))] for x in standardised(a, *mean_and_sd(a))]
    return total


def filled(parts) -> np.ndarray:
    """Missing counts as the mean of the pairs that are known."""
    known = [d for row in parts for d in row if d is not None]
    mean = sum(known) / len(known)
    return np.array([[mean if d is None else d for d in row] for row in parts])


def ties(row) -> list[int]:
    """All candidates as near as the nearest."""
    return [j for j, d in enumerate(row) if d <= min(row) * (1 + 1e-9) + 1e-12]


def credits_of(far, truth) -> list[float]:
    """1 / |ties| where the true record is among the nearest."""
    found = []
    for row, own in zip(far, truth, strict=True):
        near = ties(row)
        found.append(1 / len(near) if own in near else 0.0)
    return found


def margins_of(far) -> list[float]:
    """By how much the second nearest is farther than the nearest; 0 where several are nearest."""
    found = []
    for row in np.sqrt(far):
        near = ties(row)
        others = [d for j, d in enumerate(row) if j not in near]
        found.append(0.0 if len(near) > 1 else min(others, default=np.inf) - min(row))
    return found


def known(margins, credits_, precision=0.95) -> float:
    """Largest share of people whose links are that right, claimed from the clearest on, equally clear ones together."""
    best = 0.0
    for least in set(margins):
        claimed = [c for m, c in zip(margins, credits_, strict=True) if m >= least]
        if sum(claimed) / len(claimed) >= precision - 1e-12:
            best = max(best, len(claimed) / len(margins))
    return best


def known_of(margins, credits_, precision=0.95) -> Judged:
    """That share of people, with the wider of the score interval and of the same with all links drawn again.

    Each draw has a Poisson number of every right and of every wrong link; where fewer than three are wrong, as many
    wrong ones more, of anybody's margin, as heads fall before the first tail.
    """
    n, rng, again = len(margins), np.random.default_rng(98), []
    sure = round(known(margins, credits_, precision) * n)
    plain = rate([1.0] * sure + [0.0] * (n - sure), 0.0)
    for _ in range(2000):
        rows = []
        for margin, credit in zip(margins, credits_, strict=True):
            rows += [(margin, 1.0)] * rng.poisson(credit) + [(margin, 0.0)] * rng.poisson(1 - credit)
        while n - sum(credits_) < 3 and rng.random() < 0.5:
            rows.append((margins[rng.integers(n)], 0.0))
        again.append(known(*zip(*rows, strict=True), precision) if rows else 0.0)
    low, high, *near = np.quantile(again, [0.025, 0.975, 0.01, 0.04, 0.96, 0.99])  # few people: it goes by leaps
    slack = max(0.04, low - near[0], near[1] - low, high - near[2], near[3] - high)
    return plain._replace(low=min(plain.low, low), high=max(plain.high, high), slack=slack)


def by_content(names, *tables) -> list[str]:
    """Columns in the order of what they hold in each table: numbers before words, few values before many, and so on."""
    return sorted(names, key=lambda name: [described([row[name] for row in table]) for table in tables])


def described(column) -> tuple[float, ...]:
    """What no unit and no label changes: skewness and kurtosis of numbers, how often each word occurs."""
    there = [value for value in column if value is not None]
    first = len(set(there)), len(column) - len(there)
    if isinstance(there[0], str):
        counts = [there.count(word) for word in set(there)]
        return (1, *first, sum(c**2 for c in counts), sum(c**3 for c in counts))
    mean, sd = mean_and_sd(there)
    return (0, *first, *(abs(round(sum(((v - mean) / sd) ** k for v in there) / len(there), 8)) for k in (3, 4)))
