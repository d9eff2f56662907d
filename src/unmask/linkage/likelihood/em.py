"""EM for the blind intruder: y = A x + b + e, e ~ N(0, S), learnt from two files without knowing who is who.

docs/methods.md, section 12. The E-step asks how likely each released record was made from each original one, under one
match per person: likelihoods are scaled until rows and columns add up to one (scaling.py). The M-step refits A, b, S
and, for each category, how often it was kept. Files of more than ``DENSE`` records are learnt from a sample of released
records, each with *all* originals as candidates (a mixture with one component for each original: exact, only without
the competition between released records). Never more than a strip of all pairs is in memory.

What is compared between starts is the log-likelihood of the release, less ln n / 2 for each free parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.pairs import count_categories, weigh_categories
from unmask.linkage.likelihood.scaling import LEAST_LOG, TINY, scale
from unmask.linkage.likelihood.views import LEAST_NOISE, View

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

DENSE = 1500  # records up to which all pairs are held at once
SAMPLE = 1_000  # released records that a larger file is learnt from, at most
STRIP = 4_000_000  # pairs in memory at once
FLOOR = LEAST_NOISE
KEPT = 0.9  # first guess: how often a category was kept
LOG_TWO_PI = float(np.log(2 * np.pi))

Slope = Literal["fixed", "own", "full"]
Start = Literal["difference", "diagonal", "quarter", "tenth", "plain"]


@dataclass(frozen=True, slots=True)
class Channel:
    """How the release was made, in the intruder's belief. Numbers are in sds of the original's columns."""

    slope: Floats  # A, (p, p)
    shift: Floats  # b, (p,)
    noise: Floats  # S, (p, p)
    kept: Floats  # (q,) P(category kept)
    diagonal: bool  # noise independent between columns
    freedom: Slope  # what of A is learnt: nothing, a factor for each column, everything

    @property
    def parameters(self) -> int:
        """Number of free parameters."""
        p, q = len(self.shift), len(self.kept)
        slopes = {"fixed": 0, "own": p, "full": p * p}[self.freedom]
        return p + (p if self.diagonal else p * (p + 1) // 2) + q + slopes


class Fit(NamedTuple):
    """A channel, what it explains, and whether EM came to rest."""

    channel: Channel
    likelihood: float  # log-likelihood of the release in nats, less the price of parameters
    converged: bool
    steps: int
    start: Start
    view: View


# --- likelihoods ------------------------------------------------------------------------------------------------------


class _Normal(NamedTuple):
    """W with W W' = inverse of a covariance, and its log-determinant."""

    root: Floats
    log_det: float


def _normal(covariance: Floats) -> _Normal:
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, FLOOR)
    return _Normal(vectors / np.sqrt(values), float(np.log(values).sum()))


