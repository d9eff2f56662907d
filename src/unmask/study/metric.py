"""A metric turns an encoding into a space: coordinates, category steps, and what a missing value contributes.

Contributions of attributes are comparable by construction (docs/methods.md, section 1): numbers are standardised, a
category that differs contributes what a two-valued standardised number would, a missing value its attribute's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeVar, get_args

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.errors import ParameterError, check_name
from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, MANHATTAN, Space
from unmask.kernels.compiling import in_threads
from unmask.kernels.sums import added
from unmask.tables import Encoding, RankMethod, canonical_order, centre_and_spread, rank
from unmask.threads import one_thread

Metric = Literal["euclidean", "manhattan", "chebyshev", "mahalanobis", "gower", "permutation"]
Scale = Literal["own", "original", "released", "none"]
Made = TypeVar("Made")
Moments = tuple[float, float]  # mean and sd
Sides = tuple[Floats, Floats, Floats]  # coordinates of queries and of points, and each column's mean contribution
METRICS: tuple[str, ...] = get_args(Metric)
SCALES: tuple[str, ...] = get_args(Scale)
NORMS = {
    "euclidean": EUCLIDEAN,
    "mahalanobis": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "gower": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "permutation": CHEBYSHEV,
}
SHARED = 20_000  # rows from which on columns are shared among threads
TOGETHER, CELLS = 8, 2**20  # columns taken out of a table together, a line of the cache; of so many cells at most
ROUNDING = 1e-12  # absolute error of coordinates relative to the largest one: what standardising can leave


def build_space(
    encoding: Encoding,
    *,
    metric: Metric = "euclidean",
    scale: Scale = "own",
    weights: Mapping[str, float] | None = None,
    ranks: RankMethod = "average",
    seed: int = 0,
) -> Space:
    """Place both files in one space: queries are the original's records, points those of the release."""
    check_name(metric, METRICS, f"no metric {metric!r}")
    check_name(scale, SCALES, f"no scale {scale!r}")
    if metric == "mahalanobis" and weights:
        raise ParameterError("the Mahalanobis distance takes no weights: it is the same for any scale of an attribute")
    number_weights, code_weights = _weights(encoding, weights)
    norm = NORMS[metric]
    if metric not in {"permutation", "gower", "mahalanobis"} and scale != "none":
        factors = np.sqrt(number_weights) if norm == EUCLIDEAN else number_weights
        sides = _standardised(encoding, scale, factors, squared=norm == EUCLIDEAN)
        return _assemble(encoding, sides, norm, code_weights, metric)
    left, right = encoding.original.numeric, encoding.released.numeric
    if metric == "permutation":
        left, right = _ranked(encoding, ranks, seed)
    elif metric == "gower":
        left, right = _ranged(left, right)
    elif metric == "mahalanobis":
        left, right = _whitened(left, right)
        number_weights = np.ones(left.shape[1])
    factors = np.sqrt(number_weights) if norm == EUCLIDEAN else number_weights
    if metric == "gower":
        total = number_weights.sum() + code_weights.sum()
        factors, code_weights = factors / total, code_weights / total
    if (factors != 1).any() or left is encoding.original.numeric:
        left, right = left * factors, right * factors
    return _assemble(encoding, _with_means(left, right, squared=norm == EUCLIDEAN), norm, code_weights, metric)


def of_attributes(space: Space, attributes: Iterable[int]) -> Space:
    """The space of some attributes (numbers first, then categories), as if it had been built of them alone."""
    p, chosen = space.queries.shape[1], sorted(attributes)
    part = space.only([k for k in chosen if k < p], [k - p for k in chosen if k >= p])
    return part._replace(floor=_floor(part.queries, part.points, squared=space.norm == EUCLIDEAN))


def readable(reduced: Floats, norm: int) -> Floats:
    """Distances as people read them."""
    return np.sqrt(reduced) if norm == EUCLIDEAN else reduced


