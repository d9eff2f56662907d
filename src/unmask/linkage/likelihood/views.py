"""Views of both files in which noise may look normal: values as they are, logarithms of skewed columns, ranks.

Answers such as 1 to 7 are read as categories and, in one view more, as numbers ("ordered").

A view maps each column of both files monotonically. The likelihood of the release is compared between views, so each
view knows how much it stretches: the log-derivative of the map at every released value (its Jacobian).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.errors import EngineError
from unmask.kernels.assignment import Classes, classify
from unmask.tables import centre_and_spread, to_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables import Encoding, Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Ordered = dict[str, tuple[Floats, Floats]]  # categories as numbers, of both files

SKEWED = 1.0  # skewness from which a column is also looked at in logarithms
MOST_PATTERNS = 400  # pairs of patterns of missing values up to which noise may be correlated
LEAST_NOISE = 1e-9  # variance, in variances of the column: what rounding leaves
FULL_FROM = 5  # people for each column, from which a full covariance is learnt


class View(NamedTuple):
    """Classes of equal records of both files as numbers of one scale and codes, with how often each class occurs."""

    name: str  # values, logarithms, ranks, ordered
    x: Floats  # (classes of the original, p), NaN missing
    y: Floats  # (classes of the release, p)
    x_codes: Codes
    y_codes: Codes
    x_size: Floats
    y_size: Floats
    stretch: Floats  # (classes of the release,) log-derivative of the map, summed over columns
    columns: tuple[str, ...]
    code_columns: tuple[str, ...]
    x_holes: Ints  # pattern of missing numbers of each class; rows of ``holes``
    y_holes: Ints
    holes: NDArray[np.bool_]  # (patterns, p) True: present
    floor: Floats  # (p,) least variance of the noise: whole numbers are no surer than their rounding

    @property
    def complete(self) -> bool:
        """Whether no number is missing."""
        return bool(self.holes.all())

    @property
    def scattered(self) -> bool:
        """Whether gaps are in too many places to treat each pair of patterns by itself."""
        return len(np.unique(self.x_holes)) * len(np.unique(self.y_holes)) > MOST_PATTERNS

    @property
    def correlated(self) -> bool:
        """Whether there are people enough, and gaps in few enough places, for a full covariance of the noise."""
        people = min(self.x_size.sum(), self.y_size.sum())
        return not self.scattered and bool(people >= FULL_FROM * self.x.shape[1])


class Sides(NamedTuple):
    """Both files by classes of equal records, in an order that depends on their values alone."""

    original: Classes
    released: Classes
    numeric: tuple[int, ...]  # columns that vary in both files
    coded: tuple[int, ...]
    names: tuple[str, ...]
    code_names: tuple[str, ...]


def set_sides_like(encoding: Encoding, known: Sides) -> Sides:
    """Group equal records by the columns that others of the same people were grouped by."""
    absent = {*known.names, *known.code_names} - {*encoding.numeric_names, *encoding.code_names}
    if absent:
        raise EngineError("some people have columns of another kind than all", got=f"{len(absent)} columns")
    numeric = tuple(encoding.numeric_names.index(name) for name in known.names)
    coded = tuple(encoding.code_names.index(name) for name in known.code_names)
    return _grouped(encoding, numeric, coded)


def set_sides(encoding: Encoding) -> Sides:
    """Leave out columns that are constant in either file or have no category in common, and group equal records."""
    a, b = encoding.original, encoding.released
    numeric = tuple(
        k for k in range(a.numeric.shape[1]) if _levels(a.numeric[:, k]) > 1 and _levels(b.numeric[:, k]) > 1
    )
    coded = tuple(
        k
        for k, name in enumerate(encoding.code_names)
        if name not in encoding.foreign and all(len(np.unique(s[s >= 0])) > 1 for s in (a.codes[:, k], b.codes[:, k]))
    )
    return _grouped(encoding, numeric, coded)


def _grouped(encoding: Encoding, numeric: tuple[int, ...], coded: tuple[int, ...]) -> Sides:
    sides = [
        classify(np.ascontiguousarray(side.numeric[:, numeric]), np.ascontiguousarray(side.codes[:, coded]))
        for side in (encoding.original, encoding.released)
    ]
    names = tuple(encoding.numeric_names[k] for k in numeric)
    return Sides(sides[0], sides[1], numeric, coded, names, tuple(encoding.code_names[k] for k in coded))


def _levels(column: Floats) -> int:
    return len(np.unique(column[~np.isnan(column)]))


def build_views(sides: Sides, ordered: Ordered | None = None) -> list[View]:
    """Values as they are; logarithms if a column is skewed; ranks if there are numbers; categories that are numbers."""
    skewed, numbers = skewed_columns(sides), bool(sides.names)
    there = {
        "values": True,
        "logarithms": any(skewed),
        "ranks": numbers,
        "ordered": any(name in sides.code_names for name in ordered or {}),
    }
    return [build_view(name, sides, skewed, ordered) for name, wanted in there.items() if wanted]


def skewed_columns(sides: Sides) -> list[bool]:
    """Which numbers of the original are skewed."""
    a = sides.original
    return [abs(_skewness(a.values[a.label, k])) > SKEWED for k in range(a.values.shape[1])]


def build_view(name: str, sides: Sides, skewed: list[bool], ordered: Ordered | None = None) -> View:
    """One view; in logarithms those columns are bent that are ``skewed``."""
    a, b = sides.original, sides.released
    x, y = a.values[a.label], b.values[b.label]
    columns = [(x[:, k], y[:, k], np.zeros(len(y))) for k in range(x.shape[1])]
    if name == "logarithms":
        columns = [_logarithms(*column[:2]) if bend else column for column, bend in zip(columns, skewed, strict=True)]
    if name == "ranks":
        columns = [_ranks(*column[:2]) for column in columns]
    if name != "ordered":
        return _assemble(name, sides, columns)
    read = {name: pair for name, pair in (ordered or {}).items() if name in sides.code_names}
    more = [(left, right, np.zeros(len(right))) for left, right in read.values()]
    return _assemble(name, sides, columns + more, tuple(read))


def ordered_codes(release: Release, sides: Sides) -> Ordered:
    """Categories that both files write as numbers, one number for each category: they may be ordered."""
    found = {}
    for k, name in enumerate(sides.code_names):
        columns = release.original[name], release.released[name]
        if all(column.dtype.is_numeric() for column in columns):
            pair = to_floats(columns[0], name), to_floats(columns[1], name)
            codes = [side.codes[:, k] for side in (sides.original, sides.released)]
            if all(_levels(v) == len(np.unique(c[c >= 0])) for v, c in zip(pair, codes, strict=True)):
                found[name] = pair
    return found


def _assemble(
    name: str, sides: Sides, columns: list[tuple[Floats, Floats, Floats]], read: tuple[str, ...] = ()
) -> View:
    """Standardise by the original's mean and sd, and keep one row for each class; ``read``: categories as numbers."""
    a, b = sides.original, sides.released
    first_a, first_b = a.members[a.start[:-1]], b.members[b.start[:-1]]
    x, y = np.empty((len(first_a), len(columns))), np.empty((len(first_b), len(columns)))
    stretch, floor = np.zeros(len(first_b)), np.full(len(columns), LEAST_NOISE)
    for k, (left, right, slope) in enumerate(columns):
        mean, spread = centre_and_spread(left)
        spread = spread or 1.0
        x[:, k], y[:, k] = (left[first_a] - mean) / spread, (right[first_b] - mean) / spread
        stretch += np.where(np.isnan(y[:, k]), 0.0, slope[first_b] - np.log(spread))
        if k >= len(columns) - len(read):
            floor[k] = max(LEAST_NOISE, 1.0 / (12.0 * spread**2))
            stretch += np.where(np.isnan(y[:, k]), 0.0, _as_shares(right)[first_b])
    present = np.vstack([~np.isnan(x), ~np.isnan(y)])
    holes, label = np.unique(present, axis=0, return_inverse=True) if columns else (present[:1], np.zeros(len(present)))
    label = label.reshape(-1).astype(np.int64)
    kept = [k for k, code in enumerate(sides.code_names) if code not in read]
    return View(
        name, x, y, np.ascontiguousarray(a.codes[:, kept]), np.ascontiguousarray(b.codes[:, kept]),
        a.size.astype(np.float64), b.size.astype(np.float64), stretch,
        sides.names + read, tuple(sides.code_names[k] for k in kept),
        label[: len(x)], label[len(x) :], holes, floor,
    )  # fmt: skip


