"""Who is who, once the channel is learnt: the posterior of each pair under one match per person, and one-to-one links.

The posterior of a pair is its share of all one-to-one matchings, each weighed by its likelihood. It is approximated by
fractional belief propagation (Chertkov and Yedidia): p (1 - p)^g = u_i v_j q_ij, scaled until rows and columns add up
to one. g = 0 is Sinkhorn's scaling, with which EM runs: too modest; g = 1 is belief propagation: too sure. g = 1/2 lies
between and is exact for two people and two records, the commonest doubt.
Small files use all pairs; larger ones the nearest candidates of every record in either direction under the learnt
metric, and records that are not on a list count as a few more like the last one on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.assignment import credits as shares_of_optima
from unmask.kernels.assignment import solve
from unmask.kernels.base import EUCLIDEAN, Space
from unmask.kernels.search import nearest_k
from unmask.linkage.likelihood.em import DENSE, FLOOR, Fit, Weigher, frequencies
from unmask.linkage.likelihood.scaling import LEAST_LOG, TINY, with_spare
from unmask.linkage.likelihood.views import Sides

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Tell = Callable[[float], object]

CANDIDATES = 64  # nearest records listed for each record, in either direction
LIST_REST = 1e-3  # the same for lists, where a sweep is dear
SWEEPS, AT_REST = 300, 1e-4  # of scaling: at most so many, until no posterior moves more than this
TIE = 1e-6  # relative difference of posteriors up to which candidates tie
DRAWS = 8  # matchings drawn where categories alone leave many equally good
SURE = 1.0 - 1e-9  # nobody is surer than that
NEGLIGIBLE = 1e-7  # likelihood relative to the best of row and column, of a pair on a list
LOOSE = 1e-3  # proven gap at which a large matching is good enough


class Pairs(NamedTuple):
    """Pairs of classes in the order of rows; nobody else is a candidate, unless ``open`` lists end before all."""

    rows: Ints
    cols: Ints
    weights: Floats  # log q(y | x) / p(y)
    open: bool


class Beliefs(NamedTuple):
    """Posterior of a pair of records, for each pair of classes."""

    pairs: Pairs
    share: Floats
    settled: bool


class Found(NamedTuple):
    """One entry for each person."""

    link: Ints  # a best record, by lot
    posterior: Floats  # of that record
    ties: Ints
    credit: Floats


# --- candidates -------------------------------------------------------------------------------------------------------


def candidates(fit: Fit, seed: int, *, most: int = DENSE, listed: int = CANDIDATES) -> Pairs:
    """All pairs of classes of a small file; of a large one the nearest in either direction."""
    view = fit.view
    weigher, n, m = Weigher(view, fit.channel), len(view.x), len(view.y)
    if n <= most and m <= most:
        rows, cols = np.divmod(np.arange(n * m), m)
        return Pairs(rows, cols, weigher.dense(np.arange(m)).reshape(-1), open=False)
    space = metric(fit)
    there, back = (nearest_k(side, listed, seed=seed)[0] for side in (space, space.swapped()))
    keys = np.concatenate(
        [
            (np.arange(n)[:, None] * m + there)[there >= 0],
            (back * m + np.arange(m)[:, None])[back >= 0],
        ]
    )
    rows, cols = np.divmod(np.unique(keys), m)
    return Pairs(rows, cols, weigher.pairs(rows, cols), open=True)


def candidates_of(fit: Fit, people: Ints, seed: int, *, listed: int = CANDIDATES) -> Pairs:
    """The nearest records of some classes of people, in the order of these."""
    space = metric(fit)
    near = nearest_k(space.of(people), listed, seed=seed)[0]
    place, rank = np.nonzero(near >= 0)
    order = np.lexsort((near[place, rank], place))
    rows, cols = people[place[order]], near[place, rank][order]
    return Pairs(rows, cols, Weigher(fit.view, fit.channel).pairs(rows, cols), open=True)


def metric(fit: Fit) -> Space:
    """Minus twice the log-likelihood as a distance: exact for complete numbers, on average for categories and gaps."""
    view, channel, weigher = fit.view, fit.channel, Weigher(fit.view, fit.channel)
    p = view.x.shape[1]
    if view.complete and p:
        values, vectors = np.linalg.eigh(channel.noise)
        root, missing = vectors / np.sqrt(np.maximum(values, FLOOR)), np.zeros(p)
    else:
        spread = np.maximum(np.diag(channel.noise), FLOOR)
        root = np.diag(1.0 / np.sqrt(spread))
        missing = np.maximum(np.log(np.maximum(np.diag(weigher.spread), FLOOR) / spread) + 1.0, 0.0)
    queries, points = (np.where(holes, side, 0.0) @ root for side, holes in _sides(fit, weigher))
    if not view.complete:
        queries, points = np.where(np.isnan(view.x), np.nan, queries), np.where(np.isnan(view.y), np.nan, points)
    steps, gaps = np.zeros(len(channel.kept)), np.zeros(len(channel.kept))
    for k in range(len(steps)):
        share = frequencies(view, k) ** 2
        reward = float(share @ np.where(share > 0, weigher.rewards[k], 0.0) / share.sum())
        steps[k] = 2 * max(0.0, reward - float(share @ weigher.losses[k] / share.sum()))
        gaps[k] = min(steps[k], 2 * max(0.0, reward))
    return Space(
        np.ascontiguousarray(queries), np.ascontiguousarray(points), view.x_codes, view.y_codes,
        EUCLIDEAN, missing, steps, gaps,
    )  # fmt: skip


def _sides(fit: Fit, weigher: Weigher) -> list[tuple[Floats, NDArray[np.bool_]]]:
    return [(weigher.fitted, ~np.isnan(fit.view.x)), (weigher.y, ~np.isnan(fit.view.y))]


# --- posterior --------------------------------------------------------------------------------------------------------


class _Lists:
    """Extremes and sums over the pairs of each row, or of each column, handed back to every pair of a list."""

    def __init__(self, labels: Ints, end: Floats | None = None) -> None:
        self.end = (
            np.zeros(len(labels)) if end is None else end
        )  # likelihood at the end of a list, relative to its best
        self.sorted = bool((labels[1:] >= labels[:-1]).all())
        self.order = np.arange(0) if self.sorted else np.argsort(labels, kind="stable")
        ordered = labels if self.sorted else labels[self.order]
        self.start = np.flatnonzero(np.diff(ordered, prepend=-1))
        self.length = np.diff(np.append(self.start, len(labels)))

    def reduce(self, values: Floats, way: np.ufunc) -> Floats:
        """One number for each row or column, at each of its pairs."""
        if self.sorted:
            return np.repeat(way.reduceat(values, self.start), self.length)
        result = np.empty(len(values))
        result[self.order] = np.repeat(way.reduceat(values[self.order], self.start), self.length)
        return result


class _Grid:
    """The same for all pairs, as a matrix."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def reduce(self, values: Floats, way: np.ufunc) -> Floats:
        """One number for each row (axis 1) or column (axis 0)."""
        return np.asarray(way.reduce(values, axis=self.axis, keepdims=True))