def _weights(encoding: Encoding, weights: Mapping[str, float] | None) -> tuple[Floats, Floats]:
    given = dict(weights or {})
    for name, value in given.items():
        check_name(name, encoding.names, f"no attribute {name!r} to weight")
        if not (np.isfinite(value) and value >= 0):
            raise ParameterError(f"the weight of {name!r} is not allowed", got=str(value), allowed="a number from 0")
    if given and not any(given.get(name, 1.0) > 0 for name in encoding.names):
        raise ParameterError("all weights are 0", hint="leave at least one attribute a positive weight")
    return (
        np.array([given.get(name, 1.0) for name in encoding.numeric_names], dtype=np.float64),
        np.array([given.get(name, 1.0) for name in encoding.code_names], dtype=np.float64),
    )


# --- coordinates ----------------------------------------------------------------------------------------------------


def _standardised(encoding: Encoding, scale: str, factors: Floats, *, squared: bool) -> Sides:
    """Numbers less their mean, by their sd, times a factor; nothing is sorted where contributions are squares."""
    left, right = encoding.original.numeric, encoding.released.numeric
    a, b, missing = np.empty_like(left), np.empty_like(right), np.empty(left.shape[1])
    together = max(1, min(TOGETHER, CELLS // max(1, len(left), len(right))))

    def place(first: int) -> None:
        some = slice(first, first + together)
        rows, others = (np.array(side[:, some].T, order="C") for side in (left, right))  # copies: they are changed
        for k, x, y in zip(range(first, left.shape[1]), rows, others, strict=False):
            told = _moments(x), _moments(y)
            units = _units(*told, scale)
            for values, (mean, sd) in zip((x, y), units, strict=True):
                np.subtract(values, mean, out=values)
                np.divide(values, sd, out=values)
                np.multiply(values, factors[k], out=values)
            placed = [_moved(one, unit, factors[k]) for one, unit in zip(told, units, strict=True)]
            missing[k] = _mean_square(x, y, *placed) if squared else _mean_gap(x, y)
        a[:, some], b[:, some] = rows.T, others.T

    in_threads(place, range(0, left.shape[1], together), shared=len(left) >= SHARED)
    return a, b, missing


def _moments(column: Floats) -> Moments:
    """Mean and sd, in any order of rows the same bits."""
    return centre_and_spread(column, added)


def _units(left: Moments, right: Moments, scale: str) -> tuple[Moments, Moments]:
    """Mean and sd that each of two columns is measured by, of their own."""
    (mean_a, sd_a), (mean_b, sd_b) = left, right
    if scale == "original":
        mean_b, sd_b = mean_a, sd_a
    if scale == "released":
        mean_a, sd_a = mean_b, sd_b
    # a constant in one file takes the other's sd
    return (mean_a, sd_a or sd_b or 1.0), (mean_b, sd_b or sd_a or 1.0)


def _moved(told: Moments, unit: Moments, factor: float) -> Moments:
    """Mean and sd of a column after its numbers are moved and divided by a unit, times a factor."""
    (mean, sd), (origin, size) = told, unit
    return (mean - origin) / size * factor, sd / size * factor


def _with_means(left: Floats, right: Floats, *, squared: bool) -> Sides:
    """Coordinates with the mean contribution of each column."""

    def mean(k: int) -> float:
        return _mean_contribution(left[:, k], right[:, k], squared=squared)

    return left, right, np.array(_each_column(mean, left), dtype=np.float64)


def _each_column(work: Callable[[int], Made], table: Floats) -> list[Made]:
    """Do something for each column, those of long tables in threads: numpy releases the interpreter lock."""
    return in_threads(work, range(table.shape[1]), shared=len(table) >= SHARED)


def _ranged(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Gower: divide by the range over both files."""
    a, b = left.copy(), right.copy()
    for k in range(left.shape[1]):
        both = np.concatenate([left[:, k], right[:, k]])
        both = both[~np.isnan(both)]
        spread = float(both.max() - both.min()) if both.size else 0.0
        a[:, k] /= spread or 1.0
        b[:, k] /= spread or 1.0
    return a, b


def _whitened(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Mahalanobis with the pooled covariance; directions without variance are left out (pseudo-inverse)."""
    if np.isnan(left).any() or np.isnan(right).any():
        raise ParameterError(
            "the Mahalanobis distance is not defined with missing numbers",
            hint="use metric='euclidean' or 'gower', or fill them",
        )
    if left.shape[1] == 0:
        return left, right
    spread = np.array([_pooled_sd(left[:, k], right[:, k]) for k in range(left.shape[1])])
    left, right = left / spread, right / spread  # units must not decide which directions have no variance
    shift = np.array([_moments(left[:, k])[0] for k in range(left.shape[1])])  # near zero: less rounding
    with one_thread():  # others would wait busily, and sums come out the same on any machine
        rotate = _whitening(_centred(left), _centred(right))
        return np.ascontiguousarray((left - shift) @ rotate), np.ascontiguousarray((right - shift) @ rotate)


def _whitening(a: Floats, b: Floats) -> Floats:
    """What turns centred rows of both files into coordinates of unit variance; one of zeros where nothing varies."""
    values, vectors = np.linalg.eigh((a.T @ a + b.T @ b) / max(1, len(a) + len(b) - 2))
    keep = values > 1e-10 * max(values.max(), 1e-300)
    if not keep.any():
        return np.zeros((a.shape[1], 1))
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def _pooled_sd(left: Floats, right: Floats) -> float:
    """Root mean square of both files' sds, as a power of two: dividing by it rounds nothing."""
    sd = float(np.hypot(_moments(left)[1], _moments(right)[1]))
    return float(2.0 ** np.round(np.log2(sd))) if sd > 0 else 1.0


def _centred(values: Floats) -> Floats:
    """Rows in canonical order, so that sums do not depend on the order of the file."""
    ordered = values[canonical_order(values)]
    return np.asarray(ordered - ordered.mean(axis=0))


def _ranked(encoding: Encoding, method: RankMethod, seed: int) -> tuple[Floats, Floats]:
    """Permutation distance: y becomes its rank in its column, x the rank of the closest value of that column."""
    right = encoding.released.numeric
    order = canonical_order(right, encoding.released.codes)
    left_order = canonical_order(encoding.original.numeric, encoding.original.codes)
    ranks = np.empty_like(right)
    found = np.empty_like(encoding.original.numeric)
    for k in range(right.shape[1]):
        ranks[:, k] = rank(right[:, k], method, order=order, seed=seed + k)
        found[:, k] = _closest_ranks(encoding.original.numeric[:, k], right[:, k], ranks[:, k], left_order, seed + k)
    return found, ranks


def _closest_ranks(values: Floats, column: Floats, ranks: Floats, order: Ints, seed: int) -> Floats:
    """Rank of the closest value in ``column``: the mean rank of both sides when they are as close.

    Under ordinal ranks a value stands for several ranks; the record takes one of them at random (seeded, by the
    canonical order of its own file).
    """
    present = ~np.isnan(column)
    levels = np.unique(column[present])
    position = np.lexsort((ranks[present], column[present]))
    sorted_values, sorted_ranks = column[present][position], ranks[present][position]
    first, last = np.searchsorted(sorted_values, levels, "left"), np.searchsorted(sorted_values, levels, "right")
    lot = np.empty(values.size)
    lot[order] = np.random.default_rng([seed, 1]).random(values.size)

    def take(level: Ints) -> Floats:
        width = last[level] - first[level]
        return np.asarray(sorted_ranks[first[level] + (lot * width).astype(np.int64)])

    above = np.clip(np.searchsorted(levels, values), 0, len(levels) - 1)
    below = np.clip(above - 1, 0, len(levels) - 1)
    with np.errstate(invalid="ignore"):
        up, down = np.abs(levels[above] - values), np.abs(values - levels[below])
    result = np.where(up < down, take(above), take(below))
    both = np.isclose(up, down, rtol=1e-12, atol=0) & (above != below)
    result = np.where(both, (take(above) + take(below)) / 2, result)
    return np.where(np.isnan(values), np.nan, result)


# --- the space ------------------------------------------------------------------------------------------------------


def _assemble(encoding: Encoding, sides: Sides, norm: int, code_weights: Floats, metric: str) -> Space:
    squared = norm == EUCLIDEAN
    left, right, missing = sides
    a, b = encoding.original.codes, encoding.released.codes
    differ = np.array([_share_different(a[:, k], b[:, k]) for k in range(a.shape[1])])
    step = category_steps(differ, metric, len(encoding.released), squared=squared) * code_weights
    return Space(
        np.ascontiguousarray(left),
        np.ascontiguousarray(right),
        np.ascontiguousarray(a),
        np.ascontiguousarray(b),
        norm,
        missing,
        step,
        step * differ,
        floor=_floor(left, right, squared=squared),
    )


def _floor(left: Floats, right: Floats, *, squared: bool) -> float:
    """Reduced distance that rounding alone may leave."""
    tasks = [(end, side) for side in (left, right) if side.size for end in (np.fmin, np.fmax)]
    ends = in_threads(lambda task: float(task[0].reduce(task[1], axis=None)), tasks, shared=len(left) >= SHARED)
    largest = max((abs(end) for end in ends if not np.isnan(end)), default=0.0)
    return float((ROUNDING * largest) ** (2 if squared else 1))


def category_steps(differ: Floats, metric: str, n: int, *, squared: bool) -> Floats:
    """What two different categories contribute."""
    if metric == "gower":
        return np.ones(differ.size)
    if metric == "permutation":
        return np.full(differ.size, (n * n - 1) / (3.0 * n))  # the mean distance of two random ranks
    squares = 2.0 / np.maximum(differ, 1e-12)
    squares = np.where(differ > 0, squares, 0.0)
    return squares if squared else np.sqrt(squares)


def _share_different(a: Codes, b: Codes) -> float:
    """P(a != b) over pairs of one present code of each file."""
    a, b = a[a >= 0], b[b >= 0]
    if not (a.size and b.size):
        return 0.0
    size = int(max(a.max(), b.max())) + 1
    same = np.bincount(a, minlength=size).astype(np.float64) @ np.bincount(b, minlength=size)
    return max(0.0, 1.0 - float(same) / (float(a.size) * b.size))


def _mean_contribution(a: Floats, b: Floats, *, squared: bool) -> float:
    """Mean of (a-b)^2 or |a-b| over all pairs of present values, without the pairs."""
    return _mean_square(a, b, _moments(a), _moments(b)) if squared else _mean_gap(a, b)


def _mean_square(a: Floats, b: Floats, of_a: Moments, of_b: Moments) -> float:
    n, m = _present(a), _present(b)
    if not (n and m):
        return 0.0
    (mean_a, sd_a), (mean_b, sd_b) = of_a, of_b
    return sd_a**2 * (n - 1) / n + sd_b**2 * (m - 1) / m + (mean_a - mean_b) ** 2


def _mean_gap(a: Floats, b: Floats) -> float:
    n, m = _present(a), _present(b)
    if not (n and m):
        return 0.0
    a, b = np.sort(a)[:n], np.sort(b)[:m]  # NaN comes last
    grid = np.sort(np.concatenate([a, b]))
    below_a = np.searchsorted(a, grid[:-1], "right") / a.size
    below_b = np.searchsorted(b, grid[:-1], "right") / b.size
    return float((np.diff(grid) * (below_a * (1 - below_b) + below_b * (1 - below_a))).sum())


def _present(values: Floats) -> int:
    return int((~np.isnan(values)).sum())
