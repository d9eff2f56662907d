"""The model of Fellegi and Sunter, fitted by EM to the agreement patterns of *all* pairs [FELLEGI]_, [WINKLER]_.

A pair is a match (the same person) with the prior probability, and attributes agree independently given which it is:
on level l with probability m_l for matches and u_l for others. docs/methods.md, section 4. Two ways to see the pairs:

- *each pair* by itself: a mixture of matches and others, as in the literature and in other tools. All that EM needs are
  the counts of the patterns.
- *each person* once: of the pairs of one person exactly one is the match. People who are alike because attributes go
  together (income and tax) then cannot pass for matches: there are too many of them for one person. This is also how
  a link's posterior is computed. u is its share among all pairs.

Four things keep EM honest:

- A missing value is as likely for matches as for others, and so counts neither way.
- The prior is 1/n and stays there unless asked otherwise: of n^2 pairs, n belong together.
- Closer agreement never counts against a match: m_l / u_l must not rise with the level. Where a step of EM breaks this,
  neighbouring levels are pooled, which is the exact constrained maximum [DYKSTRA]_. This also guards against label
  switching: the class called matches is always the one that agrees.
- Steps are extrapolated (SQUAREM [VARADHAN]_) and a step that lowers the likelihood is taken back, so the likelihood
  never falls. What does not converge is an error, not a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError, ParameterError, check_name
from unmask.kernels.pairs import Patterns, expect, expect_kinds, expect_people, kinds_of_pairs, levels_of
from unmask.linkage.probabilistic.levels import Comparison, shares_of_levels

TINY = 1e-300  # stands for 0 in logarithms
BORDER = 1e-7  # closer to 0 or 1 than this, a probability has no standard error of this kind


@dataclass(frozen=True, slots=True)
class FellegiSunter:
    """A fitted model. Tables are (attributes, levels); cells beyond an attribute's last level are 0."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]  # words for the levels of each attribute
    m: Floats
    u: Floats
    m_error: Floats  # standard errors; NaN where a probability is 0 or 1
    u_error: Floats
    prior: float
    iterations: int
    likelihoods: tuple[float, ...] = field(repr=False)  # the log-likelihood after each step: never falls
    n_left: int = 0
    n_right: int = 0
    radix: tuple[int, ...] = ()

    @property
    def weights(self) -> Floats:
        """log2(m/u) of each level. A level never seen counts as half a pair: nothing is impossible."""
        m = np.maximum(self.m, 0.5 / max(self.n_left, 1))
        u = np.maximum(self.u, 0.5 / max(self.n_left * self.n_right, 1))
        seen = (self.m > 0) | (self.u > 0)
        return np.where(seen, np.log2(m / u), 0.0)

    def posterior(self, weight: Floats) -> Floats:
        """Probability that a pair of this weight (in bits) is a match, seen by itself."""
        odds = self.prior / (1 - self.prior)
        return 1.0 / (1.0 + np.exp2(np.clip(-weight, -1000, 1000)) / odds)


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to run EM."""

    prior: float | Literal["learn"] | None = None  # None: 1 / (records of the larger file)
    u: Literal["em", "random"] = "em"  # random: u from all pairs, nearly all of which are no matches, and kept there
    each: Literal["pair", "person"] | None = None  # None: pair where agreement is exact, person where there are bands
    tolerance: float | None = None  # None: 1e-9 for pairs, 1e-6 for people
    max_steps: int = 3000

    def check(self) -> None:
        """Refuse what makes no sense."""
        check_name(self.u, ("em", "random"), f"no way {self.u!r} to estimate u")
        check_name(self.each or "pair", ("pair", "person"), f"no way {self.each!r} to see the pairs")
        if self.each == "person" and self.prior is not None:
            raise ParameterError("a prior is for pairs", hint="each='pair', or leave prior out: each person is in once")
        number = isinstance(self.prior, (int, float)) and not isinstance(self.prior, bool)
        if not (self.prior is None or self.prior == "learn" or (number and 0 < float(self.prior) < 1)):
            raise ParameterError(
                "a prior is a probability", got=repr(self.prior), allowed="between 0 and 1, or 'learn'"
            )
        if self.max_steps < 1 or not (self.tolerance is None or self.tolerance > 0):
            raise ParameterError("EM needs steps and a tolerance", allowed="max_steps from 1, tolerance above 0")

    def settled(self, comparison: Comparison) -> Fitting:
        """Fill in what is left to the data."""
        self.check()
        exact = comparison.exact or self.prior is not None or self.u != "em"
        each = self.each or ("pair" if exact else "person")
        return replace(self, each=each, tolerance=self.tolerance or (1e-9 if each == "pair" else 1e-6))


def unpack(patterns: Patterns, radix: Ints) -> NDArray[np.uint8]:
    """Levels of each pattern, (patterns, attributes)."""
    return levels_of(patterns.code, radix)


class _State:
    """The quantities of EM; a step maps (m, u, prior) to the next."""

    def __init__(self, comparison: Comparison, patterns: Patterns, fitting: Fitting) -> None:
        self.levels = unpack(patterns, comparison.radix)
        self.counts = patterns.count.astype(np.float64)
        self.pairs = float(patterns.count.sum())
        self.fitting = fitting
        self.bands = comparison.n_edges + 1
        self.gaps = comparison.gaps
        most = int(comparison.radix.max())
        self.margins = np.zeros((len(comparison.names), most))
        for k in range(len(comparison.names)):
            self.margins[k] = np.bincount(self.levels[:, k], weights=self.counts, minlength=most)

    def step(self, theta: tuple[Floats, Floats, float]) -> tuple[tuple[Floats, Floats, float], float]:
        """One E-step and one M-step, and the log-likelihood *before* it."""
        m, u, prior = theta
        matches, likelihood = expect(
            self.levels, self.counts, np.log(np.maximum(m, TINY)), np.log(np.maximum(u, TINY)), prior
        )
        matches = np.minimum(matches, self.margins)
        total = matches[0].sum()
        if self.fitting.prior == "learn":
            prior = float(np.clip(total / self.pairs, 1e-12, 1 - 1e-12))
        others = self.margins - matches
        if self.fitting.u == "random":
            new_m, _ = self._split(matches, np.maximum(u, 0) * (self.pairs - total), given=True)
            return (new_m, u, prior), float(likelihood)
        return (*self._split(matches, others), prior), float(likelihood)

    def scores(self, theta: tuple[Floats, Floats, float]) -> tuple[Floats, Floats]:
        """Expected levels of the match in each pattern, (patterns, attributes, levels), and how often each occurs."""
        m, u, prior = theta
        log_ratio = np.zeros(len(self.counts))
        for k in range(len(m)):
            level = self.levels[:, k]
            log_ratio += np.log(np.maximum(m[k, level], TINY)) - np.log(np.maximum(u[k, level], TINY))
        odds = np.log(prior) - np.log1p(-prior)
        posterior = 1.0 / (1.0 + np.exp(-np.clip(log_ratio + odds, -700, 700)))
        use = posterior > 1e-6  # the rest holds no information on matches
        expected = np.zeros((int(use.sum()), *m.shape))
        for k in range(len(m)):
            expected[np.arange(len(expected)), k, self.levels[use, k]] = posterior[use]
        return expected, self.counts[use]

    def _split(self, matches: Floats, others: Floats, *, given: bool = False) -> tuple[Floats, Floats]:
        a, b = matches.copy(), others.copy()
        share = a / np.maximum(a + b, TINY)
        rising = (share[:, 1:] > share[:, :-1]) & (np.arange(1, share.shape[1]) < self.bands[:, None])
        for k in np.flatnonzero(rising.any(axis=1)):
            levels = self.bands[k]
            a[k, :levels], b[k, :levels] = ordered(a[k, :levels], b[k, :levels], given=given)
        m, u = (side / np.maximum(side.sum(axis=1, keepdims=True), TINY) for side in (a, b))
        for k in np.flatnonzero(self.gaps):
            share = u[k, self.bands[k]] if given else self.margins[k, self.bands[k]] / self.pairs
            m[k], u[k] = (_with_missing(side[k], int(self.bands[k]), float(share)) for side in (m, u))
        return m, u


class _People(_State):
    """The same where each person has exactly one match: u stays at its share among all pairs."""

    def __init__(self, comparison: Comparison, fitting: Fitting) -> None:
        self.fitting = fitting
        self.kinds = kinds_of_pairs(
            comparison.left, comparison.right, comparison.edges, comparison.n_edges, comparison.radix.astype(np.int64)
        )
        self.bands = comparison.n_edges + 1
        self.gaps = comparison.gaps
        self.people = len(comparison.left)
        self.pairs = float(self.people) * len(comparison.right)
        self.margins = shares_of_levels(comparison)[0] * self.pairs

    def step(self, theta: tuple[Floats, Floats, float]) -> tuple[tuple[Floats, Floats, float], float]:
        """One E-step and one M-step, and the log-likelihood *before* it."""
        m, u, prior = theta
        matches, likelihood = expect_kinds(self.kinds, _log_ratio(m, u))
        new, _ = self._split(matches, u * (self.pairs - self.people), given=True)
        return (new, u, prior), likelihood

    def scores(self, theta: tuple[Floats, Floats, float]) -> tuple[Floats, Floats]:
        """Expected levels of each person's match."""
        expected, _ = expect_people(self.kinds, _log_ratio(theta[0], theta[1]))
        return expected, np.ones(len(expected))


