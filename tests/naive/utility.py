"""Utility by its definitions, slowly."""

from __future__ import annotations

from collections import Counter
from math import erf, log2, sqrt


def mutual_information(x, y):
    """Sum of p(a, b) log2 p(a, b) / (p(a) p(b)), with Miller and Madow's correction of each entropy."""
    n = len(x)
    both, one, other = Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    shared = sum(c / n * log2(c * n / (one[a] * other[b])) for (a, b), c in both.items())
    bias = (len(one) - 1 + len(other) - 1 - (len(both) - 1)) / (2 * n) / 0.6931471805599453
    return max(0.0, shared + bias)


def cramers_v(x, y):
    """Cramér's V with Bergsma's correction."""
    n, both, one, other = len(x), Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    r, k = len(one), len(other)
    if min(r, k) < 2:
        return 0.0
    chi = sum((both[a, b] - one[a] * other[b] / n) ** 2 / (one[a] * other[b] / n) for a in one for b in other)
    phi = max(0.0, chi / n - (r - 1) * (k - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    return min(1.0, sqrt(phi / least)) if least > 0 else 0.0


def overlap(x, y):
    """Sum over values of the smaller share."""
    p, q = Counter(x), Counter(y)
    return sum(min(p[v] / len(x), q[v] / len(y)) for v in {*p, *q})


def loss_of_mean(x, y):
    """Probabilistic information loss of a mean: P(|Z| <= |change| / (sd / sqrt n)), sd with n below."""
    n, mean = len(x), sum(x) / len(x)
    sd = sqrt(sum((v - mean) ** 2 for v in x) / n)
    return erf(abs(sum(y) / len(y) - mean) / (sd / sqrt(n)) / sqrt(2))


def loss_of_correlation(x, y, released_x, released_y):
    """The same of a correlation; its variance by the fourth moments (Kendall and Stuart, section 10.9)."""
    n = len(x)

    def moment(a, b, p, q):
        mean = sum(a) / n, sum(b) / n
        return sum((u - mean[0]) ** p * (v - mean[1]) ** q for u, v in zip(a, b, strict=True)) / n

    def correlation(a, b):
        return moment(a, b, 1, 1) / sqrt(moment(a, b, 2, 0) * moment(a, b, 0, 2))

    m = {(p, q): moment(x, y, p, q) for p in range(5) for q in range(5) if p + q in (2, 4)}
    r = correlation(x, y)
    inside = (
        m[2, 2] / m[1, 1] ** 2
        + (m[4, 0] / m[2, 0] ** 2 + m[0, 4] / m[0, 2] ** 2 + 2 * m[2, 2] / (m[2, 0] * m[0, 2])) / 4
        - (m[3, 1] / (m[1, 1] * m[2, 0]) + m[1, 3] / (m[1, 1] * m[0, 2]))
    )
    return erf(abs(correlation(released_x, released_y) - r) / sqrt(r**2 / n * inside) / sqrt(2))