class Weigher:
    """log q(y | x) / p(y) of any pairs: p is the normal law of the release, so that what is missing weighs nothing."""

    def __init__(self, view: View, channel: Channel) -> None:
        self.view, self.channel = view, channel
        self.mean, self.spread = released_law(view)
        self.scattered = view.scattered  # then noise is independent between columns, and so is the release's law
        self.spread = np.diag(np.diag(self.spread)) if self.scattered else self.spread
        self.fitted = np.nan_to_num(view.x) @ channel.slope.T + channel.shift
        self.y = np.where(np.isnan(view.y), self.mean, view.y)
        self._laws: dict[bytes, tuple[_Normal, _Normal]] = {}
        self.rewards, self.losses = _category_weights(view, channel.kept)
        self.agree, self.differ = _padded(self.rewards), _padded(self.losses)

    def laws(self, present: NDArray[np.bool_]) -> tuple[_Normal, _Normal]:
        """Law of the noise and of the release on the columns that both records have."""
        key = present.tobytes()
        if key not in self._laws:
            cut = np.ix_(present, present)
            self._laws[key] = _normal(self.channel.noise[cut]), _normal(self.spread[cut])
        return self._laws[key]

    def dense(self, columns: Ints) -> Floats:
        """All originals against some released classes."""
        view = self.view
        if self.scattered:
            weights = self._apart(columns)
        elif view.complete:
            weights = self._block(np.arange(len(view.x)), columns, np.ones(view.x.shape[1], dtype=bool))
        else:
            weights = np.zeros((len(view.x), len(columns)))
            for rows, cols, present in blocks(view, columns):
                weights[np.ix_(rows, cols)] = self._block(rows, columns[cols], present)
        weigh_categories(weights, view.x_codes, _across(view, columns), self.agree, self.differ)
        return weights

    def _block(self, rows: Ints, columns: Ints, present: NDArray[np.bool_]) -> Floats:
        """Some originals against some released classes that have the same columns."""
        noise, law = self.laws(present)
        a = self.fitted[np.ix_(rows, np.flatnonzero(present))] @ noise.root
        y = self.y[np.ix_(columns, np.flatnonzero(present))]
        b, z = y @ noise.root, (y - self.mean[present]) @ law.root
        weights = a @ b.T
        weights -= 0.5 * (a**2).sum(axis=1)[:, None]
        weights += 0.5 * ((z**2).sum(axis=1) - (b**2).sum(axis=1) + law.log_det - noise.log_det)
        return np.asarray(weights)

    def _apart(self, columns: Ints) -> Floats:
        """All originals against some released classes, column by column: gaps drop out of the sums."""
        left, right = ~np.isnan(self.view.x), ~np.isnan(self.view.y[columns])
        y, noise, spread = self.y[columns], self._least(self.channel.noise), self._least(self.spread)
        fitted = np.where(left, self.fitted, 0.0)
        alone = 0.5 * ((y - self.mean) ** 2 / spread - y**2 / noise + np.log(spread / noise))
        weights = left.astype(np.float64) @ np.where(right, alone, 0.0).T
        weights += fitted @ np.where(right, y / noise, 0.0).T
        weights -= (0.5 * fitted**2) @ (right / noise).T
        return np.asarray(weights)

    @staticmethod
    def _least(covariance: Floats) -> Floats:
        return np.maximum(np.diag(covariance), FLOOR)

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Some pairs, one by one."""
        view, weights = self.view, np.empty(len(rows))
        labels = view.x_holes[rows] * len(view.holes) + view.y_holes[columns]
        if self.scattered:
            weights = self._pairs_apart(rows, columns)
        for label in () if self.scattered else np.unique(labels):
            chosen = np.flatnonzero(labels == label)
            present = view.holes[label // len(view.holes)] & view.holes[label % len(view.holes)]
            noise, law = self.laws(present)
            for part in np.array_split(chosen, max(1, len(chosen) * max(1, view.x.shape[1]) // STRIP)):
                y = self.y[columns[part]][:, present]
                gap = (y - self.fitted[rows[part]][:, present]) @ noise.root
                own = (y - self.mean[present]) @ law.root
                weights[part] = 0.5 * ((own**2).sum(axis=1) - (gap**2).sum(axis=1) + law.log_det - noise.log_det)
        for k in range(view.x_codes.shape[1]):
            x, y = view.x_codes[rows, k], view.y_codes[columns, k]
            weights += np.where(x == y, self.rewards[k][y], self.losses[k][x]) * ((x >= 0) & (y >= 0))
        return weights

    def _pairs_apart(self, rows: Ints, columns: Ints) -> Floats:
        view, weights = self.view, np.empty(len(rows))
        noise, spread = self._least(self.channel.noise), self._least(self.spread)
        for part in np.array_split(np.arange(len(rows)), max(1, len(rows) * max(1, view.x.shape[1]) // STRIP)):
            y, fitted = self.y[columns[part]], self.fitted[rows[part]]
            value = (y - self.mean) ** 2 / spread - (y - fitted) ** 2 / noise + np.log(spread / noise)
            there = ~np.isnan(view.x[rows[part]]) & ~np.isnan(view.y[columns[part]])
            weights[part] = 0.5 * np.where(there, value, 0.0).sum(axis=1)
        return weights

    def own_law(self) -> Floats:
        """Log p(y) of each released class, in the units of the table itself, so that views can be compared."""
        view, result = self.view, self.view.stretch.copy()
        for label in np.unique(view.y_holes):
            rows, present = np.flatnonzero(view.y_holes == label), view.holes[label]
            law = self.laws(present)[1]
            z = (self.y[rows][:, present] - self.mean[present]) @ law.root
            result[rows] -= 0.5 * ((z**2).sum(axis=1) + law.log_det + present.sum() * LOG_TWO_PI)
        for k in range(view.y_codes.shape[1]):
            codes = view.y_codes[:, k]
            result += np.where(codes >= 0, np.log(np.maximum(frequencies(view, k), TINY))[codes], 0.0)
        return result


def _padded(tables: list[Floats]) -> Floats:
    """One row for each column of categories."""
    padded = np.zeros((len(tables), max((len(table) for table in tables), default=0)))
    for k, table in enumerate(tables):
        padded[k, : len(table)] = table
    return padded


def _across(view: View, columns: Ints) -> Codes:
    """Categories of some released classes, (columns, classes)."""
    return np.ascontiguousarray(view.y_codes[columns].T)


def blocks(view: View, columns: Ints) -> Iterator[tuple[Ints, Ints, NDArray[np.bool_]]]:
    """Rows and places among ``columns`` by what is present, and the columns of the table that both have."""
    for a in np.unique(view.x_holes):
        rows = np.flatnonzero(view.x_holes == a)
        for b in np.unique(view.y_holes[columns]):
            yield rows, np.flatnonzero(view.y_holes[columns] == b), view.holes[a] & view.holes[b]


def released_law(view: View) -> tuple[Floats, Floats]:
    """Mean and covariance of the release, from what is present."""
    return weighted_moments(view.y, view.y_size)


def weighted_moments(values: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the rows that occur ``size`` times, each from the records that have both columns."""
    there = ~np.isnan(values)
    weight = there * size[:, None]
    mean = np.nan_to_num(values * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1.0)
    centred = np.where(there, values - mean, 0.0)
    count = there.T.astype(np.float64) @ weight
    covariance = (centred.T @ (centred * size[:, None])) / np.maximum(count, 1.0)
    return mean, positive(covariance) if not there.all() else covariance