def _log_ratio(m: Floats, u: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(m, TINY)) - np.log(np.maximum(u, TINY)))


def _with_missing(shares: Floats, level: int, missing: float) -> Floats:
    """Give a missing value one share among matches and others, so that it counts neither way.

    Left free, one blank row was enough to end the attack: EM explained it by matches that are blank.
    """
    rest = np.where(np.arange(len(shares)) == level, 0.0, shares)
    rest *= (1.0 - missing) / max(float(rest.sum()), TINY)
    rest[level] = missing
    return np.asarray(rest)


def ordered(a: Floats, b: Floats, *, given: bool = False) -> tuple[Floats, Floats]:
    """Maximise sum a log m + b log u with m/u not rising along the levels: pool neighbouring levels until so.

    ``given``: b is the known u, up to a factor, and stays.
    """
    blocks: list[list[float]] = []
    for l in range(len(a)):  # noqa: E741
        blocks.append([a[l], b[l], 1])
        while len(blocks) > 1 and _share(blocks[-1]) > _share(blocks[-2]):
            last = blocks.pop()
            blocks[-1] = [x + y for x, y in zip(blocks[-1], last, strict=True)]
    if len(blocks) == len(a):
        return a, b
    share = np.concatenate([np.full(int(block[2]), _share(block)) for block in blocks])
    if given:
        return b * share / np.maximum(1 - share, TINY), b
    return (a + b) * share, (a + b) * (1 - share)


