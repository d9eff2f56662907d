"""Definitions of the blind likelihood intruder, written slowly: one pair, one permutation, one step of EM at a time."""

from __future__ import annotations

from itertools import permutations
from math import fsum, log

import numpy as np
from scipy.stats import multivariate_normal


def log_ratio(x, y, channel, law, *, x_codes=(), y_codes=(), frequencies=()):
    """log q(y | x) / p(y) of one pair, on the columns that both have; ``law``: mean and covariance of the release."""
    mean, spread = law
    both = ~np.isnan(x) & ~np.isnan(y)
    total = 0.0
    if both.any():
        fitted = (channel.slope @ np.nan_to_num(x) + channel.shift)[both]
        cut = np.ix_(both, both)
        total += multivariate_normal.logpdf(y[both], fitted, channel.noise[cut])
        total -= multivariate_normal.logpdf(y[both], mean[both], spread[cut])
    for k, (a, b) in enumerate(zip(x_codes, y_codes, strict=True)):
        if a < 0 or b < 0:
            continue
        f, kept = frequencies[k], channel.kept[k]
        chance = kept if a == b else (1 - kept) * f[b] / (1 - f[a])
        total += log(chance) - log(f[b])
    return total


def posterior(weights):
    """The share of all one-to-one matchings, weighed by likelihood, that contain each pair; and the log-permanent."""
    weights = np.asarray(weights)
    n, m = weights.shape
    if n > m:
        share, value = posterior(weights.T)
        return share.T, value
    share, total = np.zeros((n, m)), 0.0
    for chosen in permutations(range(m), n):
        likelihood = np.exp(fsum(weights[i, j] for i, j in enumerate(chosen)))
        total += likelihood
        for i, j in enumerate(chosen):
            share[i, j] += likelihood
    return share / total, log(total)


def sinkhorn(weights, sweeps):
    """Rows, then columns, until the sums are one; rows last."""
    share = np.exp(np.asarray(weights) - np.max(weights))
    for _ in range(sweeps):
        for i in range(len(share)):
            share[i] /= fsum(share[i])
        for j in range(share.shape[1]):
            share[:, j] /= fsum(share[:, j])
    for i in range(len(share)):
        share[i] /= fsum(share[i])
    return share


def step(x, y, share, slope):
    """M-step with A given: shift and covariance of y - A x - b over all pairs, weighed."""
    n, m = share.shape
    gaps = [(share[i, j], y[j] - slope @ x[i]) for i in range(n) for j in range(m)]
    total = fsum(p for p, _ in gaps)
    shift = sum(p * g for p, g in gaps) / total
    return shift, sum(p * np.outer(g - shift, g - shift) for p, g in gaps) / total


def regress(x, y, share):
    """M-step with A free: weighted least squares of y on x over all pairs."""
    n, m = share.shape
    rows = np.array([np.append(x[i], 1.0) * np.sqrt(share[i, j]) for i in range(n) for j in range(m)])
    goal = np.array([y[j] * np.sqrt(share[i, j]) for i in range(n) for j in range(m)])
    found = np.linalg.lstsq(rows, goal, rcond=None)[0]
    slope, shift = found[:-1].T, found[-1]
    gaps = goal - rows @ found
    return slope, shift, gaps.T @ gaps / share.sum()


def credit(share, truth):
    """1/|T| for each person whose true record is among the |T| likeliest."""
    result = []
    for i, j in enumerate(truth):
        best = [k for k in range(share.shape[1]) if share[i, k] >= max(share[i]) * (1 - 1e-6)]
        result.append(1 / len(best) if j in best else 0.0)
    return np.array(result)
