"""Individual risk from sampling weights [BF98]_, and its household form.

With F given f negative binomial, the chance to pick the right one of F people is, with p = f / (sum of the weights),

    r = E(1/F | f) = (p / f) 2F1(1, 1; f + 1; q) = p I_f,   I_f = integral_0^1 u^(f-1) / (p + q u) du,   q = 1 - p

SciPy 1.17's ``hyp2f1`` is infinite there (f = 100, p = 0.01 and around), so two stable evaluations are written out: the
series, and for few records in a large class the recurrence q I_{f+1} = 1/f - p I_f, which damps errors while p < q.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unmask.arrays import Counts, Floats

Method = Literal["exact", "approximate"]

FEW, TERMS = 20, 64


def inclusion(counts: Counts, weights: Floats) -> Floats:
    """P = f / F with F the sum of the weights, at most 1: a record stands at least for itself."""
    return np.asarray(np.minimum(1.0, counts / weights))


def individual_risk(counts: Counts, weights: Floats, method: Method = "exact") -> Floats:
    """R of each class from its number of records f and the sum F of their weights."""
    p = inclusion(counts, weights)
    f = counts.astype(np.float64)
    exact = _exact(f, p)
    if method == "exact":
        return exact
    # f <= 2 in closed form, which is the exact value; else p/(f - (1-p)) (sdcMicro 5.8)
    return np.where(f <= 2, exact, p / (f - (1 - p)))


def _exact(f: Floats, p: Floats) -> Floats:
    """R = (p/f) 2F1(1, 1; f+1; 1-p), by recurrence when f and p are small and by the series else; see the module."""
    rare = (f < FEW) & (p < 0.5)
    risk = np.empty_like(p)
    risk[rare] = _by_recurrence(f[rare], p[rare])
    risk[~rare] = _by_series(f[~rare], 1 - p[~rare]) * p[~rare] / f[~rare]
    return risk


def _by_recurrence(f: Floats, p: Floats) -> Floats:
    integral = -np.log(p) / (1 - p)
    for step in range(1, FEW):
        integral = np.where(f > step, (1 / step - p * integral) / (1 - p), integral)
    return np.asarray(p * integral)


def _by_series(f: Floats, q: Floats) -> Floats:
    """2F1(1, 1; f+1; q): each term is the one before times q k/(f+k). 64 terms reach 1e-16 for f >= 20 or q <= 1/2."""
    term, total = np.ones_like(f), np.ones_like(f)
    for k in range(1, TERMS):
        term = term * q * k / (f + k)
        total += term
    return total


def unique_variance(p: Floats) -> Floats:
    """Var(1/F | f = 1) = p Li2(1-p) / (1-p) - r^2, with Li2 the dilogarithm."""
    from scipy.special import spence  # noqa: PLC0415 - slow to import

    q = 1 - p
    safe = np.where(q > 0, q, 1.0)
    second = np.where(q > 0, p * spence(1 - safe) / safe, 1.0)
    return np.asarray(np.maximum(0.0, second - _exact(np.ones_like(p), p) ** 2))


def household_risk(risks: Floats, households: Counts, numbers: Counts) -> Floats:
    """1 - prod(1 - r) over each household: the chance that at least one member is found.

    ``risks`` and ``numbers`` have one entry for each (household, class) pair: the risk and how many members share it.
    """
    with np.errstate(divide="ignore"):
        logs = numbers * np.log1p(-np.minimum(risks, 1.0))
    return np.asarray(-np.expm1(np.bincount(households, logs)))
