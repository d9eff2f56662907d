"""Population uniques from a Poisson log-linear model of the keys [SH98]_, [SS08]_.

Sizes alone forget which keys a person has: a widow of sixteen is rarer than a wife of forty, though both may be alone
in the sample. Here the frequency of a combination is predicted from its parts. Population counts are
Poisson(lambda_k), the sample keeps each person with probability pi, and log lambda is a sum of main effects, and of
effects of pairs. Maximum likelihood is iterative proportional fitting (IPF): scale the fitted table until its margins
are the observed ones.

For a sample unique with fitted sample count mu = pi lambda, the others in the population are Poisson(h), h = mu
(1-pi)/pi: P(F=1 | f=1) = exp(-h) and E(1/F | f=1) = (1 - exp(-h))/h (Skinner, Shlomo 2008, eq. 2 and 3). Their
criterion B tells how far the fit is off (section 3.2: second order expansion of the bias of tau1): the model with the
smaller |B| is kept, and |B| is part of the stated error. Only combinations whose observed margins are all positive can
have a positive fit; the others are never built.

Departure: a sample unique is part of its own fit, so its fitted count is too large and tau too small; leaving it out
by its leverage gives too noisy a count, and tau too large (both seen in simulation, tests/groups/test_loglinear.py).
We state the middle of the two, and an interval that holds both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unmask.groups.superpopulation import Z95, Model, Prediction

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

MAX_CELLS = 400_000
ROUNDS = 100
CLOSE = 1e-5  # largest relative misfit of a margin


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted sample counts of the cells that can occur; ``observed`` is the sample's count there."""

    terms: str
    mu: Floats
    observed: Floats
    leverage: Floats  # of the cells with one record: how much of the fitted count is the record's own doing
    rounds: int


def log_linear(codes: Codes, counts: Counts, population: float, *, max_cells: int = MAX_CELLS) -> Model | None:
    """Fit main effects, and pairs; keep the one whose bias criterion is smaller. None when the table is too large."""
    pi = min(1.0, float(counts.sum()) / population)
    fits = [fit for fit in (main_effects(codes, counts, max_cells), pair_effects(codes, counts, max_cells)) if fit]
    models = [_predict(fit, pi) for fit in fits]
    return min(models, key=lambda model: abs(dict(model.parameters)["bias"]), default=None)


def main_effects(codes: Codes, counts: Counts, max_cells: int) -> Fit | None:
    """Independent keys: the fit is the product of the margins, no iteration."""
    shares = [np.bincount(codes[:, k], counts) / counts.sum() for k in range(codes.shape[1])]
    cells = _cells(codes, [], max_cells)
    if cells is None:
        return None
    mu = float(counts.sum()) * np.prod([share[cells[:, k]] for k, share in enumerate(shares)], axis=0)
    observed = _observed(cells, codes, counts)
    m, alone = codes.shape[1], cells[observed == 1]
    singles = sum(1 / _margin(codes, counts, alone, (k,)) for k in range(m))
    return Fit("main effects", mu, observed, mu[observed == 1] * (singles - (m - 1) / counts.sum()), 0)


def pair_effects(codes: Codes, counts: Counts, max_cells: int) -> Fit | None:
    """IPF over the margins of all pairs of keys."""
    pairs = list(combinations(range(codes.shape[1]), 2))
    cells = _cells(codes, pairs, max_cells) if pairs else None
    if cells is None:
        return None
    mu, worst, rounds = np.ones(len(cells)), np.inf, 0
    while worst > CLOSE and rounds < ROUNDS:
        worst, rounds = 0.0, rounds + 1
        for a, b in pairs:
            wide = int(codes[:, b].max()) + 1
            here = cells[:, a].astype(np.int64) * wide + cells[:, b]
            wanted = np.bincount(
                codes[:, a].astype(np.int64) * wide + codes[:, b], counts, minlength=int(here.max()) + 1
            )
            fitted = np.bincount(here, mu, minlength=len(wanted))
            ratio = np.divide(wanted, fitted, out=np.zeros(len(wanted)), where=fitted > 0)
            worst = max(worst, float(np.abs(ratio[wanted > 0] - 1).max()))
            mu *= ratio[here]
    observed = _observed(cells, codes, counts)
    m, alone = codes.shape[1], cells[observed == 1]
    # the projection on pairs, as in an orthogonal design: pairs - (m-2) singles + (m-1)(m-2)/2 mean
    doubles = sum(1 / _margin(codes, counts, alone, pair) for pair in pairs)
    singles = sum(1 / _margin(codes, counts, alone, (k,)) for k in range(m))
    share = doubles - (m - 2) * singles + (m - 1) * (m - 2) / 2 / counts.sum()
    return Fit("pairs", mu, observed, mu[observed == 1] * share, rounds)


