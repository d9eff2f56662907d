"""How many people are unique in the population, guessed from the sizes of the groups of the sample alone.

Each model takes the histogram of group sizes and the sampling fraction pi = n/N: Pitman [HOSHINO01]_, Poisson-gamma
[BKP90]_ and Zayatz [GZ92]_. tau1: sample uniques that are unique in the population; tau2: right links expected among
them. The interval covers prediction and the fitted parameters, not a wrong model: so several stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints

Z95 = 1.959963984540054
RAYS, FAR = 24, 30.0


@dataclass(frozen=True, slots=True)
class Prediction:
    """A number of records with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Model:
    """What a model says about the sample uniques, and how many people it takes to be unique in the population."""

    name: str
    tau1: Prediction
    tau2: Prediction
    population_uniques: float
    parameters: tuple[tuple[str, float], ...]
    note: str = ""  # why it is shown only, and is no part of the headline
    remark: str = ""  # what was left out of it


@dataclass(frozen=True, slots=True)
class Sizes:
    """Histogram of group sizes of a sample of n from N: ``number[i]`` classes have ``size[i]`` records."""

    size: Floats
    number: Floats
    population: float  # N

    @property
    def n(self) -> float:
        """Records of the sample."""
        return float(self.size @ self.number)

    @property
    def classes(self) -> float:
        """Classes that occur."""
        return float(self.number.sum())

    @property
    def uniques(self) -> float:
        """Classes of one record."""
        return float(self.number[self.size == 1].sum())

    @property
    def fraction(self) -> float:
        """Sampling fraction pi."""
        return min(1.0, self.n / self.population)


def sizes_of(counts: Ints, population: float) -> Sizes:
    """Histogram of group sizes."""
    size, number = np.unique(counts, return_counts=True)
    return Sizes(size.astype(np.float64), number.astype(np.float64), float(population))


def predict(value: float, variance: float, ceiling: float) -> Prediction:
    """Normal interval, cut to what is possible: none, or all sample uniques."""
    half = Z95 * np.sqrt(max(variance, 0.0))
    return Prediction(float(value), float(max(0.0, value - half)), float(min(ceiling, value + half)))


# --- Pitman -----------------------------------------------------------------------------------------------------------


def pitman(sizes: Sizes) -> Model:
    """Fit Pitman's sampling formula by maximum likelihood and predict (Hoshino 2001)."""

    def loss(raw: Floats) -> float:
        alpha, theta = _pitman_parameters(raw)
        return -_pitman_log_likelihood(sizes, alpha, theta)

    def outlook(raw: Floats) -> Floats:
        alpha, theta = _pitman_parameters(raw)
        return np.array([_pitman_stays(sizes, alpha, theta), _pitman_inverse(sizes, alpha, theta)])

    raw, region = _fit(loss, outlook, np.array([0.0, np.log(sizes.classes + 1.0)]))
    alpha, theta = _pitman_parameters(raw)
    big = sizes.population  # E S_1(N) = N (theta + alpha)_{N-1} / (theta + 1)_{N-1}
    uniques = big * np.exp(_log_rise(theta + alpha, big - 1) - _log_rise(theta + 1, big - 1))
    return _model("pitman", sizes, outlook(raw), region, float(uniques), (("alpha", alpha), ("theta", theta)))


def _pitman_parameters(raw: Floats) -> tuple[float, float]:
    """0 < alpha < 1 and theta > 0 from two free numbers."""
    return float(1e-6 + (1 - 2e-6) / (1 + np.exp(-np.clip(raw[0], -30, 30)))), float(np.exp(np.clip(raw[1], -20, 25)))


def _pitman_log_likelihood(sizes: Sizes, alpha: float, theta: float) -> float:
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import

    u, n = sizes.classes, sizes.n
    seats = (u - 1) * np.log(alpha) + _log_rise(theta / alpha + 1, u - 1)
    within = sizes.number @ (gammaln(sizes.size - alpha) - gammaln(1 - alpha))
    return float(seats - _log_rise(theta + 1, n - 1) + within)