def positive(covariance: Floats) -> Floats:
    """The covariance without directions of negative variance."""
    if covariance.size == 0:
        return covariance
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray((vectors * np.maximum(values, FLOOR)) @ vectors.T)


def _category_weights(view: View, kept: Floats) -> tuple[list[Floats], list[Floats]]:
    """log-ratios of a category that agrees (by released code) and of one that does not (by original code).

    A category is kept with probability a, and else becomes another one in proportion to its frequency f in the
    release: q(c | c) = a, q(d | c) = (1 - a) f_d / (1 - f_c).
    """
    rewards, losses = [], []
    for k in range(view.x_codes.shape[1]):
        frequency = frequencies(view, k)
        rewards.append(np.log(kept[k]) - np.log(np.maximum(frequency, TINY)))
        losses.append(np.log1p(-kept[k]) - np.log1p(-frequency))
    return rewards, losses


def frequencies(view: View, k: int) -> Floats:
    """Shares of the categories in the release, 0 for those that only the original has."""
    x, y = view.x_codes[:, k], view.y_codes[:, k]
    there = y >= 0
    counts = np.bincount(y[there], weights=view.y_size[there], minlength=int(max(x.max(), y.max())) + 1)
    return np.asarray(counts / counts.sum())


# --- EM ---------------------------------------------------------------------------------------------------------------