def _margin(codes: Codes, counts: Counts, cells: Codes, keys: tuple[int, ...]) -> Floats:
    """Observed count of each cell's margin over the keys."""
    radix = np.cumprod([1, *(int(codes[:, k].max()) + 1 for k in keys[:-1])], dtype=np.int64)
    return np.asarray(np.bincount(codes[:, keys] @ radix, counts)[cells[:, keys] @ radix], dtype=np.float64)


def _cells(codes: Codes, pairs: list[tuple[int, int]], max_cells: int) -> Codes | None:
    """Build all combinations whose margins are positive, one key at a time; None when they become too many."""
    cells = np.unique(codes[:, :1], axis=0)
    for k in range(1, codes.shape[1]):
        values = np.unique(codes[:, k])
        if len(cells) * len(values) > 20 * max_cells:
            return None
        cells = np.column_stack([np.repeat(cells, len(values), axis=0), np.tile(values, len(cells))])
        for a, b in pairs:
            if b == k:
                seen = np.zeros((int(codes[:, a].max()) + 1, int(codes[:, b].max()) + 1), bool)
                seen[codes[:, a], codes[:, b]] = True
                cells = cells[seen[cells[:, a], cells[:, b]]]
        if len(cells) > max_cells:
            return None
    return cells.astype(np.int32)


def _observed(cells: Codes, codes: Codes, counts: Counts) -> Floats:
    """Counts of the sample in the order of the cells; both are numbered in mixed radix."""
    radix = np.cumprod([1, *(int(codes[:, k].max()) + 1 for k in range(codes.shape[1] - 1))], dtype=np.int64)
    here, there = cells @ radix, codes @ radix
    order = np.argsort(here)
    observed = np.zeros(len(cells))
    observed[order[np.searchsorted(here[order], there)]] = counts
    return observed


def _predict(fit: Fit, pi: float) -> Model:
    rest, bias = (1 - pi) / pi, _bias(fit, pi)
    mu, own = fit.mu[fit.observed == 1], np.clip(fit.leverage, 0.0, 0.95)
    without = np.maximum(mu * 1e-3, (mu - own) / (1 - own))  # leave-one-out: mu = (1 - own) without + own * 1
    within, outside = _chances(mu * rest), _chances(without * rest)
    tau1, tau2 = (_interval(a, b, bias) for a, b in zip(within, outside, strict=True))
    lam = fit.mu / pi
    parameters = (("bias", bias), ("cells", float(len(fit.mu))), ("rounds", float(fit.rounds)))
    return Model(f"log-linear ({fit.terms})", tau1, tau2, float((lam * np.exp(-lam)).sum()), parameters)


def _chances(h: Floats) -> tuple[Floats, Floats]:
    """P(F = 1) and E(1/F) for one plus Poisson(h) people."""
    small = h < 1e-9
    return np.exp(-h), np.where(small, 1 - h / 2, -np.expm1(-h) / np.where(small, 1.0, h))


def _bias(fit: Fit, pi: float) -> float:
    """Estimate the bias of tau1: sum of lambda e^-lambda (1-pi) {(f - mu) - (1-pi) ((f - mu)^2 - f)/(2 pi)}."""
    lam, off = fit.mu / pi, fit.observed - fit.mu
    return float((lam * np.exp(-lam) * (1 - pi) * (off - (1 - pi) * (off**2 - fit.observed) / (2 * pi))).sum())


def _interval(within: Floats, outside: Floats, bias: float) -> Prediction:
    """The middle of both sums; around them the prediction error of independent coins and the estimated bias."""
    ends = sorted([float(within.sum()), float(outside.sum())])
    half = [float(np.hypot(Z95 * np.sqrt((c * (1 - c)).sum()), bias)) for c in (within, outside)]
    return Prediction(sum(ends) / 2, max(0.0, ends[0] - max(half)), min(float(len(within)), ends[1] + max(half)))