def _pitman_stays(sizes: Sizes, alpha: float, theta: float) -> float:
    """P(F = 1 | f = 1): none of the N - n others joins, prod_{t=n}^{N-1} (theta + t - 1 + alpha)/(theta + t)."""
    n, big = sizes.n, sizes.population
    return float(np.exp(_log_rise(theta + n + alpha - 1, 1 - alpha) - _log_rise(theta + big + alpha - 1, 1 - alpha)))


def _pitman_inverse(sizes: Sizes, alpha: float, theta: float) -> float:
    """E(1/F | f = 1), F - 1 beta-binomial(N - n; a, b) with a = 1 - alpha, b = theta + n - 1 + alpha.

    E(1/F) = 1/(M+1) sum_{i=0}^{M} B(a, b+i)/B(a, b), and the sum telescopes since a < 1 (M = N - n).
    """
    rest, b = sizes.population - sizes.n, theta + sizes.n - 1 + alpha
    start = np.exp(_log_rise(theta + sizes.population, alpha) + _log_rise(b, 1 - alpha)) - (theta + sizes.n - 1)
    return float(np.clip(start / (alpha * (rest + 1)), _pitman_stays(sizes, alpha, theta), 1.0))


def _log_rise(x: float, a: float) -> float:
    """Log of Gamma(x + a)/Gamma(x), a >= 0: through the beta function, which keeps its digits when x is huge."""
    from scipy.special import betaln, gammaln  # noqa: PLC0415 - slow to import

    return float(gammaln(a) - betaln(x, a)) if a > 0 else 0.0


# --- Poisson-gamma (negative binomial) ------------------------------------------------------------------------------


def poisson_gamma(sizes: Sizes) -> Model:
    """Fit a zero-truncated negative binomial to the classes that occur and predict (Bethlehem, Keller, Pannekoek 1990).

    Rates are gamma(a, b); population counts Poisson(rate), sample counts Poisson(pi rate). Departure from the paper:
    the number of possible classes is not the product of the domains, most of which can never occur; it is not needed.
    """
    pi = sizes.fraction

    def loss(raw: Floats) -> float:
        a, b = _gamma_parameters(raw)
        return -_truncated_log_likelihood(sizes, a, pi / b)

    def outlook(raw: Floats) -> Floats:
        a, b = _gamma_parameters(raw)
        # rate given f = 1 is gamma(a + 1, b + pi), so F - 1 is negative binomial with q = (1 - pi)/(1 + b)
        q, left = (1 - pi) / (1 + b), (b + pi) / (1 + b)  # 1 - q, also where q is 1 but for the last digit
        log_left = np.log1p(-q) if q < 0.5 else np.log(left)  # whichever keeps its digits
        stays = np.exp((a + 1) * log_left)
        inverse = -left / (q * a) * np.expm1(a * log_left) if q > 0 else 1.0  # integral of the generating function
        return np.array([stays, inverse])

    raw, region = _fit(loss, outlook, np.array([np.log(0.5), np.log(pi)]))
    a, b = _gamma_parameters(raw)
    possible = -sizes.classes * a / np.expm1(-a * np.log1p(pi / b))  # K a, K the classes of the population
    uniques = possible * np.exp(a * (np.log(b) - np.log1p(b))) / (1 + b)
    return _model("poisson-gamma", sizes, outlook(raw), region, float(uniques), (("shape", a), ("rate", b)))


def _gamma_parameters(raw: Floats) -> tuple[float, float]:
    return float(np.exp(np.clip(raw[0], -12, 12))), float(np.exp(np.clip(raw[1], -40, 20)))


def _truncated_log_likelihood(sizes: Sizes, a: float, odds: float) -> float:
    """Log-likelihood of counts f >= 1: (a)_f / f! p^a (1-p)^f / (1 - p^a), where (1-p)/p is ``odds``.

    By the odds, as p itself is 1 in double precision where a few people stand for more than 10^16.
    """
    from scipy.special import betaln  # noqa: PLC0415 - slow to import

    f, stays = sizes.size, -np.log1p(odds)  # log p
    each = -betaln(a, f) - np.log(f) + a * stays + f * (np.log(odds) + stays) - np.log(-np.expm1(a * stays))
    return float(sizes.number @ each)