def _total(along: _Lists | _Grid, values: Floats, size: Floats) -> Floats:
    """Sum over candidates; a list counts as if it went on for as long as it is, at the level of its end."""
    total = along.reduce(values * size, np.add)
    if isinstance(along, _Lists):
        total += CANDIDATES * along.end * along.reduce(values, np.maximum)
    return np.maximum(total, TINY)


def believe(pairs: Pairs, x_size: Floats, y_size: Floats, tell: Tell = lambda _done: None) -> Beliefs:
    """Posterior of the pairs; in the larger file some records have no match, all equally likely before."""
    if pairs.open:
        return _believe_lists(pairs, x_size, y_size, tell)
    shape = len(x_size), len(y_size)
    weights, x_size, y_size = with_spare(pairs.weights.reshape(shape), x_size, y_size)
    by_row, by_col = _Grid(1), _Grid(0)
    sizes = x_size[:, None], y_size[None, :]
    share, settled = _propagate(_relative(weights, by_row, by_col), (by_row, by_col), sizes, tell)
    return Beliefs(pairs, share[: shape[0], : shape[1]].reshape(-1), settled)


def believe_apart(pairs: Pairs, y_size: Floats) -> Beliefs:
    """Posterior of the pairs if people do not compete for records."""
    by_row = _Lists(pairs.rows)
    weights = np.exp(np.maximum(pairs.weights - by_row.reduce(pairs.weights, np.maximum), LEAST_LOG))
    by_row.end = by_row.reduce(weights, np.minimum) if pairs.open else by_row.end
    return Beliefs(pairs, np.minimum(weights / _total(by_row, weights, y_size[pairs.cols]), SURE), settled=True)


