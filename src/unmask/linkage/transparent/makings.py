"""From what a masking says of itself to how each attribute was made: what the intruder knows who knows the method.

They know family and parameters (Kerckhoffs), and what follows from them and the two files: the sd of noise is kappa
times the sd of the original, rank swapping moves a value at most a share of the ranks, microaggregation puts it between
the two centroids next to it. docs/methods.md, section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError
from unmask.kernels.likelihood import EQUAL, FACTOR, GAUSSIAN, LAPLACE, TABLE, TRIANGLE, WINDOW, Makings
from unmask.masking import Masking, ReverseMapped, transition_matrix
from unmask.tables import Encoding, Release, centre_and_spread, to_floats

PLACES, BINS = 32, 32  # of a column, and of the displacement within a rank-swapping window
LONG, DRAWS = 2000, 400_000  # ranks of a column that is swapped to learn from, and ranks swapped in all
EXACT = 1e-9  # relative difference up to which numbers are equal
CREDIBLE = 0.99  # share of the noise that a credible candidate stays within
ROUNDED = 1 / 12  # variance that rounding to integers adds
KNOWN = (
    "noise", "correlated_noise", "multiplicative_noise", "rank_swap", "microaggregation", "rounding", "pram",
    "recoding", "top_bottom", "suppression", "sampling", "chain", "reverse_map", "drop", "pseudonym", "dates", "age",
    "prefix", "rare", "hierarchy", "groups", "data_shuffling", "local_suppression",
    "laplace", "geometric", "gaussian",
)  # fmt: skip


@dataclass(slots=True)
class Column:
    """One attribute: both files' values, how it was made, and what that needs."""

    name: str
    x: Floats
    y: Floats
    kind: int = EQUAL
    scale: float = 0.0
    low: Floats | None = None
    high: Floats | None = None
    ranks: tuple[Floats, Floats] | None = None
    profile: Floats | None = None
    table: Floats | None = None
    fades: bool = False
    before: tuple[Floats, Floats] | None = None  # least and largest value that y can have been before a last step


def column_of(encoding: Encoding, name: str) -> Column:
    """One attribute of both files, untouched: its values must be equal."""
    x, y = (side.copy() for side in encoding.columns(name))
    return Column(name, x, y, scale=EXACT * max(float(np.nanmax(np.abs(x), initial=0.0)), 1e-300))


def unknown(what: str) -> EngineError:
    """Refuse what nobody has written a likelihood for."""
    return EngineError(
        f"no likelihood is known for {what}",
        allowed=", ".join(KNOWN),
        hint="name the columns of each masking, so that each is masked once; or leave masking= out",
    )


def make(release: Release, masking: Masking, columns: list[Column], added: dict[str, float]) -> None:
    """Write into the columns how they were made; ``added``: variance that later steps give them."""
    family, given = masking.family, cast("Any", masking)
    if isinstance(masking, ReverseMapped):
        for column in columns:
            _map_back(release, masking.masking, column)
        make(release, masking.masking, columns, added)
        return
    if family == "correlated_noise":
        _whiten(release, given.kappa, columns, added)
        return
    if family == "microaggregation" and given.method == "projection":
        _project(columns)
        return
    for column in columns:
        if family in SINGLES:
            SINGLES[family](release, column, given)


def _noise(release: Release, column: Column, given: Any) -> None:  # noqa: ANN401 - the masking's own parameters
    _gaussian(release, column, given.kappa * centre_and_spread(column.x)[1])