# --- Zayatz -----------------------------------------------------------------------------------------------------------


def zayatz(sizes: Sizes) -> Model:
    """P(F=1 | f=1) by Bayes, the sample's histogram standing for the population's (Greenberg, Zayatz 1992)."""
    n, big = sizes.n, sizes.population
    j = sizes.size
    feasible = (big - j >= n - 1) & (n >= 1)
    with np.errstate(invalid="ignore"):
        logs = np.log(j) + _log_choose(big - j, n - 1) - _log_choose(big, n)  # hypergeometric P(f=1 | F=j)
    weight = sizes.number * np.where(feasible, np.exp(np.where(feasible, logs, 0.0)), 0.0)
    total = weight.sum()
    stays = float(weight[j == 1].sum() / total) if sizes.uniques else 0.0
    inverse = float((weight / j).sum() / total) if sizes.uniques else 0.0
    second = float((weight / j**2).sum() / total) if sizes.uniques else 0.0
    u = sizes.uniques
    tau1 = predict(u * stays, u * stays * (1 - stays), u)
    tau2 = predict(u * inverse, u * (second - inverse**2), u)
    note = (
        "the histogram of the sample stands for that of the population: too many small classes, the risk is overstated"
    )
    return Model("zayatz", tau1, tau2, u * stays / sizes.fraction, (("P(PU|SU)", stays),), note)


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import

    return np.asarray(gammaln(np.asarray(n) + 1.0) - gammaln(np.asarray(k) + 1.0) - gammaln(np.asarray(n) - k + 1.0))


# --- shared -----------------------------------------------------------------------------------------------------------


def _fit(loss: Callable[[Floats], float], outlook: Callable[[Floats], Floats], start: Floats) -> tuple[Floats, Floats]:
    """Maximum likelihood over two free numbers, and the range of the predicted shares over their 95 % region.

    The region is where the log-likelihood is at most 1.92 below its maximum (half the 95 % point of chi-squared with
    one degree: the interval of a single figure); its border is found along rays. Where the data say nothing it is
    wide.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8, "maxiter": 4000})
    raw, floor = np.asarray(best.x, dtype=np.float64), float(best.fun)
    angles = np.linspace(0, 2 * np.pi, RAYS, endpoint=False)
    border = [_reach(loss, raw, floor + 1.9207, np.array([np.cos(a), np.sin(a)])) for a in angles]
    shares = np.array([outlook(point) for point in [raw, *border]])
    return raw, np.stack([shares.min(axis=0), shares.max(axis=0)])


def _reach(loss: Callable[[Floats], float], centre: Floats, level: float, ray: Floats) -> Floats:
    """Walk from the maximum along a ray until the loss passes the level (or the walk is long), by halving."""
    inside, outside = 0.0, 1e-3
    while outside < FAR and loss(centre + outside * ray) < level:
        inside, outside = outside, 2 * outside
    for _ in range(20):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if loss(centre + middle * ray) < level else (inside, middle)
    return np.asarray(centre + inside * ray)


def _model(
    name: str, sizes: Sizes, shares: Floats, region: Floats, uniques: float, parameters: tuple[tuple[str, float], ...]
) -> Model:
    """Predictions for u sample uniques. What lies in [0, 1] varies no more than a coin, which bounds tau2's error."""
    u = sizes.uniques
    tau1, tau2 = (_predict_share(u, *given) for given in zip(shares, *region, strict=True))
    return Model(
        name, tau1, tau2, min(uniques, sizes.population), tuple((key, float(value)) for key, value in parameters)
    )


def _predict_share(u: float, share: float, least: float, most: float) -> Prediction:
    """Error of the parameters and error of prediction are independent: their squares add, on either side."""
    down = np.hypot(u * (share - least), Z95 * np.sqrt(u * least * (1 - least)))
    up = np.hypot(u * (most - share), Z95 * np.sqrt(u * most * (1 - most)))
    return Prediction(float(u * share), float(max(0.0, u * share - down)), float(min(u, u * share + up)))