def _believe_lists(pairs: Pairs, x_size: Floats, y_size: Floats, tell: Tell) -> Beliefs:
    """The same on lists; pairs far below the best of their row and column are left out of the scaling."""
    rows, cols, weights, x_size, y_size = _with_spare(pairs, x_size, y_size)
    by_row, by_col = _Lists(rows), _Lists(cols)
    weights = _relative(weights, by_row, by_col)
    ends = [along.reduce(weights, np.minimum) for along in (by_row, by_col)]  # the best is 1
    kept = np.flatnonzero(weights >= NEGLIGIBLE)
    kept = kept[np.argsort(rows[kept], kind="stable")]
    rows, cols = rows[kept], cols[kept]
    share = np.zeros(len(weights))
    along = _Lists(rows, ends[0][kept]), _Lists(cols, ends[1][kept])
    share[kept], settled = _propagate(weights[kept], along, (x_size[rows], y_size[cols]), tell)
    return Beliefs(pairs, share[: len(pairs.rows)], settled)


def _relative(weights: Floats, by_row: _Lists | _Grid, by_col: _Lists | _Grid) -> Floats:
    """Likelihoods relative to the best of each column and then of each row: both then have a 1."""
    weights = weights - by_col.reduce(weights, np.maximum)
    return np.asarray(np.exp(np.maximum(weights - by_row.reduce(weights, np.maximum), LEAST_LOG)))


def _propagate(
    weights: Floats, along: tuple[_Lists | _Grid, _Lists | _Grid], sizes: tuple[Floats, Floats], tell: Tell
) -> tuple[Floats, bool]:
    """Fixed point of p (1 - p)^(1/2) = u_i v_j w_ij with sums of one; ``along`` rows and columns, of these sizes."""
    (by_row, by_col), (rows_size, cols_size) = along, sizes
    share, u, v = np.zeros(weights.shape), np.ones(1), np.ones(1)
    rest = LIST_REST if isinstance(by_row, _Lists) else AT_REST
    for sweep in range(SWEEPS):
        tell(sweep / SWEEPS)
        raised = weights / np.sqrt(1.0 - share)
        u = 1.0 / _total(by_row, raised * v, cols_size)
        v = 1.0 / _total(by_col, raised * u, rows_size)
        raised *= u
        raised *= v
        np.minimum(raised, SURE, out=raised)
        before, share = share, raised
        if float(np.abs(share - before).max()) < rest:
            return share, True
    return share, False


