"""When are two distances the same? The relation of the paper's Definition 5, in four forms.

A number is an absolute tolerance; `Relative` a share; `Deviations` the two ends that the intruder measured; and
`NoiseTolerance` measures them as the intruder does (section 5, "Fine-tuning of the attack"): take pairs of known
points, mask them the way the owner is known to have done, and look how far the distances moved. Inequalities are
strict, as in the paper, except where that would leave nothing: a tolerance of 0 means equal (to a billionth of the
largest distance, since two programs rarely agree to the last bit).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats
from unmask.errors import ParameterError, check_name
from unmask.graph.distances import EARTH, Place
from unmask.kernels.cliques import Window
from unmask.study import Displacement as Masking
from unmask.study import mask_distances, mask_points

MASKINGS = ("coordinates", "donut", "distances", "rounding", "aggregation")
WIDEST = 0.2  # of the median distance: where more is allowed, everything agrees with everything


@dataclass(frozen=True, slots=True)
class Relative:
    """Distances agree when they differ by at most this share of the target's distance."""

    share: float


@dataclass(frozen=True, slots=True)
class Deviations:
    """Distances agree when identification minus target lies strictly between two numbers."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NoiseTolerance:
    """Distances agree when their deviation lies between the (1-alpha)/2 and (1+alpha)/2 quantiles of the known masking.

    ``sigma`` is the masking's parameter in its own unit: standard deviation of coordinates (degrees for lon/lat) or of
    distances, outer radius of the donut (inner: half of it), rounding step, or the side of the aggregation grid.
    """

    sigma: float
    alpha: float = 0.9
    masking: Masking = "coordinates"
    draws: int = 20_000
    seed: int = 0


Tolerance = float | Relative | Deviations | NoiseTolerance


def _positive(value: float, what: str) -> float:
    if not np.isfinite(value) or value < 0:
        raise ParameterError(f"{what} must be a number of at least 0", got=repr(value), allowed="0 or more")
    return float(value)


def deviations(identification: Place, tolerance: NoiseTolerance) -> Floats:
    """Simulate: identification minus masked distance for random pairs of the identification file's records.

    Records are numbered by content: the order in which the file came must not decide who is drawn.
    """
    rng = np.random.default_rng(tolerance.seed)
    n = identification.n
    if n < 2:
        return np.zeros(1)
    first = rng.integers(0, n, size=tolerance.draws)
    second = (first + rng.integers(1, n, size=tolerance.draws)) % n
    order = identification.order(np.zeros(n, dtype=np.int64))
    first, second = order[first], order[second]
    points = identification.points
    if points is None:
        if tolerance.masking not in {"distances", "rounding"}:
            raise ParameterError(
                "masked coordinates cannot be simulated from a distance matrix",
                got=f"masking={tolerance.masking!r}",
                allowed="masking='distances' or 'rounding', a number, Relative or Deviations",
                hint="give the identification file as Coordinates",
            )
        true = np.asarray(identification.square[first, second], dtype=np.float64)
        return true - mask_distances(true, tolerance.sigma, tolerance.masking, rng)
    a, b = points[first], points[second]
    true = pairwise(a, b, identification.kind)
    if tolerance.masking in {"distances", "rounding"}:
        return true - mask_distances(true, tolerance.sigma, tolerance.masking, rng)
    a = mask_points(a, tolerance.sigma, tolerance.masking, identification.kind, rng)
    b = mask_points(b, tolerance.sigma, tolerance.masking, identification.kind, rng)
    return true - pairwise(a, b, identification.kind)


def pairwise(a: Floats, b: Floats, kind: str | None) -> Floats:
    """Distance of each point of a to the point of b beside it."""
    if kind == "planar":
        return np.asarray(np.hypot(*(a - b).T))
    (lon1, lat1), (lon2, lat2) = np.deg2rad(a).T, np.deg2rad(b).T
    h = np.sin((lat1 - lat2) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon1 - lon2) / 2) ** 2
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.minimum(h, 1.0))))


def window(identification: Place, tolerance: Tolerance, moved: Floats | None = None) -> Window:
    """Make the window of agreeing distances. ``moved``: what `simulated` says, if it was asked already."""
    if isinstance(tolerance, Deviations):
        if not tolerance.low <= tolerance.high or not np.isfinite([tolerance.low, tolerance.high]).all():
            raise ParameterError("deviations must be two rising numbers", got=f"{tolerance.low}, {tolerance.high}")
        low, high = tolerance.low, tolerance.high
    elif isinstance(tolerance, Relative):
        share = _positive(tolerance.share, "a relative tolerance")
        slack = _rounding(identification)
        return Window(-slack, slack, 1.0 - min(share, 1.0), 1.0 + share).closed()
    elif isinstance(tolerance, NoiseTolerance):
        moved = simulated(identification, tolerance) if moved is None else moved
        low, high = np.quantile(moved, [(1 - tolerance.alpha) / 2, (1 + tolerance.alpha) / 2]).tolist()
    elif isinstance(tolerance, int | float):
        high = _positive(tolerance, "a tolerance")
        low = -high
    else:
        raise ParameterError(
            "unknown tolerance", got=type(tolerance).__name__, allowed="a number, Relative, Deviations, NoiseTolerance"
        )
    slack = _rounding(identification)
    return Window(low, high) if high - low > 2 * slack else Window(low - slack, high + slack).closed()


def _rounding(place: Place) -> float:
    """How far two computations of one distance may differ: a billionth of the largest."""
    if place.points is None:
        return 1e-9 * float(place.square.max())
    return 1e-9 * (EARTH if place.kind == "lonlat" else float(np.ptp(place.points, axis=0).max()))


def place_noise(identification: Place, tolerance: Tolerance, agreed: Window, moved: Floats) -> float:
    """Standard deviation of one place that explains the deviations of distances: two places make one distance."""
    if isinstance(tolerance, NoiseTolerance):
        return float(np.std(moved) / np.sqrt(2))
    if isinstance(tolerance, Relative):
        n = identification.n
        by_content = identification.order(np.zeros(n, dtype=np.int64))  # not the first of the file
        some = identification.rows(by_content[np.linspace(0, n - 1, min(64, n)).astype(np.int64)])
        return float(tolerance.share * np.median(some) / 1.645 / np.sqrt(2))
    return (agreed.high - agreed.low) / 2 / 1.645 / float(np.sqrt(2))


def simulated(identification: Place, tolerance: Tolerance) -> Floats:
    """Deviations that the known masking makes; none where it is not known."""
    if not isinstance(tolerance, NoiseTolerance):
        return np.zeros(0)
    _positive(tolerance.sigma, "sigma")
    if not 0 < tolerance.alpha < 1:
        raise ParameterError("alpha is a probability", got=repr(tolerance.alpha), allowed="between 0 and 1")
    check_name(tolerance.masking, MASKINGS, "unknown masking")
    return deviations(identification, tolerance) if tolerance.sigma > 0 else np.zeros(1)