def _factor(_release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    if given.sd > 0:
        column.kind, column.scale = FACTOR, given.sd


def _rounded(release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    """Random rounding goes to either neighbour; everything else can be done again, and must give the same."""
    if getattr(given, "method", "") == "random":
        column.kind, column.scale = TRIANGLE, given.base
        return
    column.x = redone(release, column, given)


def redone(release: Release, column: Column, given: Any) -> Floats:  # noqa: ANN401
    """The original's values after a step without chance."""
    return to_floats(given.apply(release.original.select(column.name))[column.name], column.name)


def _pram(_release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    _transitions(column, given.p, invariant=given.invariant)


def _suppressed(_release: Release, column: Column, _given: Any) -> None:  # noqa: ANN401
    column.fades = True


def _anywhere(_release: Release, column: Column, _given: Any) -> None:  # noqa: ANN401
    """Data shuffling: a value says what the other columns say, and nothing of the person whose record it is in."""
    least, most = (float(of(column.y, initial=start)) for of, start in ((np.nanmin, np.inf), (np.nanmax, -np.inf)))
    column.kind, column.low, column.high = WINDOW, np.full(len(column.x), least), np.full(len(column.x), most)


def _gaussian(release: Release, column: Column, sd: float) -> None:
    whole = release.original[column.name].dtype.is_integer()
    variance = sd * sd + (ROUNDED if whole and sd > 0 else 0.0)
    if variance > 0:
        column.kind, column.scale = GAUSSIAN, float(np.sqrt(variance))


def _private(release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    """Noise of differential privacy: values were cut to stated bounds and put on a grid, and the scale is stated."""
    grid = given.grid(column.name, whole=given.whole or release.original[column.name].dtype.is_integer())
    places = np.where(np.isnan(column.x), grid.steps // 2, grid.places(column.x))
    column.x = grid.low + grid.step * places
    scale = given.scale(grid.step * grid.steps)
    if given.family == "gaussian":
        scale = float(np.sqrt(scale**2 + ROUNDED * grid.step**2))
    column.kind, column.scale = GAUSSIAN if given.family == "gaussian" else LAPLACE, scale


def _map_back(release: Release, masking: Masking, column: Column) -> None:
    """Undo reverse mapping: the value of rank r stood at rank r of the masked column, which can be made again."""
    made = masking.unrounded(release.original.select(column.name), 0)[column.name]
    again = np.sort(to_floats(made, column.name))
    again = again[~np.isnan(again)]
    present = ~np.isnan(column.y)
    ordered = np.sort(column.y[present])
    first, last = (np.searchsorted(ordered, column.y[present], side) for side in ("left", "right"))
    place = ((first + last - 1) / 2) / max(1, len(ordered) - 1) * (len(again) - 1)
    column.y[present] = np.interp(place, np.arange(len(again)), again)


def _whiten(release: Release, kappa: float, columns: list[Column], added: dict[str, float]) -> None:
    """Correlated noise: in the coordinates where it is independent and of unit size."""
    if not columns or kappa == 0:
        return
    x, y = (np.column_stack([getattr(c, side) for c in columns]) for side in "xy")
    if np.isnan(x).any() or np.isnan(y).any():
        raise unknown("correlated noise with missing values")
    ordered = x[np.lexsort(x.T[::-1])]
    covariance = kappa**2 * np.atleast_2d(np.cov(ordered, rowvar=False)) if len(x) > 1 else np.eye(len(columns))
    whole = [(ROUNDED if release.original[c.name].dtype.is_integer() else 0.0) + added[c.name] for c in columns]
    values, vectors = np.linalg.eigh(covariance + np.diag(whole))
    sd = np.sqrt(np.maximum(values, 1e-12 * max(float(values.max()), 1e-300)))
    for k, column in enumerate(columns):
        column.x, column.y = x @ vectors[:, k] / sd[k], y @ vectors[:, k] / sd[k]
        column.kind, column.scale = GAUSSIAN, 1.0


def window(_release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    """Rank swapping: the release has the same values in other places, each at most the window's ranks away."""
    if given.within:
        raise unknown("rank_swap within strata")
    ordered = np.sort(column.y[~np.isnan(column.y)])
    n = len(ordered)
    window = int(np.floor(given.share * n + 1e-9))
    first, last = (np.searchsorted(ordered, column.x, side) for side in ("left", "right"))
    if n == 0 or window == 0:
        return
    column.low = ordered[np.clip(first - window, 0, n - 1)]
    column.high = ordered[np.clip(last - 1 + window, 0, n - 1)]
    places = [np.searchsorted(ordered, column.y, side) for side in ("left", "right")]
    column.ranks = ((first + last - 1) / 2 / window, (places[0] + places[1] - 1) / 2 / window)
    column.kind, column.scale, column.profile = WINDOW, n / window, swap_profile(n, window)


def swap_profile(n: int, window: int) -> Floats:
    """Log-probability of each new rank, by place in the column and displacement: they can run the method themselves.

    At the ends of a column there are fewer ranks to trade with, and the first ones only trade upwards.
    """
    from unmask.kernels.masking import swap_ranks  # noqa: PLC0415 - compiled when first needed

    window = max(1, round(window * min(1.0, LONG / n)))
    n = min(n, LONG)
    ranks, rng = np.arange(n), np.random.default_rng(0)

    def cell(rank: Ints, moved: Ints) -> Ints:
        place = np.minimum(rank * PLACES // n, PLACES - 1)
        return place * BINS + np.minimum(((moved / window + 1) / 2 * BINS).astype(np.int64), BINS - 1)

    seen, room = np.full(PLACES * BINS, 0.5), np.zeros(PLACES * BINS)
    runs = max(1, DRAWS // n)
    for _ in range(runs):
        seen += np.bincount(cell(ranks, swap_ranks(n, window, rng.random(n)) - ranks), minlength=len(seen))
    for moved in range(-window, window + 1):
        there = ranks[(ranks + moved >= 0) & (ranks + moved < n)]
        room += np.bincount(cell(there, np.full(len(there), moved)), minlength=len(room))
    return np.asarray(np.log(seen / (runs * np.maximum(room, 1.0))).reshape(PLACES, BINS))


def _aggregate(release: Release, column: Column, given: Any) -> None:  # noqa: ANN401
    """Microaggregation: alone, a value lies between neighbouring centroids; with others, it scatters around them."""
    if given.method == "univariate":
        column.kind = WINDOW
        column.low, column.high = _neighbours(column.x, column.y)
        return
    lost = centre_and_spread(column.x)[1] ** 2 - centre_and_spread(column.y)[1] ** 2
    least = (1e-6 * centre_and_spread(column.x)[1]) ** 2
    _gaussian(release, column, float(np.sqrt(max(lost, least, 0.0))))


def _neighbours(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The centroids next below and above each value: groups on a line are runs, so its own is within these two.

    Equal values may stand in several groups, so one that equals a centroid keeps its neighbours on both sides.
    """
    centroids = np.unique(y[~np.isnan(y)])
    slack = EXACT * max(float(np.abs(centroids).max(initial=0.0)), 1e-300)
    above = np.clip(np.searchsorted(centroids, x + slack, "right"), 0, len(centroids) - 1)
    below = np.clip(np.searchsorted(centroids, x - slack, "left") - 1, 0, len(centroids) - 1)
    return centroids[below] - slack, centroids[above] + slack


def _project(columns: list[Column]) -> None:
    """Groups along the first principal component: the score stands in the first column; the others say nothing."""
    x, y = (np.column_stack([getattr(c, side) for c in columns]) for side in "xy")
    if np.isnan(x).any():
        raise unknown("projected microaggregation with missing values")
    spread = np.array([centre_and_spread(x[:, k])[1] or 1.0 for k in range(x.shape[1])])
    centre = np.array([centre_and_spread(x[:, k])[0] for k in range(x.shape[1])])
    scaled = (x - centre) / spread
    ordered = scaled[np.lexsort(scaled.T[::-1])]
    axis = np.linalg.eigh(ordered.T @ ordered)[1][:, -1]
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    first, *rest = columns
    first.x, first.y, first.kind = scaled @ axis, (y - centre) / spread @ axis, WINDOW
    first.low, first.high = _neighbours(first.x, np.round(first.y, 9))
    first.low, first.high = first.low - 1e-8, first.high + 1e-8
    for column in rest:
        column.x, column.y, column.kind, column.scale = np.zeros(len(x)), np.zeros(len(y)), EQUAL, 1.0


def _transitions(column: Column, p: float, *, invariant: bool) -> None:
    levels = np.unique(np.concatenate([column.x, column.y]))
    levels = levels[~np.isnan(levels)]
    for side in ("x", "y"):
        values = getattr(column, side)
        setattr(column, side, np.where(np.isnan(values), np.nan, np.searchsorted(levels, values)))
    counts = np.bincount(column.x[~np.isnan(column.x)].astype(int), minlength=len(levels))
    there = np.flatnonzero(counts)
    table = np.zeros((len(levels), len(levels)))
    if there.size > 1:
        table[np.ix_(there, there)] = transition_matrix(counts[there], p, invariant=invariant)
    else:
        table[there, there] = 1.0
    with np.errstate(divide="ignore"):
        column.kind, column.table = TABLE, np.log(table)


def assemble(columns: list[Column]) -> Makings:
    """Put all attributes into the arrays that the kernels read."""
    n, n_right, m = len(columns[0].x), len(columns[0].y), len(columns)
    x, y = (np.ascontiguousarray(np.column_stack([getattr(c, side) for c in columns])) for side in "xy")
    low, high, x_rank, y_rank = (np.zeros((rows, m)) for rows in (n, n, n, n_right))
    codes = max([1, *(len(c.table) for c in columns if c.table is not None)])
    profile, table = np.zeros((m, PLACES, BINS)), np.zeros((m, codes, codes))
    for k, column in enumerate(columns):
        if column.kind == WINDOW and column.low is not None and column.high is not None:
            low[:, k], high[:, k] = column.low, column.high
        if column.ranks is not None:
            x_rank[:, k], y_rank[:, k] = column.ranks
        if column.profile is not None:
            profile[k] = column.profile
        if column.table is not None:
            table[k, : len(column.table), : len(column.table)] = column.table
    noisy = sum({GAUSSIAN: 1, FACTOR: 1, LAPLACE: 2}.get(column.kind, 0) for column in columns)
    return Makings(
        x, y, np.array([c.kind for c in columns], dtype=np.int64), np.array([c.scale for c in columns]),
        low, high, x_rank, y_rank, profile, table, np.array([c.fades for c in columns]),
        _ends(columns, 0), _ends(columns, 1), _limit(noisy),
    )  # fmt: skip


def _ends(columns: list[Column], end: int) -> Floats:
    return np.ascontiguousarray(np.column_stack([c.y if c.before is None else c.before[end] for c in columns]))


def _limit(noisy: int) -> float:
    from scipy.stats import chi2  # noqa: PLC0415 - heavy

    return float(chi2.ppf(CREDIBLE, noisy)) if noisy else 1.0


SINGLES = {
    "noise": _noise,
    "multiplicative_noise": _factor,
    "rank_swap": window,
    "microaggregation": _aggregate,
    "rounding": _rounded,
    "top_bottom": _rounded,
    "pram": _pram,
    "data_shuffling": _anywhere,
    "suppression": _suppressed,
    "local_suppression": _suppressed,
    "laplace": _private,
    "geometric": _private,
    "gaussian": _private,
}  # recoding and coarser words need nothing: the encoding writes the original as the release does; sampling neither