def _share(block: list[float]) -> float:
    total = block[0] + block[1]
    return block[0] / total if total > 0 else 0.0


def start(comparison: Comparison, state: _State, prior: float) -> tuple[Floats, Floats, float]:
    """Begin with u as among all pairs, and matches nine times in ten on the closest level that occurs."""
    u = state.margins / state.pairs
    m = np.zeros_like(u)
    for k in range(len(comparison.names)):
        seen = np.flatnonzero(state.margins[k] > 0)
        m[k, seen] = 0.1 / max(1, seen.size - 1)
        m[k, seen[0]] = 0.9 if seen.size > 1 else 1.0
        if comparison.gaps[k]:
            m[k] = _with_missing(m[k], int(state.bands[k]), float(u[k, state.bands[k]]))
    return m, u, prior


def fit(comparison: Comparison, patterns: Patterns, fitting: Fitting, u_error: Floats | None = None) -> FellegiSunter:
    """Fit m, u and, if asked, the prior; ``u_error``: standard errors of u, where the records are not at hand."""
    fitting = fitting.settled(comparison)
    n_left, n_right = len(comparison.left), len(comparison.right)
    prior = 1.0 / max(2, n_right) if fitting.prior in {None, "learn"} else float(fitting.prior)
    state = _People(comparison, fitting) if fitting.each == "person" else _State(comparison, patterns, fitting)
    theta, likelihoods = _iterate(state, start(comparison, state, prior), fitting)
    m, u, prior = theta
    errors = shares_of_levels(comparison)[1] if u_error is None else u_error
    return FellegiSunter(
        comparison.names,
        tuple(comparison.words(k) for k in range(len(comparison.names))),
        m,
        u,
        _errors_of_m(state, theta),
        errors,
        prior,
        len(likelihoods),
        tuple(likelihoods),
        n_left,
        n_right,
        tuple(int(r) for r in comparison.radix),
    )