def _skewness(column: Floats) -> float:
    values = np.sort(column[~np.isnan(column)])
    mean, spread = centre_and_spread(values)
    return float(np.sort(((values - mean) / (spread or 1.0)) ** 3).mean()) if values.size else 0.0


def _logarithms(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Log v where both files are positive; else asinh(v / s), which is a logarithm for all but the smallest."""
    both = np.abs(np.concatenate([x, y]))
    if np.nanmin(x) > 0 and np.nanmin(y) > 0:
        return np.log(x), np.log(y), -np.log(y)
    small = float(np.quantile(both[both > 0], 0.05))
    return np.arcsinh(x / small), np.arcsinh(y / small), -0.5 * np.log(y**2 + small**2)


def _as_shares(column: Floats) -> Floats:
    """Log-share of each level less the log-density of a normal law: levels are counted, in either reading."""
    there = ~np.isnan(column)
    mean, spread = centre_and_spread(column)
    _, index, counts = np.unique(column[there], return_inverse=True, return_counts=True)
    result = np.zeros(column.shape)
    result[there] = np.log(counts / counts.sum())[index]
    z = (column - mean) / (spread or 1.0)
    return np.asarray(result + 0.5 * (z**2 + np.log(2 * np.pi)) + np.log(spread or 1.0))


def _ranks(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Each file's own mean ranks as shares; the derivative is the density of the released column."""
    return _shares(x), _shares(y), _log_density(y)


def _shares(column: Floats) -> Floats:
    present = ~np.isnan(column)
    _, index, counts = np.unique(column[present], return_inverse=True, return_counts=True)
    shares = np.full(column.shape, np.nan)
    shares[present] = ((np.cumsum(counts) - (counts - 1) / 2 - 0.5) / counts.sum())[index]
    return shares


def _log_density(column: Floats) -> Floats:
    """Vasicek's spacing estimate: so many neighbours on either side, over the width that they take."""
    result = np.zeros(column.shape)
    present = ~np.isnan(column)
    values = np.sort(column[present])
    n = values.size
    reach = max(1, round(np.sqrt(n) / 2))
    levels = np.unique(values)
    first, last = np.searchsorted(values, levels, "left"), np.searchsorted(values, levels, "right") - 1
    low, high = np.maximum(first - reach, 0), np.minimum(last + reach, n - 1)
    width = values[high] - values[low]
    density = np.log(np.maximum(high - low, 1) / n) - np.log(np.where(width > 0, width, 1.0))
    result[present] = density[np.searchsorted(levels, column[present])]
    return result
