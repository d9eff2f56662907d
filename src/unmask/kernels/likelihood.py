"""How likely each released record is to have been made from each original one, when the masking is known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import in_chunks, inner, kernel
from unmask.kernels.weighing import Weighing, blank, take

__all__ = [
    "EQUAL", "FACTOR", "GAUSSIAN", "LAPLACE", "TABLE", "TRIANGLE", "WINDOW", "Likelihoods", "Makings", "all_pairs",
    "likelihoods",
]  # fmt: skip

FEW = 30
LEAST = 1e-6  # chance left to others, however unlikely they are: nobody's list of people is complete
EQUAL, GAUSSIAN, FACTOR, WINDOW, TRIANGLE, TABLE, LAPLACE = range(7)


class Makings(NamedTuple):
    """How each attribute was made. NaN is missing; ``low`` and ``high`` bound what a record's value can have become."""

    x: Floats  # (n, attributes)
    y: Floats
    kind: Ints
    scale: Floats  # of noise or factor, base of rounding, tolerance of equality, windows in a column
    low: Floats  # (n, attributes)
    high: Floats
    x_rank: Floats  # WINDOW with a profile: ranks, in units of the window
    y_rank: Floats
    profile: Floats  # (attributes, places, bins) log-density of the displacement, by place in the column; 0: none
    table: Floats  # (attributes, codes, codes) log-probabilities of PRAM
    fades: NDArray[np.bool_]  # a present value may have become missing
    y_low: Floats  # noise, then a step without chance: what a released value can have been before it;
    y_high: Floats  # the same number twice where nothing followed
    limit: float  # squared standardised noise beyond which a candidate is not credible


class Likelihoods(NamedTuple):
    """The best candidates, and the number of those that are possible at all (or credible, under noise)."""

    best: Weighing
    possible: Ints
    true_possible: NDArray[np.bool_]


def likelihoods(made: Makings, truth: Ints, seed: int = 0) -> Likelihoods:
    """Pass over all pairs: the weight of a pair is log p(y | x) - log f(y), f the sum of p(y | x') over the others x'.

    If y is the person's own record it was made from x, and otherwise from somebody else: Bayes' rule divides by how
    likely it is to have been made from anybody else. A record in a crowd tells less than one that only x can explain.
    An intruder who holds fewer than FEW people cannot say what others would have become, and does not divide.
    """
    n = len(made.x)
    crowd = np.full(len(made.y), np.nan)
    if n >= FEW:
        in_chunks(lambda part: _popularity(made, np.arange(part.start, part.stop), crowd), len(made.y), chunk=64)
    out = Likelihoods(blank(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))
    in_chunks(
        lambda part: _pass(
            made, crowd, truth, seed, np.arange(part.start, part.stop), out.best, out.possible, out.true_possible
        ),
        n,
        chunk=64,
    )
    return out


def all_pairs(made: Makings) -> Floats:
    """Log-likelihood of every pair, up to a constant of the record; -inf where it is impossible."""
    out = np.empty((len(made.x), len(made.y)))
    in_chunks(lambda part: _fill(made, np.arange(part.start, part.stop), out), len(made.x), chunk=64)
    return out


@inner
def _mass(low: float, high: float) -> float:
    """Log of the chance that a standard normal falls between two numbers; by its size at the nearer one far out."""
    if low > 0:
        low, high = -high, -low
    root = math.sqrt(2.0)
    chance = 0.5 * (math.erfc(-high / root) - math.erfc(-low / root))
    if high > 0:
        chance = 1.0 - 0.5 * (math.erfc(high / root) + math.erfc(-low / root))
    if chance > 1e-290:
        return math.log(chance)
    return -0.5 * high * high - math.log(abs(high) + 1.0) - 1.0


@inner
def _noisy(made: Makings, i: int, j: int, k: int) -> Any:  # noqa: ANN401 - a float
    """Log-likelihood of a value that noise moved, and that may have been rounded or cut after it."""
    x, low, high = made.x[i, k], made.y_low[j, k], made.y_high[j, k]
    factor = made.kind[k] == FACTOR
    sd = made.scale[k] * (abs(x) if factor else 1.0)
    if sd <= 0:
        return 0.0 if low <= x <= high else -math.inf
    if high > low:
        return _mass((low - x) / sd, (high - x) / sd)
    return -0.5 * ((x - low) / sd) ** 2 - (math.log(sd) if factor else 0.0)