def _iterate(
    state: _State, theta: tuple[Floats, Floats, float], fitting: Fitting
) -> tuple[tuple[Floats, Floats, float], list[float]]:
    """EM with squared extrapolation: two steps tell direction and rate, the third place is tried and checked."""
    likelihoods: list[float] = []
    tolerance = cast("float", fitting.tolerance)
    while len(likelihoods) < fitting.max_steps:
        one, likelihood = state.step(theta)
        likelihoods.append(likelihood)
        two, likelihood = state.step(one)
        likelihoods.append(likelihood)
        change = max(_distance(two, one), 0.0)
        if change <= tolerance and _settled(theta, one, two, tolerance):
            return two, likelihoods
        leap = _leap(theta, one, two)
        if leap is None:
            theta = two
            continue
        after, reached = state.step(leap)
        _, usual = state.step(two)
        theta = after if reached >= usual and np.isfinite(reached) else two
        likelihoods.append(max(reached, usual))
    raise EngineError(
        "EM did not converge: there are no m and u to rely on",
        got=f"{fitting.max_steps} steps",
        hint="give more (max_steps=), keep u at its share among all pairs (u='random'), or compare other attributes",
    )


def _settled(
    zero: tuple[Floats, Floats, float], one: tuple[Floats, Floats, float], two: tuple[Floats, Floats, float], tol: float
) -> bool:
    """Whether the steps still to come, falling as the last two did, add up to less than the tolerance."""
    first, second = _distance(one, zero), _distance(two, one)
    if second == 0:
        return True
    rate = min(second / first, 0.999999) if first > 0 else 0.0
    return second * rate / (1 - rate) <= tol


def _distance(a: tuple[Floats, Floats, float], b: tuple[Floats, Floats, float]) -> float:
    return float(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max(), abs(a[2] - b[2])))


def _leap(
    zero: tuple[Floats, Floats, float], one: tuple[Floats, Floats, float], two: tuple[Floats, Floats, float]
) -> tuple[Floats, Floats, float] | None:
    flat = [np.concatenate([t[0].ravel(), t[1].ravel(), [t[2]]]) for t in (zero, one, two)]
    r, v = flat[1] - flat[0], flat[2] - 2 * flat[1] + flat[0]
    size = float(np.sqrt((v * v).sum()))
    if size == 0:
        return None
    alpha = -min(float(np.sqrt((r * r).sum())) / size, 1e4)
    if alpha > -1.001:
        return None
    new = flat[0] - 2 * alpha * r + alpha * alpha * v
    if (new < 0).any() or (new > 1).any():  # outside: a bold step that the model forbids
        return None
    size_m = zero[0].size
    m, u = new[:size_m].reshape(zero[0].shape), new[size_m:-1].reshape(zero[1].shape)
    return m / m.sum(axis=1, keepdims=True), u / u.sum(axis=1, keepdims=True), float(new[-1])


def _errors_of_m(state: _State, theta: tuple[Floats, Floats, float]) -> Floats:
    """Standard errors from the information in the scores of patterns or people; u and the prior count as known."""
    m = theta[0]
    expected, counts = state.scores(theta)
    cells = [(k, np.flatnonzero((m[k] > BORDER) & (m[k] < 1 - BORDER))) for k in range(len(m))]
    columns, owners = [], []
    for k, free in cells:
        for l in free[:-1]:  # noqa: E741 - the last free level is one minus the others
            columns.append(expected[:, k, l] / m[k, l] - expected[:, k, free[-1]] / m[k, free[-1]])
            owners.append((k, l))
    errors = np.full(m.shape, np.nan)
    if not columns:
        return errors
    scores = np.column_stack(columns)
    covariance = np.linalg.pinv((scores * counts[:, None]).T @ scores, hermitian=True)
    for k, free in cells:
        own = [i for i, owner in enumerate(owners) if owner[0] == k]
        if own:
            block = covariance[np.ix_(own, own)]
            errors[k, free[:-1]] = np.sqrt(np.maximum(np.diag(block), 0))
            errors[k, free[-1]] = np.sqrt(max(block.sum(), 0.0))
    return errors
