"""Population uniques from a Poisson log-linear model of the keys [SH98]_, [SS08]_ (docs/measures/population.md).

The frequency of a combination is predicted from its keys, or from pairs of them, by iterative proportional fitting. A
sample unique with fitted count mu has Poisson(h) others in the population, h = mu (1-pi)/pi. Criterion B estimates how
far a fit is off: the model with the smaller |B| is kept, and |B| is part of the stated error.

Departure: a sample unique is part of its own fit, so tau comes out too small; leaving it out by its leverage gives too
noisy a count, and tau too large. We state the middle of the two, and an interval that holds both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.arrays import Codes, Counts, Floats
from unmask.groups.population.sizes import Z95, Model, Prediction
from unmask.study import number_rows

MAX_CELLS = 400_000
ROUNDS = 100
DRAWS = 200_000  # combinations drawn where there are too many to build
CLOSE = 1e-5  # largest relative misfit of a margin


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fitted table says about the combinations with one record, and about all combinations together."""

    terms: str
    mu: Floats  # fitted sample counts of the combinations with one record
    leverage: Floats  # of the same: how much of the fitted count is the record's own doing
    bias: float  # criterion B
    uniques: float  # people expected to be unique in the population
    cells: float
    rounds: int


def log_linear(codes: Codes, counts: Counts, population: float, *, max_cells: int = MAX_CELLS) -> Model:
    """Fit main effects, and pairs unless the table is too large; keep the one whose bias criterion is smaller."""
    pi = min(1.0, float(counts.sum()) / population)
    pairs = pair_effects(codes, counts, pi, max_cells) if codes.shape[1] > 1 else None
    fits = [fit for fit in (main_effects(codes, counts, pi, max_cells), pairs) if fit]
    large = pairs is None and codes.shape[1] > 1
    remark = f"pairs of keys are left out, they have more than {max_cells:,} combinations" if large else ""
    return _predict(min(fits, key=lambda fit: abs(fit.bias)), pi, remark)


def main_effects(codes: Codes, counts: Counts, pi: float, max_cells: int) -> Fit:
    """Independent keys: the fit is the product of the margins, no iteration.

    The fit is known at any combination without building the others. Sums over all of them are exact up to
    ``max_cells``; beyond they are means over combinations drawn from the fit itself, whose terms are bounded.
    """
    n, m = float(counts.sum()), codes.shape[1]
    shares = [np.bincount(codes[:, k], counts) / n for k in range(m)]
    mu = n * np.prod([share[codes[:, k]] for k, share in enumerate(shares)], axis=0)
    n_cells = float(np.prod([float(len(share)) for share in shares]))
    cells = possible_cells(codes, [], max_cells)
    if cells is None:
        drawn = n * np.prod(_draw(shares), axis=0)
        bias, uniques = (n / pi * float((_sums(drawn, pi)[part] / (drawn / pi)).mean()) for part in (0, 1))
    else:
        fitted = n * np.prod([share[cells[:, k]] for k, share in enumerate(shares)], axis=0)
        bias, uniques = (float(part.sum()) for part in _sums(fitted, pi))
    bias += float((_terms(mu, counts, pi) - _sums(mu, pi)[0]).sum())
    alone = codes[counts == 1]
    singles = sum(1 / _margin(codes, counts, alone, (k,)) for k in range(m))
    single = mu[counts == 1]
    return Fit("main effects", single, single * (singles - (m - 1) / n), bias, uniques, n_cells, 0)


def pair_effects(codes: Codes, counts: Counts, pi: float, max_cells: int) -> Fit | None:
    """IPF over the margins of all pairs of keys; None when the combinations that can occur are too many."""
    pairs = list(combinations(range(codes.shape[1]), 2))
    cells = possible_cells(codes, pairs, max_cells)
    if cells is None:
        return None
    mu, rounds = proportional_fit(codes, counts, cells, pairs)
    bias, uniques = (float(part.sum()) for part in _sums(mu, pi))
    seen = mu[_places(cells, codes)]
    bias += float((_terms(seen, counts, pi) - _sums(seen, pi)[0]).sum())
    m, alone, single = codes.shape[1], codes[counts == 1], seen[counts == 1]
    # the projection on pairs, as in an orthogonal design: pairs - (m-2) singles + (m-1)(m-2)/2 mean
    doubles = sum(1 / _margin(codes, counts, alone, pair) for pair in pairs)
    singles = sum(1 / _margin(codes, counts, alone, (k,)) for k in range(m))
    share = doubles - (m - 2) * singles + (m - 1) * (m - 2) / 2 / counts.sum()
    return Fit("pairs", single, single * share, bias, uniques, float(len(cells)), rounds)