def _with_spare(pairs: Pairs, x_size: Floats, y_size: Floats) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """Add a class of nobody to the smaller file, as large as what is left over in the other."""
    rows, cols, weights = pairs.rows, pairs.cols, pairs.weights
    spare, n, m = float(x_size.sum() - y_size.sum()), len(x_size), len(y_size)
    if spare > 0:
        rows, cols = np.append(rows, np.arange(n)), np.append(cols, np.full(n, m))
        return rows, cols, np.append(weights, np.zeros(n)), x_size, np.append(y_size, spare)
    if spare < 0:
        rows, cols = np.append(rows, np.full(m, n)), np.append(cols, np.arange(m))
        return rows, cols, np.append(weights, np.zeros(m)), np.append(x_size, -spare), y_size
    return rows, cols, weights, x_size, y_size


def best_records(beliefs: Beliefs, sides: Sides, truth: Ints, seed: int, people: Ints | None = None) -> Found:
    """The record of greatest posterior for each person, or some of them; records that tie share the credit."""
    pairs, share = beliefs.pairs, beliefs.share
    a, b = sides.original, sides.released
    label, truth = (a.label, truth) if people is None else (a.label[people], truth[people])
    size = b.size[pairs.cols].astype(np.float64)
    by_row = _Lists(pairs.rows)
    best = by_row.reduce(share, np.maximum)
    tied = share >= best * (1 - TIE)
    ties = by_row.reduce(np.where(tied, size, 0.0), np.add)
    lots = np.where(tied, np.random.default_rng(seed).random(len(share)) ** (1.0 / size), -1.0)
    chosen = np.flatnonzero(lots == by_row.reduce(lots, np.maximum))
    pick = np.zeros(len(a.size), dtype=np.int64)
    pick[pairs.rows[chosen]] = pairs.cols[chosen]
    first = np.searchsorted(pairs.rows, np.arange(len(a.size)))
    keys = pairs.rows * len(b.size) + pairs.cols
    wanted = label * len(b.size) + b.label[np.maximum(truth, 0)]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    right = (truth >= 0) & (keys[at] == wanted) & tied[at]
    start = first[label]
    link = b.members[b.start[pick[label]]]
    return Found(link, best[start], ties[start].astype(np.int64), np.where(right, 1.0 / ties[start], 0.0))


# --- one to one -------------------------------------------------------------------------------------------------------


def match_all(fit: Fit, sides: Sides, pairs: Pairs, truth: Ints, seed: int) -> tuple[Floats, bool]:
    """Credit of each person in the one-to-one matching of greatest likelihood, and whether it is proven the best."""
    a, b = sides.original, sides.released
    if not pairs.open and max(len(a.label), len(b.label)) <= 2 * DENSE:
        return _match_dense(fit, sides, pairs, truth, seed), True
    space = metric(fit)
    space = space._replace(
        queries=np.ascontiguousarray(space.queries[a.label]), points=np.ascontiguousarray(space.points[b.label]),
        query_codes=np.ascontiguousarray(space.query_codes[a.label]),
        point_codes=np.ascontiguousarray(space.point_codes[b.label]),
    )  # fmt: skip
    matching = solve(space, squared=True, seed=seed, max_gap=LOOSE)
    return shares_of_optima(space, matching, truth, seed=seed).credit, matching.optimal


def _match_dense(fit: Fit, sides: Sides, pairs: Pairs, truth: Ints, seed: int) -> Floats:
    """All pairs at once. Equal records share what their class gets; what else ties is drawn, several times."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - heavy

    a, b = sides.original, sides.released
    weights = pairs.weights.reshape(len(a.size), len(b.size))
    left, right = (np.repeat(np.arange(len(side.size)), side.size) for side in (a, b))
    draws = DRAWS if not fit.view.x.shape[1] else 1
    flow = np.zeros(weights.shape)
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        x, y = rng.permutation(left), rng.permutation(right)
        rows, cols = linear_sum_assignment(-weights[np.ix_(x, y)])
        np.add.at(flow, (x[rows], y[cols]), 1.0 / draws)
    to = b.label[np.maximum(truth, 0)]
    return np.asarray(np.where(truth >= 0, flow[a.label, to] / (a.size[a.label] * b.size[to]), 0.0))