@inner
def _part(made: Makings, i: int, j: int, k: int) -> Any:  # noqa: ANN401, PLR0911 - a float; one way out per kind
    """Log-likelihood of one attribute, up to a constant of the record."""
    x, y, kind = made.x[i, k], made.y[j, k], made.kind[k]
    if x != x:  # noqa: PLR0124  NaN stays NaN
        return 0.0 if y != y else -math.inf  # noqa: PLR0124
    if y != y:  # noqa: PLR0124
        return 0.0 if made.fades[k] else -math.inf
    gap = abs(x - y)
    if kind == EQUAL:
        return 0.0 if gap <= made.scale[k] else -math.inf
    if kind in (GAUSSIAN, FACTOR):
        return _noisy(made, i, j, k)
    if kind == LAPLACE:
        return -gap / made.scale[k]
    if kind == TRIANGLE:
        return math.log1p(-gap / made.scale[k]) if gap < made.scale[k] * (1 - 1e-9) else -math.inf
    if kind == TABLE:
        return made.table[k, int(x), int(y)]
    if y < made.low[i, k] or y > made.high[i, k]:
        return -math.inf
    places, bins = made.profile.shape[1], made.profile.shape[2]
    place = min(int(made.x_rank[i, k] / made.scale[k] * places), places - 1)
    moved = int((made.y_rank[j, k] - made.x_rank[i, k] + 1.0) / 2.0 * bins)
    return made.profile[k, place, min(max(moved, 0), bins - 1)]


@inner
def _against(weight: float, crowd: float) -> float:
    """Log of p / (sum of all p - p): the odds that this person rather than another made the record."""
    if crowd != crowd:  # noqa: PLR0124  NaN
        return weight
    return weight - crowd - math.log(max(1.0 - math.exp(min(weight - crowd, 0.0)), LEAST))


@inner
def _weight(made: Makings, i: int, j: int) -> float:
    """Log-likelihood of a pair, up to a constant of the record."""
    weight = 0.0
    for k in range(made.x.shape[1]):
        weight += _part(made, i, j, k)
        if weight == -math.inf:
            break
    return weight


@kernel
def _fill(made: Makings, queries: Ints, out: Floats) -> None:
    for i in queries:
        for j in range(made.y.shape[0]):
            out[i, j] = _weight(made, i, j)


@kernel
def _popularity(made: Makings, points: Ints, crowd: Floats) -> None:
    """Log of the sum over all x of p(y | x)."""
    for j in points:
        top, total = -math.inf, 0.0
        for i in range(made.x.shape[0]):
            weight = _weight(made, i, j)
            if weight > top:
                total = total * math.exp(top - weight) + 1.0
                top = weight
            elif weight > -math.inf:
                total += math.exp(weight - top)
        crowd[j] = top + math.log(total) if total > 0 else -math.inf


@kernel
def _pass(
    made: Makings,
    crowd: Floats,
    truth: Ints,
    seed: int,
    queries: Ints,
    best: Weighing,
    possible: Ints,
    true_possible: NDArray[np.bool_],
) -> None:
    for i in queries:
        lot = 0.0
        for j in range(made.y.shape[0]):
            weight, noise = 0.0, 0.0
            for k in range(made.x.shape[1]):
                part = _part(made, i, j, k)
                weight += part
                if part == -math.inf:
                    break
                if made.kind[k] == GAUSSIAN or made.kind[k] == FACTOR:
                    sd = made.scale[k] * (abs(made.x[i, k]) if made.kind[k] == FACTOR else 1.0)
                    if sd > 0 and part != 0:
                        gap = max(made.y_low[j, k] - made.x[i, k], made.x[i, k] - made.y_high[j, k], 0.0)
                        noise += (gap / sd) ** 2
                if made.kind[k] == LAPLACE:
                    noise -= 2.0 * part  # twice an exponential number is chi-square with two degrees
            if weight > -math.inf and noise <= made.limit:
                possible[i] += 1
                if j == truth[i]:
                    true_possible[i] = True
            if weight > -math.inf:
                weight = _against(weight, crowd[j])
            lot = take(best, i, j, weight, truth[i], seed, lot)