def proportional_fit(codes: Codes, counts: Counts, cells: Codes, pairs: list[tuple[int, int]]) -> tuple[Floats, int]:
    """Scale a table of ones until the margins of all pairs are the observed ones; and how many rounds it took."""
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
    return mu, rounds


def _draw(shares: list[Floats]) -> list[Floats]:
    """Combinations drawn from independent keys: the share of each key's value."""
    rng = np.random.default_rng(0)
    return [share[np.searchsorted(np.cumsum(share)[:-1], rng.random(DRAWS), side="right")] for share in shares]


def _margin(codes: Codes, counts: Counts, cells: Codes, keys: tuple[int, ...]) -> Floats:
    """Observed count of each cell's margin over the keys."""
    radix = np.cumprod([1, *(int(codes[:, k].max()) + 1 for k in keys[:-1])], dtype=np.int64)
    return np.asarray(np.bincount(codes[:, keys] @ radix, counts)[cells[:, keys] @ radix], dtype=np.float64)


def possible_cells(codes: Codes, pairs: list[tuple[int, int]], max_cells: int) -> Codes | None:
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


def _places(cells: Codes, codes: Codes) -> Counts:
    """Where the combinations of the sample stand among the cells."""
    number = number_rows(np.concatenate([cells, codes]))
    place = np.empty(int(number.max()) + 1, np.int64)
    place[number[: len(cells)]] = np.arange(len(cells))
    return place[number[len(cells) :]]


def _predict(fit: Fit, pi: float, remark: str) -> Model:
    rest, mu, own = (1 - pi) / pi, fit.mu, np.clip(fit.leverage, 0.0, 0.95)
    without = np.maximum(mu * 1e-3, (mu - own) / (1 - own))  # leave-one-out: mu = (1 - own) without + own * 1
    within, outside = _chances(mu * rest), _chances(without * rest)
    tau1, tau2 = (_interval(a, b, fit.bias) for a, b in zip(within, outside, strict=True))
    parameters = (("bias", fit.bias), ("cells", fit.cells), ("rounds", float(fit.rounds)))
    return Model(f"log-linear ({fit.terms})", tau1, tau2, fit.uniques, parameters, remark=remark)


def _chances(h: Floats) -> tuple[Floats, Floats]:
    """P(F = 1) and E(1/F) for one plus Poisson(h) people."""
    small = h < 1e-9
    return np.exp(-h), np.where(small, 1 - h / 2, -np.expm1(-h) / np.where(small, 1.0, h))


def _terms(mu: Floats, observed: Counts, pi: float) -> Floats:
    """Bias of tau1 by cell: lambda e^-lambda (1-pi) {(f - mu) - (1-pi) ((f - mu)^2 - f)/(2 pi)}."""
    lam, off = mu / pi, observed - mu
    return np.asarray(lam * np.exp(-lam) * (1 - pi) * (off - (1 - pi) * (off**2 - observed) / (2 * pi)))


def _sums(mu: Floats, pi: float) -> tuple[Floats, Floats]:
    """By cell without a record: the same bias, and the chance of one person of the population there."""
    lam = mu / pi
    return _terms(mu, np.zeros(len(mu), np.int64), pi), np.asarray(lam * np.exp(-lam))


def _interval(within: Floats, outside: Floats, bias: float) -> Prediction:
    """The middle of both sums; around them the prediction error of independent coins and the estimated bias."""
    ends = sorted([float(within.sum()), float(outside.sum())])
    half = [float(np.hypot(Z95 * np.sqrt((c * (1 - c)).sum()), bias)) for c in (within, outside)]
    return Prediction(sum(ends) / 2, max(0.0, ends[0] - max(half)), min(float(len(within)), ends[1] + max(half)))