class _Moments:
    """Sums over pairs, weighted by how likely they are one person: all that the M-step needs."""

    def __init__(self, view: View, channel: Channel) -> None:
        p = view.x.shape[1]
        self.view, self.fitted = view, Weigher(view, channel)
        self.count, self.gap, self.product = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
        self.xx, self.xy = np.zeros((p + 1, p + 1)), np.zeros((p + 1, p))
        self.kept, self.seen = np.zeros(len(channel.kept)), np.zeros(len(channel.kept))

    def add(self, share: Floats, columns: Ints) -> None:
        """Pairs of all originals with some released classes; ``share`` counts records."""
        view = self.view
        if self.fitted.scattered:
            self._add_apart(share, columns)
        for rows, cols, present in () if self.fitted.scattered else blocks(view, columns):
            part = share if share.shape == (len(rows), len(cols)) else share[np.ix_(rows, cols)]
            keep = np.flatnonzero(present)
            f, y = self.fitted.fitted[np.ix_(rows, keep)], self.fitted.y[np.ix_(columns[cols], keep)]
            by_row, by_col = part.sum(axis=1), part.sum(axis=0)
            expected = part @ y
            cut = np.ix_(keep, keep)
            gap = (expected - f * by_row[:, None]).sum(axis=0)
            self.count[cut] += by_row.sum()
            self.gap[cut] += gap[:, None]
            cross = f.T @ expected
            self.product[cut] += y.T @ (y * by_col[:, None]) - cross - cross.T + f.T @ (f * by_row[:, None])
            if view.complete:
                x = np.column_stack([view.x[rows], np.ones(len(rows))])
                self.xx += x.T @ (x * by_row[:, None])
                self.xy += x.T @ expected
        seen, kept = count_categories(share, view.x_codes, _across(view, columns))
        self.seen += seen
        self.kept += kept

    def _add_apart(self, share: Floats, columns: Ints) -> None:
        left, right = ~np.isnan(self.view.x), ~np.isnan(self.view.y[columns])
        y = np.where(right, self.fitted.y[columns], 0.0)
        f = np.where(left, self.fitted.fitted, 0.0)
        there, first, second = share @ right, share @ y, share @ y**2
        at = np.diag_indices(y.shape[1])
        self.count[at] += (left * there).sum(axis=0)
        self.gap[at] += (left * first - f * there).sum(axis=0)
        self.product[at] += (left * second - 2 * f * first + f**2 * there).sum(axis=0)


