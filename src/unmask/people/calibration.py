"""From the hits of one draw to probabilities: how often a person would be found if the masking were drawn again.

Whether an attack finds a person in one release is the throw of a coin: noise that fell the other way would have hidden
them. The coin's bias follows from the *original*: who stands apart is found more often. So hits are regressed on how
far people stand apart in the original, which no draw of the masking changes, and each person's probability comes from
what the others taught.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import wilson

PARTS = 10  # each part of the people gets its probabilities from the others
FEWEST = 40  # people of whom a curve can be learnt: fewer all get the mean
BINS = 10
STEPS = 30
LIMIT = 30.0  # of a logit


@dataclass(frozen=True, slots=True)
class Bin:
    """People of like risk: the mean of their risks, and the share that was found, with its 95 % interval."""

    risk: float
    found: float
    low: float
    high: float
    n: int


def hits_among_alike(features: Floats, hits: Floats) -> Floats:
    """Probability of a hit by logistic regression on features and their squares, learnt from other people.

    People with the same features are in the same part, so shuffling rows changes nothing. Where so many are alike that
    too few others would be left to learn from, all of them get the mean of their hits: one of many moves it little.
    """
    mean = float(np.sort(hits).mean())
    if hits.size < FEWEST or not features.shape[1]:
        return np.full(hits.size, mean)
    spread = features.std(0)
    scaled = (features - features.mean(0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(hits.size), scaled, scaled**2])
    part, found = _parts(np.round(scaled, 6), hits)
    weights = np.zeros(design.shape[1])
    for number in range(PARTS):
        mine, others = part == number, part != number
        if mine.any() and others.any():
            weights = fit_logistic(design[others], hits[others], weights)
            found[mine] = _logistic(design[mine] @ weights)
    return found


def _parts(features: Floats, hits: Floats) -> tuple[Ints, Floats]:
    """Part of each person, and the mean hit of people like them. Who are alike share a part; large crowds have none.

    A crowd is large when it is more than one part in all: then its own mean is known well enough.
    """
    _, kind, size = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    kind, large = kind.ravel(), size > hits.size / PARTS
    part = np.where(large, -1, (np.cumsum(~large) - 1) % PARTS)
    order = np.lexsort((hits, kind))  # sums that do not hang on the order of rows
    mean = np.bincount(kind[order], hits[order], minlength=size.size) / size
    return np.asarray(part[kind], dtype=np.int64), np.asarray(mean[kind])


def fit_logistic(design: Floats, hits: Floats, start: Floats | None = None) -> Floats:
    """Weights of largest penalised likelihood (half the sum of squares, but for the constant), by Newton's steps.

    There is one such maximum. From a start near it, as the weights of nearly the same people are, it takes few steps.
    """
    penalty = np.ones(design.shape[1])
    penalty[0] = 1e-6
    weights = np.zeros(design.shape[1]) if start is None else start
    for _ in range(STEPS):
        chance = _logistic(design @ weights)
        slope = design.T @ (hits - chance) - penalty * weights
        curvature = (design * (chance * (1.0 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        size = float(np.abs(step).max())
        weights = weights + step * min(1.0, 2.0 / max(size, 1e-300))  # long steps can overshoot
        if size < 1e-9:
            break
    return weights


def _logistic(logit: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -LIMIT, LIMIT))))


def levelled(posterior: Floats, hits: Floats) -> Floats:
    """The intruder's own probabilities with one constant added to all logits, so that their mean is the hits'."""
    known = np.clip(posterior, 1e-9, 1.0 - 1e-9)
    logit, wanted = np.log(known) - np.log1p(-known), float(np.sort(hits).mean())
    low, high = -LIMIT, LIMIT
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _logistic(logit + middle).mean() < wanted else (low, middle)
    return _logistic(logit + low)


def luck_of(sure: Floats, hits: Floats) -> float:
    """How much of a coin the hits are, given the intruder's own probabilities: from 0 to 1.

    1: (hit - p)^2 is p (1 - p) on average, as of a coin. 0: hits *are* the probabilities: everybody's record is among
    the k that fit, and found once in k times; then nothing depends on how the masking fell.
    """
    coin = float(np.sort(sure * (1.0 - sure)).sum())
    return min(1.0, float(np.sort((hits - sure) ** 2).sum()) / coin) if coin > 0 else 0.0


def averaged_over_draws(prior: Floats, hits: Floats) -> Floats:
    """Share of draws in which each person was hit (draws x people), drawn towards the prior as far as draws disagree.

    A beta law about the prior, whose strength k follows from how much the shares of people differ beyond the coin's own
    noise: E (share - prior)^2 = p (1 - p) (k + draws) / ((k + 1) draws). A masking without chance gives k = 0.
    """
    draws = hits.shape[0]
    share = hits.mean(0)
    if draws < 2:
        return prior
    total = float(np.sort(prior * (1.0 - prior)).sum())
    spread = float(np.sort((share - prior) ** 2).sum()) / total if total > 0 else 1.0
    strength = (draws - draws * spread) / max(draws * spread - 1.0, 1e-9)
    if strength < 0 or spread * draws <= 1.0:
        strength = 0.0 if spread >= 1.0 else 1e9
    return np.asarray((strength * prior + draws * share) / (strength + draws))


def reliability(risk: Floats, found: Floats, bins: int = BINS) -> tuple[Bin, ...]:
    """People in the order of their risk in bins of equal number, with the share of each that was found.

    People of equal risk count alike, whichever bin they come to be in.
    """
    order = np.lexsort((found, risk))
    _, level, size = np.unique(np.round(risk[order], 9), return_inverse=True, return_counts=True)
    shared = np.bincount(level, found[order]) / size
    found = np.empty_like(found)
    found[order] = shared[level]
    edges = np.unique(np.linspace(0, risk.size, min(bins, risk.size) + 1).astype(int))
    told = []
    for start, end in pairwise(edges):
        rows = order[start:end]
        hits = float(found[rows].sum())
        told.append(Bin(float(risk[rows].mean()), hits / rows.size, *wilson(hits, rows.size), rows.size))
    return tuple(told)


def calibration_error(bins: tuple[Bin, ...]) -> float:
    """Mean difference between what the risks of a bin say and what was found of its people."""
    people = sum(entry.n for entry in bins)
    return sum(entry.n * abs(entry.risk - entry.found) for entry in bins) / people if people else float("nan")