def expect(view: View, channel: Channel, columns: Ints, weight: Floats) -> tuple[_Moments, float]:
    """E-step: sums over pairs, and the log-likelihood of the release."""
    weigher, moments = Weigher(view, channel), _Moments(view, channel)
    law = weigher.own_law()
    if len(view.x) <= DENSE and len(view.y) <= DENSE:
        scaled = scale(weigher.dense(columns), view.x_size, view.y_size, sharp=True)
        moments.add(scaled.share * view.x_size[:, None] * view.y_size, columns)
        return moments, scaled.value + float(view.y_size @ law)
    value, people = 0.0, float(view.x_size.sum())
    for part in np.array_split(np.arange(len(columns)), max(1, len(columns) * len(view.x) // STRIP)):
        weights = weigher.dense(columns[part])
        top = weights.max(axis=0)
        weights -= top
        share = np.exp(np.maximum(weights, LEAST_LOG, out=weights), out=weights)
        share *= view.x_size[:, None]
        total = share.sum(axis=0)
        value += float(weight[part] @ (top + np.log(total / people) + law[columns[part]]))
        share *= weight[part] / total
        moments.add(share, columns[part])
    return moments, value


def maximise(channel: Channel, view: View, moments: _Moments) -> Channel:
    """M-step. With few people the correlations of the noise lean a little on the original's."""
    slope, shift = channel.slope, channel.shift
    p = len(shift)
    count = np.maximum(moments.count, TINY)
    if p and channel.freedom != "fixed" and view.complete:
        slope, shift, noise = _regress(channel, moments)
    else:
        gap = moments.gap / count
        shift = shift + np.diag(gap)
        noise = moments.product / count - gap * gap.T
    if p:
        _, shape = weighted_moments(view.x, view.x_size)
        people = float(np.diag(moments.count).mean())
        lean = p / (people + p)
        size = np.sqrt(np.maximum(np.diag(noise), FLOOR) / np.maximum(np.diag(shape), TINY))
        noise = (1 - lean) * noise + lean * shape * np.outer(size, size)
        noise = np.diag(np.diag(noise)) if channel.diagonal else positive(noise)
        noise += np.diag(np.maximum(view.floor - np.diag(noise), 0.0))
    kept = np.array([_kept(moments, view, k) for k in range(len(channel.kept))])
    return replace(channel, slope=slope, shift=shift, noise=noise, kept=kept)


def _kept(moments: _Moments, view: View, k: int) -> float:
    """Share of categories kept: never below chance, since agreement does not count against a match, and never all."""
    frequency = frequencies(view, k)
    x = view.x_codes[:, k]
    chance = float((frequency[x] * view.x_size)[x >= 0].sum() / max(view.x_size[x >= 0].sum(), 1.0))
    return float(np.clip((moments.kept[k] + KEPT) / (moments.seen[k] + 1.0), min(chance, 0.999), 1.0 - 1e-9))


def _regress(channel: Channel, moments: _Moments) -> tuple[Floats, Floats, Floats]:
    """A and b by least squares: all of A, or one factor for each column (weighed by the noise, as columns share it)."""
    p, people = len(channel.shift), moments.xx[-1, -1]
    mean_x, mean_y = moments.xx[-1, :p] / people, moments.xy[-1] / people
    xx = moments.xx[:p, :p] / people - np.outer(mean_x, mean_x)
    xy = moments.xy[:p] / people - np.outer(mean_x, mean_y)
    inverse = _normal(channel.noise).root
    inverse = inverse @ inverse.T
    if channel.freedom == "own":
        target = (inverse * xy).sum(axis=1)
        slope = np.diag(np.linalg.lstsq(inverse * xx, target, rcond=1e-10)[0])
    else:  # the step from where it is: directions in which nobody differs stay as they are
        slope = channel.slope + (np.linalg.pinv(xx, rcond=1e-10, hermitian=True) @ (xy - xx @ channel.slope.T)).T
    yy = _second(moments, channel) / people - np.outer(mean_y, mean_y)
    return slope, mean_y - slope @ mean_x, yy - slope @ xy - (slope @ xy).T + slope @ xx @ slope.T


def _second(moments: _Moments, channel: Channel) -> Floats:
    """Sum of y y' over pairs, from the sum of (y - f)(y - f)' and what A x + b contributes."""
    coefficients = np.column_stack([channel.slope, channel.shift])
    cross = coefficients @ moments.xy
    return np.asarray(moments.product + cross + cross.T - coefficients @ moments.xx @ coefficients.T)


def climb(fit: Fit, columns: Ints, weight: Floats, *, steps: int, tolerance: float) -> Fit:
    """EM steps until the likelihood rises by less than ``tolerance`` for each person; the best channel is kept."""
    channel, best, last = fit.channel, fit, -np.inf
    people = float(weight.sum())
    price = 0.5 * np.log(max(people, 2.0)) * channel.parameters
    for step in range(1, steps + 1):
        moments, value = expect(fit.view, channel, columns, weight)
        if value - price > best.likelihood or step == 1:
            best = fit._replace(channel=channel, likelihood=value - price, converged=False)
        if abs(value - last) < tolerance * people:
            return best._replace(converged=True, steps=fit.steps + step)
        last, channel = value, maximise(channel, fit.view, moments)
    return best._replace(steps=fit.steps + steps)
